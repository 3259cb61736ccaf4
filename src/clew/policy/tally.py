"""`Tally`: what a crawl has spent and found so far."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest


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
    interests: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """The interests that a find satisfies, by the number of its page; of finds of several interests alone."""

    by_interest: Counter[str] = field(default_factory=Counter)
    """Finds by the names of interests."""

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

    def record_page(self, matched: bool, *, repeated: bool = False, interests: tuple[str, ...] = ()) -> None:
        """Count a page that was judged."""
        self.pages += 1
        self.duplicates += repeated
        if matched:
            self.matches += 1
            self.finds.append(self.pages)
            self.unpromising_streak = 0
            self.name_find(self.pages, interests)

    def name_find(self, page: int, interests: tuple[str, ...]) -> None:
        """A page satisfies these interests, whatever it did before."""
        self.by_interest.subtract(self.interests.pop(page, ()))
        self.by_interest.update(interests)
        if interests:
            self.interests[page] = interests

    def recall(self, matched: Iterable[bool], interests: Iterable[tuple[str, ...]] = ()) -> None:
        """Count the pages of earlier sessions, in the order they were judged."""
        for one, names in zip_longest(matched, interests, fillvalue=()):
            self.record_page(bool(one), interests=names or ())
