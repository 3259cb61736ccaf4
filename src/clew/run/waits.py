"""What waits in a crawl, stored or under way, for how long and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.frontier.host import RETRY_AFTER, Host, waits_of
from clew.messages import SaveHost

if TYPE_CHECKING:
    from clew.engine import Crawl

#: Rests of no more seconds than this are the usual pace and not worth a word.
_USUAL = 10.0


@dataclass(frozen=True, slots=True)
class Wait:
    """One host, or one origin of it, or the whole crawl, that is not asked for anything before a certain
    time."""

    place: str
    until: float
    why: str


def waits(rows: Iterable[SaveHost], now: float) -> list[Wait]:
    """What waits at that time, longest first; hosts that were given up wait for nothing.

    >>> row = SaveHost(host="a.example", next_at=90, delay=1, failures=3, requests=3, pages=0, matches=0)
    >>> waits([row], 50.0)
    [Wait(place='a.example', until=90, why='it failed 3 times in a row')]
    """
    found = []
    for row in rows:
        host = Host(row.host, 0, False, row.delay, 1)
        host.recall(row)
        found += _of_host(host, row.next_at, row.delay, now)
    return sorted(found, key=_longest_first)


def waits_in(crawl: Crawl, now: float) -> list[Wait]:
    """What waits in a crawl under way: first the whole of it, if this machine is in trouble, then hosts."""
    found: list[Wait] = []
    for host in crawl.hosts.list:
        if host.next_at > now or host.notes:
            found += _of_host(host, host.next_at, host.delay, now)
    found.sort(key=_longest_first)
    trouble = crawl.leaser.pause
    return found if trouble is None else [Wait("everything", *trouble), *found]


def _longest_first(wait: Wait) -> tuple[float, str]:
    return -wait.until, wait.place


def _of_host(host: Host, next_at: float, delay: float, now: float) -> list[Wait]:
    if host.excluded:
        return []
    found = [
        Wait(origin, until, "its robots.txt could not be had, and is asked for again then")
        for origin, until in waits_of(host.notes).items()
        if until > now
    ]
    if next_at - now > max(_USUAL, delay):
        found.append(Wait(host.name, next_at, _why(host)))
    return found


def _why(host: Host) -> str:
    if host.notes.get(RETRY_AFTER):
        return "it asked for that (Retry-After)"
    if host.failures:
        return f"it failed {host.failures} time{'s' if host.failures > 1 else ''} in a row"
    return "a clock ran ahead when it was last asked; a resumed crawl waits for the delay only"
