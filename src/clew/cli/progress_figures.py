"""The figures a person watches, worked out from `Progress`."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from clew.cli.console import clean, sparkline
from clew.units import duration_text

if TYPE_CHECKING:
    from clew.run.observe import Progress
    from clew.run.waits import Wait


class Speed:
    """Pages a second over the last half minute, by this machine's clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, window: float = 30.0) -> None:
        self.clock = clock
        self.window = window
        self.seen_: deque[tuple[float, int]] = deque()

    def tick(self, pages: int) -> float:
        """Take in the present count; gives the speed.

        >>> times = iter([0.0, 2.0])
        >>> speed = Speed(lambda: next(times))
        >>> speed.tick(0), speed.tick(10)
        (0.0, 5.0)
        """
        now = self.clock()
        self.seen_.append((now, pages))
        while len(self.seen_) > 2 and now - self.seen_[0][0] > self.window:
            self.seen_.popleft()
        (then, before) = self.seen_[0]
        return (pages - before) / (now - then) if now > then else 0.0


def harvest_bars(curve: Sequence[tuple[int, int]], width: int = 40) -> str:
    """How the harvest rate went, as a row of bars over the pages so far.

    >>> harvest_bars([(0, 0), (10, 0), (20, 10)], width=2)
    '▁█'
    """
    if len(curve) < 2 or curve[-1][0] == curve[0][0]:
        return ""
    first, last = curve[0][0], curve[-1][0]
    width = min(width, last - first)
    edges = [first + (last - first) * step / width for step in range(width + 1)]
    heights = _matches_at(curve, edges)
    return sparkline([after - before for before, after in pairwise(heights)])


def _matches_at(curve: Sequence[tuple[int, int]], places: Sequence[float]) -> list[float]:
    """Matches at given numbers of pages, in between by straight lines; `places` ascend."""
    found, index = [], 0
    for place in places:
        while index < len(curve) - 2 and curve[index + 1][0] < place:
            index += 1
        (left, low), (right, high) = curve[index], curve[index + 1]
        share = (place - left) / (right - left) if right > left else 1.0
        found.append(low + (high - low) * min(1.0, max(0.0, share)))
    return found


def pages_of(pages: int, budget: object) -> str:
    """Pages so far against their budget; a crawl resumed with a smaller one has more already.

    >>> pages_of(300, 400), pages_of(510, 400), pages_of(7, None)
    ('300 of 400', '510, over the budget of 400', '7')
    """
    if not isinstance(budget, int) or not budget:
        return str(pages)
    return f"{pages} of {budget}" if pages <= budget else f"{pages}, over the budget of {budget}"


def interests_text(progress: Progress) -> str:
    """The finds of each interest, where there are several."""
    return ", ".join([f"{name} {count}" for name, count in progress.by_interest.copy().items()])


def recall_text(progress: Progress) -> str:
    """How much was found, as an interval, and how many of the known targets; empty while there is too little
    to say."""
    found = []
    if (estimate := progress.recall) is not None:
        found.append(f"{estimate.low:.2f} to {estimate.high:.2f}")
    if (known := progress.known) is not None:
        found.append(f"{known.found} of {known.counted} known")
    return ", ".join(found)


def waiting_text(waiting: Sequence[Wait], now: float, count: int) -> list[str]:
    """What waits, how long still and why: a line each, of `count` at most.

    >>> from clew.run.waits import Wait
    >>> waiting_text([Wait("a.example", 90.0, "it failed 3 times in a row")], 50.0, 5)
    ['a.example  40s more: it failed 3 times in a row']
    """
    # a copy in one step: the live view draws from its own thread
    left = list(waiting)
    lines = [
        f"{clean(wait.place, 60)}  {duration_text(max(0.0, wait.until - now))} more: {clean(wait.why, 200)}"
        for wait in left[:count]
    ]
    if len(left) > count:
        lines[-1] += f" (and {len(left) - count} more wait)"
    return lines


def elapsed(progress: Progress) -> float:
    """Seconds of crawling, over all sessions."""
    return progress.elapsed_before + max(0.0, progress.now - progress.started)


def busiest(progress: Progress, count: int = 5) -> list[tuple[str, list[int]]]:
    """The hosts with the most requests, with their pages, matches and requests."""
    # a copy in one step: the live view draws from its own thread
    hosts = list(progress.hosts.items())
    return sorted(hosts, key=lambda item: (-item[1][2], item[0]))[:count]
