"""Context: where and how a candidate was first linked. Not in the paper, which looks at the words of whole
pages and of URLs; a logistic regression over the features of a link weighs each beside all others."""

from __future__ import annotations

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
    """log of the probability that there is a page behind a link at all (`LinkLiveness`).

    On some webs most links are dead, and a dead link is never a find: so this is heard before the first find
    too.
    """

    spec = FactorSpec(
        name="liveness",
        prior=1.0,
        defaults=frozenset({"learned"}),
        early=1.0,
        columns=frozenset({"paths"}),
        after=("context",),
        estimated_first=True,
        aliases=("alive",),
    )
    KEPT = ("chances",)

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self.chances = state.liveness
        self.model = self.chances.model

    def learn(self, outcome: FetchOutcome) -> None:
        """The examples of its regression are those of `Context`."""
        self.chances.learn(outcome.candidate, outcome.url, outcome.alive)

    def estimate(self) -> None:
        self.chances.estimate()

    def evidence(self, ids: Ids) -> Floats:
        return self.chances.log_chances(ids).copy()

    def forget(self) -> None:
        self.chances.forget()
