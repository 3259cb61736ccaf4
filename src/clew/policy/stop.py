"""When to stop: budgets of pages, finds, time, bytes and requests, and when nothing is of interest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """What a crawl has spent and found so far, over all its sessions."""

    pages: int = 0
    matches: int = 0
    requests: int = 0
    failed: int = 0
    duplicates: int = 0
    wire: int = 0
    elapsed: float = 0.0
    """Seconds of earlier sessions."""
    unpromising_streak: int = 0
    """Leases in a row below `Budget.interest`, without a find between them."""
    audits: int = 0
    """Choices that were checked against all other candidates, …"""
    best: int = 0
    """… and found to be the best there was."""


UNPROMISING_LIMIT = 50
"""The unpromising streak at which a crawl has seen what is of interest."""
UNINTERESTING = "nothing interesting"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a crawl; None is no limit.

    >>> Budget(pages=10).spent(Tally(pages=10), 0.0)
    'pages'
    >>> Budget(pages=10).remaining(Tally(pages=7), 2)
    1
    """

    pages: int | None = None
    matches: int | None = None
    seconds: float | None = None
    bytes: int | None = None
    requests: int | None = None
    interest: float | None = None
    """The least interest ratio that is worth a request."""

    def spent(self, tally: Tally, elapsed: float) -> str | None:
        """The name of the first budget that is used up, if any. `elapsed` is this session's seconds."""
        limits = (
            ("pages", self.pages, tally.pages),
            ("matches", self.matches, tally.matches),
            ("time", self.seconds, tally.elapsed + elapsed),
            ("bytes", self.bytes, tally.wire),
            ("requests", self.requests, tally.requests),
        )
        used_up = next((name for name, limit, used in limits if limit is not None and used >= limit), None)
        return UNINTERESTING if used_up is None and tally.unpromising_streak >= UNPROMISING_LIMIT else used_up

    def record_promise(self, tally: Tally, interest: float) -> None:
        """A page is asked for that promises so much."""
        if self.interest is not None:
            tally.unpromising_streak = tally.unpromising_streak + 1 if interest < self.interest else 0

    def remaining(self, tally: Tally, in_flight: int, late: int = 0) -> int:
        """How many more pages may be asked for now, given those under way.

        Those that are `late` may never come; they were asked for, but are not counted upon as pages.

        >>> ten = Budget(pages=10)
        >>> ten.remaining(Tally(pages=9), 1), ten.remaining(Tally(pages=9), 1, late=1)
        (0, 1)
        """
        rooms = [1 << 30]
        if self.pages is not None:
            rooms.append(self.pages - tally.pages - (in_flight - late))
        if self.requests is not None:
            rooms.append(self.requests - tally.requests - in_flight)
        return max(0, min(rooms))
