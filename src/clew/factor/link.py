"""Link: whether the pages that link to a candidate satisfy the predicate (section 3.4, Table 1)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.factor.base import EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState
from clew.factor.link_graph import Floats, Ids
from clew.knowledge import LinkTypes


class LinkLocality(Factor):
    """p to the power of the satisfying in-links times q to the power of the others.

    p = f1 / P(C)², q = f3 / (P(C)(1 − P(C))). A page with 200 in-links would explode; so k links count
    as k ** temper of one (`temper=1` is the paper's form).
    """

    spec = FactorSpec(name="link", prior=0.0, defaults=frozenset({"learned", "paper"}), teaches=True)
    KEPT = ("log_p", "log_q")

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self.log_p = 0.0
        self.log_q = 0.0
        self._powers: Floats = np.zeros(0)

    def learn(self, outcome: FetchOutcome) -> None:
        known, graph = self.state.knowledge, self.state.graph
        if outcome.parents:
            links, good = int(graph.inlinks[outcome.candidate]), int(graph.good_inlinks[outcome.candidate])
            known.links = known.links.plus(link_types(good, links - good, outcome.satisfied))

    def linked(self, satisfied: bool, finds: int, others: int) -> None:
        known = self.state.knowledge
        more = LinkTypes(pp=finds, pn=others) if satisfied else LinkTypes(np=finds, nn=others)
        known.links = known.links.plus(more)

    def estimate(self) -> None:
        links, rate = self.state.known.links, self.state.rate
        a = self.state.how.smoothing
        self.log_p = _log(links.pp + a * rate * rate, (links.total + a) * rate * rate)
        other = rate * (1.0 - rate)
        self.log_q = _log(links.np + a * other, (links.total + a) * other)

    def evidence(self, ids: Ids) -> Floats:
        graph = self.state.graph
        links = graph.view(ids).links
        k = links.astype(np.float64)
        m = graph.good_inlinks[ids].astype(np.float64)
        # Without smoothing a ratio may be 0 and its logarithm infinite: no link of a kind, no say.
        with np.errstate(invalid="ignore"):
            plain = np.where(m > 0, m * self.log_p, 0.0) + np.where(k > m, (k - m) * self.log_q, 0.0)
        return plain if self.state.how.temper == 1.0 else plain * self._tempered(links)

    def _tempered(self, links: NDArray[np.int32]) -> Floats:
        """links ** (temper - 1), looked up: few candidates have many in-links, and powers are slow."""
        if len(links) and (most := int(links.max())) >= len(self._powers):
            self._powers = native.exp(
                (self.state.how.temper - 1.0) * native.log(np.maximum(np.arange(2.0 * most + 1.0), 1.0))
            )
        return self._powers[links]

    def support(self, ids: Ids) -> Floats:
        return self.state.graph.inlinks[ids].astype(np.float64)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        graph, links = self.state.graph, self.state.known.links
        k, m = int(graph.inlinks[candidate]), int(graph.good_inlinks[candidate])
        rows = [
            EvidenceTerm(f"{m} in-links from finds", self.log_p, links.pp + links.pn, links.pp, 0.0),
            EvidenceTerm(f"{k - m} in-links from others", self.log_q, links.np + links.nn, links.np, 0.0),
        ]
        return [row for row, count in zip(rows, (m, k - m), strict=True) if count]


def link_types(good: int, bad: int, satisfied: bool) -> LinkTypes:
    """Links into a page just fetched, from `good` satisfying and `bad` other pages."""
    return LinkTypes(pp=good, np=bad) if satisfied else LinkTypes(pn=good, nn=bad)


def _log(above: float, below: float) -> float:
    if below <= 0.0:
        return 0.0
    return native.log_of(above / below) if above > 0.0 else -math.inf
