"""A clock for tests: it moves only when somebody waits."""

from clew.run.clock import VirtualClock

__all__ = ["VirtualClock"]
