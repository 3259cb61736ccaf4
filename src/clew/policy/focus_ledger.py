"""`FocusLedger`: what each change of focus cost, and what it led to, as a fold over pages and changes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class FocusChange:
    """A change of what is sought, and what was fetched until the next one."""

    pages: int
    """Pages fetched before it."""
    before: str
    after: str
    off_topic: int
    """Pages fetched until the next change that are no finds."""
    finds: int
    """Finds among the pages fetched until the next change."""
    led_to: int
    """Finds, whenever fetched, whose path from a start page crosses a page that is no find and was fetched
    until the next change. A path may cross pages of several changes; the find counts for each."""


@dataclass(slots=True)
class _Period:
    pages: int
    before: str
    after: str
    off_topic: int = 0
    finds: int = 0
    led_to: int = 0


class FocusLedger(Generic[Key]):
    """Counts pages by the focus they were fetched under.

    >>> ledger = FocusLedger[str]()
    >>> ledger.record_page("start", None, find=True)
    >>> ledger.record_change("sailing AND rügen", "rügen")
    >>> ledger.record_page("hotels", "start", find=False)
    >>> ledger.record_change("rügen", "sailing AND rügen")
    >>> ledger.record_page("regatta", "hotels", find=True)
    >>> [(one.off_topic, one.finds, one.led_to) for one in ledger.changes], ledger.tunnelled
    ([(1, 0, 1), (0, 1, 0)], 1)
    >>> ledger.behind("hotels"), ledger.behind("regatta")
    (1, 0)
    """

    def __init__(self) -> None:
        self.tunnelled = 0
        """Finds whose path crosses pages that are no finds, whatever was sought when those were fetched."""
        self._periods = [_Period(0, "", "")]
        self._sources: dict[Key, Key | None] = {}
        self._passed: dict[Key, int] = {}
        """Pages that are no finds, and the period each was fetched in."""
        self._finds: set[Key] = set()
        self._pages = 0

    def __repr__(self) -> str:
        return f"FocusLedger({self._pages} pages, {len(self._periods) - 1} changes)"

    @property
    def changes(self) -> tuple[FocusChange, ...]:
        """The changes so far, in order."""
        return tuple(
            FocusChange(
                pages=one.pages,
                before=one.before,
                after=one.after,
                off_topic=one.off_topic,
                finds=one.finds,
                led_to=one.led_to,
            )
            for one in self._periods[1:]
        )

    def record_change(self, before: str, after: str) -> None:
        """Something else is sought from now on."""
        self._periods.append(_Period(self._pages, before, after))

    def record_source(self, key: Key, source: Key | None) -> None:
        """What led to an address that may be no page, such as a redirect."""
        self._sources[key] = source

    def record_page(self, key: Key, source: Key | None, *, find: bool) -> None:
        """A page was fetched; `source` is what led to it, None for a start page."""
        self._pages += 1
        self._sources[key] = source
        if not find:
            self._passed[key] = len(self._periods) - 1
            self._periods[-1].off_topic += 1
            return
        self._periods[-1].finds += 1
        self._finds.add(key)
        crossed = self._crossed(source)
        self.tunnelled += bool(crossed)
        for period in crossed:
            self._periods[period].led_to += 1

    def behind(self, source: Key | None) -> int:
        """How many pages that are no finds lie between a page and the last find, or the start page, on the
        path that led to it; `source` is what led to it."""
        met: set[Key] = set()
        while source is not None and source not in met and source not in self._finds:
            met.add(source)
            source = self._sources.get(source)
        return sum(key in self._passed for key in met)

    def _crossed(self, key: Key | None) -> set[int]:
        """The periods in which the pages on a path that are no finds were fetched."""
        found: set[int] = set()
        met: set[Key] = set()
        # A directory may be a stranger's: its sources may lead round.
        while key is not None and key not in met:
            met.add(key)
            if (period := self._passed.get(key)) is not None:
                found.add(period)
            key = self._sources.get(key)
        return found
