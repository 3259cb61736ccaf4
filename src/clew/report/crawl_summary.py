"""`CrawlSummary`: what a report says, folded from a stored crawl."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from clew.frontier.host import given_up
from clew.messages import Decision, SaveHost, Via
from clew.store.base import Counts, PageRow, Reader

#: A report stays readable: no more finds and hosts than this are listed.
MAX_FINDS = 500
MAX_HOSTS = 100
MAX_POINTS = 512

#: Results of a decision that mean a page was fetched and judged.
_PAGE_RESULTS = frozenset({"match", "miss", "duplicate", "noindex"})

Curve = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ComparedCrawl:
    """One crawl as a line of a comparison."""

    name: str
    curve: Curve
    pages: int
    requests: int
    matches: int

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

    def run(self, name: str) -> ComparedCrawl:
        """The crawl as a line of a comparison."""
        counts = self.counts
        return ComparedCrawl(name, self.curve, counts.pages, counts.requests, counts.matched)


def gather(store: Reader) -> CrawlSummary:
    """Read a crawl once, keeping only what a report shows."""
    finds = heapq.nsmallest(
        MAX_FINDS, store.pages(matched=True, text=False), key=lambda page: (-page.score, page.id)
    )
    hosts = heapq.nsmallest(MAX_HOSTS, store.hosts(), key=lambda h: (-h.pages, -h.requests, h.host))
    meta = store.meta()
    config = meta.get("config")
    return CrawlSummary(
        counts=store.counts(),
        curve=harvest_curve(store.decisions()),
        finds=tuple(finds),
        hosts=tuple(hosts),
        asked=sum(1 for _ in store.hosts()),
        given_up=tuple(islice((host for host in store.hosts() if given_up(host)), MAX_HOSTS)),
        config=config if isinstance(config, dict) else {},
        meta=meta,
        visited=_visited(store) if meta.get("visits") else (0, 0),
    )


def _visited(store: Reader) -> tuple[int, int]:
    """Pages that came by visits, and the finds among them."""
    came = [page.matched for page in store.pages(text=False) if page.via == Via.VISITS]
    return len(came), sum(came)


def harvest_curve(decisions: Iterable[Decision]) -> Curve:
    """(pages, matches) after each page, thinned to at most `MAX_POINTS` points, the last always kept."""
    points: list[tuple[int, int]] = [(0, 0)]
    pages = matches = 0
    step = 1
    for decision in decisions:
        if decision.kind != "page" or decision.result not in _PAGE_RESULTS:
            continue
        pages += 1
        matches += decision.result == "match"
        if pages % step == 0:
            points.append((pages, matches))
        if len(points) >= MAX_POINTS:
            # halve: every point that remains is a multiple of the new step
            step *= 2
            points = [point for point in points if point[0] % step == 0]
    if points[-1][0] != pages:
        points.append((pages, matches))
    return tuple(points)
