"""`Hosts`: every host of the crawl and its pace. Politeness lives here and nowhere else.

Each host is free, resting (no request before `next_at`), or busy (as many requests under way as it is
allowed). Hosts that live at one address share a `HostAddress`, which is free, resting or busy in the same
way. Whoever changes a host adds its number to `changed`, so that only those are looked at again
(`clew.frontier.ready_hosts`).

Invariant: a host that is not the user's own never has two requests under way, and never gets one
before `next_at`; and the same holds of an address, as soon as it is known whose it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from clew.errors import RETRY, Reason
from clew.frontier.host import REST, Host, HostAddress, Politeness, Robots

__all__ = ["Host", "HostAddress", "Hosts", "Politeness", "Robots"]

_LINGER = 60.0
#: Seconds until what nobody replied to is asked for again, while nobody has replied to anything.
_SOON = 1.0
_NO_REPLY = frozenset({Reason.DNS, Reason.UNKNOWN_HOST, Reason.CONNECT, Reason.RESET})
#: Addresses of one host that are minded; a name with more is a lottery anyway.
_ADDRESSES = 16


class Hosts:
    """All hosts of a crawl, by number and by name: when each may be asked, how it does, where it lives."""

    def __init__(self, politeness: Politeness) -> None:
        self.politeness = politeness
        self.list: list[Host] = []
        self.addresses: dict[str, HostAddress] = {}
        self.changed: set[int] = set()
        """Hosts that may have become free, or no longer are, since `ReadyHosts` last looked."""
        self.not_before = 0.0
        """Nobody but the user's own hosts gets a request before this time."""
        self.answers = 0
        """Usable replies from anyone."""
        self.silent: set[int] = set()
        """Hosts that failed since anyone last replied."""
        self.resolving = False
        """Whether names are looked up before a host is asked for anything."""
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.list)

    def __repr__(self) -> str:
        busy = sum(host.in_flight > 0 for host in self.list)
        return f"Hosts({len(self.list)}, {busy} busy)"

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
        host = self.add(name)
        self.changed.add(host.number)
        return host.number

    def numbers(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of many hosts, one each."""
        return np.array([self.number(name) for name in names], np.int64)

    def add(self, name: str) -> Host:
        """A host that was not known; whoever adds one sees to it that it is looked at."""
        n = len(self.list)
        own = self.politeness.own(name)
        delay = self.politeness.own_delay if own else self.politeness.delay
        limit = self.politeness.own_limit if own and delay == 0 else 1
        host = Host(name, n, own, delay, limit, 0.0 if own else self.not_before)
        self.list.append(host)
        self._numbers[name] = n
        return host

    def touch(self, number: int) -> None:
        """Something about this host changed: look at it again before the next pick."""
        self.changed.add(number)

    def touch_all(self, numbers: NDArray[np.int64] | NDArray[np.int32]) -> None:
        """Something about each of these hosts changed: look at them again before the next pick."""
        self.changed.update(numbers.tolist())

    # when a host may be asked

    def ready_at(self, host: Host) -> float:
        """The time before which neither the host nor an address of it may be asked."""
        if not host.addresses:
            return host.next_at
        return max(host.next_at, *(shared.next_at for shared in host.addresses))

    def free(self, host: Host, now: float) -> bool:
        """Whether the host may be asked for something now."""
        return self.open(host) and self.ready_at(host) <= now

    def begin(self, host: Host) -> None:
        """A request to this host goes out."""
        host.in_flight += 1
        self.touch(host.number)
        for shared in host.addresses:
            shared.in_flight += 1
            self.changed.update(shared.hosts)

    def end(self, host: Host, now: float, rest: float = 0.0) -> None:
        """A request to this host came back; it rests for its delay, or longer if told so."""
        host.in_flight -= 1
        pause = host.pause(self.politeness) + (0.0 if host.own else self.politeness.margin)
        if rest > pause or REST in host.notes:
            host.note(REST, rest if rest > pause else 0.0)
        self.rest(host, now + max(pause, min(rest, self.politeness.longest_rest)))
        for shared in host.addresses:
            shared.in_flight -= 1
            shared.next_at = max(shared.next_at, now + pause)
            self.changed.update(shared.hosts)

    def undo(self, host: Host) -> None:
        """A request to this host was not made after all."""
        host.in_flight -= 1
        self.touch(host.number)
        for shared in host.addresses:
            shared.in_flight -= 1
            self.changed.update(shared.hosts)

    def rest(self, host: Host, until: float) -> None:
        """No request to this host before that time."""
        host.next_at = max(host.next_at, until)
        self.touch(host.number)

    # how hosts are

    @property
    def outage(self) -> bool:
        """Nobody answers any more, though some did: our own network may be at fault."""
        return self.answers > 0 and len(self.silent) >= self.politeness.outage

    def backoff(self, reason: Reason, attempt: int) -> float:
        """Seconds to wait before a request that failed is made again, by the table of `clew.errors`.

        As long as nobody has answered at all, a seed or a proxy was mistyped more likely than a host is
        overburdened, and somebody waits to be told: it is asked again soon.
        """
        rest = RETRY[reason].rest
        if not self.answers and reason in _NO_REPLY:
            rest = min(rest, _SOON)
        return rest * float(2**attempt)

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
        for shared in [p for p in host.addresses if p.address not in found and now - p.next_at > _LINGER]:
            if not host.in_flight:
                host.addresses.remove(shared)
                shared.hosts.remove(host.number)
        for address in found:
            self.meet(host, address)

    def meet(self, host: Host, address: str) -> None:
        """One more address of a host is known."""
        if host.own or not address or any(shared.address == address for shared in host.addresses):
            return
        shared = self.addresses.setdefault(address, HostAddress(address))
        shared.hosts.append(host.number)
        shared.in_flight += host.in_flight
        host.addresses.append(shared)
        host.unsaved = True
        self.changed.update(shared.hosts)

    def open(self, host: Host) -> bool:
        """Nothing but time can keep it from being asked."""
        if host.blocked or host.resolving or host.excluded or host.in_flight >= host.limit:
            return False
        return not any(shared.in_flight for shared in host.addresses)
