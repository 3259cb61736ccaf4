"""`url_depth`: pages near the top of a site lead to more places than those far below. Not in the paper."""

from __future__ import annotations

import numpy as np

from clew.factor.base import EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState
from clew.factor.link_graph import Floats, Ids

#: What is left of a find's weight in the recent harvest with every page fetched after it.
FADING = 0.97
#: Recent finds that halve the wish to look elsewhere.
CONTENT = 3.0


def boldness(recent: float) -> float:
    """How much a crawl should look elsewhere: 1 when nothing was found lately, little when much was.

    >>> boldness(0.0), boldness(3.0)
    (1.0, 0.5)
    """
    return 1.0 / (1.0 + recent / CONTENT)


class Bold(Factor):
    """A reason to look elsewhere: heard when nothing was found lately, silent during a harvest."""

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self.recent = 0.0
        self._bold = 1.0

    def learn(self, outcome: FetchOutcome) -> None:
        self.recent = FADING * self.recent + outcome.satisfied

    def estimate(self) -> None:
        self._bold = boldness(self.recent)


class UrlDepth(Bold):
    """Minus log(1 + steps of the path), times the boldness of the crawl.

    It finds lists and start pages when there is nothing better to go by, and is silent during a harvest.
    """

    spec = FactorSpec(
        name="url_depth",
        prior=1.0,
        defaults=frozenset({"learned"}),
        early=1.0,
        explores=True,
        aliases=("shallow",),
    )
    KEPT = ("recent", "_bold")

    def evidence(self, ids: Ids) -> Floats:
        return -self._bold * self.state.features.depth_of(ids)

    def support(self, ids: Ids) -> Floats:
        return np.ones(len(ids))

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        value = float(self.evidence(np.array([candidate]))[0])
        return [EvidenceTerm("how deep in its site it lies", value, 0.0, 0.0, 0.0)] if value else []
