"""Anchor: the words a candidate was first linked with. Not in the paper; the same ratios, on anchor text."""

from __future__ import annotations

from clew.factor.base import Seen, Sources, Term
from clew.factor.memory import Floats, Ids
from clew.factor.vocabulary import Weights


class Anchor:
    """The product of the significant ratios of the words of an anchor."""

    name = "anchor"

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._weights = Weights(sources, "anchors")

    def learn(self, seen: Seen) -> None:
        self.sources.knowledge.anchors.count(seen.anchors, seen.satisfied)

    def estimate(self) -> None:
        self._weights.estimate()

    def evidence(self, ids: Ids) -> Floats:
        return self.sources.memory.anchors.sums(ids, self._weights.of)

    def support(self, ids: Ids) -> Floats:
        return self.sources.memory.anchors.sums(ids, (self._weights.of != 0.0).astype(float))

    def terms(self, candidate: int) -> list[Term]:
        return self._weights.terms(self.sources.memory.anchors.row(candidate).tolist())
