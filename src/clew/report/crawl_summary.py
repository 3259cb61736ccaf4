"""`CrawlSummary`: what a report says, folded from a stored crawl."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from clew.errors import ClewError
from clew.frontier.host import given_up
from clew.messages import Decision, SaveHost, Via
from clew.policy.focus_ledger import FocusChange
from clew.predicate.interests import formulas
from clew.report.crawl_fold import (
    PAGE_RESULTS,
    CrawlFold,
    Curve,
    FoundPage,
    InterestFinds,
    ThinnedCurve,
    fold_trace,
)
from clew.run.explain import part_names
from clew.run.focus_changes import focus_changes
from clew.run.settings import stored_config
from clew.store.base import Counts, PageRow, Reader

#: A report stays readable, and small: no more finds and hosts than this are listed, nor more characters of
#: finds (a title may have thousands).
MAX_FINDS = 1000
MAX_HOSTS = 100
MAX_LISTED = 700_000


@dataclass(frozen=True, slots=True)
class ComparedCrawl:
    """One crawl as a line of a comparison."""

    name: str
    curve: Curve
    pages: int
    requests: int
    matches: int
    changes: tuple[FocusChange, ...] = ()
    """Changes of what was sought."""

    @property
    def requests_per_match(self) -> float | None:
        """How many requests one find took; None without finds."""
        return self.requests / self.matches if self.matches else None


@dataclass(frozen=True, slots=True)
class CrawlSummary:
    """Everything a report needs, small enough to hold."""

    counts: Counts
    curve: Curve
    """(pages, matches) along the crawl."""
    finds: tuple[PageRow, ...]
    """The best finds, best first, without their text."""
    hosts: tuple[SaveHost, ...]
    """The hosts with the most pages, of those that were asked for any."""
    asked: int
    """How many hosts were asked; the store also counts those that are known by links alone."""
    given_up: tuple[SaveHost, ...]
    """Hosts that failed too often and were excluded."""
    config: dict[str, Any]
    meta: dict[str, Any]
    visited: tuple[int, int] = (0, 0)
    """Pages that people's visits led to and no link, and how many of them are finds."""
    changes: tuple[FocusChange, ...] = ()
    """Changes of what was sought."""
    interests: dict[str, Curve] = field(default_factory=dict)
    """(pages, finds) along the crawl of each interest, by name, where there are several."""
    fold: CrawlFold = field(default_factory=CrawlFold)
    """What its trace tells."""

    def run(self, name: str) -> ComparedCrawl:
        """The crawl as a line of a comparison."""
        counts = self.counts
        return ComparedCrawl(name, self.curve, counts.pages, counts.requests, counts.matched, self.changes)


def gather(store: Reader) -> CrawlSummary:
    """Read a crawl once, keeping only what a report shows."""
    finds = heapq.nsmallest(
        MAX_FINDS, store.pages(matched=True, text=False), key=lambda page: (-page.score, page.id)
    )
    hosts = heapq.nsmallest(MAX_HOSTS, store.hosts(), key=lambda h: (-h.pages, -h.requests, h.host))
    meta = store.meta()
    config = meta.get("config")
    fold = fold_crawl(store)
    return CrawlSummary(
        counts=store.counts(),
        curve=fold.curve.points,
        finds=tuple(_as_many_as_fit(finds)),
        hosts=tuple(hosts),
        asked=sum(1 for _ in store.hosts()),
        given_up=tuple(islice((host for host in store.hosts() if given_up(host)), MAX_HOSTS)),
        config=config if isinstance(config, dict) else {},
        meta=meta,
        visited=_visited(store) if meta.get("visits") else (0, 0),
        changes=focus_changes(store),
        interests=_interests(store, config if isinstance(config, dict) else {}, fold.curve.points),
        fold=fold,
    )


def _interests(store: Reader, config: dict[str, Any], curve: Curve) -> dict[str, Curve]:
    """(pages, finds) along the crawl for each interest, as pages are judged now."""
    named = [name for name in formulas(str(config.get("match", ""))) if name]
    names = list(dict.fromkeys([*named, *store.counts().by_interest]))
    found = InterestFinds()
    for number, page in enumerate(store.pages(text=False) if names else (), start=1):
        found.add(number, page.id, page.interests if page.matched else ())
    pages = [page for page, _ in curve]
    return {name: tuple(zip(pages, found.curve(name, pages), strict=True)) for name in names}


def fold_crawl(store: Reader) -> CrawlFold:
    """The trace of a stored crawl, folded; finds as they are judged now."""
    try:
        config = stored_config(store.meta())
        names, strategy = part_names(config), config.strategy
    except ClewError:  # the directory of a stranger
        names, strategy = (), ""
    fold = fold_trace(store.decisions(), names, strategy)
    if fold.rejudged_at is not None:
        finds = store.pages(matched=True, text=False)
        fold.rejudge(FoundPage(page.id, page.score, page.url) for page in finds)
    return fold


def _as_many_as_fit(finds: Iterable[PageRow]) -> Iterator[PageRow]:
    room = MAX_LISTED
    for page in finds:
        room -= len(page.title) + 2 * len(page.url)
        if room < 0:
            return
        yield page


def _visited(store: Reader) -> tuple[int, int]:
    """Pages that came by visits, and the finds among them."""
    came = [page.matched for page in store.pages(text=False) if page.via == Via.VISITS]
    return len(came), sum(came)


def harvest_curve(decisions: Iterable[Decision]) -> Curve:
    """(pages, matches) after each page, thinned, the last always kept."""
    curve = ThinnedCurve()
    for decision in decisions:
        if decision.kind == "page" and decision.result in PAGE_RESULTS:
            curve.add(decision.result == "match")
    return curve.points
