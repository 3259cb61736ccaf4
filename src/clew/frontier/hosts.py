"""`Hosts`: who may be visited now. Politeness lives here and nowhere else.

Each host is free, resting (no request before `next_at`), or busy (as many requests under way as it
is allowed). A free host offers its best candidate; `pick` takes the best offer, the oldest candidate
among equals. Only hosts that something happened to are looked at again. Hosts that live at one address
share a `Place`, which is free, resting or busy in the same way.

Invariant: a host that is not the user's own never has two requests under way, and never gets one
before `next_at`; and the same holds of an address, as soon as it is known whose it is.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from clew.frontier.host import Host, Place, Politeness, Robots
from clew.frontier.queue import Frontier
from clew.messages import State

__all__ = ["Host", "Hosts", "Place", "Politeness", "Robots"]

_NONE = -np.inf
_QUEUED = int(State.QUEUED)
_LINGER = 60.0
#: Addresses of one host that are minded; a name with more is a lottery anyway.
_ADDRESSES = 16


class Hosts:
    """All hosts of a crawl, by number and by name."""

    def __init__(self, frontier: Frontier, politeness: Politeness) -> None:
        self.frontier = frontier
        self.politeness = politeness
        self.list: list[Host] = []
        self.places: dict[str, Place] = {}
        self.not_before = 0.0
        """Nobody but the user's own hosts gets a request before this time."""
        self.answers = 0
        """Usable replies from anyone."""
        self.silent: set[int] = set()
        """Hosts that failed since anyone last replied."""
        self.resolving = False
        """Whether names are looked up before a host is asked for anything."""
        self._numbers: dict[str, int] = {}
        self._offers: NDArray[np.float64] = np.full(64, _NONE)
        self._heads: NDArray[np.int64] = np.full(64, -1, np.int64)
        self._held: NDArray[np.bool_] = np.ones(64, np.bool_)
        self._idle: NDArray[np.bool_] = np.zeros(64, np.bool_)
        """Hosts that rest and have nothing queued: nobody wakes them but something new."""
        self._touched: set[int] = set()
        self._resting: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self.list)

    def __repr__(self) -> str:
        return f"Hosts({len(self.list)}, {int((self._offers > _NONE).sum())} free)"

    def __getitem__(self, number: int) -> Host:
        return self.list[number]

    def get(self, name: str) -> Host | None:
        """The host of that name, when it is known."""
        number = self._numbers.get(name)
        return None if number is None else self.list[number]

    def number(self, name: str) -> int:
        """The host's number, given to it on first sight."""
        known = self._numbers.get(name)
        if known is not None:
            return known
        number = self._new(name)
        self._touched.add(number)
        return number

    def _new(self, name: str) -> int:
        n = len(self.list)
        own = self.politeness.own(name)
        delay = self.politeness.own_delay if own else self.politeness.delay
        limit = self.politeness.own_limit if own and delay == 0 else 1
        self.list.append(Host(name, n, own, delay, limit, 0.0 if own else self.not_before))
        self._numbers[name] = n
        if n >= len(self._offers):
            size = n + n // 2 + 1
            self._offers = np.concatenate([self._offers, np.full(size - len(self._offers), _NONE)])
            self._heads = np.concatenate([self._heads, np.full(size - len(self._heads), -1, np.int64)])
            self._held = np.concatenate([self._held, np.ones(size - len(self._held), np.bool_)])
            self._idle = np.concatenate([self._idle, np.zeros(size - len(self._idle), np.bool_)])
        return n

    def numbers(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of many hosts, one each."""
        return np.array([self.number(name) for name in names], np.int64)

    def receiving(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of hosts of candidates that are about to be filed, and then considered.

        There is nothing against a host that was never heard of: unless it has to wait, it is free, and offers
        what it is given without being looked at.
        """
        found = []
        for name in names:
            number = self._numbers.get(name)
            if number is None:
                number = self._new(name)
                host = self.list[number]
                if host.next_at > 0.0 or host.full(self.politeness):
                    self._touched.add(number)
                else:
                    self._held[number] = False
            found.append(number)
        return np.array(found, np.int64)

    def touch(self, number: int) -> None:
        """Something about this host changed: look at it again before the next pick."""
        self._touched.add(number)

    def touch_all(self, numbers: NDArray[np.int64] | NDArray[np.int32]) -> None:
        """The same for many."""
        self._touched.update(numbers.tolist())

    def consider(self, ids: NDArray[np.int64]) -> None:
        """These candidates were filed or scored anew: their hosts offer what is now their best.

        A host that offers something better goes on offering it; one whose offer is among these and worth less
        than before is looked at again; one that rests or is busy is looked at when it wakes or is done, as
        ever.
        """
        numbers = self.frontier.hosts[ids]
        offers, scores = self._offers[numbers], self.frontier.scores[ids]
        free = offers > _NONE
        heads = self._heads[numbers]
        moved = ((scores < offers) & (heads == ids)) | self._idle[numbers]
        self._touched.update(numbers[moved].tolist())
        better = free & ((scores > offers) | ((scores == offers) & (ids < heads)))
        better |= ~free & ~self._held[numbers]
        better &= self.frontier.states[ids] == _QUEUED
        # The best of a host's comes last and stays.
        places = better.nonzero()[0]
        places = places[np.lexsort((-ids[places], scores[places]))]
        self._heads[numbers[places]] = ids[places]
        self._offers[numbers[places]] = scores[places]

    def reoffer(self) -> None:
        """The frontier was sorted anew: free hosts offer what is now their best. One vectorised step."""
        numbers, heads = self.frontier.run_heads()
        free = self._offers[numbers] > _NONE
        self._heads[numbers[free]] = heads[free]
        self._offers[numbers[free]] = self.frontier.scores[heads[free]]

    def pick(self, now: float) -> int:
        """The best candidate that may be fetched now; -1 when there is none."""
        self._wake(now)
        for number in self._touched:
            self._look(number, now)
        self._touched.clear()
        offers = self._offers[: len(self.list)]
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
            if self._open(self.list[number]) and self.ready_at(self.list[number]) == at:
                return at
            heapq.heappop(self._resting)
        return None

    def ready_at(self, host: Host) -> float:
        """The time before which neither the host nor an address of it may be asked."""
        if not host.places:
            return host.next_at
        return max(host.next_at, *(place.next_at for place in host.places))

    def free(self, host: Host, now: float) -> bool:
        """Whether the host may be asked for something now."""
        return self._open(host) and self.ready_at(host) <= now

    def begin(self, host: Host) -> None:
        """A request to this host goes out."""
        host.in_flight += 1
        self.touch(host.number)
        for place in host.places:
            place.in_flight += 1
            self._touched.update(place.hosts)

    def end(self, host: Host, now: float, rest: float = 0.0) -> None:
        """A request to this host came back; it rests for its delay, or longer if told so."""
        host.in_flight -= 1
        pause = host.pause(self.politeness) + (0.0 if host.own else self.politeness.margin)
        self.rest(host, now + max(pause, min(rest, self.politeness.longest_rest)))
        for place in host.places:
            place.in_flight -= 1
            place.next_at = max(place.next_at, now + pause)
            self._touched.update(place.hosts)

    def undo(self, host: Host) -> None:
        """A request to this host was not made after all."""
        host.in_flight -= 1
        self.touch(host.number)
        for place in host.places:
            place.in_flight -= 1
            self._touched.update(place.hosts)

    def rest(self, host: Host, until: float) -> None:
        """No request to this host before that time."""
        host.next_at = max(host.next_at, until)
        self.touch(host.number)

    # how hosts are

    @property
    def outage(self) -> bool:
        """Nobody answers any more, though some did: our own network may be at fault."""
        return self.answers > 0 and len(self.silent) >= self.politeness.outage

    def well(self, host: Host, elapsed: float) -> None:
        """A host gave a usable reply."""
        self.answers += 1
        self.silent.clear()
        host.well(elapsed)

    def unwell(self, host: Host, *, replied: bool = False, busy: bool = False) -> float:
        """A host failed; gives the rest it needs beyond its delay."""
        if replied:
            self.silent.clear()
        else:
            self.silent.add(host.number)
        return host.unwell(self.politeness, replied=replied, busy=busy, outage=self.outage)

    # where hosts live

    def unresolved(self, host: Host, now: float) -> bool:
        """Whether its name must be looked up before it is asked for anything."""
        if not self.resolving or host.own:
            return False
        return host.resolved_at is None or now - host.resolved_at > self.politeness.address_age

    def settle_at(self, host: Host, addresses: Iterable[str], now: float) -> None:
        """A host lives at these addresses, all of them told by one look-up."""
        host.resolved_at = now
        found = list(dict.fromkeys(addresses))[:_ADDRESSES]
        # A connection that is still open may lead to an address it had until now.
        for place in [p for p in host.places if p.address not in found and now - p.next_at > _LINGER]:
            if not host.in_flight:
                host.places.remove(place)
                place.hosts.remove(host.number)
        for address in found:
            self.meet(host, address)

    def meet(self, host: Host, address: str) -> None:
        """One more address of a host is known."""
        if host.own or not address or any(place.address == address for place in host.places):
            return
        place = self.places.setdefault(address, Place(address))
        place.hosts.append(host.number)
        place.in_flight += host.in_flight
        host.places.append(place)
        host.unsaved = True
        self._touched.update(place.hosts)

    def _open(self, host: Host) -> bool:
        """Nothing but time can keep it from being asked."""
        if host.blocked or host.resolving or host.excluded or host.in_flight >= host.limit:
            return False
        return not any(place.in_flight for place in host.places)

    def _wake(self, now: float) -> None:
        while self._resting and self._resting[0][0] <= now:
            self._touched.add(heapq.heappop(self._resting)[1])

    def _look(self, number: int, now: float) -> None:
        host = self.list[number]
        self._offers[number] = _NONE
        self._held[number] = True
        self._idle[number] = False
        if not self._open(host) or host.full(self.politeness):
            return
        head = self.frontier.head(number)
        ready = self.ready_at(host)
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
