"""How a text is cut into words.

A token is a run of letters and digits, case-folded and composed (NFC). An English ending after an
apostrophe stays with its word (`turbine's`, `don't`), any other apostrophe separates (`l'eau`). Scripts
written without spaces (Chinese, Japanese, Thai, …) give one token a character, so that a word of such
a script is a phrase of tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from clew import native

#: Scripts written without spaces between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)


def _marks() -> str:
    """Combining marks as ranges of a character class: `\\w` does not have them, words do."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x10000):
        if unicodedata.category(chr(code)) in ("Mn", "Mc"):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)


_ENDING = r"(?:['’](?:[sSſtTdDmM]|[lL][lL]|[rRvV][eE])\b)?"
_SIMPLE = re.compile(rf"\w+{_ENDING}")
_ALONE = re.compile(f"[{_UNSPACED}]")


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """(finds a character that needs the full pattern, the full pattern); built on the first such need."""
    marks = _marks()
    letter = rf"[^\W{_UNSPACED}]"
    # An ending ends where no letter or mark follows; a character that is a word of its own may.
    ending = _ENDING.replace(r"\b", rf"(?!{letter}|[{marks}])")
    full = rf"(?=\w)[{_UNSPACED}][{marks}]*|{letter}+(?:[{marks}]+{letter}*)*{ending}"
    return re.compile(f"[{_UNSPACED}{marks}]"), re.compile(full)


def _pattern(text: str) -> re.Pattern[str]:
    if text.isascii():
        return _SIMPLE
    special, full = _patterns()
    return full if special.search(text) else _SIMPLE


def fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = text.casefold().replace("’", "'").replace("ʼ", "'")
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def tokens(text: str) -> list[str]:
    """The words of a text, folded, in order.

    >>> tokens("Wind-farms: the TURBINE’s 3 blades, l'été")
    ['wind', 'farms', 'the', "turbine's", '3', 'blades', 'l', 'été']
    """
    plain = flat(text)
    if plain is not None:
        return plain.text.split()
    text = text.replace("_", " ")
    found: list[str] = _pattern(text).findall(text)
    # Folding the joined words at once is far faster than one by one, and gives the same: folding
    # looks at one character at a time, and no word begins with a mark that could join the space.
    return fold(" ".join(found)).split(" ") if found else found


#: Byte by byte: ASCII letters folded, digits and apostrophes kept, other ASCII made blank, and the bytes of
#: other characters left to `_simple`.
_ASCII = bytes([b if b == 39 or chr(b).isalnum() else 32 for b in range(128)]).lower() + bytes(
    range(128, 256)
)
_ALL_ASCII = bytes(range(128))
#: Texts shorter than this are anchors and titles, not pages.
_SHORT = 1000
_ENDINGS = re.compile(r"(?:[stdm]|ll|re|ve)(?: |$)")


@dataclass(frozen=True, slots=True)
class Flat:
    """The words of a text, folded: each stands between blanks. And how many there are."""

    text: str
    count: int


@lru_cache(maxsize=4096)
def _simple(character: str) -> str | None:
    """What a character beyond ASCII that is no mark becomes; None when that depends on its neighbours."""
    if character == "’":
        return "'"
    # Hangul letters that are not syllables yet join what stands before them.
    hangul = (
        "\u1100" <= character <= "\u11ff"
        or "\ua960" <= character <= "\ua97f"
        or "\ud7b0" <= character <= "\ud7ff"
    )
    if hangul:
        return None
    if not character.isalnum():
        return " "
    folded = unicodedata.normalize("NFC", character.casefold())
    if "ʼ" in folded:
        return None
    return f" {folded} " if _ALONE.match(character) else folded


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc") and character <= "\uffff"


