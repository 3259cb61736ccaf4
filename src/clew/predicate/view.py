"""A page as the atoms see it: cut into words once, at the first atom that asks, and only where asked.

An `Index` answers which forms of a stem a text has, how often and where, by set and list operations that
run in C; no table of all words and positions is ever built, so a page of a megabyte costs one cut.
"""

from __future__ import annotations

from collections.abc import Callable

from clew.page import Page
from clew.words import Lexicon, lexicon, tokens

#: The language assumed of a page that does not tell.
FALLBACK = "en"


class Index:
    """The words of one text.

    >>> index = Index("wind turbines, a turbine", lexicon("en"))
    >>> index.count(index.forms("turbin")), index.positions(index.forms("turbin"))
    (2, [1, 3])
    """

    __slots__ = ("_unique", "lexicon", "tokens")

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.tokens = tokens(text)
        self._unique: set[str] | None = None

    @property
    def unique(self) -> set[str]:
        """The different words."""
        if self._unique is None:
            self._unique = set(self.tokens)
        return self._unique

    def forms(self, stem: str) -> set[str]:
        """The words that have the stem."""
        return self.lexicon.forms(stem, self.unique)

    def matching(self, test: Callable[[str], bool]) -> set[str]:
        """The words that pass a test."""
        return set(filter(test, self.unique))

    def count(self, forms: set[str]) -> int:
        """How many words are one of the forms."""
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


class PageView:
    """One page, while it is being judged."""

    __slots__ = ("_indexes", "language", "page")

    def __init__(self, page: Page) -> None:
        self.page = page
        self.language = page.language or FALLBACK
        self._indexes: dict[str, Index] = {}

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
