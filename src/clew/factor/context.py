"""Context: where and how a candidate was first linked. Not in the paper, which looks at the words of whole
pages and of URLs; a logistic regression over the features of a link weighs each beside all others."""

from __future__ import annotations

import numpy as np

from clew import native
from clew.factor.base import EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState, strongest
from clew.factor.link_features import WIDTH
from clew.factor.link_graph import Floats, Ids
from clew.learn.logistic import LogisticRegression


class Context(Factor):
    """The sum of the weights of a link's features: how far they raise the log odds of a find."""

    spec = FactorSpec(
        name="context", prior=0.6, defaults=frozenset({"learned"}), columns=frozenset({"paths"})
    )
    KEPT = ("model",)

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self.model = LogisticRegression(WIDTH)

    def learn(self, outcome: FetchOutcome) -> None:
        features = self.state.features
        row = features.rows.row(outcome.candidate)
        if len(row):
            features.examples.add(row, satisfied=outcome.satisfied, alive=outcome.alive)

    def estimate(self) -> None:
        examples = self.state.features.examples
        self.model.step(examples, examples.labels["satisfied"])

    def evidence(self, ids: Ids) -> Floats:
        return self.state.features.rows.sums(ids, self.model.weights)

    def support(self, ids: Ids) -> Floats:
        return self.state.features.rows.sums(ids, (self.model.weights != 0.0).astype(float))

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        return strongest(self.state.feature_terms(candidate, self.model.weights))


class Liveness(Context):
    """log of the probability that there is a page behind a link at all, from the same features.

    On some webs most links are dead, and a dead link is never a find: so this is heard before the first find
    too.
    """

    spec = FactorSpec(
        name="liveness",
        prior=1.0,
        defaults=frozenset({"learned"}),
        early=True,
        columns=frozenset({"paths"}),
        after=("context",),
        aliases=("alive",),
    )
    KEPT = ("model",)

    def learn(self, outcome: FetchOutcome) -> None:
        """Its examples are those of `Context`."""

    def estimate(self) -> None:
        examples = self.state.features.examples
        self.model.step(examples, examples.labels["alive"])

    def evidence(self, ids: Ids) -> Floats:
        odds = super().evidence(ids) + self.model.bias
        return np.asarray(-native.logaddexp(np.zeros(len(odds)), -odds), np.float64)
