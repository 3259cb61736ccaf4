"""`Progress`, the running tally of a crawl, and `Observer`, anyone who wants to watch."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clew import url as urls
from clew.messages import Close, Effect, Record, SavePage, State
from clew.policy.recall import KnownTargets, RecallEstimate
from clew.run.waits import Wait

_POINTS = 512
_FINDS = 20


@dataclass(slots=True)
class Progress:
    """What a crawl has done so far. Updated by the driver; observers only read it."""

    pages: int = 0
    matches: int = 0
    requests: int = 0
    failed: int = 0
    duplicates: int = 0
    queued: int = 0
    in_flight: int = 0
    wire: int = 0
    audits: int = 0
    """Choices that were checked against all other candidates, …"""
    best: int = 0
    """… and found to be the best there was."""
    started: float = 0.0
    now: float = 0.0
    elapsed_before: float = 0.0
    """Seconds of earlier sessions of the same crawl."""
    budget: int | None = None
    """Pages to fetch, when there is a limit."""
    curve: list[tuple[int, int]] = field(default_factory=list)
    """(pages, matches), thinned to a few hundred points."""
    hosts: dict[str, list[int]] = field(default_factory=dict)
    """host -> [pages, matches, requests] of this session."""
    finds: deque[tuple[float, str, str]] = field(default_factory=lambda: deque(maxlen=_FINDS))
    """The last finds: (score, url, title)."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Links and candidates left out in this session, by reason."""
    by_interest: dict[str, int] = field(default_factory=dict)
    """Finds by the names of the interests, where there are several."""
    recall: RecallEstimate | None = None
    """How much of what is sought was found, as of the last look; None while there is too little to say."""
    known: KnownTargets | None = None
    """Targets that were known before, and how many of them were found."""
    waiting: list[Wait] = field(default_factory=list)
    """What waits, until when and why; looked at now and then."""
    _step: int = 1

    @property
    def harvest(self) -> float:
        """Finds per page fetched."""
        return self.matches / self.pages if self.pages else 0.0

    def take(self, effects: Sequence[Effect]) -> None:
        """Fold one batch of effects in."""
        for effect in effects:
            if isinstance(effect, SavePage):
                self._page(effect)
            elif isinstance(effect, Record):
                if effect.decision.kind in ("page", "robots", "sitemap"):
                    self._tally(urls.host(effect.decision.url))[2] += 1
                for reason, count in effect.decision.dropped:
                    self.dropped[reason] = self.dropped.get(reason, 0) + count
            elif isinstance(effect, Close) and effect.state in (State.DROPPED, State.FAILED):
                self.dropped[effect.reason] = self.dropped.get(effect.reason, 0) + 1

    def point(self) -> None:
        """Add a point to the curve, at wider steps as it grows."""
        if self.curve and self.pages - self.curve[-1][0] < self._step:
            return
        self.curve.append((self.pages, self.matches))
        if len(self.curve) >= _POINTS:
            del self.curve[1::2]
            self._step *= 2

    def _page(self, saved: SavePage) -> None:
        tally = self._tally(urls.host(saved.page.url))
        tally[0] += 1
        tally[1] += saved.matched
        if saved.matched:
            self.finds.append((saved.verdict.score, saved.page.url, saved.page.title))

    def _tally(self, host: str) -> list[int]:
        return self.hosts.setdefault(host, [0, 0, 0])


class Observer(Protocol):
    """Watches a crawl. Called on the driver's thread: be quick, and never raise."""

    def started(self, progress: Progress) -> None: ...

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None: ...

    def finished(self, progress: Progress, reason: str) -> None: ...
