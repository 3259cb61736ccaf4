"""Clocks: the wall's, and one that only moves when nobody has anything to do."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time to the driver, and waits for it."""

    def now(self) -> float: ...

    async def wait(self, event: asyncio.Event, until: float | None) -> None:
        """Return when the event is set or that time has come (None: never)."""
        ...


class WallClock:
    """Seconds since the epoch, never going backwards within a run even when the wall clock is set."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        return time.monotonic() + self._offset

    async def wait(self, event: asyncio.Event, until: float | None) -> None:
        if event.is_set():
            return
        try:
            async with asyncio.timeout(None if until is None else max(0.0, until - self.now())):
                await event.wait()
        except TimeoutError:
            return


class VirtualClock:
    """Time that jumps: waiting for a time makes it that time.

    >>> clock = VirtualClock(100.0)
    >>> clock.advance_to(160.0); clock.now()
    160.0
    """

    def __init__(self, now: float = 0.0) -> None:
        self._now = now

    def __repr__(self) -> str:
        return f"VirtualClock({self._now})"

    def now(self) -> float:
        return self._now

    def advance_to(self, at: float) -> None:
        self._now = max(self._now, at)

    async def wait(self, event: asyncio.Event, until: float | None) -> None:
        # Whatever is under way in a recorded web finishes without time passing: let it.
        for _ in range(3):
            await asyncio.sleep(0)
            if event.is_set():
                return
        if until is None:
            await event.wait()
        else:
            self.advance_to(until)
