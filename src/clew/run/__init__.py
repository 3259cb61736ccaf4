"""Drivers: the engine's tasks performed and its effects saved.

A `Session` takes a configuration and a store, puts the engine together (or takes it up where it
stopped), and lets a `Driver` move tasks out to the fetcher, replies through the parser into the engine,
and effects into the store. Live and replay differ in the fetcher and the clock, nothing else. Invariant:
effects are saved in the order the engine gave them, before anything more is leased.
"""

from clew.run.clock import Clock, VirtualClock, WallClock
from clew.run.config import CrawlConfig
from clew.run.observe import Observer, Progress
from clew.run.session import Finished, Session

__all__ = ["Clock", "CrawlConfig", "Finished", "Observer", "Progress", "Session", "VirtualClock", "WallClock"]
