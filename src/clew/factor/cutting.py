"""Parts of many URLs cut into words at once: a call for each would take longer than all the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew.url import tokens

Ids = NDArray[np.int64]

#: From so many on, texts are read together.
MANY = 32
#: A byte that stands between parts, and what becomes of every byte: words in small letters, all else blank.
_BREAK, _BLANK = ord("\n"), ord(" ")
_FOLDED = bytes([b if b == _BREAK or (b < 128 and chr(b).isalnum()) else _BLANK for b in range(256)]).lower()
#: What stands before a hump, as in windFarm, and what the hump is.
_BEFORE = np.array([chr(b).islower() or chr(b).isdigit() for b in range(128)])
_HUMP = np.array([chr(b).isupper() for b in range(128)])


def cut(parts: Sequence[str]) -> tuple[Ids, list[str]]:
    """Of each part how many words it has, and the words of all: those that `clew.url.tokens` finds between
    its slashes.

    >>> lengths, words = cut(["wind/farmsAtSea", "", "listé-2.html"])
    >>> lengths.tolist(), words
    ([4, 0, 3], ['wind', 'farms', 'at', 'sea', 'listé', '2', 'html'])
    """
    # What is written in other letters, or escaped, is looked at for itself.
    special = [place for place, part in enumerate(parts) if not part.isascii() or "%" in part or "\n" in part]
    plain = list(parts)
    for place in special:
        plain[place] = ""
    folded = _folded("\n".join(plain))
    lengths, words = _counted(folded, len(parts)), folded.decode().split()
    return (lengths, words) if not special else _with(special, parts, lengths, words)


def _with(special: list[int], parts: Sequence[str], lengths: Ids, words: list[str]) -> tuple[Ids, list[str]]:
    """Put the words of special parts where they belong among those of the others."""
    found: list[str] = []
    ends = lengths.cumsum()[special].tolist()
    begin = 0
    for place, end in zip(special, ends, strict=True):
        more = _words(parts[place])
        found += words[begin:end] + more
        lengths[place] = len(more)
        begin = end
    return lengths, found + words[begin:]


def _words(part: str) -> list[str]:
    return [word for segment in part.split("/") for word in tokens(segment)]


def _folded(whole: str) -> bytes:
    """Words between blanks; a line for each part."""
    raw = np.frombuffer(whole.encode(), np.uint8)
    humps = (_BEFORE[raw[:-1]] & _HUMP[raw[1:]]).nonzero()[0] + 1
    # A blank before every hump moves what follows by one more.
    if len(humps):
        raw = np.insert(raw, humps, _BLANK)
    return raw.tobytes().translate(_FOLDED)


def _counted(folded: bytes, count: int) -> Ids:
    """How many words there are on each line."""
    if not count:
        return np.zeros(0, np.int64)
    raw = np.frombuffer(b"\n%b\n" % folded, np.uint8)
    inside = raw > _BLANK
    begins = (inside[1:] > inside[:-1]).nonzero()[0]
    before: Ids = np.searchsorted(begins, (raw == _BREAK).nonzero()[0])
    return np.diff(before)


def is_one_token(text: str) -> bool:
    """Whether a part of a URL is plainly one token, however it is cut: small letters and digits.

    >>> is_one_token("p12"), is_one_token("windFarm"), is_one_token("a-b"), is_one_token("")
    (True, False, False, False)
    """
    return text.isalnum() and text.isascii() and text == text.lower()
