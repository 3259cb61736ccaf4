"""`Session`: one run of one crawl, from a configuration and a store to a reason for stopping."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clew import __version__
from clew.fetch.base import Fetcher, Opened
from clew.predicate.verdict import Predicate
from clew.run.assemble import crawl_of, fetcher_of, seeds_of
from clew.run.clock import Clock, WallClock
from clew.run.config import CrawlConfig
from clew.run.descriptors import affordable
from clew.run.driver import Driver
from clew.run.observe import Observer, Progress
from clew.run.parsing import make_parser
from clew.run.relearn import relearning
from clew.run.resume import restore
from clew.store import SqliteStore
from clew.store.base import Store
from clew.store.recorded import CrawlWeb
from clew.strategy import Resumable
from clew.strategy.base import Reads

_INTERRUPTED = 130
#: Seconds after which the last places of a budget are not kept for replies that have not come.
LATE = 3.0
#: Pages learned from again before anyone gets a look in.
_AT_A_TIME = 16


@dataclass(frozen=True, slots=True)
class Finished:
    """How a session ended."""

    reason: str
    """A budget (`pages`, `matches`, `time`, `bytes`, `requests`), `frontier empty`, `no seed reachable`,
    `interrupted` or `storage full`."""
    pages: int
    matches: int
    requests: int
    exit_code: int


class Session:
    """Runs a crawl, new or resumed, until it stops.

    Parameters: the configuration; the store, open for writing; and, to replace the usual ones, a
    fetcher (a recorded web's, say), a predicate, a clock, observers; and `relearned`, told now and then how
    many of how many pages a resumed crawl has learned from again.
    """

    def __init__(
        self,
        config: CrawlConfig,
        store: Store,
        *,
        fetcher: Fetcher | None = None,
        predicate: Predicate | None = None,
        observers: Sequence[Observer] = (),
        clock: Clock | None = None,
        relearned: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self.config = config
        self.store = store
        self.clock = clock or WallClock()
        self.observers = tuple(observers)
        self.crawl = crawl_of(config, store, predicate)
        self._fetcher = fetcher
        self._relearned = relearned
        self._driver: Driver | None = None
        self._stop_asked = False

    def __repr__(self) -> str:
        return f"Session({self.crawl!r})"

    async def run(self) -> Finished:
        """Crawl until it is over. What was acknowledged survives whatever happens meanwhile."""
        now = self.clock.now()
        live = self._fetcher is None
        concurrency = affordable(self.config.concurrency) if live else self.config.concurrency
        saved = self.store.load()
        if saved is not None:
            restore(self.crawl, saved, now)
            if not await self._relearn(saved.pages):
                return self._finish("interrupted")
            # Learning again may take minutes, which are not the crawl's.
            now = self.clock.now()
        self.store.save(self.crawl.start(seeds_of(self.config), now))
        self.store.flush()
        fetcher = self._fetcher or fetcher_of(self.config, self.clock.now)
        workers = self.config.parse_workers if live or self.config.parse_workers else 0
        reads = self.crawl.strategy.reads if isinstance(self.crawl.strategy, Reads) else frozenset()
        parser = make_parser(workers, reads)
        progress = Progress(started=now, elapsed_before=self.crawl.tally.elapsed, budget=self.config.pages)
        self._driver = Driver(
            self.crawl,
            self.store,
            fetcher,
            parser,
            self.clock,
            concurrency,
            self.config.ordered,
            self.observers,
            progress,
            LATE if live else math.inf,
        )
        if self._stop_asked:
            self._driver.stop()
        self.store.set_meta(stopped=None, version=__version__)
        try:
            if isinstance(fetcher, Opened):
                await fetcher.open()
            reason = await self._driver.run()
        finally:
            await parser.close()
            if live:
                await fetcher.close()
        return self._finish(reason)

    async def _relearn(self, pages: int) -> bool:
        """A strategy that learns is taught again what the crawl saw, from its own archive; False if it was
        asked to stop before the end: half of what was known must not be saved as all of it."""
        if not isinstance(self.store, SqliteStore) or isinstance(self.crawl.strategy, Resumable):
            return True
        with contextlib.closing(CrawlWeb(self.store.path)) as web:
            for count in relearning(self.crawl, self.store, web.get):
                if count % _AT_A_TIME == 0:
                    self._relearned(count, pages)
                    # Signals are heard.
                    await asyncio.sleep(0)
                    if self._stop_asked:
                        return False
        return True

    def stop(self) -> None:
        """Ask for a checkpoint and an end; from the event loop's thread."""
        self._stop_asked = True
        if self._driver is not None:
            self._driver.stop()

    def _finish(self, reason: str) -> Finished:
        tally = self.crawl.tally
        if reason == "frontier empty" and tally.pages == 0:
            reason = "no seed reachable"
        code = 0 if tally.matches else 3
        if reason == "interrupted":
            code = _INTERRUPTED
        elif reason == "no seed reachable":
            code = 4
        self.store.set_meta(stopped=reason, audits=[tally.audits, tally.best] if tally.audits else None)
        return Finished(reason, tally.pages, tally.matches, tally.requests, code)
