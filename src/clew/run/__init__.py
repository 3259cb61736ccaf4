"""Drivers: the engine's tasks performed and its effects saved.

A `Session` takes a configuration and a store, puts the engine together (or takes it up where it
stopped), and lets a `Driver` move tasks out to the fetcher, replies through the parser into the engine,
and effects into the store. Live and replay differ in the fetcher and the clock, nothing else. Invariant:
effects are saved in the order the engine gave them, before anything more is leased.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.lazy import loader

if TYPE_CHECKING:
    from clew.run.clock import Clock, VirtualClock, WallClock
    from clew.run.config import CrawlConfig
    from clew.run.observe import Observer, Progress
    from clew.run.session import Finished, Session

__all__ = ["Clock", "CrawlConfig", "Finished", "Observer", "Progress", "Session", "VirtualClock", "WallClock"]

#: Loaded when they are first asked for: a verb that only reads a crawl needs none of them.
__getattr__ = loader(
    __name__,
    {
        "Clock": "clew.run.clock",
        "CrawlConfig": "clew.run.config",
        "Finished": "clew.run.session",
        "Observer": "clew.run.observe",
        "Progress": "clew.run.observe",
        "Session": "clew.run.session",
        "VirtualClock": "clew.run.clock",
        "WallClock": "clew.run.clock",
    },
)
