"""`Hosts`: who may be visited now. Politeness lives here and nowhere else.

Each host is free, resting (no request before `next_at`), or busy (as many requests under way as it
is allowed). A free host offers its best candidate; `pick` takes the best offer, the oldest candidate
among equals. Only hosts that something happened to are looked at again.

Invariant: a host that is not the user's own never has two requests under way, and never gets one
before `next_at`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.frontier.queue import Frontier
from clew.frontier.robots import Rules

_NONE = -np.inf


@dataclass(frozen=True, slots=True)
class Politeness:
    """How hosts are treated. The second half is for hosts the user says are theirs."""

    delay: float = 1.0
    agent: str = "clew"
    own: Callable[[str], bool] = lambda host: False
    own_delay: float = 0.0
    own_limit: int = 64
    own_robots: bool = True
    """Whether robots.txt is obeyed on the user's own hosts too."""
    longest: float = 60.0
    """The longest Crawl-delay that is honoured in full."""
    robots_age: float = 86_400.0
    """Seconds after which a robots.txt is asked for again."""


@dataclass(slots=True)
class Robots:
    """What is known of one origin's robots.txt."""

    status: int
    at: float
    body: bytes
    rules: Rules


@dataclass(slots=True)
class Host:
    """One host: its pace, its tallies, its rules."""

    name: str
    number: int
    own: bool
    delay: float
    limit: int
    next_at: float = 0.0
    in_flight: int = 0
    blocked: bool = False
    """Waiting for robots.txt."""
    failures: int = 0
    """Failed requests in a row."""
    requests: int = 0
    pages: int = 0
    matches: int = 0
    robots: dict[str, Robots] = field(default_factory=dict)
    robots_from: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    """Origin -> (where to ask for its robots.txt next, redirects so far, attempts so far)."""

    def robots_delay(self, politeness: Politeness) -> None:
        """Take the longest Crawl-delay of its origins, within reason."""
        if self.own and not politeness.own_robots:
            return
        asked = [r.rules.delay for r in self.robots.values() if r.rules.delay is not None]
        base = politeness.own_delay if self.own else politeness.delay
        self.delay = max([base, *(min(d, politeness.longest) for d in asked)])
        if self.own and self.delay > 0:
            self.limit = 1


class Hosts:
    """All hosts of a crawl, by number and by name."""

    def __init__(self, frontier: Frontier, politeness: Politeness) -> None:
        self.frontier = frontier
        self.politeness = politeness
        self.list: list[Host] = []
        self._numbers: dict[str, int] = {}
        self._offers: NDArray[np.float64] = np.full(64, _NONE)
        self._heads: NDArray[np.int64] = np.full(64, -1, np.int64)
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
        n = len(self.list)
        own = self.politeness.own(name)
        delay = self.politeness.own_delay if own else self.politeness.delay
        limit = self.politeness.own_limit if own and delay == 0 else 1
        self.list.append(Host(name, n, own, delay, limit))
        self._numbers[name] = n
        if n >= len(self._offers):
            size = n + n // 2 + 1
            self._offers = np.concatenate([self._offers, np.full(size - len(self._offers), _NONE)])
            self._heads = np.concatenate([self._heads, np.full(size - len(self._heads), -1, np.int64)])
        return n

    def numbers(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of many hosts, one each."""
        return np.array([self.number(name) for name in names], np.int64)

    def touch(self, number: int) -> None:
        """Something about this host changed: look at it again before the next pick."""
        self._touched.add(number)

    def touch_all(self, numbers: NDArray[np.int64] | NDArray[np.int32]) -> None:
        """The same for many."""
        self._touched.update(numbers.tolist())

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
        return int(self._heads[np.flatnonzero(offers == best)].min())

    def next_ready(self) -> float | None:
        """When the next resting host may be visited again; None when none rests."""
        while self._resting:
            at, number = self._resting[0]
            host = self.list[number]
            if host.next_at == at and not host.blocked and host.in_flight < host.limit:
                return at
            heapq.heappop(self._resting)
        return None

    def begin(self, host: Host) -> None:
        """A request to this host goes out."""
        host.in_flight += 1
        self.touch(host.number)

    def end(self, host: Host, now: float, rest: float = 0.0) -> None:
        """A request to this host came back; it rests for its delay, or longer if told so."""
        host.in_flight -= 1
        self.rest(host, now + max(host.delay, rest))

    def rest(self, host: Host, until: float) -> None:
        """No request to this host before that time."""
        host.next_at = max(host.next_at, until)
        self.touch(host.number)

    def _wake(self, now: float) -> None:
        while self._resting and self._resting[0][0] <= now:
            self._touched.add(heapq.heappop(self._resting)[1])

    def _look(self, number: int, now: float) -> None:
        host = self.list[number]
        self._offers[number] = _NONE
        if host.blocked or host.in_flight >= host.limit:
            return
        head = self.frontier.head(number)
        if head < 0:
            return
        if host.next_at > now:
            heapq.heappush(self._resting, (host.next_at, number))
            return
        self._heads[number] = head
        self._offers[number] = self.frontier.scores[head]
