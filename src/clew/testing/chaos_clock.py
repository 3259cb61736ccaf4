"""A clock for real servers on loopback: real while something happens, ahead of itself when nothing does."""

from __future__ import annotations

import asyncio

from clew.run.clock import WallClock


class HurriedClock(WallClock):
    """The wall's clock, except that no wait takes longer than `grace` seconds: then it is that time already.

    With it a crawl of a misbehaving server passes in seconds what politeness and rests would stretch over
    hours. What a request takes is measured by the fetcher, not by this clock, so time limits stay real.

    >>> clock = HurriedClock(grace=0.0)
    >>> before = clock.now()
    >>> asyncio.run(clock.wait(asyncio.Event(), before + 3600))
    >>> clock.now() >= before + 3600
    True
    """

    def __init__(self, grace: float = 0.05) -> None:
        super().__init__()
        self.grace = grace
        self._skipped = 0.0

    def now(self) -> float:
        return super().now() + self._skipped

    async def wait(self, event: asyncio.Event, until: float | None) -> None:
        if until is None:
            await event.wait()
            return
        try:
            await asyncio.wait_for(event.wait(), min(self.grace, max(0.0, until - self.now())))
        except TimeoutError:
            self._skipped += max(0.0, until - self.now())
