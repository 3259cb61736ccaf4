"""`hub_potential`: whether a page leads to finds, be it one itself or not.

Not in the paper, which values a page for what it is: there, a list of everything that is wanted is worth as
little as any page that is no find.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clew import native
from clew.factor.base import EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState, strongest
from clew.factor.link_features import WIDTH
from clew.factor.link_graph import Floats, Ids
from clew.factor.parent_relevance import ParentRelevance
from clew.learn.checkpoint import require, within
from clew.learn.logistic import LogisticRegression

#: Links that a page is taken to have beyond those it has: two finds behind two links do not make a list.
_MORE = 5.0
#: What the pages that link to a candidate say of where it leads: a list mostly links back to what names it.
_PARENTS = 0.5


class HubPotential(Factor):
    """The log odds that a link of the page behind a candidate leads to a find.

    Of every page that was fetched it is known how many of its links were finds so far; a regression over the
    features of the links that led to such pages foretells it of others.
    """

    spec = FactorSpec(
        name="hub_potential",
        prior=1.0,
        defaults=frozenset({"learned"}),
        about_leads=True,
        columns=frozenset({"paths"}),
        after=("context", "liveness"),
        aliases=("ways",),
    )

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self.model = LogisticRegression(WIDTH)
        self._parents = ParentRelevance(state)
        self._slots: list[int] = []
        self._sizes: list[int] = []

    def kept(self) -> dict[str, Any]:
        slots, sizes = np.array(self._slots, np.int64), np.array(self._sizes, np.int64)
        return {"model": self.model, "parents": self._parents, "slots": slots, "sizes": sizes}

    def recall(self, found: Mapping[str, Any]) -> None:
        require(within(found["slots"], 0, self.state.graph.fetched), "pages of examples")
        require(len(found["sizes"]) <= self.state.graph.fetched, "sizes of pages")
        self._slots, self._sizes = found["slots"].tolist(), found["sizes"].tolist()

    def learn(self, outcome: FetchOutcome) -> None:
        """Note which page an example is; `context`, which comes before, has made it one."""
        features = self.state.features
        if len(features.rows.row(outcome.candidate)):
            self._slots.append(self.state.graph.fetched)
            # The oldest examples are forgotten when there are too many.
            del self._slots[: len(self._slots) - len(features.examples)]

    def estimate(self) -> None:
        self._parents.estimate()
        graph = self.state.graph
        self._sizes += [len(graph.children_of(slot)) for slot in range(len(self._sizes), graph.fetched)]
        links = np.array(self._sizes, np.float64)[self._slots] + _MORE
        good = graph.child_good[self._slots]
        if not good.any():
            # As good as chance, until there is something to tell pages apart by.
            chance = min(0.5, self.state.chance)
            self.model.bias = native.log_of(chance / (1.0 - chance)) if chance > 0.0 else 0.0
        self.model.step(self.state.features.examples, good / links)

    def evidence(self, ids: Ids) -> Floats:
        odds = self._odds(ids)
        # A page that is not there leads nowhere: the odds that it is there and leads to finds.
        dead = native.exp(-self.state.liveness.log_chances(ids)) - 1.0
        return np.asarray(odds - native.log1p(dead * (1.0 + native.exp(np.minimum(odds, 30.0)))), np.float64)

    def _odds(self, ids: Ids) -> Floats:
        """If there is a page."""
        feature_terms = self.state.features.rows.sums(ids, self.model.weights) + self.model.bias
        return np.asarray(feature_terms + _PARENTS * self._parents.evidence(ids), np.float64)

    def support(self, ids: Ids) -> Floats:
        return self.state.features.rows.sums(ids, (self.model.weights != 0.0).astype(float))

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        named = self.state.feature_terms(candidate, self.model.weights)
        linking = [
            EvidenceTerm(term.text, _PARENTS * term.log_ratio, term.seen, term.hits, term.significance)
            for term in self._parents.terms(candidate)
        ]
        mine = np.array([candidate])
        there = EvidenceTerm("whether there is a page", float(self.evidence(mine)[0] - self._odds(mine)[0]))
        return strongest([*named, *linking, there])
