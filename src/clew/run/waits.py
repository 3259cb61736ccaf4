"""Which hosts of a stored crawl are waiting, for how long and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clew.frontier.host import RETRY_AFTER, Host
from clew.frontier.parked import waits_of
from clew.messages import SaveHost

#: Rests of no more seconds than this are the usual pace and not worth a word.
_USUAL = 10.0


@dataclass(frozen=True, slots=True)
class Wait:
    """One host, or one origin of it, that is not asked for anything before a certain time."""

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
        if host.excluded:
            continue
        parked = waits_of(host.notes)
        found += [
            Wait(origin, until, "its robots.txt could not be had, and is asked for again then")
            for origin, until in parked.items()
            if until > now
        ]
        if row.next_at - now > max(_USUAL, row.delay):
            found.append(Wait(row.host, row.next_at, _why(row, host)))
    return sorted(found, key=lambda wait: (-wait.until, wait.place))


def _why(row: SaveHost, host: Host) -> str:
    if host.notes.get(RETRY_AFTER):
        return "it asked for that (Retry-After)"
    if row.failures:
        return f"it failed {row.failures} time{'s' if row.failures > 1 else ''} in a row"
    return "a clock ran ahead when it was last asked; a resumed crawl waits for the delay only"
