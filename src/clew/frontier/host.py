"""`Host`, what is known of one host, and `Politeness`, how hosts are treated.

The time between two requests is the longest of: the user's delay, the host's own Crawl-delay, a multiple of
the time it takes to answer, and the slow-down it asked for by 429 or 503, which wears off with every request
it answers. A host that fails time and again rests longer and longer, and in the end is excluded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from clew.frontier.robots import Rules
from clew.messages import SaveHost

RETRY_AFTER = "retry_after"
"""The name under which a host remembers the rest that its last reply asked for."""
REST = "rest"
"""The name under which it remembers how long it rests after its last request, if longer than its delay."""
PARKED = "robots_waits"
"""The name under which a host remembers its parked origins."""

_RECOVERY = 0.8
_FRESH = 0.25
_SHORTEST_REST = 0.1
_REST_FROM = 3


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
    strain: float = 2.0
    """A host is left alone for at least so many times the time it takes to answer, …"""
    strain_limit: float = 10.0
    """… up to so many seconds."""
    slowest: float = 60.0
    """The longest delay that 429 and 503 lead to."""
    longest_rest: float = 3600.0
    """The longest rest, whoever asks for it."""
    patience: int = 20
    """Failures in a row after which a host is excluded; one more for every four requests it has answered."""
    patience_mute: int = 3
    """`patience` for a host that never answered anything; twice as many while nobody else answers either."""
    outage: int = 5
    """So many hosts failing with no reply from anyone in between are taken for a fault of our own network."""
    address_age: float = 1800.0
    """Seconds after which a host's name is looked up again."""
    per_host: int | None = None
    """Pages fetched from one host, at most."""
    margin: float = 0.0
    """Seconds on top of every delay: a server may note the end of its reply after we have seen it."""


@dataclass(slots=True)
class Robots:
    """What is known of one origin's robots.txt."""

    status: int
    at: float
    body: bytes
    rules: Rules


