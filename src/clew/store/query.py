"""What a user types to search, turned into FTS5's language, and the stretch of text that answers it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from clew.errors import UsageError

_TERM = re.compile(r'\s*(-?)(?:"([^"]*)"|([^\s"]+))')
_WORD = re.compile(r"[^\W_]+")
_SCANNED = 200_000
"""Characters of a page that are looked through for a snippet."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word, a phrase or a prefix, folded."""

    words: tuple[str, ...]
    prefix: bool = False
    excluded: bool = False

    def fts(self) -> str:
        return f'"{" ".join(self.words)}"{"*" if self.prefix else ""}'


@dataclass(frozen=True, slots=True)
class Query:
    """Terms that must all occur, and terms that must not.

    >>> Query.parse('Wind "offshore park" turbin* -oil').fts()
    '("wind" AND "offshore park" AND "turbin"*) NOT ("oil")'
    """

    wanted: tuple[Term, ...]
    excluded: tuple[Term, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Query:
        """Read a query; a `UsageError` says what is wrong with it."""
        if text.count('"') % 2:
            raise UsageError(f"the search {text!r} has a quote that is not closed: add the other one")
        terms = [term for match in _TERM.finditer(text) if (term := _term(*match.groups())) is not None]
        wanted = tuple(term for term in terms if not term.excluded)
        if not wanted:
            raise UsageError(
                f"the search {text!r} has no word to look for: give at least one without a minus"
            )
        return cls(wanted, tuple(term for term in terms if term.excluded))

    def fts(self) -> str:
        """The query in FTS5's language; nothing a user types reaches it unquoted."""
        wanted = " AND ".join(term.fts() for term in self.wanted)
        if not self.excluded:
            return wanted
        return f"({wanted}) NOT ({' OR '.join(term.fts() for term in self.excluded)})"

    def marks(self, word: str) -> bool:
        """Whether a folded word of a page is one that was looked for."""
        return any(
            word in term.words or (term.prefix and word.startswith(term.words[-1])) for term in self.wanted
        )


def _term(minus: str, phrase: str | None, word: str | None) -> Term | None:
    if word is not None and word.upper() == "AND":
        return None  # that is what a space means
    raw = phrase if phrase is not None else word or ""
    words = tuple(fold(found) for found in _WORD.findall(raw))
    if not words:
        return None
    return Term(words, prefix=word is not None and word.endswith("*"), excluded=bool(minus))


def fold(word: str) -> str:
    """Lower case, without accents, as the index has it.

    >>> fold("Größe")
    'große'
    """
    decomposed = unicodedata.normalize("NFD", word.lower())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def snippet(text: str, query: Query, width: int = 30) -> str:
    """About `width` words of a text around the most words looked for, those in square brackets.

    >>> snippet("Some say that wind farms are noisy.", Query.parse("farms"), 4)
    '… that wind [farms] are …'
    """
    spans = [match.span() for match in _WORD.finditer(text, 0, _SCANNED)]
    if not spans:
        return ""
    marked = [i for i, (start, end) in enumerate(spans) if query.marks(fold(text[start:end]))]
    first = densest(marked, width, len(spans))
    last = min(first + width, len(spans)) - 1
    chosen = {i for i in marked if first <= i <= last}
    pieces = []
    at = spans[first][0]
    for i in range(first, last + 1):
        start, end = spans[i]
        pieces.append(text[at:start])
        pieces.append(f"[{text[start:end]}]" if i in chosen else text[start:end])
        at = end
    tail = text[at:] if last == len(spans) - 1 else " …"
    lead = "… " if first else text[: spans[0][0]]
    return " ".join((lead + "".join(pieces) + tail[:80]).split())


def densest(marked: list[int], width: int, count: int) -> int:
    """Where to begin so that the most marked words are within `width`, with some words before them."""
    best, begin, left = 0, 0, 0
    for right, position in enumerate(marked):
        while position - marked[left] >= width:
            left += 1
        if right - left + 1 > best:
            best = right - left + 1
            room = width - (position - marked[left] + 1)
            begin = marked[left] - room // 2 - room % 2
    return max(0, min(begin, count - width))
