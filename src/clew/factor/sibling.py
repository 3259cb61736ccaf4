"""Sibling: whether pages linked from the same pages satisfy the predicate (section 3.5)."""

from __future__ import annotations

import math

import numpy as np

from clew import native
from clew.factor.base import EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState, Tallied
from clew.factor.interest import log_ratio
from clew.factor.link_graph import WIDTH, Floats, Ids

#: Pages whose ratios are read anew one by one; if more have changed, all are.
_MOVED = 10_000


class Sibling(Tallied):
    """s / e: satisfying siblings over those expected, e = visited siblings × P(C), each counted once."""

    # Before the first find all it can say is that some links of a page were tried in vain: so each page's
    # links get their turn. That is loud, as nothing else is known.
    spec = FactorSpec(name="sibling", prior=0.35, defaults=frozenset({"learned", "paper"}), early=3.0)
    KEPT = ("_rate",)

    def evidence(self, ids: Ids) -> Floats:
        if self._rate <= 0.0:
            return np.zeros(len(ids))
        graph = self.state.graph
        seen, good = graph.siblings[ids].astype(float), graph.good_siblings[ids].astype(float)
        return log_ratio(seen, good, self._rate, self.state.how.smoothing)

    def support(self, ids: Ids) -> Floats:
        return self.state.graph.siblings[ids].astype(np.float64)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        graph = self.state.graph
        seen, good = float(graph.siblings[candidate]), float(graph.good_siblings[candidate])
        if not seen:
            return []
        value = float(self.evidence(np.array([candidate]))[0])
        return [
            EvidenceTerm(
                f"{good:g} of {seen:g} siblings satisfy",
                value,
                seen,
                good,
                _deviations(seen, good, self._rate),
            )
        ]


class Hub(Factor):
    """The best single parent: a page whose other links turned out well. Not in the paper, whose sibling
    ratio pools all parents and so lets a few crowded ones hide a hub."""

    spec = FactorSpec(name="hub", prior=0.4, defaults=frozenset({"learned"}))
    KEPT = ("_rate",)

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self._rate = 0.0
        self._pages: Floats = np.zeros(256)
        self._count = 0
        self._moved: list[int] = []

    def learn(self, outcome: FetchOutcome) -> None:
        """Counted in the graph, page by page; of the pages that it counts for, the ratios are read anew."""
        if self._count:
            self._moved.extend(outcome.parents)
        if len(self._moved) > _MOVED:
            self.forget()

    def estimate(self) -> None:
        self._rate = self.state.chance
        self.forget()

    def forget(self) -> None:
        self._count = 0
        self._moved.clear()

    def evidence(self, ids: Ids) -> Floats:
        graph = self.state.graph
        if self._rate <= 0.0 or not graph.fetched:
            return np.zeros(len(ids))
        self._catch_up()
        best = np.zeros(len(ids))
        for column, (places, _, slots) in enumerate(graph.view(ids).columns):
            of = self._pages[slots]
            best[places] = np.maximum(best[places], of) if column else of
        return best

    def _catch_up(self) -> None:
        """The ratios of pages that are new, or of which one more link was fetched, since the last look."""
        graph = self.state.graph
        n = graph.fetched
        if self._count == n and not self._moved:
            return
        if n > len(self._pages):
            self._pages = np.concatenate([self._pages, np.zeros(n)])
        # Smoothed even when nothing else is: the best of several unsmoothed ratios is mostly luck.
        a = max(self.state.how.smoothing, 1.0)
        slots = np.concatenate([np.array(self._moved, np.int64), np.arange(self._count, n)])
        seen, good = graph.child_seen[slots], graph.child_good[slots]
        self._pages[slots] = log_ratio(seen, good, self._rate, a)
        self._count = n
        self._moved.clear()

    def support(self, ids: Ids) -> Floats:
        graph = self.state.graph
        parents = graph.parents[ids]
        there = parents >= 0
        seen = np.where(there, graph.child_seen[np.where(there, parents, 0)], 0.0)
        return np.asarray(seen.max(axis=1), np.float64)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        graph = self.state.graph
        slots = [p for p in graph.parents[candidate].tolist() if p >= 0 and graph.child_seen[p]]
        if not slots or self._rate <= 0.0:
            return []
        best = max(slots, key=lambda p: ((graph.child_good[p] + self._rate) / (graph.child_seen[p] + 1), -p))
        seen, good = float(graph.child_seen[best]), float(graph.child_good[best])
        value = float(self.evidence(np.array([candidate]))[0])
        return [
            EvidenceTerm(
                f"{good:g} of {seen:g} links of one page satisfy",
                value,
                seen,
                good,
                _deviations(seen, good, self._rate),
            )
        ]


class Neighbour(Tallied):
    """Links that stand close to a candidate's on the same page. Not in the paper: on long lists the
    neighbours in the list say more than the whole."""

    spec = FactorSpec(name="neighbour", prior=0.6, defaults=frozenset({"learned"}), aliases=("near",))
    KEPT = ("_rate",)

    def evidence(self, ids: Ids) -> Floats:
        if self._rate <= 0.0:
            return np.zeros(len(ids))
        graph = self.state.graph
        view = graph.view(ids)
        # A parent that is not there is as good as chance; only who has all columns full may be worse.
        best = np.where(view.links < WIDTH, 0.0, -np.inf)
        seen, good = np.zeros(len(ids)), np.zeros(len(ids))
        for column, (places, rows, _) in enumerate(view.columns):
            told, of = graph.neighbours[:, column][rows], graph.good_neighbours[:, column][rows]
            best[places] = np.maximum(best[places], self._ratio(told.astype(float), of.astype(float)))
            seen[places] += told
            good[places] += of
        return np.asarray((best + self._ratio(seen, good)) / 2, np.float64)

    def _ratio(self, seen: Floats, good: Floats) -> Floats:
        a = max(self.state.how.smoothing, 1.0)
        return np.asarray(native.log((good / self._rate + a) / (seen + a)), np.float64)

    def support(self, ids: Ids) -> Floats:
        return np.asarray(self.state.graph.neighbours[ids].sum(axis=1), np.float64)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        graph = self.state.graph
        seen, good = float(graph.neighbours[candidate].sum()), float(graph.good_neighbours[candidate].sum())
        if not seen:
            return []
        value = float(self.evidence(np.array([candidate]))[0])
        return [EvidenceTerm("links beside it", value, seen, good, _deviations(seen, good, self._rate))]


def _deviations(seen: float, good: float, rate: float) -> float:
    """How far a count is from what chance would give, in standard deviations."""
    spread = math.sqrt(seen * rate * (1.0 - rate))
    return abs(good - seen * rate) / spread if spread > 0 else 0.0