class _Table:
    """Folding by one look-up a character, for characters that become one character; learned as they come."""

    _UNKNOWN, _OTHER = 0xFFFF, 0xFFFE

    def __init__(self) -> None:
        self._folded = np.full(65_536, self._UNKNOWN, np.uint16)
        self._folded[:128] = np.frombuffer(_ASCII[:128], np.uint8)
        # The same for texts in which what stands for a word of its own stands between blanks.
        self._spaced = self._folded.copy()
        self._several: dict[str, str] = {}

    def fold(self, text: str) -> Flat | None:
        """The words of a text; None when it has characters that must be seen with their neighbours."""
        return self._fold(text, self._folded)

    def compiled(self, text: str, left: list[tuple[int, int]] | None = None) -> Flat | None:
        """The words of a text by compiled code, as far as the table has been learned; None where it does not
        know. Given a list, it takes the lines with characters that are not known, which are left blank."""
        if native.flat is None:
            return None
        found = native.flat(text, self._folded) if left is None else native.flat(text, self._folded, left)
        return None if found is None else Flat(*found)

    def _fold(self, text: str, table: NDArray[np.uint16]) -> Flat | None:
        raw = f" {text} ".encode("utf-16-le", "surrogatepass")
        if len(raw) != 2 * len(text) + 4:
            return None
        codes = np.frombuffer(raw, "<u2").astype(np.intp)
        folded = table.take(codes)
        most = folded.max()
        if most == self._UNKNOWN:
            self._learn(_different(codes[folded == self._UNKNOWN]))
            folded = table.take(codes)
            most = folded.max()
        if most == self._OTHER:
            return self._others(text, codes, folded)
        _unquote(folded)
        inside = folded != 32
        count = int(np.count_nonzero(inside[1:] > inside[:-1]))
        return Flat(folded.tobytes().decode("utf-16-le", "surrogatepass"), count)

    def _learn(self, codes: list[int]) -> None:
        for code in codes:
            character = chr(code)
            found = None if _is_mark(character) else _simple(character)
            one = found is not None and len(found) == 1 and ord(found) < self._OTHER
            self._folded[code] = self._spaced[code] = ord(found) if found and one else self._OTHER
            if found is not None and not one:
                self._several[character] = found
                if len(found.strip()) == 1 and ord(found.strip()) < self._OTHER:
                    self._spaced[code] = ord(found.strip())

    def _others(self, text: str, codes: NDArray[np.intp], folded: NDArray[np.uint16]) -> Flat | None:
        """The words of a text with marks, or with characters that become several."""
        special = folded == self._OTHER
        found = [chr(code) for code in _different(codes[special])]
        marks = [character for character in found if _is_mark(character)]
        several = [character for character in found if character not in marks]
        if any(mark.casefold() != mark for mark in marks) or not self._several.keys() >= set(several):
            return None
        if several:
            if marks and any(self._several[character][0] == " " for character in several):
                return None
            for character in several:
                text = text.replace(character, self._several[character])
            known = native.flat(text, self._spaced) if native.flat is not None else None
            return self._fold(text, self._spaced) if known is None else Flat(*known)
        folded[special] = codes[special]
        words = _stray(marks).sub(" ", folded.tobytes().decode("utf-16-le", "surrogatepass"))
        if "'" in words:
            left = np.frombuffer(words.encode("utf-16-le", "surrogatepass"), "<u2").astype(np.uint16)
            _unquote(left)
            words = left.tobytes().decode("utf-16-le", "surrogatepass")
        words = unicodedata.normalize("NFC", words)
        return Flat(words, _runs(words.encode("utf-16-le", "surrogatepass"), np.uint16))


def _different(codes: NDArray[np.intp]) -> list[int]:
    """The different ones, ascending. (`np.unique` would load a module that nothing else needs.)"""
    return sorted(set(codes.tolist()))


_ENDS = np.zeros(65_536, np.bool_)
_ENDS[[ord(letter) for letter in "stdm"]] = True
_PAIRS = tuple([(ord(pair[0]), ord(pair[1])) for pair in ("ll", "re", "ve")])


def _unquote(folded: NDArray[np.uint16]) -> None:
    """Keep the apostrophes of English endings, make the others blank; in place, between blanks."""
    at = np.flatnonzero(folded == 39)
    if not len(at):
        return
    before, one, two = folded[at - 1], folded[at + 1], folded[np.minimum(at + 2, len(folded) - 1)]
    three = folded[np.minimum(at + 3, len(folded) - 1)]
    keep = _ENDS[one] & ((two == 32) | (two == 39))
    for first, second in _PAIRS:
        keep |= (one == first) & (two == second) & ((three == 32) | (three == 39))
    keep &= (before != 32) & (before != 39)
    near = np.flatnonzero(np.diff(at) <= 3)
    for i in near.tolist():
        # An ending ends its word: what follows it after another apostrophe is a word of its own.
        if keep[i] and not (folded[at[i] : at[i + 1]] == 32).any():
            keep[i + 1] = False
    folded[at[~keep]] = 32


