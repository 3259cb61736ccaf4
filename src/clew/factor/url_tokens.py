"""URL tokens: the words of a candidate's address (section 3.3, eq. 8 to 10)."""

from __future__ import annotations

from clew.factor.base import Seen, Sources, Term
from clew.factor.memory import Floats, Ids
from clew.factor.vocabulary import Weights


class UrlTokens:
    """The product of the significant ratios of the tokens of a URL."""

    name = "url"

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._weights = Weights(sources, "tokens")

    def learn(self, seen: Seen) -> None:
        self.sources.knowledge.tokens.count(seen.tokens, seen.satisfied)

    def estimate(self) -> None:
        self._weights.estimate()

    def evidence(self, ids: Ids) -> Floats:
        return self.sources.memory.tokens.sums(ids, self._weights.of)

    def support(self, ids: Ids) -> Floats:
        return self.sources.memory.tokens.sums(ids, (self._weights.of != 0.0).astype(float))

    def terms(self, candidate: int) -> list[Term]:
        return self._weights.terms(self.sources.memory.tokens.row(candidate).tolist())
