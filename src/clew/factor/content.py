"""Content: the words of the pages that link to a candidate (section 3.2, eq. 5 to 7 and 11)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.factor.base import EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState
from clew.factor.link_graph import WIDTH, Floats, Ids
from clew.factor.word_weights import WordWeights
from clew.learn.rows import distinct
from clew.learn.vocabulary import told

#: Linking pages whose words are counted for a page; a page with hundreds of in-links needs no more.
_PARENTS = 8


class Content(Factor):
    """The product of the significant ratios of the words of a linking page.

    With one linking page this is the paper's eq. 7. With several, the paper takes the union of their
    words (`parents="union"`); the mean over the linking pages is the default, for which a page's term
    computed once serves all its links, and which does not grow with the number of links to a candidate.
    """

    spec = FactorSpec(
        name="content", prior=0.1, defaults=frozenset({"learned", "paper"}), teaches=True, sums_words=True
    )
    KEPT = ("_weights",)

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self._weights = WordWeights(state, self._table)
        self._pages: Floats = np.zeros(256)
        self._count = 0
        self._numbers: NDArray[np.int32] = np.full(1024, -1, np.int32)
        self._unions: dict[tuple[int, ...], float] = {}

    @property
    def _table(self) -> str:
        return "inlinks" if self.state.how.content == "inlink" else "words"

    def learn(self, outcome: FetchOutcome) -> None:
        known, graph = self.state.knowledge, self.state.graph
        known.words.count(outcome.words, outcome.satisfied)
        if outcome.parents:
            words = [graph.pages[p].words for p in outcome.parents[:_PARENTS]]
            union = distinct(np.concatenate(words)) if len(words) > 1 else words[0]
            known.inlinks.count(self._translated(union), outcome.satisfied)

    def _translated(self, words: NDArray[np.int32]) -> NDArray[np.int32]:
        """Numbers in the table of linking pages' words, for numbers in that of pages' own."""
        known = self.state.knowledge
        if len(self._numbers) < len(known.words):
            more = np.full(len(known.words) + len(known.words) // 4 - len(self._numbers), -1, np.int32)
            self._numbers = np.concatenate([self._numbers, more])
        missing = words[self._numbers[words] < 0]
        if len(missing):
            self._numbers[missing] = known.inlinks.numbers(told(known.words.names, missing))
        return self._numbers[words]

    def estimate(self) -> None:
        self._weights.estimate()
        self.forget()

    def forget(self) -> None:
        self._count = 0
        self._unions.clear()

    def evidence(self, ids: Ids) -> Floats:
        self._catch_up()
        if not self._count:
            return np.zeros(len(ids))
        graph = self.state.graph
        if self.state.how.parents == "union":
            return np.array([self._union(tuple(graph.parents_of(i))) for i in ids.tolist()])
        total, view = np.zeros(len(ids)), graph.view(ids)
        for places, _, slots in view.columns:
            total[places] += self._pages[slots]
        return total / np.minimum(np.maximum(view.links, 1), WIDTH)

    def _union(self, parents: tuple[int, ...]) -> float:
        """What the words of some pages say together, a word on several of them once."""
        if len(parents) < 2:
            return float(self._pages[parents[0]]) if parents else 0.0
        found = self._unions.get(parents)
        if found is None:
            pages = self.state.graph.pages
            words = distinct(np.concatenate([pages[slot].words for slot in parents]))
            found = self._unions[parents] = float(self._read()[words].sum())
        return found

    def support(self, ids: Ids) -> Floats:
        return np.asarray((self.state.graph.parents[ids] >= 0).sum(axis=1), np.float64)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        pages = self.state.graph.pages
        words = {int(w) for p in self.state.graph.parents_of(candidate) for w in pages[p].words}
        return self._weights.terms(sorted(self._number(w) for w in words if self._number(w) >= 0))

    def _number(self, word: int) -> int:
        """A word's number in the table that is read."""
        if self._table == "words":
            return word
        return self.state.knowledge.inlinks.find(self.state.knowledge.words.names[word])

    def _catch_up(self) -> None:
        """Terms of pages fetched since the last estimate, by its weights."""
        graph = self.state.graph
        count = len(graph.pages)
        if self._count == count:
            return
        if count >= len(self._pages):
            self._pages = np.concatenate([self._pages, np.zeros(count)])
        if self._table == "inlinks":
            for page in graph.pages[self._count :]:
                self._translated(page.words)
        self._pages[self._count : count] = graph.words.sums(np.arange(self._count, count), self._read())
        self._count = count

    def _read(self) -> Floats:
        """Weights by the numbers that pages' words have."""
        of = self._weights.of
        # A word that stands on no page linking to another is not in that table, and says nothing.
        return of if self._table == "words" else np.append(of, 0.0)[self._numbers]
