"""Sibling: whether pages linked from the same pages satisfy the predicate (section 3.5)."""

from __future__ import annotations

import math

import numpy as np

from clew.factor.base import Seen, Sources, Tallied, Term
from clew.factor.interest import log_ratio
from clew.factor.memory import WIDTH, Floats, Ids

#: Pages whose ratios are read anew one by one; if more have changed, all are.
_MOVED = 10_000


class Sibling(Tallied):
    """s / e: satisfying siblings over those expected, e = visited siblings × P(C), each counted once."""

    name = "sibling"

    def evidence(self, ids: Ids) -> Floats:
        if self._rate <= 0.0:
            return np.zeros(len(ids))
        memory = self.sources.memory
        seen, good = memory.siblings[ids].astype(float), memory.good_siblings[ids].astype(float)
        return log_ratio(seen, good, self._rate, self.sources.how.smoothing)

    def support(self, ids: Ids) -> Floats:
        return self.sources.memory.siblings[ids].astype(np.float64)

    def terms(self, candidate: int) -> list[Term]:
        memory = self.sources.memory
        seen, good = float(memory.siblings[candidate]), float(memory.good_siblings[candidate])
        if not seen:
            return []
        value = float(self.evidence(np.array([candidate]))[0])
        return [
            Term(
                f"{good:g} of {seen:g} siblings satisfy",
                value,
                seen,
                good,
                _deviations(seen, good, self._rate),
            )
        ]


class Hub:
    """The best single parent: a page whose other links turned out well. Not in the paper, whose sibling
    ratio pools all parents and so lets a few crowded ones hide a hub."""

    name = "hub"

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._rate = 0.0
        self._pages: Floats = np.zeros(256)
        self._count = 0
        self._moved: list[int] = []

    def learn(self, seen: Seen) -> None:
        """Counted in the memory, page by page; of the pages that it counts for, the ratios are read anew."""
        if self._count:
            self._moved.extend(seen.parents)
        if len(self._moved) > _MOVED:
            self.forget()

    def estimate(self) -> None:
        self._rate = self.sources.chance
        self.forget()

    def forget(self) -> None:
        """Work the ratios of all pages out again when they are next asked for."""
        self._count = 0
        self._moved.clear()

    def evidence(self, ids: Ids) -> Floats:
        memory = self.sources.memory
        if self._rate <= 0.0 or not memory.pages:
            return np.zeros(len(ids))
        self._catch_up()
        best = np.zeros(len(ids))
        for column, (places, _, slots) in enumerate(memory.view(ids).columns):
            of = self._pages[slots]
            best[places] = np.maximum(best[places], of) if column else of
        return best

    def _catch_up(self) -> None:
        """The ratios of pages that are new, or of which one more link was fetched, since the last look."""
        memory = self.sources.memory
        n = len(memory.pages)
        if self._count == n and not self._moved:
            return
        if n > len(self._pages):
            self._pages = np.concatenate([self._pages, np.zeros(n)])
        # Smoothed even when nothing else is: the best of several unsmoothed ratios is mostly luck.
        a = max(self.sources.how.smoothing, 1.0)
        slots = np.concatenate([np.array(self._moved, np.int64), np.arange(self._count, n)])
        seen, good = memory.child_seen[slots], memory.child_good[slots]
        self._pages[slots] = log_ratio(seen, good, self._rate, a)
        self._count = n
        self._moved.clear()

    def support(self, ids: Ids) -> Floats:
        memory = self.sources.memory
        parents = memory.parents[ids]
        there = parents >= 0
        seen = np.where(there, memory.child_seen[np.where(there, parents, 0)], 0.0)
        return np.asarray(seen.max(axis=1), np.float64)

    def terms(self, candidate: int) -> list[Term]:
        memory = self.sources.memory
        slots = [p for p in memory.parents[candidate].tolist() if p >= 0 and memory.child_seen[p]]
        if not slots or self._rate <= 0.0:
            return []
        best = max(
            slots, key=lambda p: ((memory.child_good[p] + self._rate) / (memory.child_seen[p] + 1), -p)
        )
        seen, good = float(memory.child_seen[best]), float(memory.child_good[best])
        value = float(self.evidence(np.array([candidate]))[0])
        return [
            Term(
                f"{good:g} of {seen:g} links of one page satisfy",
                value,
                seen,
                good,
                _deviations(seen, good, self._rate),
            )
        ]


class Near(Tallied):
    """Links that stand close to a candidate's on the same page. Not in the paper: on long lists the
    neighbours in the list say more than the whole."""

    name = "near"

    def evidence(self, ids: Ids) -> Floats:
        if self._rate <= 0.0:
            return np.zeros(len(ids))
        memory = self.sources.memory
        view = memory.view(ids)
        # A parent that is not there is as good as chance; only who has all columns full may be worse.
        best = np.where(view.links < WIDTH, 0.0, -np.inf)
        seen, good = np.zeros(len(ids)), np.zeros(len(ids))
        for column, (places, rows, _) in enumerate(view.columns):
            told, of = memory.near[:, column][rows], memory.near_good[:, column][rows]
            best[places] = np.maximum(best[places], self._ratio(told.astype(float), of.astype(float)))
            seen[places] += told
            good[places] += of
        return np.asarray((best + self._ratio(seen, good)) / 2, np.float64)

    def _ratio(self, seen: Floats, good: Floats) -> Floats:
        a = max(self.sources.how.smoothing, 1.0)
        return np.asarray(np.log((good / self._rate + a) / (seen + a)), np.float64)

    def support(self, ids: Ids) -> Floats:
        return np.asarray(self.sources.memory.near[ids].sum(axis=1), np.float64)

    def terms(self, candidate: int) -> list[Term]:
        memory = self.sources.memory
        seen, good = float(memory.near[candidate].sum()), float(memory.near_good[candidate].sum())
        if not seen:
            return []
        value = float(self.evidence(np.array([candidate]))[0])
        return [Term("links beside it", value, seen, good, _deviations(seen, good, self._rate))]


def _deviations(seen: float, good: float, rate: float) -> float:
    """How far a count is from what chance would give, in standard deviations."""
    spread = math.sqrt(seen * rate * (1.0 - rate))
    return abs(good - seen * rate) / spread if spread > 0 else 0.0
