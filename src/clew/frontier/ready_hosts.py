"""`ReadyHosts`: which host that may be visited now has the best candidate.

A free host offers its best candidate; `pick` takes the best offer, the oldest candidate among equals. Offers
are kept in flat arrays by host number, and only hosts that something happened to are looked at again: those
in `Hosts.changed`, those whose rest is over, and those of candidates that were filed or scored anew.

Invariant: after `pick`, a host has an offer if and only if it is free, not full, and has a queued candidate;
the offer is that candidate's score.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew.frontier.hosts import Hosts
from clew.frontier.queue import Frontier
from clew.messages import State

_NONE = -np.inf
_QUEUED = int(State.QUEUED)


class ReadyHosts:
    """The index of the best candidate of each host that may be visited now."""

    def __init__(self, frontier: Frontier, hosts: Hosts) -> None:
        self.frontier = frontier
        self.hosts = hosts
        self._offers: NDArray[np.float64] = np.full(64, _NONE)
        """The score of each host's best candidate, -inf while it offers none."""
        self._heads: NDArray[np.int64] = np.full(64, -1, np.int64)
        """That candidate."""
        self._held: NDArray[np.bool_] = np.ones(64, np.bool_)
        """Hosts that may not offer whatever they are given: resting, busy, full, or not looked at yet."""
        self._idle: NDArray[np.bool_] = np.zeros(64, np.bool_)
        """Hosts that rest and have nothing queued: nobody wakes them but something new."""
        self._resting: list[tuple[float, int]] = []

    def __repr__(self) -> str:
        return f"ReadyHosts({int((self._offers > _NONE).sum())} of {len(self.hosts)})"

    def receiving(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of hosts of candidates that are about to be filed, and then considered.

        There is nothing against a host that was never heard of: unless it has to wait, it is free, and offers
        what it is given without being looked at.
        """
        hosts = self.hosts
        found = []
        for name in names:
            host = hosts.get(name)
            if host is None:
                host = hosts.add(name)
                self._reserve()
                if host.next_at > 0.0 or host.full(hosts.politeness):
                    hosts.changed.add(host.number)
                else:
                    self._held[host.number] = False
            found.append(host.number)
        return np.array(found, np.int64)

    def consider(self, ids: NDArray[np.int64]) -> None:
        """These candidates were filed or scored anew: their hosts offer what is now their best.

        A host that offers something better goes on offering it; one whose offer is among these and worth less
        than before is looked at again; one that rests or is busy is looked at when it wakes or is done, as
        ever.
        """
        self._reserve()
        numbers = self.frontier.hosts[ids]
        offers, scores = self._offers[numbers], self.frontier.scores[ids]
        free = offers > _NONE
        heads = self._heads[numbers]
        moved = ((scores < offers) & (heads == ids)) | self._idle[numbers]
        self.hosts.changed.update(numbers[moved].tolist())
        better = free & ((scores > offers) | ((scores == offers) & (ids < heads)))
        better |= ~free & ~self._held[numbers]
        better &= (self.frontier.states[ids] == _QUEUED) & ~self.frontier.overflowed[ids]
        # The best of a host's comes last and stays.
        places = better.nonzero()[0]
        places = places[np.lexsort((-ids[places], scores[places]))]
        self._heads[numbers[places]] = ids[places]
        self._offers[numbers[places]] = scores[places]

    def reoffer(self) -> None:
        """The frontier was sorted anew: free hosts offer what is now their best. One vectorised step."""
        self._reserve()
        numbers, heads = self.frontier.run_heads()
        free = self._offers[numbers] > _NONE
        self._heads[numbers[free]] = heads[free]
        self._offers[numbers[free]] = self.frontier.scores[heads[free]]

    def pick(self, now: float) -> int:
        """The best candidate that may be fetched now; -1 when there is none."""
        self._wake(now)
        self._reserve()
        for number in self.hosts.changed:
            self._refresh(number, now)
        self.hosts.changed.clear()
        offers = self._offers[: len(self.hosts)]
        if not len(offers):
            return -1
        best = offers.max()
        if best == _NONE:
            return -1
        # argmax would favour the host met first; the oldest candidate is the fair choice.
        return int(self._heads[(offers == best).nonzero()[0]].min())

    def offering(self, numbers: NDArray[np.int64] | NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of some hosts have something to offer now; right after `pick` only."""
        return self._offers[numbers] > _NONE

    def next_ready(self) -> float | None:
        """When the next resting host may be visited again; None when none rests."""
        while self._resting:
            at, number = self._resting[0]
            host = self.hosts[number]
            if self.hosts.open(host) and self.hosts.ready_at(host) == at:
                return at
            heapq.heappop(self._resting)
        return None

    def _wake(self, now: float) -> None:
        while self._resting and self._resting[0][0] <= now:
            self.hosts.changed.add(heapq.heappop(self._resting)[1])

    def _refresh(self, number: int, now: float) -> None:
        host = self.hosts[number]
        self._offers[number] = _NONE
        self._held[number] = True
        self._idle[number] = False
        if not self.hosts.open(host) or host.full(self.hosts.politeness):
            return
        head = self.frontier.head(number)
        ready = self.hosts.ready_at(host)
        if ready > now:
            if head >= 0:
                heapq.heappush(self._resting, (ready, number))
            else:
                self._idle[number] = True
            return
        self._held[number] = False
        if head < 0:
            return
        self._heads[number] = head
        self._offers[number] = self.frontier.scores[head]

    def _reserve(self) -> None:
        """Make room for all hosts there are; a new one offers nothing until it was looked at."""
        wanted, size = len(self.hosts), len(self._offers)
        if wanted <= size:
            return
        more = max(wanted, size + size // 2) - size
        self._offers = np.concatenate([self._offers, np.full(more, _NONE)])
        self._heads = np.concatenate([self._heads, np.full(more, -1, np.int64)])
        self._held = np.concatenate([self._held, np.ones(more, np.bool_)])
        self._idle = np.concatenate([self._idle, np.zeros(more, np.bool_)])
