"""Content: the words of the pages that link to a candidate (section 3.2, eq. 5 to 7 and 11)."""

from __future__ import annotations

import numpy as np

from clew.factor.base import Seen, Sources, Term
from clew.factor.memory import Floats, Ids
from clew.factor.vocabulary import Weights

#: Linking pages whose words are counted for a page; a page with hundreds of in-links needs no more.
_PARENTS = 8


class Content:
    """The product of the significant ratios of the words of a linking page.

    With one linking page this is the paper's eq. 7. With several, the paper takes the union of their
    words; here it is the mean over the linking pages, which a page's term computed once serves for all
    its links, and which does not grow with the number of links to a candidate.
    """

    name = "content"

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._weights = Weights(sources, self._table)
        self._pages: Floats = np.zeros(0)
        self._numbers: Ids = np.full(1024, -1, np.int64)

    @property
    def _table(self) -> str:
        return "inlinks" if self.sources.how.content == "inlink" else "words"

    def learn(self, seen: Seen) -> None:
        known, memory = self.sources.knowledge, self.sources.memory
        known.words.count(seen.words, seen.satisfied)
        if seen.parents:
            union = np.unique(np.concatenate([memory.pages[p].words for p in seen.parents[:_PARENTS]]))
            known.inlinks.count(self._translated(union), seen.satisfied)

    def _translated(self, words: Ids) -> Ids:
        """Numbers in the table of linking pages' words, for numbers in that of pages' own."""
        known = self.sources.knowledge
        if len(self._numbers) < len(known.words):
            more = np.full(len(known.words) + len(known.words) // 2 - len(self._numbers), -1, np.int64)
            self._numbers = np.concatenate([self._numbers, more])
        missing = words[self._numbers[words] < 0]
        if len(missing):
            names = known.words.names
            self._numbers[missing] = known.inlinks.numbers([names[i] for i in missing.tolist()])
        return self._numbers[words]

    def estimate(self) -> None:
        self._weights.estimate()
        pages = self.sources.memory.pages
        self._pages = np.array([self._page(p.words) for p in pages]) if pages else np.zeros(0)

    def evidence(self, ids: Ids) -> Floats:
        self._catch_up()
        if not len(self._pages):
            return np.zeros(len(ids))
        parents = self.sources.memory.parents[ids]
        there = parents >= 0
        values = np.where(there, self._pages[np.where(there, parents, 0)], 0.0)
        return np.asarray(values.sum(axis=1) / np.maximum(1, there.sum(axis=1)), np.float64)

    def support(self, ids: Ids) -> Floats:
        return np.asarray((self.sources.memory.parents[ids] >= 0).sum(axis=1), np.float64)

    def terms(self, candidate: int) -> list[Term]:
        pages = self.sources.memory.pages
        words = {int(w) for p in self.sources.memory.parents_of(candidate) for w in pages[p].words}
        return self._weights.terms(sorted(self._number(w) for w in words if self._number(w) >= 0))

    def _number(self, word: int) -> int:
        """A word's number in the table that is read."""
        if self._table == "words":
            return word
        return self.sources.knowledge.inlinks.find(self.sources.knowledge.words.names[word])

    def _page(self, words: Ids) -> float:
        numbers = words if self._table == "words" else self._translated(words)
        return float(self._weights.of[numbers].sum())

    def _catch_up(self) -> None:
        """Terms of pages fetched since the last estimate, by its weights."""
        pages = self.sources.memory.pages
        if len(self._pages) < len(pages):
            new = [self._page(p.words) for p in pages[len(self._pages) :]]
            self._pages = np.concatenate([self._pages, np.array(new)])
