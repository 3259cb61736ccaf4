"""`Vectorizer`: what a page and its links say, as numbers in the tables of a `Knowledge`.

Every word form is cut to its stem and looked up in its table once; from then on a form is a number, and the
words of a page are found by arrays: their bytes give hashes, and their hashes the numbers, all at once. What
is remembered is bounded, and forgetting costs time, never a different number.
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
_SEGMENTS = 200_000
#: Anchors from this length on are read as pages are.
_LONG = 1000


class Addresses:
    """The tokens of URLs. Each segment is read for itself: no token goes beyond a slash, and sites repeat
    their folders; so hosts, folders and files are put together once each.

    >>> table = Table()
    >>> lengths, numbers = Addresses(table, "words").read(["http://a.example/wind/farms-at-sea"])
    >>> [table.names[n] for n in numbers.tolist()]
    ['a', 'example', 'wind', 'farms', 'at', 'sea']
    """

    def __init__(self, table: Table, style: str) -> None:
        self.table = table
        self._style: Literal["words", "paper"] = "paper" if style == "paper" else "words"
        self._pieces = SparseRows()
        self._known: dict[str, int] = {}

    def read(self, targets: Sequence[str]) -> tuple[Ids, NDArray[np.int32]]:
        """Of each URL how many distinct tokens it has, and the numbers of all, one after the other."""
        if len(self._pieces) > _SEGMENTS:
            self._pieces.clear()
            self._known.clear()
        rows = self._together(targets) if len(targets) >= MANY and self._style == "words" else None
        if rows is None:
            known, piece = self._known, self._piece
            parts = [part for target in targets for part in _parts(target)]
            rows = np.array([known[part] if part in known else piece(part) for part in parts], np.int64)
        return first_of_each(*self._pieces.gather(rows.reshape(-1, 3)))

    def _together(self, targets: Sequence[str]) -> Ids | None:
        """Of each of many URLs the pieces of host, folder and file; None if one has nothing but a host."""
        ends = [target.rfind("/") + 1 for target in targets]
        heads = [target[:end] for target, end in zip(targets, ends, strict=True)]
        files = [target[end:] for target, end in zip(targets, ends, strict=True)]
        above: dict[str, int] = {}
        pairs: list[str] = []
        # In the order they stand, so that a crawl numbers its tokens alike every time.
        met: list[str] = []
        for head, file in zip(heads, files, strict=True):
            if head not in above:
                if head.endswith("//"):
                    return None
                above[head] = len(above)
                pairs += _parts(head)[:2]
                met += pairs[-2:]
            met.append(file)
        known = self._known
        if new := [part for part in dict.fromkeys(met) if part not in known]:
            lengths, words = cut(new)
            known.update(zip(new, self._pieces.extend(lengths, self.table.numbers(words)), strict=True))
        found = np.empty((len(targets), 3), np.int64)
        found[:, :2] = np.array([known[part] for part in pairs]).reshape(-1, 2)[
            [above[head] for head in heads]
        ]
        found[:, 2] = [known[file] for file in files]
        return found

    def one(self, target: str) -> list[int]:
        """The numbers of the distinct tokens of one URL: arrays do not pay for so few."""
        known, kept = self._known, self._pieces
        numbers = [known[part] if part in known else self._piece(part) for part in _parts(target)]
        return list(dict.fromkeys([item for number in numbers for item in kept.row(number).tolist()]))

    def _piece(self, part: str) -> int:
        if is_one_token(part):
            words = [part]
        else:
            words = [word for segment in part.split("/") for word in urls.tokens(segment, self._style)]
        number = self._known[part] = self._pieces.append(self.table.listed(words))
        return number


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
            return np.sort(table.numbers(self.cut(page)))
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
            forms = self._forms[name, language] = Forms(table, language)
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
