"""One run: the real engine with a real strategy over a recorded web, without network, disk or event loop.

The engine is told of one task at a time and never of more than that task's reply, so that a strategy sees a
page's text only once the page is fetched.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from clew.engine import Crawl, CrawlRules, SetFocus
from clew.engine.learning import Lesson
from clew.frontier.hosts import Politeness
from clew.lab.parsed_web import AGENT, ParsedWeb
from clew.messages import Effect, Record, SaveCandidates, SavePage, TaskKind, Via
from clew.page import Page
from clew.policy import Budget, Scope
from clew.policy.confidence import Confidence
from clew.policy.focus_ledger import FocusChange, FocusLedger
from clew.policy.tunnel import TunnelRules
from clew.predicate.verdict import Predicate
from clew.strategy.base import Strategy
from clew.strategy.vectorizer import distinct_words

#: The contributions to the scores of fetched links are kept as means over this many parts of the run.
BUCKETS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCrawl:
    """What came of a run. `finds` has the number of the request (from 1) that brought each find."""

    finds: tuple[int, ...]
    found: tuple[str, ...]
    """The URLs of the finds."""
    distances: tuple[int, ...]
    """Of each find, the links from a start page to it, on the path that led there."""
    behind: tuple[int, ...]
    """Of each find, the pages that are no finds between it and the last find, or the start page, on that
    path."""
    changes: tuple[FocusChange, ...]
    """Changes of focus."""
    tunnelled: int
    """Finds whose path crosses pages that are no finds."""
    requests: int
    pages: int
    failed: int
    hosts: int
    """Hosts that got a request."""
    stop: str
    parts: dict[str, tuple[float, ...]]
    """Mean contribution, along the run, to the scores of the links that were fetched."""
    cpu: float
    """Seconds."""
    confidence: Confidence | None = None
    """What was counted of directions, where they could be suspended."""


class SimulatedStore:
    """The lightest of stores: it keeps candidates' URLs, counts finds as a crawl does (a copy is none), and
    forgets the rest."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.finds: list[int] = []
        self.found: list[str] = []
        self.distances: list[int] = []
        self.behind: list[int] = []
        self.ledger = FocusLedger[int]()
        self._sources: list[int | None] = []

    def save(self, effects: Sequence[Effect], requests: int) -> None:
        """Take a batch; so many requests were made before it."""
        for effect in effects:
            if isinstance(effect, SaveCandidates):
                if effect.via == Via.REDIRECT:
                    self.ledger.record_source(effect.source, self._sources[effect.source])
                self.urls.extend(effect.urls)
                self._sources.extend([effect.source if effect.source >= 0 else None] * len(effect.urls))
            elif isinstance(effect, SavePage):
                source = self._sources[effect.candidate]
                self.ledger.record_page(effect.candidate, source, find=effect.matched)
                if effect.matched:
                    self.finds.append(requests + 1)
                    self.found.append(effect.page.url)
                    self.distances.append(effect.depth)
                    self.behind.append(self.ledger.behind(source))
            elif isinstance(effect, Record):
                # A request is recorded after what came of it.
                requests += effect.decision.kind in _REQUESTS


_REQUESTS = frozenset({TaskKind.PAGE.value, TaskKind.ROBOTS.value})

#: Words of pages, cut once for all the runs of a process that meet them.
_CUTS: dict[tuple[str, int], list[str]] = {}
_MOST_CUTS = 50_000


def _words(page: Page) -> list[str]:
    key = (page.url, page.digest)
    found = _CUTS.get(key)
    if found is None:
        if len(_CUTS) >= _MOST_CUTS:
            _CUTS.clear()
        found = _CUTS[key] = distinct_words(page)
    return found


