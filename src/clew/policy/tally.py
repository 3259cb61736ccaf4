"""`Tally`: what a crawl has spent and found so far."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """What a crawl has spent and found so far, over all its sessions.

    >>> tally = Tally()
    >>> tally.recall([False, True, False, False])
    >>> tally.pages, tally.matches, tally.misses, tally.stale, tally.precision(2)
    (4, 1, 3, 2, 0.0)
    """

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
    widest: bool = False
    """Tunnelling would widen the focus once more, and cannot."""
    finds: array[int] = field(default_factory=lambda: array("L"))
    """Of each find, which page it was: 1 for the first."""

    @property
    def misses(self) -> int:
        """Pages that were no finds."""
        return self.pages - self.matches

    @property
    def stale(self) -> int:
        """Pages since the last find."""
        return self.pages - (self.finds[-1] if self.finds else 0)

    def precision(self, over: int = 0) -> float:
        """The share of finds among the last `over` pages; 0 takes all."""
        window = min(over or self.pages, self.pages)
        found = len(self.finds) - bisect_right(self.finds, self.pages - window)
        return found / window if window else 0.0

    def record_page(self, matched: bool, *, repeated: bool = False) -> None:
        """Count a page that was judged."""
        self.pages += 1
        self.duplicates += repeated
        if matched:
            self.matches += 1
            self.finds.append(self.pages)
            self.unpromising_streak = 0

    def recall(self, matched: Iterable[bool]) -> None:
        """Count the pages of earlier sessions, in the order they were judged."""
        for one in matched:
            self.record_page(one)
