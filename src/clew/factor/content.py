"""Content: the words of the pages that link to a candidate (section 3.2, eq. 5 to 7 and 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clew.factor.base import EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState
from clew.factor.link_graph import WIDTH, Floats, Ids
from clew.factor.word_weights import WordWeights
from clew.learn.checkpoint import require
from clew.learn.rows import distinct

#: Linking pages whose words are counted for a page; a page with hundreds of in-links needs no more.
_PARENTS = 8
#: Pages whose words are kept whole, at least; of older ones, those that tell something.
RECENT = 2048


class Content(Factor):
    """The product of the significant ratios of the words of a linking page.

    With one linking page this is the paper's eq. 7. With several, the paper takes the union of their
    words (`parents="union"`); the mean over the linking pages is the default, for which a page's term
    computed once serves all its links, and which does not grow with the number of links to a candidate.
    """

    spec = FactorSpec(
        name="content", prior=0.1, defaults=frozenset({"learned", "paper"}), teaches=True, sums_words=True
    )
    KEPT = ("_weights", "_whole")

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self._weights = WordWeights(state, self._table)
        self._pages: Floats = np.zeros(256)
        self._count = 0
        self._unions: dict[tuple[int, ...], float] = {}
        self._whole = 0
        """The first page whose words are all kept."""

    def recall(self, found: Mapping[str, Any]) -> None:
        super().recall(found)
        require(0 <= self._whole <= self.state.graph.fetched, "pages with all their words")

    @property
    def _table(self) -> str:
        return "inlinks" if self.state.how.content == "inlink" else "words"

    def learn(self, outcome: FetchOutcome) -> None:
        known, graph = self.state.knowledge, self.state.graph
        known.words.count(outcome.words, outcome.satisfied)
        # The sum of a union of words depends on how many there are: the paper's form keeps all.
        if graph.fetched >= self._whole + 2 * RECENT and self.state.how.parents != "union":
            self._thin()
        if outcome.parents:
            words = [graph.words.row(p) for p in outcome.parents[:_PARENTS]]
            union = distinct(np.concatenate(words)) if len(words) > 1 else words[0]
            known.inlinks.count(union, outcome.satisfied)

    def _thin(self) -> None:
        """Of pages fetched long ago, keep the words that tell something now: what such a page says stays
        the same to the last bit, and the other words, most of them, take no room."""
        graph, end = self.state.graph, self._whole + RECENT
        graph.words.retain(self._whole, end, self._weights.of != 0.0)
        self._whole = end

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
            rows = self.state.graph.words
            words = distinct(np.concatenate([rows.row(slot) for slot in parents]))
            found = self._unions[parents] = float(self._weights.of[words].sum())
        return found

    def support(self, ids: Ids) -> Floats:
        return np.asarray((self.state.graph.parents[ids] >= 0).sum(axis=1), np.float64)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        graph = self.state.graph
        words = {w for slot in graph.parents_of(candidate) for w in graph.words.row(slot).tolist()}
        return self._weights.terms(sorted(words))

    def _catch_up(self) -> None:
        """Terms of pages fetched since the last estimate, by its weights."""
        graph = self.state.graph
        count = graph.fetched
        if self._count == count:
            return
        if count >= len(self._pages):
            self._pages = np.concatenate([self._pages, np.zeros(count)])
        self._pages[self._count : count] = graph.words.sums(np.arange(self._count, count), self._weights.of)
        self._count = count