def simulate(
    parsed_web: ParsedWeb,
    predicate: Predicate,
    strategy: Strategy,
    seeds: Sequence[str],
    budget: int,
    *,
    traps: bool = False,
    batch: int = 1,
    tunnel: TunnelRules | None = None,
    prune: bool = False,
    confidence: float | None = None,
) -> SimulatedCrawl:
    """Crawl the parsed_web from the seeds until `budget` requests are spent or nothing is left.

    With `traps`, the engine leaves alone what it takes for traps and mirrors, as it does outside the lab. So
    many pages as `batch` says are asked for, and settled, together. `tunnel` says how the focus widens;
    with `prune`, links of pages that do not satisfy it are left out. With a `confidence`, directions that
    have gone deeper without a find than so many of the finds lie are suspended.

    >>> from clew.lab import DemoWeb
    >>> from clew.predicate import compile
    >>> from clew.strategy import make
    >>> web = DemoWeb()
    >>> wanted = compile(web.formula())
    >>> course = simulate(ParsedWeb(web), wanted, make("breadth-first", wanted), web.seeds(), 50)
    >>> course.requests, course.stop
    (50, 'requests')
    """
    started = time.process_time()
    strategy.cut_words_with(_words)
    store = SimulatedStore()
    rules = CrawlRules(
        scope=Scope(),
        budget=Budget(requests=budget),
        politeness=Politeness(
            agent=AGENT, own=lambda host: True, own_delay=0.0, own_limit=batch, own_robots=parsed_web.robots
        ),
        # What is measured is the choice among links: nothing else adds candidates or takes them away.
        sitemaps="off",
        traps=traps,
        tunnel=tunnel,
        prune=prune,
        confidence=confidence,
    )
    crawl = Crawl(predicate, strategy, rules, store.urls.__getitem__)
    crawl.learner.taught = [] if tunnel is not None else None
    series = _Series(crawl.columns, budget)
    now = 0.0
    store.save(crawl.start(seeds, now), 0)
    while (stop := crawl.stopped(now)) is None:
        tasks = crawl.lease(now, batch)
        if not tasks:
            ready = crawl.next_ready()
            if ready is None and crawl.frontier.queued:
                stop = "frontier blocked"
                break
            now = now if ready is None else max(now, ready)
            continue
        for task in tasks:
            if task.kind is TaskKind.PAGE:
                series.add(crawl.tally.requests, task.terms)
        spent = crawl.tally.requests
        store.save(crawl.settle_many([parsed_web.outcome(task) for task in tasks], now), spent)
        if crawl.tunnelling is not None and crawl.tunnelling.wanted is not None:
            before = crawl.focus.text()
            store.save(_refocus(crawl, crawl.tunnelling.wanted, now), crawl.tally.requests)
            store.ledger.record_change(before, crawl.focus.text())
    tally = crawl.tally
    return SimulatedCrawl(
        finds=tuple(store.finds),
        found=tuple(store.found),
        distances=tuple(store.distances),
        behind=tuple(store.behind),
        changes=store.ledger.changes,
        tunnelled=store.ledger.tunnelled,
        requests=tally.requests,
        pages=tally.pages,
        failed=tally.failed,
        hosts=sum(host.requests > 0 for host in crawl.hosts.list),
        stop=stop,
        parts=series.means(),
        cpu=time.process_time() - started,
        confidence=crawl.confidence,
    )


def _refocus(crawl: Crawl, change: SetFocus, now: float) -> Sequence[Effect]:
    """Command a change of focus; what must be learned again is what was taught, seen with other eyes."""
    refold = crawl.prepare(change)
    if refold is not None:
        refold.strategy.cut_words_with(_words)
        for lessons in crawl.learner.taught or ():
            refold.teach([_sought(lesson, refold.learning.focus) for lesson in lessons])
    return crawl.command(change, now, refold)


def _sought(lesson: Lesson, focus: Predicate) -> Lesson:
    expansion = lesson.expansion
    if lesson.met or not (expansion.page.text or len(expansion.links)):
        return lesson
    return replace(lesson, expansion=replace(expansion, verdict=focus.judge(expansion.page)))


class _Series:
    """Means of the contributions over equal parts of a run."""

    def __init__(self, names: tuple[str, ...], budget: int) -> None:
        self.names = names
        self.width = max(1.0, budget / BUCKETS)
        self.sums = [[0.0] * len(names) for _ in range(BUCKETS + 1)]
        self.counts = [0] * (BUCKETS + 1)

    def add(self, requests: int, parts: tuple[float, ...]) -> None:
        bucket = min(BUCKETS, int(requests / self.width))
        self.counts[bucket] += 1
        row = self.sums[bucket]
        for column, part in enumerate(parts):
            row[column] += part

    def means(self) -> dict[str, tuple[float, ...]]:
        filled = [(row, count) for row, count in zip(self.sums, self.counts, strict=True) if count]
        return {
            name: tuple(round(row[column] / count, 6) for row, count in filled)
            for column, name in enumerate(self.names)
        }
