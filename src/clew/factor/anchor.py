"""Anchor: the words a candidate was first linked with. Not in the paper; the same ratios, on anchor text."""

from __future__ import annotations

from clew.factor.base import EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState
from clew.factor.link_graph import Floats, Ids
from clew.factor.word_weights import WordWeights


class Anchor(Factor):
    """The product of the significant ratios of the words of an anchor."""

    spec = FactorSpec(name="anchor", prior=0.5, defaults=frozenset({"learned"}), teaches=True)
    KEPT = ("_weights",)

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self._weights = WordWeights(state, "anchors")

    def learn(self, outcome: FetchOutcome) -> None:
        self.state.knowledge.anchors.count(outcome.anchors, outcome.satisfied)

    def estimate(self) -> None:
        self._weights.estimate()

    def evidence(self, ids: Ids) -> Floats:
        return self.state.graph.anchors.sums(ids, self._weights.of)

    def support(self, ids: Ids) -> Floats:
        return self.state.graph.anchors.sums(ids, (self._weights.of != 0.0).astype(float))

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        return self._weights.terms(self.state.graph.anchors.row(candidate).tolist())