def flat(text: str) -> Flat | None:
    """The words of a text in one string, to be searched without cutting it up; None where only `tokens` can.

    A text is turned character by character, with one table look-up each: many times as fast as a pattern over
    the text. The last few are remembered, because judging a page and learning from it both ask.

    >>> flat("Wind-farms: TURBINES")
    Flat(text=' wind farms  turbines ', count=3)
    """
    return _flat(text) if len(text) < _SHORT else _remembered(text)


def _flat(text: str) -> Flat | None:
    found = _table.compiled(text)
    if found is not None:
        return found
    return _by_line(text) if native.COMPILED and len(text) >= _SHORT else _interpreted(text)


def _by_line(text: str) -> Flat | None:
    """Compiled code for all lines but the few with characters that it does not know.

    A line break is a blank, so no word, mark or ending looks beyond it.
    """
    left: list[tuple[int, int]] = []
    found = _table.compiled(text, left)
    if found is None:
        return _interpreted(text)
    whole, count, at = found.text, found.count, 0
    pieces: list[str] = []
    for begin, end in left:
        line = _interpreted(text[begin:end])
        if line is None:
            return None
        # The folded text begins with a blank of its own.
        pieces += (whole[at : begin + 1], line.text[1:-1])
        count += line.count
        at = end + 1
    return Flat("".join([*pieces, whole[at:]]), count)


def _interpreted(text: str) -> Flat | None:
    if text.isascii():
        plain = b" %b " % text.encode().translate(_ASCII)
        if b"'" in plain:
            plain = _endings(plain.decode()).encode()
        return Flat(plain.decode(), _runs(plain, np.uint8))
    known = _table.fold(text)
    if known is not None:
        return known
    words = _replaced(text)
    return (
        None if words is None else Flat(words, _runs(words.encode("utf-16-le", "surrogatepass"), np.uint16))
    )


def _stray(marks: list[str]) -> re.Pattern[str]:
    """Marks without a word: each belongs to the letter before it; one that has none is no part of any."""
    return re.compile(f"(?<=[ '])[{''.join(map(re.escape, marks))}]+")


def _runs(raw: bytes, width: type[np.uint8] | type[np.uint16]) -> int:
    """How many words there are between blanks."""
    inside = np.frombuffer(raw, width) != 32
    return int(np.count_nonzero(inside[1:] > inside[:-1]))


def _replaced(text: str) -> str | None:
    """Words of a text that has characters which become several, one kind at a time."""
    raw = text.encode("utf-8", "surrogatepass")
    others = set(raw.translate(None, _ALL_ASCII).decode("utf-8", "surrogatepass"))
    marks = sorted(filter(_is_mark, others))
    if any(mark.casefold() != mark for mark in marks):
        return None
    unspaced = False
    for character in sorted(others.difference(marks)):
        folded = _simple(character)
        unspaced = unspaced or folded is None or folded[:1] == " " != folded
        if folded is None or (unspaced and marks):
            return None
        if folded != character:
            raw = raw.replace(character.encode("utf-8", "surrogatepass"), folded.encode())
    words = (b" %b " % raw.translate(_ASCII)).decode()
    if marks:
        words = _stray(marks).sub(" ", words)
    if "'" in words:
        words = _endings(words)
    return unicodedata.normalize("NFC", words) if marks else words


_table = _Table()
_remembered = lru_cache(maxsize=4)(_flat)


def _endings(plain: str) -> str:
    """Keep the apostrophes of English endings, make the others blank."""
    first, *rest = plain.split("'")
    pieces = [first]
    last, ended = first, False
    for piece in rest:
        # An ending ends its word: what follows it after another apostrophe is a word of its own.
        ended = (
            last[-1:] not in ("", " ")
            and not (ended and " " not in last)
            and _ENDINGS.match(piece) is not None
        )
        pieces.append("'" if ended else " ")
        pieces.append(piece)
        last = piece
    return "".join(pieces)


def spans(text: str) -> Iterator[tuple[str, int, int]]:
    """(token, start, end) for each word of a text: the same tokens, with where they stand.

    >>> list(spans("Wind farm"))
    [('wind', 0, 4), ('farm', 5, 9)]
    """
    text = text.replace("_", " ")
    for match in _pattern(text).finditer(text):
        yield fold(match.group()), match.start(), match.end()
