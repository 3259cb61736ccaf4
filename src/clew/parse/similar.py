"""Fingerprints by which copies are told: `digest` for exact ones, `sketch` and `alike` for near ones.

An exact copy has the same visible text, all of it. A near copy has the same title, nearly the same main text,
and nearly the same text: nine tenths of the word fives in common, or four fifths where at least half of both
pages is main text (a version to print, without navigation). On sites made from a template, pages of different
content share most of their text; what tells them apart is the small main text, and the title where no main
text stands out.

The share of common fives is estimated from a sketch of fixed size (Broder's minima, with one permutation):
the hashes of all fives are dealt to 64 buckets, and one byte of the least hash in each is kept. The share of
bytes in which two sketches agree estimates the share of fives that two texts have in common.
"""

from __future__ import annotations

from operator import eq, or_

import xxhash

from clew import native

#: Fewer words than this are too few to tell a near copy.
MIN_WORDS = 40
#: Words in a shingle.
SHINGLE = 5
#: The sketch of a page: bytes for the whole text, for the main text, for the share of it, and for the title.
_WHOLE_BITS, _MAIN_BITS = 6, 5
WHOLE, _MAIN, TITLE = 1 << _WHOLE_BITS, 1 << _MAIN_BITS, 4
_SHARE = WHOLE + _MAIN
SKETCH_BYTES = _SHARE + 1 + TITLE
"""Length of a sketch."""
_NO_MAIN = bytes(_MAIN + 1)

#: The least share of word fives in common: of the whole, of the whole when most of it is main text, of that.
_NEARLY_ALL, _MOST, _MAIN_ALIKE = 0.9, 0.82, 0.9
#: A main text of half the page, as the sketch has it.
_HALF = 128


def digest(text: str) -> int:
    """64-bit hash of a text; 0 for none.

    >>> digest(""), digest("wind farm") == digest("wind farm")
    (0, True)
    """
    return xxhash.xxh3_64_intdigest(_encoded(text)) if text else 0


def sketch(text: str, main: str = "", title: str = "") -> bytes:
    """The similarity sketch of a page, to be compared by `alike`; empty for a text of fewer than 40 words.

    Parameters: all of the visible text; the main text, empty when none stands out; the title.

    >>> sketch("too short to tell"), len(sketch("wind farm " * 20))
    (b'', 101)
    """
    return fingerprints(text, main, title)[1]


def fingerprints(text: str, main: str = "", title: str = "") -> tuple[int, bytes]:
    """`digest` of the text and `sketch` of the page, for the price of encoding the text once."""
    if not text:
        return 0, b""
    raw = _encoded(text)
    whole = _minima(raw, _WHOLE_BITS, MIN_WORDS)
    if whole:
        part = _minima(raw if main == text else _encoded(main), _MAIN_BITS, 1)
        share = bytes([min(255, 256 * len(main) // len(text))])
        named = xxhash.xxh3_64_digest(_encoded(" ".join(title.split()).lower()))[:TITLE]
        whole = b"".join((whole, part + share if part else _NO_MAIN, named))
    return xxhash.xxh3_64_intdigest(raw), whole


def alike(one: bytes, other: bytes) -> bool:
    """Whether two sketches are those of a page and a near copy of it.

    >>> words = [f"word{i}" for i in range(200)]
    >>> page = sketch(" ".join(words))
    >>> alike(page, sketch(" ".join(words[:199]))), alike(page, sketch(" ".join(words[100:])))
    (True, False)
    """
    if one[-TITLE:] != other[-TITLE:]:
        return False
    needed = _NEARLY_ALL
    if any(one[WHOLE:_SHARE]) and any(other[WHOLE:_SHARE]):
        if _agreement(one[WHOLE:_SHARE], other[WHOLE:_SHARE]) < _MAIN_ALIKE:
            return False
        if min(one[_SHARE], other[_SHARE]) >= _HALF:
            needed = _MOST
    return _agreement(one[:WHOLE], other[:WHOLE]) >= needed


def _agreement(one: bytes, other: bytes) -> float:
    """Share of the buckets that are filled in either sketch in which both have the same byte."""
    empty = bytes(map(or_, one, other)).count(0)
    agreeing: int = sum(map(eq, one, other))
    return (agreeing - empty) / max(1, len(one) - empty)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _minima(raw: bytes, bits: int, fewest: int) -> bytes:
    """A byte for each of `2**bits` buckets of a text's word fives; empty for fewer words than `fewest`."""
    return native.sketch(raw, bits, fewest)
