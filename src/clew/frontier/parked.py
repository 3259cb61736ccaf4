"""`ParkedOrigins`: origins whose robots.txt cannot be had now, and their candidates, set aside until it can.

A server that answers 5xx or 429 for its robots.txt forbids everything for the moment, not for good. Its
candidates stay queued in the store; here they are taken out of the frontier, so that they neither hold up
other origins of the host nor are looked at in vain, and put back when it is time to ask again. A crawl that
is taken up again begins with all of them queued, and asks at once.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np

from clew.frontier.host import PARKED, waits_of
from clew.frontier.hosts import Host, Hosts
from clew.frontier.queue import Frontier
from clew.messages import State


@dataclass(slots=True)
class ParkedOrigin:
    """One origin that waits for its robots.txt."""

    host: Host
    until: float
    """When it is asked again."""
    attempts: int
    """Requests for its robots.txt that failed in a row."""
    patience: int
    """Attempts after which a crawl that has nothing else to do no longer waits for it."""
    candidates: list[int] = field(default_factory=list)
    aside: bool = True
    """Whether its candidates are out of the frontier."""


class ParkedOrigins:
    """The origins that wait, by name, and what waits with them."""

    def __init__(self, frontier: Frontier, hosts: Hosts) -> None:
        self.frontier = frontier
        self.hosts = hosts
        self._origins: dict[str, ParkedOrigin] = {}
        self._due: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._origins)

    def get(self, origin: str) -> ParkedOrigin | None:
        """What is known of an origin that waits; None for one that does not."""
        return self._origins.get(origin)

    def park(self, host: Host, origin: str, *, until: float, attempts: int, patience: int) -> None:
        """Ask this origin again at that time; what was set aside for it before is set aside again."""
        before = self._origins.get(origin)
        waiting = [] if before is None else [n for n in before.candidates if self._queued(n)]
        for candidate in waiting:
            self.frontier.close(candidate, State.LEASED)
        self._origins[origin] = ParkedOrigin(host, until, attempts, patience, waiting)
        host.note(PARKED, waits_of(host.notes) | {origin: until})
        heapq.heappush(self._due, (until, origin))
        self.hosts.touch(host.number)

    def add(self, origin: str, candidate: int) -> None:
        """Set a candidate of a parked origin aside."""
        parked = self._origins[origin]
        parked.candidates.append(candidate)
        self.frontier.close(candidate, State.LEASED)
        self.hosts.touch(parked.host.number)

    def wake(self, now: float) -> None:
        """Put back the candidates of the origins that may be asked again."""
        while (due := self.next_ready()) is not None and due <= now:
            self._put_back(self._origins[heapq.heappop(self._due)[1]])

    def release(self, origin: str) -> None:
        """The origin's robots.txt came: its candidates are queued like any other."""
        parked = self._origins.pop(origin, None)
        if parked is not None:
            waits = waits_of(parked.host.notes)
            waits.pop(origin, None)
            parked.host.note(PARKED, waits)
            self._put_back(parked)

    def release_host(self, host: Host) -> None:
        """Put back all that waits at a host, because it was given up."""
        for origin in waits_of(host.notes):
            self.release(origin)

    def next_ready(self) -> float | None:
        """When the next origin may be asked again; None when none has to wait for that."""
        while self._due:
            until, origin = self._due[0]
            parked = self._origins.get(origin)
            if parked is not None and parked.aside and parked.until == until:
                return until
            heapq.heappop(self._due)
        return None

    @property
    def waiting(self) -> bool:
        """Whether candidates are set aside."""
        return any(parked.aside and parked.candidates for parked in self._origins.values())

    @property
    def hopeless(self) -> bool:
        """Whether every origin with something set aside was asked as often as its patience allows."""
        return all(
            parked.attempts > parked.patience
            for parked in self._origins.values()
            if parked.aside and parked.candidates
        )

    def _queued(self, candidate: int) -> bool:
        return bool(self.frontier.states[candidate] == State.QUEUED)

    def _put_back(self, parked: ParkedOrigin) -> None:
        if parked.aside:
            parked.aside = False
            self.frontier.reopen(np.array(parked.candidates, np.int64))
            self.hosts.touch(parked.host.number)