@dataclass(slots=True)
class HostAddress:
    """One address, and the hosts that live there: one request at a time for all of them together."""

    address: str
    next_at: float = 0.0
    in_flight: int = 0
    hosts: list[int] = field(default_factory=list)


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
    wire: int = 0
    """Bytes received from it."""
    pages: int = 0
    matches: int = 0
    robots: dict[str, Robots] = field(default_factory=dict)
    robots_from: dict[str, tuple[str, int, int]] = field(default_factory=dict)
    """Origin -> (where to ask for its robots.txt next, redirects so far, attempts so far)."""
    answered: int = 0
    """Requests that got a usable reply."""
    mute: bool = True
    """No reply of any kind ever came."""
    excluded: bool = False
    """Given up for good."""
    slow: float = 0.0
    """Extra delay since it last said that it was asked too much."""
    latency: float = 0.0
    """Seconds it takes to answer, smoothed."""
    addresses: list[HostAddress] = field(default_factory=list)
    resolved_at: float | None = None
    resolving: bool = False
    notes: dict[str, object] = field(default_factory=dict)
    """What other parts want remembered of it, as plain data."""
    unsaved: bool = False
    """Its memory changed since it was last saved."""

    def robots_delay(self, politeness: Politeness) -> None:
        """Take the longest Crawl-delay of its origins, within reason."""
        if self.own and not politeness.own_robots:
            return
        asked = [r.rules.delay for r in self.robots.values() if r.rules.delay is not None]
        base = politeness.own_delay if self.own else politeness.delay
        self.delay = max([base, *(min(d, politeness.longest) for d in asked)])
        if self.own and self.delay > 0:
            self.limit = 1

    def pause(self, politeness: Politeness) -> float:
        """Seconds between two requests, as things are."""
        if self.own:
            return self.delay
        strain = min(self.latency * politeness.strain, politeness.strain_limit)
        return max(self.delay, self.slow, strain)

    def well(self, elapsed: float) -> None:
        """It gave a usable reply."""
        self.answered += 1
        self.mute = False
        self.failures = 0
        self.slow = self.slow * _RECOVERY if self.slow * _RECOVERY > self.delay else 0.0
        self.latency += (elapsed - self.latency) * (_FRESH if self.latency else 1.0)

    def unwell(
        self, politeness: Politeness, *, replied: bool = False, busy: bool = False, outage: bool = False
    ) -> float:
        """It failed; gives the rest it needs beyond its delay, longer with every failure in a row.

        Parameters: `replied`, it said something at least; `busy`, that it is asked too much; `outage`, nobody
        else answers either.
        """
        self.failures += 1
        self.mute = self.mute and not replied
        if busy and not self.own:
            self.slow = min(2 * max(self.pause(politeness), 0.5), politeness.slowest)
        limit = politeness.patience + self.answered // 4
        if self.mute:
            limit = politeness.patience_mute * (2 if outage else 1)
        if self.failures >= limit and not self.excluded:
            self.excluded = self.unsaved = True
        if self.failures < _REST_FROM:
            return 0.0
        base = max(self.delay, _SHORTEST_REST)
        return float(min(base * 2 ** min(self.failures - _REST_FROM + 1, 12), politeness.longest_rest))

    def longest_rest(self, politeness: Politeness) -> float:
        """Seconds that it may rest at most after a restart: what its last reply, or the lack of one, led to.

        The time it rested until was told by a clock that may have been wrong.
        """
        told = [self.notes.get(name) for name in (REST, RETRY_AFTER)]
        asked = max([0.0, *[float(seconds) for seconds in told if isinstance(seconds, int | float)]])
        return max(self.pause(politeness), min(asked, politeness.longest_rest))

    def full(self, politeness: Politeness) -> bool:
        """No more pages are wanted from it."""
        return politeness.per_host is not None and self.pages + self.in_flight >= politeness.per_host

    @property
    def refusal(self) -> str | None:
        """Why nothing of it is fetched any more; None while something may be."""
        if not self.excluded:
            return None
        return "host-banned" if self.notes.get("banned") else "host-excluded"

    def ban(self) -> None:
        """Exclude it because somebody said so; nothing that it answers changes that."""
        self.excluded = True
        self.note("banned", True)

    def note(self, name: str, value: object) -> None:
        """Remember plain data under a name; an empty value forgets it."""
        if value:
            self.notes[name] = value
        else:
            self.notes.pop(name, None)
        self.unsaved = True

    def row(self, politeness: Politeness, *, robots: bool = False) -> SaveHost:
        """What to save of it now."""
        known = [(origin, r.status, r.at, r.body) for origin, r in self.robots.items()] if robots else None
        memory = self._memory() if self.unsaved else None
        self.unsaved = False
        return SaveHost(
            host=self.name,
            next_at=self.next_at,
            delay=self.pause(politeness),
            failures=self.failures,
            requests=self.requests,
            pages=self.pages,
            matches=self.matches,
            wire=self.wire,
            robots=None if known is None else tuple(known),
            memory=memory,
        )

    def recall(self, row: SaveHost) -> tuple[str, ...]:
        """Take in what was saved of it; gives the addresses it had. What is not understood is passed over."""
        self.failures, self.requests = row.failures, row.requests
        self.pages, self.matches, self.wire = row.pages, row.matches, row.wire
        self.answered = max(0, row.requests - row.failures)
        self.mute = self.answered == 0
        self.slow = 0.0 if self.own else row.delay
        try:
            found = json.loads(row.memory or "{}")
        except ValueError:
            return ()
        if not isinstance(found, dict):
            return ()
        self.excluded = found.pop("excluded", False) is True
        addresses = found.pop("addresses", [])
        self.notes = found
        return tuple(map(str, addresses)) if isinstance(addresses, list) else ()

    def _memory(self) -> str:
        kept: dict[str, object] = dict(self.notes)
        if self.excluded:
            kept["excluded"] = True
        if self.addresses:
            kept["addresses"] = [shared.address for shared in self.addresses]
        return json.dumps(kept, separators=(",", ":"), sort_keys=True) if kept else ""


def given_up(row: SaveHost) -> bool:
    """Whether a stored host was excluded.

    >>> row = SaveHost(host="a.example", next_at=0, delay=1, failures=3, requests=3, pages=0, matches=0)
    >>> given_up(row)
    False
    """
    host = Host(row.host, 0, False, row.delay, 1)
    host.recall(row)
    return host.excluded


def waits_of(notes: Mapping[str, object]) -> dict[str, float]:
    """When each parked origin of a host is asked again, by what the host remembers; only what is a time.

    >>> waits_of({PARKED: {"http://a.example": 40.0, "http://b.example": "soon"}})
    {'http://a.example': 40.0}
    """
    found = notes.get(PARKED)
    if not isinstance(found, dict):
        return {}
    return {str(origin): float(at) for origin, at in found.items() if isinstance(at, int | float)}
