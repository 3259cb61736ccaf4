"""`Session`: one run of one crawl, from a configuration and a store to a reason for stopping."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from clew import __version__
from clew.engine import Change
from clew.engine.commands import request_of
from clew.errors import ClewError, ConfigError
from clew.fetch.base import Fetcher, Openable
from clew.messages import Journal
from clew.policy.recall import RecallEstimate
from clew.predicate import CallablePredicate, FormulaPredicate, Interests
from clew.predicate.verdict import Predicate
from clew.run import checkpoint
from clew.run.build import ANY_DEGREE, crawl_of, fetcher_of, seeds_of
from clew.run.checkpoint import UnusableCheckpoint
from clew.run.clock import Clock, WallClock
from clew.run.config import SETTINGS, CrawlConfig
from clew.run.declare import STOP
from clew.run.driver import Command, Driver
from clew.run.fd_limit import affordable
from clew.run.known import known_of
from clew.run.observe import Observer, Progress
from clew.run.parsing import Reading, make_parser
from clew.run.recall_confidence import recall_confidence
from clew.run.recall_waste import recall_waste
from clew.run.relearn import foresee, relearning, resume_tunnelling
from clew.run.resume import restore
from clew.run.steering import Steer, applied, is_final, refused, working
from clew.run.stopping import recall_links, resume_recall
from clew.run.topics import keep_topics
from clew.store import MemoryStore
from clew.store.base import Snapshot, Store
from clew.store.inbox import Inbox

#: Settings that a look at the start pages leaves at their defaults.
_NOT_FOR_A_TRIAL = tuple(
    key
    for key, item in SETTINGS.items()
    if item.setting.group is STOP
    or key in ("weights", "factors", "option", "use", "sitemaps", "metrics_port", "visits")
)
#: Seconds after which the last places of a budget are not kept for replies that have not come.
LATE = 3.0
#: Seconds between two looks into the inbox.
BETWEEN_REQUESTS = 0.25
#: Pages learned from again before anyone gets a look in.
_AT_A_TIME = 16
_WITH_THRESHOLD = (FormulaPredicate, CallablePredicate, Interests)


@dataclass(frozen=True, slots=True)
class Finished:
    """How a session ended."""

    reason: str
    """A budget (`pages`, `matches`, `time`, `bytes`, `requests`), `frontier empty`, `no seed reachable`,
    `robots.txt unavailable` (all that is left waits for it), `interrupted` or `storage full`."""
    pages: int
    matches: int
    requests: int
    recall: RecallEstimate | None = None
    """How much of what is sought was found, as of the last look; None where there was too little to say."""
    by_interest: Mapping[str, int] = field(default_factory=dict)
    """Finds by the names of the interests, where there are several."""


class Session:
    """Runs a crawl, new or resumed, until it stops.

    Parameters: the configuration; the store, open for writing; and, to replace the usual ones, a
    fetcher (a recorded web's, say), a predicate, a clock, observers; and `relearned`, told now and then how
    many of how many pages a resumed crawl has learned from again; and `held`, which says whether the reader
    of the finds has enough for now (see `wake`); and the `inbox` that others leave their requests in.
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
        held: Callable[[], bool] = lambda: False,
        inbox: Inbox | None = None,
    ) -> None:
        self.config = config
        self.store = store
        self.clock = clock or WallClock()
        self.observers = tuple(observers)
        if isinstance(predicate, _WITH_THRESHOLD) and config.threshold != "start":
            # One that was made before it was known that this crawl has its threshold already.
            unset = predicate.threshold == ANY_DEGREE
            predicate = predicate.with_threshold(config.threshold) if unset else predicate
        self.crawl = crawl_of(config, store, predicate)
        self._fetcher = fetcher
        self._predicate = predicate
        self._relearned = relearned
        self._held = held
        self._inbox = inbox
        self._taken: set[str] = set()
        self._driver: Driver | None = None
        self._commands: deque[Command] = deque()
        self._commanded: list[Journal] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = False
        self._stop_asked = False

    def __repr__(self) -> str:
        return f"Session({self.crawl!r})"

    async def run(self) -> Finished:
        """Crawl until it is over. What was acknowledged survives whatever happens meanwhile."""
        self._loop = asyncio.get_running_loop()
        try:
            return await self._run()
        finally:
            self._over = True
            for command in self._commands:
                command.done.cancel()

    async def _run(self) -> Finished:
        now = self.clock.now()
        live = self._fetcher is None
        concurrency = affordable(self.config.concurrency) if live else self.config.concurrency
        saved = self.store.load()
        self._check_visits(resumed=saved is not None)
        if saved is not None:
            self._restore(saved, now)
            try:
                learned = await self._relearn(saved.pages)
            except UnusableCheckpoint:
                # It was taken for one of this crawl's, and is none: begin again, without it.
                self.crawl = crawl_of(self.config, self.store, self._predicate)
                self._restore(saved, now)
                learned = await self._relearn(saved.pages, go_on=False)
            if not learned:
                return self._finish("interrupted")
            if self.crawl.tunnelling is not None:
                with contextlib.ExitStack() as opened:
                    archive = self.store.replies()
                    if archive is not None:
                        opened.enter_context(contextlib.closing(archive))
                    resume_tunnelling(self.crawl, self.store, None if archive is None else archive.get)
            # Learning again may take minutes, which are not the crawl's.
            now = self.clock.now()
        else:
            await self._take_threshold()
            self._hold_out_known()
            setup = self.crawl.strategy.setup
            keep_topics(self.store, self.crawl.predicate, None if setup is None else setup.topics)
            now = self.clock.now()
        self.store.save(self.crawl.start(seeds_of(self.config), now))
        self.store.flush()
        fetcher = self._fetcher or fetcher_of(self.config, self.clock.now)
        workers = self.config.parse_workers if live or self.config.parse_workers else 0
        parser = make_parser(workers, Reading.of(self.crawl.rules, self.crawl.strategy))
        progress = Progress(started=now, elapsed_before=self.crawl.tally.elapsed, budget=self.config.pages)
        self._driver = Driver(
            crawl=self.crawl,
            store=self.store,
            fetcher=fetcher,
            parser=parser,
            clock=self.clock,
            concurrency=concurrency,
            ordered=self.config.ordered,
            batch=self.config.batch,
            observers=self.observers,
            progress=progress,
            late=LATE if live else math.inf,
            background=live and not self.config.ordered,
            held=self._held,
            commands=self._commands,
        )
        if self._stop_asked:
            self._driver.stop()
        self.store.set_meta(stopped=None, version=__version__)
        try:
            if isinstance(fetcher, Openable):
                await fetcher.open()
            self._take_requests(first=True)
            watch = asyncio.create_task(self._watch()) if self._inbox is not None else None
            try:
                reason = await self._driver.run()
            finally:
                if watch is not None:
                    watch.cancel()
        finally:
            await parser.close()
            if live:
                await fetcher.close()
        return self._finish(reason)

    def _hold_out_known(self) -> None:
        """Watch for the targets that are known already; the crawl keeps them, for whoever reads it."""
        known = known_of(self.config, self.store.meta())
        self.crawl.prospects.known_targets = known
        if known is not None:
            self.store.set_meta(known=list(known.urls))

    def _check_visits(self, *, resumed: bool) -> None:
        """A crawl goes on with the visits it began with: with others, it would not have come where it is."""
        setup = self.crawl.strategy.setup
        digest = "" if setup is None or setup.visits is None else setup.visits.digest
        if resumed and (self.store.meta().get("visits") or "") != digest:
            raise ConfigError(
                f"{self.config.visits} has changed since this crawl began (visits were added or forgotten): "
                "put back the one it began with to go on, or begin another crawl with --use of this one"
            )
        if setup is not None and setup.visits is not None and not resumed:
            log = setup.visits
            self.store.set_meta(
                visits=digest, visited={"people": log.people, "pages": len(log.urls), "k": log.k}
            )

    async def _take_threshold(self) -> None:
        """With the threshold `start`: judge the start pages once, and take the least degree above 0 (paper
        003, section 2.3). The crawl is one with that number from then on."""
        judge = self.crawl.predicate
        if self.config.threshold != "start":
            return
        if not isinstance(judge, _WITH_THRESHOLD):
            raise ConfigError("the threshold start is for formulas and functions: give a number")
        # The start pages alone: what ends a crawl or ranks its links has no say.
        trial = self.config.model_copy(
            update={
                **{key: SETTINGS[key].field.get_default() for key in _NOT_FOR_A_TRIAL},
                **{"strategy": "breadth-first", "depth": 0, "pages": None, "threshold": ANY_DEGREE},
            }
        )
        with contextlib.closing(MemoryStore()) as store:
            await Session(trial, store, fetcher=self._fetcher, predicate=judge, clock=self.clock).run()
            degrees = [row.score for row in store.pages(text=False)]
        least = min([degree for degree in degrees if degree > 0.0], default=None)
        if least is None:
            raise ConfigError(
                f"no start page has a degree above 0 ({len(degrees)} could be judged): give others to start "
                "from, or a number as --threshold"
            )
        self.config = self.config.model_copy(update={"threshold": least})
        self.crawl = crawl_of(self.config, self.store, judge.with_threshold(least))
        # The hosts of the start pages have just been asked.
        self.crawl.hosts.not_before = self.clock.now() + self.crawl.rules.politeness.delay
        self.store.set_meta(config=json.loads(self.config.to_json()))

    def _restore(self, saved: Snapshot, now: float) -> None:
        self._commanded = foresee(self.crawl, self.store)
        restore(self.crawl, saved, now)
        recall_links(self.crawl.prospects, saved, self.store)
        self._hold_out_known()
        resume_recall(self.crawl.prospects, self.store)
        recall_waste(self.crawl, saved, self.store)
        recall_confidence(self.crawl, self.store)

    async def _relearn(self, pages: int, *, go_on: bool = True) -> bool:
        """A strategy that learns is taught again what the crawl saw, from its own archive, since the last
        checkpoint if there is one; False if it was asked to stop before the end: half of what was known must
        not be saved as all of it."""
        archive = self.store.replies() if self.crawl.strategy.capabilities.relearns else None
        if archive is None:
            for entry in self._commanded:
                self.crawl.repeat(entry)
            return True
        with contextlib.closing(archive):
            last: int | None = None
            told = 0
            steps = relearning(self.crawl, self.store, archive.get, go_on=go_on, commanded=self._commanded)
            for count, decision in steps:
                last = count - 1 if last is None else last
                if checkpoint.is_due(count, last):
                    # Killed while it learns again, the next start goes on from here.
                    checkpoint.save(self.crawl, self.store, decision)
                    last = count
                if count - told >= _AT_A_TIME:
                    told = count
                    self._relearned(count, pages)
                    # Signals are heard.
                    await asyncio.sleep(0)
                    if self._stop_asked:
                        return False
        return True

    def command(self, *changes: Change) -> Future[int]:
        """Make changes, together, between two settles; from any thread, before the crawl runs or while it
        does.

        Gives what will be the number of the last decision they become, once they are durable; cancelled if
        the crawl ends before they were taken in.
        """
        return self._submit(Command(lambda in_force: changes))

    def steer(self, request: Steer) -> Future[int]:
        """Make all changes of a request, together; as `command` does."""
        return self._submit(Command(request.changes))

    async def _watch(self) -> None:
        """Look into the inbox now and then."""
        while True:
            await asyncio.sleep(BETWEEN_REQUESTS)
            self._take_requests()

    def _take_requests(self, *, first: bool = False) -> None:
        """Take in what others ask for; what was obeyed before, and not answered, is answered."""
        inbox = self._inbox
        if inbox is None:
            return
        if first:
            inbox.sweep()
        waiting = [name for name in inbox.waiting() if name not in self._taken]
        obeyed = {}
        if waiting and first:
            obeyed = {request_of(entry.entry): entry.after + 1 for entry in self.store.journal()}
        for name in waiting:
            self._taken.add(name)
            if is_final(inbox.answered(name)):
                inbox.withdraw(name)
            elif name in obeyed:
                inbox.answer(name, applied(obeyed[name]))
            else:
                self._take_request(inbox, name)

    def _take_request(self, inbox: Inbox, name: str) -> None:
        try:
            request = Steer.loads(inbox.read(name))
        except ClewError as problem:
            inbox.answer(name, refused(str(problem)))
            return
        told = math.inf

        def progress(done: int, total: int) -> None:
            nonlocal told
            if abs(time.monotonic() - told) >= BETWEEN_REQUESTS:
                told = time.monotonic()
                inbox.answer(name, working(done, total), done=False)

        def answer(done: Future[int]) -> None:
            if done.cancelled():
                return  # it waits for the next session
            problem = done.exception()
            inbox.answer(name, applied(done.result()) if problem is None else refused(str(problem)))

        command = Command(request.changes, request=name, progress=progress)
        command.done.add_done_callback(answer)
        self._submit(command)

    def _submit(self, command: Command) -> Future[int]:
        self._commands.append(command)
        if self._over:
            command.done.cancel()
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(self.wake)
        return command.done

    @property
    def relearning(self) -> bool:
        """Whether a strategy is being taught again for a command, or is to be."""
        return self._driver is not None and self._driver.relearning

    def stop(self) -> None:
        """Ask for a checkpoint and an end; from the event loop's thread."""
        self._stop_asked = True
        if self._driver is not None:
            self._driver.stop()

    def time_left(self) -> float | None:
        """Seconds until the time budget is used up; None without one, and before the crawl has begun."""
        limit, crawl = self.crawl.leaser.budget.seconds, self.crawl
        if limit is None or self._driver is None or crawl.leaser.started is None:
            return None
        return limit - crawl.tally.elapsed - (self.clock.now() - crawl.leaser.started)

    def wake(self) -> None:
        """Look again whether the crawl is held or commanded; from the event loop's thread."""
        if self._driver is not None:
            self._driver.wake()

    def _finish(self, reason: str) -> Finished:
        tally = self.crawl.tally
        if reason in ("frontier empty", "robots.txt unavailable") and tally.pages == 0:
            reason = "no seed reachable"
        self.store.set_meta(stopped=reason, audits=[tally.audits, tally.best] if tally.audits else None)
        recall = self.crawl.prospects.estimator.last
        return Finished(reason, tally.pages, tally.matches, tally.requests, recall, dict(tally.by_interest))
