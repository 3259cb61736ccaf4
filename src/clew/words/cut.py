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
from clew.native.pure import endings

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

    def fold(self, text: str, *, spaced: bool = False) -> Flat | None:
        """The words of a text; None when it has characters that must be seen with their neighbours."""
        table = self._spaced if spaced else self._folded
        unsure: list[tuple[int, int]] = []
        found = native.flat(text, table, unsure)
        if not unsure:
            return Flat(*found)
        raw = f" {text} ".encode("utf-16-le", "surrogatepass")
        if len(raw) != 2 * len(text) + 4:
            return None
        codes = np.frombuffer(raw, "<u2").astype(np.intp)
        folded = table.take(codes)
        if folded.max() == self._UNKNOWN:
            self._learn(_different(codes[folded == self._UNKNOWN]))
            return self.fold(text, spaced=spaced)
        return self._others(text, codes, folded)

    def by_line(self, text: str, left: list[tuple[int, int]]) -> Flat:
        """The words of a text without the lines that have characters which were never met, or which become
        several: those are left blank, and the list takes where they begin and end."""
        return Flat(*native.flat(text, self._folded, left))

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
            return self.fold(text, spaced=True)
        folded[special] = codes[special]
        words = _stray(marks).sub(" ", folded.tobytes().decode("utf-16-le", "surrogatepass"))
        return _counted(unicodedata.normalize("NFC", endings(words)))


def _different(codes: NDArray[np.intp]) -> list[int]:
    """The different ones, ascending. (`np.unique` would load a module that nothing else needs.)"""
    return sorted(set(codes.tolist()))


def flat(text: str) -> Flat | None:
    """The words of a text in one string, to be searched without cutting it up; None where only `tokens` can.

    A text is turned character by character, with one table look-up each: many times as fast as a pattern over
    the text. The last few are remembered, because judging a page and learning from it both ask.

    >>> flat("Wind-farms: TURBINES")
    Flat(text=' wind farms  turbines ', count=3)
    """
    return _flat(text) if len(text) < _SHORT else _remembered(text)


def _flat(text: str) -> Flat | None:
    return _by_line(text) if len(text) >= _SHORT else _at_once(text)


def _by_line(text: str) -> Flat | None:
    """One look-up a character for all lines but the few with characters that need more.

    A line break is a blank, so no word, mark or ending looks beyond it.
    """
    left: list[tuple[int, int]] = []
    found = _table.by_line(text, left)
    whole, count, at = found.text, found.count, 0
    pieces: list[str] = []
    for begin, end in left:
        line = _at_once(text[begin:end])
        if line is None:
            return None
        # The folded text begins with a blank of its own.
        pieces += (whole[at : begin + 1], line.text[1:-1])
        count += line.count
        at = end + 1
    return Flat("".join([*pieces, whole[at:]]), count) if left else found


def _at_once(text: str) -> Flat | None:
    known = _table.fold(text)
    if known is not None:
        return known
    words = _replaced(text)
    return None if words is None else _counted(words)


def _counted(words: str) -> Flat:
    """Words between blanks, with their number."""
    pieces = words.split(" ")
    return Flat(words, len(pieces) - pieces.count(""))


def _stray(marks: list[str]) -> re.Pattern[str]:
    """Marks without a word: each belongs to the letter before it; one that has none is no part of any."""
    return re.compile(f"(?<=[ '])[{''.join(map(re.escape, marks))}]+")


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
    words = endings(words)
    return unicodedata.normalize("NFC", words) if marks else words


_table = _Table()
_remembered = lru_cache(maxsize=4)(_flat)


def spans(text: str) -> Iterator[tuple[str, int, int]]:
    """(token, start, end) for each word of a text: the same tokens, with where they stand.

    >>> list(spans("Wind farm"))
    [('wind', 0, 4), ('farm', 5, 9)]
    """
    text = text.replace("_", " ")
    for match in _pattern(text).finditer(text):
        yield fold(match.group()), match.start(), match.end()
