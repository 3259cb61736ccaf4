"""`Vectorizer`: what a page and its links say, as numbers in the tables of a `Knowledge`.

Every word form is cut to its stem and looked up in its table once; from then on a form is a number, and the
words of a page are found by arrays: their bytes give hashes, and their hashes the numbers, all at once. What
is remembered is bounded, and forgetting costs time, never a different number. So is what may be learned: of a
web's words, which never end, the first `MAX_WORDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.factor.cutting import MANY, cut, is_one_token
from clew.knowledge import Knowledge, Table
from clew.learn.rows import SparseRows, first_of_each
from clew.page import Page
from clew.words import lexicon, stopwords, tokens
from clew.words.forms import MAX_FORMS, Forms, is_telling

Ids = NDArray[np.int64]

#: Characters of a page whose words are learned from.
_TEXT = 50_000
#: Anchors that are remembered.
_ANCHORS = 50_000
#: Parts of URLs that are remembered.
_SEGMENTS = 100_000
#: Words of pages, of anchors, and tokens of URLs that are learned from.
MAX_WORDS = 200_000
#: Anchors from this length on are read as pages are.
_LONG = 1000


class BoundedTable:
    """The words of a table that may be learned from: at most `MAX_WORDS`, those met first."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def listed(self, words: Sequence[str]) -> list[int]:
        """The number of each word, -1 for one that came too late."""
        return self.table.admitted(words, MAX_WORDS)


class Addresses:
    """The tokens of URLs. Each segment is read for itself: no token goes beyond a slash, and sites repeat
    their folders; so hosts, folders and files are put together once each.

    >>> table = Table()
    >>> lengths, numbers = Addresses(table, "words").read(["http://a.example/wind/farms-at-sea"])
    >>> [table.names[n] for n in numbers.tolist()]
    ['a', 'example', 'wind', 'farms', 'at', 'sea']
    """

    def __init__(self, table: Table, style: str) -> None:
        self._bounded = BoundedTable(table)
        self._style: Literal["words", "paper"] = "paper" if style == "paper" else "words"
        self._pieces = SparseRows()
        self._known: dict[str, int] = {}

    def read(self, targets: Sequence[str]) -> tuple[Ids, NDArray[np.int32]]:
        """Of each URL how many distinct tokens it has, and the numbers of all, one after the other."""
        if len(self._pieces) > _SEGMENTS:
            self._pieces.clear()
            self._known.clear()
        parts = [part for target in targets for part in _parts(target)]
        self._learn(parts)
        rows = np.array([self._known[part] for part in parts], np.int64)
        return first_of_each(*self._pieces.gather(rows.reshape(-1, 3)))

    def one(self, target: str) -> list[int]:
        """The numbers of the distinct tokens of one URL: arrays do not pay for so few."""
        parts = _parts(target)
        self._learn(parts)
        rows = [self._pieces.row(self._known[part]).tolist() for part in parts]
        return list(dict.fromkeys([item for row in rows for item in row]))

    def _learn(self, parts: Sequence[str]) -> None:
        """Number the tokens of parts never met, in the order they stand: a crawl numbers alike every time."""
        new = [part for part in dict.fromkeys(parts) if part not in self._known]
        if not new:
            return
        if len(new) >= MANY and self._style == "words":
            lengths, words = cut(new)
        else:
            rows = [self._tokens(part) for part in new]
            lengths = np.array([len(row) for row in rows], np.int64)
            words = [word for row in rows for word in row]
        numbers = np.array(self._bounded.listed(words), np.int64)
        if len(numbers) and numbers.min() < 0:
            there = numbers >= 0
            lengths = np.bincount(np.arange(len(new)).repeat(lengths)[there], minlength=len(new))
            numbers = numbers[there]
        self._known.update(zip(new, self._pieces.extend(lengths, numbers), strict=True))

    def _tokens(self, part: str) -> list[str]:
        if is_one_token(part):
            return [part]
        return [word for segment in part.split("/") for word in urls.tokens(segment, self._style)]


def _parts(url: str) -> tuple[str, str, str]:
    """Host, folder and file of a URL."""
    host, _, path = url.partition("://")[2].partition("/")
    folder, _, file = path.rpartition("/")
    return host, folder, file


class Vectorizer:
    """Turns pages, URLs and anchors into rows of numbers in the tables of one knowledge."""

    def __init__(self, knowledge: Knowledge, style: str = "words") -> None:
        self.knowledge = knowledge
        self.cut: Callable[[Page], Sequence[str]] | None = None
        """Another way to cut a page into distinct stems: one that remembers, say."""
        self._forms: dict[tuple[str, str], Forms] = {}
        self._addresses = Addresses(knowledge.tokens, style)
        # Not lists: a page may have thousands of anchors, and so many lists keep the collector busy.
        self._said = SparseRows()
        self._anchors: dict[str, dict[str, int]] = {}

    def page(self, page: Page) -> Ids:
        """Numbers of the distinct stems of a page's words that can carry a topic, ascending."""
        table = self.knowledge.words
        if self.cut is not None:
            found = np.array(BoundedTable(table).listed(self.cut(page)), np.int64)
            return np.sort(found[found >= 0])
        return self._of("words", table, page.language or "en").numbers(page.text[:_TEXT])

    def urls(self, targets: Sequence[str]) -> tuple[Ids, NDArray[np.int32]]:
        """Of each URL how many distinct tokens it has, and the numbers of all, one after the other."""
        return self._addresses.read(targets)

    def url(self, target: str) -> Ids:
        """Numbers of the distinct tokens of one URL."""
        return np.array(self._addresses.one(target), np.int64)

    def anchors(self, texts: Sequence[str], language: str) -> tuple[Ids, NDArray[np.int32]]:
        """Of each anchor how many distinct words it has, and the numbers of all, one after the other.

        A site has few different anchors: each is cut once.
        """
        if len(self._said) >= _ANCHORS:
            self._said.clear()
            self._anchors.clear()
        known = self._anchors.setdefault(language, {})
        forms = self._of("anchors", self.knowledge.anchors, language)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if len(new) >= MANY:
            known.update(zip(new, self._said.extend(*forms.rows(new)), strict=True))
        else:
            for text in new:
                short = len(text) < _LONG
                known[text] = self._said.append(forms.listed(text) if short else forms.numbers(text).tolist())
        rows = np.array([known[text] for text in texts], np.int64)
        return self._said.gather(rows.reshape(-1, 1))

    def _of(self, name: str, table: Table, language: str) -> Forms:
        """The forms of one language in one table."""
        forms = self._forms.get((name, language))
        if forms is None or len(forms) > MAX_FORMS:
            forms = self._forms[name, language] = Forms(BoundedTable(table), language)
        return forms


def distinct_words(page: Page) -> list[str]:
    """The distinct stems of a page's words that can carry a topic."""
    return telling(page.text[:_TEXT], page.language or "en")


def telling(text: str, language: str) -> list[str]:
    """Distinct stems of the words of a text, without stop words, numbers and single letters.

    >>> telling("The turbines of 12 wind farms", "en")
    ['turbin', 'wind', 'farm']
    """
    if not text:
        return []
    idle, cut = stopwords(language), lexicon(language).stem
    words = dict.fromkeys(tokens(text))
    return list(dict.fromkeys([cut(w) for w in words if is_telling(w) and w not in idle]))
