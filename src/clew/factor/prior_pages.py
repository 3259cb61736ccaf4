"""Pages that an earlier crawl has fetched: if the same is looked for, they are what they were then."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.factor.base import EvidenceTerm
from clew.factor.link_graph import Floats, Ids
from clew.knowledge import Knowledge
from clew.learn.checkpoint import KeptAttributes, require, within
from clew.learn.rows import grown

#: How a page is known: not at all, as a miss, as a find.
STRANGE, MISS, FIND = 0, 1, 2
#: The probability that a page is a find if the same is looked for and it was none, or was one: pages change.
_STILL = (math.nan, 0.02, 0.9)
#: The log odds, at first, that the same is looked for; how far one page may raise them; how far they may go.
START, _MOVE, _FIRM = 1.4, 2.0, 6.0
#: Below these log odds it is clear that something else is looked for: small hopes would cost more requests.
SILENT = -2.0
#: Finds, and pages, that are added to those counted: the rate is 1 in 8 before anything was fetched.
_HALF, _FEW = 0.5, 4.0
#: If something else is looked for, what became of former finds must be explained by so much (log) better by a
#: rate of their own than by the mere rate: one that is a find by luck is no reason to fetch all the others.
_CLEAR = 4.0
#: Bounds on the evidence. A former miss may lead to former finds, so that little is held against it while
#: those are out of sight; what is, once they are not, comes on top.
_LEAST, _MOST = (0.0, -0.5, -2.0), 4.0
_DONE = -1.5


class PriorPages(KeptAttributes):
    """Which candidates an earlier crawl fetched, and how much that tells.

    Two explanations compete by likelihood: the same is looked for, so that pages are what they were; or
    something else, so that former finds are finds as often as it turns out (`tallies`). A few former finds
    that are none, or finds among former misses, decide for the second.
    """

    KEPT = ("odds", "kinds", "hubs", "unseen", "tallies", "_worth", "_lead")

    def __init__(self, earlier: Knowledge) -> None:
        self.earlier = earlier
        self.odds = START
        self.kinds: NDArray[np.int8] = np.zeros(1024, np.int8)
        self.hubs: NDArray[np.float32] = np.zeros(1024, np.float32)
        self.unseen = self.finds = float((earlier.places.hits > 0).sum())
        self.tallies = np.zeros((3, 2))
        """By kind: pages fetched, finds."""
        self._worth = np.zeros(3)
        self._lead = 0.0
        self.estimate()

    def recall(self, found: Mapping[str, Any]) -> None:
        require(within(found["kinds"], STRANGE, FIND + 1), "kinds of pages")
        require(all(len(found[name]) == FIND + 1 for name in ("tallies", "_worth")), "counts of kinds")
        require(len(found["kinds"]) == len(found["hubs"]), "pages that were known")
        super().recall(found)

    @property
    def trust(self) -> float:
        """The probability that the same is looked for; none once that is unlikely."""
        return 0.0 if self.silent else 1.0 / (1.0 + native.exp_of(-self.odds))

    @property
    def silent(self) -> bool:
        """Whether it is clear that something else is looked for."""
        return self.odds <= SILENT

    @property
    def rate(self) -> float:
        """The rate of finds among pages that were not known."""
        fetched, finds = self.tallies[STRANGE].tolist()
        return float((finds + _HALF) / (fetched + _FEW))

    def meet(self, numbers: Sequence[int], targets: Sequence[str]) -> None:
        """New candidates, in ascending order."""
        self.kinds, self.hubs = grown(self.kinds, numbers[-1] + 1), grown(self.hubs, numbers[-1] + 1)
        places, led = self.earlier.places, self.earlier.hubs
        for number, target in zip(numbers, targets, strict=True):
            row = places.find(target)
            if row < 0 or not places.seen[row]:
                continue
            found = 2.0 * places.hits[row] > places.seen[row]
            self.kinds[number] = FIND if found else MISS
            self.unseen -= found
            seen, hits = led.row(target)
            self.hubs[number] = hits / seen if seen else 0.0

    def kind(self, candidate: int) -> int:
        """How a candidate is known."""
        return int(self.kinds[candidate]) if candidate < len(self.kinds) else STRANGE

    def learn(self, candidate: int, satisfied: bool) -> None:
        """What a page turned out to be: which explanation foretold it better?"""
        kind = self.kind(candidate)
        if kind != STRANGE:
            same, other = _STILL[kind], max(self.rate, _STILL[MISS])
            gain = native.log_of(same / other) if satisfied else native.log_of((1.0 - same) / (1.0 - other))
            # Most pages are misses whatever is looked for: only former finds can speak for the same.
            most = _MOVE if kind == FIND else 0.0
            self.odds = min(_FIRM, max(-_FIRM, self.odds + min(most, gain)))
        self.tallies[kind] += (1.0, satisfied)

    def _otherwise(self, kind: int) -> float:
        """The probability of a find if something else is looked for: the rate, unless clearly another."""
        fetched, finds = self.tallies[kind].tolist()
        if _likelier(fetched, finds, self.rate) < _CLEAR:
            return self.rate
        return float((finds + _FEW * self.rate) / (fetched + _FEW))

    def estimate(self) -> None:
        """Read what it means to have been fetched from what became of such pages."""
        rate, trust = self.rate, self.trust
        out_of_sight = max(0.0, self.unseen) / max(1.0, self.finds)
        for kind, otherwise in ((MISS, rate), (FIND, self._otherwise(FIND))):
            told = _log_odds(trust * _STILL[kind] + (1.0 - trust) * otherwise) - _log_odds(rate)
            self._worth[kind] = min(_MOST, max(_LEAST[kind], told))
        self._worth[MISS] += _DONE * trust * (1.0 - out_of_sight)
        # What leads to finds is of use as long as there are finds to be led to.
        self._lead = trust * _MOST * out_of_sight

    def known(self, ids: Ids) -> NDArray[np.bool_]:
        """Which of some candidates the earlier crawl fetched."""
        return np.asarray(self._kinds(ids) != STRANGE, np.bool_)

    def evidence(self, ids: Ids) -> Floats:
        """What it tells that a page was a find or none, or, if that is more, that it led to finds."""
        kinds, there = self._kinds(ids), ids < len(self.hubs)
        told = self._worth[kinds]
        lead = self._lead * np.where(there, self.hubs[np.where(there, ids, 0)], 0.0)
        return np.asarray(np.where(lead > 0.0, np.maximum(told, lead), told), np.float64)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        """What was known of a page, for an explanation."""
        kind = self.kind(candidate)
        if kind == STRANGE:
            return []
        found = "the earlier crawl found it" if kind == FIND else "the earlier crawl fetched it: no find"
        terms = [EvidenceTerm(found, float(self._worth[kind]), 1.0, float(kind == FIND), 0.0)]
        if lead := self._lead * float(self.hubs[candidate]):
            terms.append(EvidenceTerm("it led the earlier crawl to finds", lead, 0.0, 0.0, 0.0))
        return terms

    def _kinds(self, ids: Ids) -> NDArray[np.int8]:
        there = ids < len(self.kinds)
        return np.where(there, self.kinds[np.where(there, ids, 0)], np.int8(STRANGE))


def _likelier(fetched: float, finds: float, rate: float) -> float:
    """By how much (log) the share of finds itself explains them better than the rate does."""
    parts = ((finds, rate), (fetched - finds, 1.0 - rate))
    return native.left_sum([n * native.log_of(n / fetched / share) for n, share in parts if n])


def _log_odds(chance: float) -> float:
    return native.log_of(chance / (1.0 - chance))
