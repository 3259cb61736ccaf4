"""A page as the atoms see it: its words, cut no further than the atoms ask.

An `Index` answers which forms of a stem a text has, how often and where. Most questions are answered by a
search in the folded text for what all forms of a stem begin with; only wildcards and words near each other
need the list of all words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from clew.page import Page
from clew.words import Lexicon, flat, lexicon, tokens

#: The language assumed of a page that does not tell.
FALLBACK = "en"

T = TypeVar("T")


class Index:
    """The words of one text.

    >>> index = Index("wind turbines, a turbine", lexicon("en"))
    >>> index.count(index.forms("turbin")), index.positions(index.forms("turbin")), index.length
    (2, [1, 3], 4)
    """

    __slots__ = ("_flat", "_found", "_text", "_tokens", "_unique", "length", "lexicon")

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._text = text
        self._tokens: list[str] | None = None
        self._unique: set[str] | None = None
        self._found: dict[str, dict[str, int]] = {}
        known = flat(text)
        self._flat = known.text if known is not None else None
        self.length = known.count if known is not None else len(self.tokens)
        """How many words there are."""

    @property
    def tokens(self) -> list[str]:
        """All words, in order."""
        if self._tokens is None:
            self._tokens = tokens(self._text)
        return self._tokens

    @property
    def unique(self) -> set[str]:
        """The different words."""
        if self._unique is None:
            self._unique = set(self.tokens)
        return self._unique

    def forms(self, stem: str) -> set[str]:
        """The words that have the stem."""
        prefix = self.lexicon.prefix(stem) if self._flat is not None and self._unique is None else ""
        if not prefix:
            return self.lexicon.forms(stem, self.unique)
        cut = self.lexicon.stem
        return {word for word in self._beginning(prefix) if cut(word) == stem}

    def matching(self, test: Callable[[str], bool]) -> set[str]:
        """The words that pass a test."""
        return set(filter(test, self.unique))

    def count(self, forms: set[str]) -> int:
        """How many words are one of the forms."""
        if self._tokens is None:
            return sum([self._occurrences(form) for form in forms])
        if len(forms) > 4:
            return sum(map(forms.__contains__, self.tokens))
        return sum(map(self.tokens.count, forms))

    def positions(self, forms: set[str]) -> list[int]:
        """Where they stand, in order."""
        if len(forms) != 1:
            return [i for i, token in enumerate(self.tokens) if token in forms]
        (form,) = forms
        found = []
        at = -1
        for _ in range(self.tokens.count(form)):
            at = self.tokens.index(form, at + 1)
            found.append(at)
        return found

    def sequences(self, forms: Sequence[set[str]]) -> int | None:
        """How often words of the given sets stand one after the other; None when the text is cut already."""
        flat = self._flat
        if flat is None or self._tokens is not None:
            return None
        first, *rest = forms
        follow = re.compile("".join([f" +(?:{'|'.join(map(re.escape, sorted(w)))})" for w in rest]) + " ")
        hits = 0
        for word in first:
            at = flat.find(f" {word} ")
            while at >= 0:
                at += len(word) + 1
                hits += follow.match(flat, at) is not None
                at = flat.find(f" {word} ", at)
        return hits

    def _beginning(self, prefix: str) -> dict[str, int]:
        """The words that begin with some letters, and how often each occurs."""
        found = self._found.get(prefix)
        if found is None:
            found = self._found[prefix] = _beginning(self._flat or "", prefix)
        return found

    def _occurrences(self, form: str) -> int:
        """How often a form occurs that was found by its beginning."""
        for words in self._found.values():
            if form in words:
                return words[form]
        return self.tokens.count(form)


def _beginning(flat: str, prefix: str) -> dict[str, int]:
    """The words that begin with some letters, and how often each occurs."""
    found: dict[str, int] = {}
    wanted = f" {prefix}"
    at = flat.find(wanted)
    # A search for fixed letters is far faster than a pattern, which looks at every character.
    while at >= 0:
        end = flat.index(" ", at + 1)
        word = flat[at + 1 : end]
        found[word] = found.get(word, 0) + 1
        at = flat.find(wanted, end)
    return found


class PageView:
    """One page, while it is being judged."""

    __slots__ = ("_indexes", "_once", "language", "page")

    def __init__(self, page: Page) -> None:
        self.page = page
        self.language = page.language or FALLBACK
        self._indexes: dict[str, Index] = {}
        self._once: dict[object, Any] = {}

    def once(self, key: object, work: Callable[[], T]) -> T:
        """What `work` gives, worked out once a page: for atoms that share it under the same key."""
        if key not in self._once:
            self._once[key] = work()
        found: T = self._once[key]
        return found

    def subjects(self, field: str) -> tuple[str, ...]:
        """The texts a field name stands for; the nameless field is title and text."""
        page = self.page
        match field:
            case "":
                return (page.title, page.text)
            case "title":
                return (page.title,)
            case "desc":
                return (page.description,)
            case "main":
                return (page.main,)
            case "url":
                return (page.url,)
            case _:
                return (page.text,)

    def index(self, field: str) -> Index:
        """The words of `title`, `desc`, `main` or `text`."""
        found = self._indexes.get(field)
        if found is None:
            (text,) = self.subjects(field)
            found = self._indexes[field] = Index(text, lexicon(self.language))
        return found
