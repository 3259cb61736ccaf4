"""URL tokens: the words of a candidate's address (section 3.3, eq. 8 to 10)."""

from __future__ import annotations

from clew.factor.base import EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState
from clew.factor.link_graph import Floats, Ids
from clew.factor.word_weights import WordWeights


class UrlTokens(Factor):
    """The product of the significant ratios of the tokens of a URL."""

    spec = FactorSpec(
        name="url", prior=0.1, defaults=frozenset({"learned", "paper"}), teaches=True, sums_words=True
    )
    KEPT = ("_weights",)

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self._weights = WordWeights(state, "tokens")

    def learn(self, outcome: FetchOutcome) -> None:
        self.state.knowledge.tokens.count(outcome.tokens, outcome.satisfied)

    def estimate(self) -> None:
        self._weights.estimate()

    def evidence(self, ids: Ids) -> Floats:
        return self.state.graph.tokens.sums(ids, self._weights.of)

    def support(self, ids: Ids) -> Floats:
        return self.state.graph.tokens.sums(ids, (self._weights.of != 0.0).astype(float))

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        return self._weights.terms(self.state.graph.tokens.row(candidate).tolist())
