"""`Driver`: performs what the engine decides, for the live web and for recorded ones alike.

It keeps up to `concurrency` tasks under way, archives each reply, hands the outcome to the engine,
saves the effects, and leases again. With `ordered`, outcomes are settled in the order their tasks were
leased, whatever order the network brings them in: then the trace is a function of the seed and the web
alone, at the price of waiting for the slowest of the tasks under way.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import islice

from clew.engine import Change, Crawl, Retaught
from clew.engine.commands import InForce, Teaching
from clew.engine.reestimate import Reestimate
from clew.engine.refold import Refold
from clew.errors import RETRY, FetchError, Interruption, ParseError, Reason, UsageError
from clew.fetch.base import Fetcher, Locator, Request, Response
from clew.fetch.retry import retry_after
from clew.frontier.robots import SIZE_LIMIT
from clew.messages import Blob, Effect, Outcome, Sitemap, Task, TaskKind
from clew.page import Page
from clew.parse.sitemap import is_sitemap
from clew.policy.community import Community
from clew.run import checkpoint
from clew.run.backpressure import DurabilityGate
from clew.run.clock import Clock
from clew.run.observe import Observer, Progress
from clew.run.parsing import Parser, Reading, to_page, to_sitemap
from clew.run.recall_confidence import recall_confidence
from clew.run.relearn import refolding
from clew.run.stopping import recall_links
from clew.run.waits import waits_in
from clew.store.base import Replies, Store

#: Between checkpoints of what was learned, at least; a quarter of the pages so far in a long crawl. (A crawl
#: that was killed learns from its pages again: what is missing till then is missing for others who use it.)
CHECKPOINT_PAGES = 200
#: Outcomes settled before the network gets a look in again, and bytes of their bodies.
AT_A_TIME = 2
BYTES_AT_A_TIME = 64 * 1024
#: Seconds between two looks at what waits.
BETWEEN_LOOKS = 1.0
#: A batch is no larger than it is with the body that reaches so many bytes.
BYTES_OF_A_BATCH = 1024 * 1024
#: Decisions learned from again, when a command calls for it, before the network gets a look in.
REFOLDED_AT_A_TIME = 16
#: Seconds of that in a live crawl, where pages are asked for and settled meanwhile; and decisions for each
#: that may be settled between, so that it comes to an end however fast pages come.
REFOLD_SECONDS = 0.03
REFOLD_LEAST = 2

_NO_ARCHIVE = (
    "the frontier can be scored anew, and pages judged anew, only where replies are kept: crawl into a "
    "directory, or change the focus for new links only"
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A reply (or none), and what came of its task; None while the reply is yet to be read."""

    task: Task
    outcome: Outcome | None
    response: Response | None


@dataclass(frozen=True, slots=True)
class Command:
    """Changes that somebody asked for, to be made together, and the number of the last decision they became,
    once that is durable."""

    changes: Callable[[InForce], Sequence[Change]]
    """What to change, by what is in force then; may raise `UsageError`."""
    done: Future[int] = field(default_factory=Future)
    request: str = ""
    """By which request; kept in the journal, so that it is known to have been obeyed."""
    progress: Callable[[int, int], None] = lambda done, total: None
    """Told how many of how many decisions were learned from again for it."""


@dataclass(slots=True)
class _Refolding:
    """A command whose strategy is being taught, and how far it is."""

    command: Command
    changes: tuple[Change, ...]
    refold: Refold
    archive: Replies
    steps: Iterator[int]
    owed: bool = False
    """Nobody waits for it: what was to change is changed, and this completes it."""
    done: int = -1
    """The last decision it was taught."""


@dataclass(slots=True)
class _Reestimating:
    """A command that is made at once when the links of candidates are estimated, those below a number; there
    may be more by then."""

    command: Command
    changes: tuple[Change, ...]
    anew: Reestimate
    until: int


@dataclass(slots=True)
class Driver:
    """Runs one crawl until it stops."""

    crawl: Crawl
    store: Store
    fetcher: Fetcher
    parser: Parser
    clock: Clock
    concurrency: int = 16
    ordered: bool = False
    batch: int = 1
    """Outcomes settled together, at most: learned from at once, and saved whole or not at all."""
    observers: Sequence[Observer] = ()
    progress: Progress = field(default_factory=Progress)
    late: float = math.inf
    """When the budget has no room left, what is under way for so many seconds is not waited for: others take
    its place, and it is left behind, still queued, when they use the budget up. Time decides, so it is for
    live crawls only, and not for those whose replies are settled in order."""
    background: bool = False
    """Pages are asked for and settled while a strategy is taught again for a command. Which ones is decided
    by time, so it is for live crawls only, and not for those whose replies are settled in order."""
    held: Callable[[], bool] = lambda: False
    """Whether whoever reads the finds has enough of them for now: then nothing is leased or settled until
    `wake` is called, and the time does not count."""
    commands: deque[Command] = field(default_factory=deque)
    """What is to be changed meanwhile; any thread may append, and call `wake` in the loop."""
    _under_way: dict[int, tuple[Task, asyncio.Task[None]]] = field(default_factory=dict)
    _since: dict[int, float] = field(default_factory=dict)
    _arrived: dict[int, Arrival] = field(default_factory=dict)
    _order: deque[int] = field(default_factory=deque)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _broken: Exception | None = None
    _stopping: bool = False
    _checkpoint: int = 0
    _look_at_waits: float = 0.0
    _kept: int = 0
    _refolding: _Refolding | _Reestimating | None = None
    _unteachable: bool = False
    _gate: DurabilityGate = field(init=False)

    def __post_init__(self) -> None:
        self._gate = DurabilityGate(self.store, self.concurrency, self._news.set)

    async def run(self) -> str:
        """Crawl until a budget is spent, the frontier is empty or `stop` was called; gives the reason."""
        # Hosts on one address are paced together where addresses are known: not by proxy, not in replay.
        self.crawl.hosts.resolving = isinstance(self.fetcher, Locator) and self.fetcher.locates
        self._note(())
        for observer in self.observers:
            observer.started(self.progress)
        self._gate.open()
        self._kept = self.crawl.tally.pages
        try:
            reason = await self._loop()
        except Interruption as ended:
            # The page that was being judged is queued still, as far as the store knows.
            reason = ended.reason
        finally:
            self._gate.close()
            await self._abandon()
            self.store.save(self.crawl.drain())
            self.store.flush()
        if max(self._kept, checkpoint.FEW) < self.crawl.tally.pages and not self.crawl.learner.behind:
            checkpoint.save(self.crawl, self.store, self.crawl.tracer.count)
        self._note(())
        for observer in self.observers:
            observer.finished(self.progress, reason)
        return reason

    def stop(self) -> None:
        """Stop soon: settle nothing more, queue again what is under way. Safe to call from the loop only."""
        self._stopping = True
        self._news.set()

    def wake(self) -> None:
        """Look again: is there a command, is the crawl still `held`? Safe to call from the loop only."""
        self._news.set()

    async def _loop(self) -> str:
        while not self._stopping:
            now = self.clock.now()
            self._gate.check()
            if self._broken is not None:
                raise self._broken
            await self._obey()
            if self._refolding is None:
                await self._refocus(now)
            reason = self.crawl.stopped(now)
            if reason is not None and self._refolding is None:
                return reason
            if self.crawl.spent(now) == "time":
                return "time"
            if self.held() or (self.crawl.leaser.paused and not self._under_way):
                await (self._hold(now) if self._refolding is None else asyncio.sleep(0))
                continue
            self.crawl.leaser.late = sum(now - since >= self.late for since in self._waits())
            self._lease(now)
            if self._settle() or self._refolding is not None:
                await asyncio.sleep(0)
                continue
            self._note_waits(now)
            await self.clock.wait(self._news, self._wake_at())
            self._news.clear()
        return "interrupted"

    @property
    def relearning(self) -> bool:
        """Whether a strategy is being taught again, or is to be."""
        return self._refolding is not None or (self.crawl.learner.behind and not self._unteachable)

    async def _obey(self) -> None:
        """Take in what was commanded; who commanded it is told when it is durable, or why it cannot be. When
        nothing is left to obey, the strategy is taught what it is behind with."""
        while not self._stopping:
            work = self._refolding
            if self.commands and (work is None or (isinstance(work, _Refolding) and work.owed)):
                self._begin(self.commands[0])
            elif isinstance(work, _Reestimating):
                if not self._estimate(work):
                    return
            elif work is not None:
                if not await self._teach(work):
                    return
            elif self.relearning:
                self._begin_owed()
            else:
                return

    def _begin(self, command: Command) -> None:
        """Obey a command, or begin with what has to be done before."""
        try:
            changes = tuple(command.changes(self.crawl.in_force))
            anew = self.crawl.reestimate(*changes) if self.background else None
            if anew is not None:
                self._require_archive().close()
                begun: _Refolding | _Reestimating = _Reestimating(
                    command, changes, anew, self.crawl.frontier.count
                )
            elif (refold := self.crawl.prepare(*changes)) is not None:
                begun = self._begin_refold(command, changes, refold)
            else:
                self._carry_out(command, changes)
                if any(isinstance(change, Teaching) for change in changes):
                    # What was being taught for what was sought or weighed before is of no use any more.
                    self._drop_refold()
                return
        except UsageError as problem:
            self._refuse(command, problem)
            return
        self._drop_refold()
        self._refolding = begun

    def _begin_owed(self) -> None:
        changes = (Retaught(),)
        refold = self.crawl.prepare(*changes)
        assert refold is not None  # it is never made at once
        command = Command(lambda in_force: changes)
        try:
            self._refolding = replace(self._begin_refold(command, changes, refold), owed=True)
        except UsageError:
            # The archive has gone since: the strategy goes on with what it knows.
            self._unteachable = True

    def _drop_refold(self) -> None:
        if isinstance(self._refolding, _Refolding):
            self._refolding.archive.close()
        self._refolding = None

    def _estimate(self, work: _Reestimating) -> bool:
        """Estimate some links; False while there are more. In the end the command is obeyed."""
        ended = time.perf_counter() + REFOLD_SECONDS
        while work.anew.step(work.until):
            work.command.progress(work.anew.done, work.until)
            if time.perf_counter() >= ended:
                return False
        self.store.flush()
        self._refolding = None
        self._carry_out(work.command, work.changes, anew=work.anew)
        return True

    def _refuse(self, command: Command, problem: UsageError) -> None:
        self.commands.popleft()
        if command.done.running() or command.done.set_running_or_notify_cancel():
            command.done.set_exception(problem)

    def _carry_out(
        self,
        command: Command,
        changes: Sequence[Change],
        refold: Refold | None = None,
        anew: Reestimate | None = None,
    ) -> None:
        asked = bool(self.commands) and self.commands[0] is command
        if not command.done.set_running_or_notify_cancel():
            self.commands.popleft()
            return
        effects = self.crawl.command(changes, self.clock.now(), refold, anew=anew, request=command.request)
        if asked:
            self.commands.popleft()
        self.store.save(effects)
        self.store.flush()
        self._read_by(Reading.of(self.crawl.rules, self.crawl.strategy))
        rejudged = refold is not None and bool(refold.judged)
        self._look_at_links(anew=rejudged)
        if rejudged:
            recall_confidence(self.crawl, self.store)
        self.progress.budget = self.crawl.leaser.budget.pages
        self._tell(effects)
        command.done.set_result(self.crawl.tracer.count)

    def _read_by(self, reading: Reading) -> None:
        """Read pages so from now on; those that were read otherwise are read again when they are settled."""
        if reading == self.parser.reading:
            return
        self.parser.reading = reading
        for number, arrival in self._arrived.items():
            if arrival.outcome is not None and arrival.outcome.page is not None:
                self._arrived[number] = replace(arrival, outcome=None)

    def _look_at_links(self, *, anew: bool) -> None:
        """Put the links around the finds together, where a rule to stop asks for them and they are not there,
        or finds are others by now."""
        prospects, budget = self.crawl.prospects, self.crawl.leaser.budget
        if not budget.stop or not budget.rule.needs("community") or (prospects.graph and not anew):
            return
        prospects.graph = Community()
        saved = self.store.snapshot()
        if saved is not None:
            recall_links(prospects, saved, self.store)

    def _require_archive(self) -> Replies:
        """The replies to all that was decided so far, of which the store is told first."""
        if left_out := self.crawl.leaser.drain():
            self.store.save(left_out)
        self.store.flush()
        archive = self.store.replies()
        if archive is None:
            raise UsageError(_NO_ARCHIVE)
        return archive

    def _begin_refold(self, command: Command, changes: tuple[Change, ...], refold: Refold) -> _Refolding:
        archive = self._require_archive()
        steps = refolding(self.crawl, self.store, archive.get, refold)
        return _Refolding(command, changes, refold, archive, steps)

    async def _teach(self, work: _Refolding) -> bool:
        """Teach the strategy of a command a little of what happened, or, where the crawl is to stand still
        meanwhile, all of it; False while there is more. In the end the command is obeyed."""
        total, ended = self.crawl.tracer.count, time.perf_counter() + REFOLD_SECONDS
        enough = work.done + REFOLD_LEAST * max(AT_A_TIME, self.batch)
        for seq in work.steps:
            if seq // REFOLDED_AT_A_TIME > work.done // REFOLDED_AT_A_TIME:
                work.command.progress(seq, total)
                if not self.background:
                    # Signals are heard, and replies come in.
                    await asyncio.sleep(0)
            work.done = seq
            if self._stopping or (self.background and seq > enough and time.perf_counter() >= ended):
                return False
        work.archive.close()
        missed = self.crawl.tracer.count - max(0, work.done)
        if missed > 0:
            # What was settled meanwhile. The last few are taught before more can be.
            work.archive = self._require_archive()
            work.steps = refolding(self.crawl, self.store, work.archive.get, work.refold, work.done)
            return not self.background or missed <= REFOLDED_AT_A_TIME
        self._refolding = None
        try:
            self._carry_out(work.command, work.changes, work.refold)
        except UsageError as problem:
            self._refuse(work.command, problem)
        return True

    def _wants_change(self) -> bool:
        return self.crawl.tunnelling is not None and self.crawl.tunnelling.wanted is not None

    async def _refocus(self, now: float) -> None:
        """Command the change of focus that the crawl itself wants, if it does."""
        if self.crawl.tunnelling is None or (change := self.crawl.tunnelling.wanted) is None:
            return
        try:
            refold = self.crawl.prepare(change)
            taught = refold is None or await self._refold(refold)
        except UsageError:
            # Nothing to learn from again: what waits keeps its worth.
            change, refold, taught = replace(change, rescore=False), None, True
        if taught:
            effects = self.crawl.command(change, now, refold)
            self.store.save(effects)
            self._tell(effects)

    async def _refold(self, refold: Refold) -> bool:
        """Teach a strategy all that happened, from the archive; False if the crawl is to stop meanwhile."""
        with contextlib.closing(self._require_archive()) as archive:
            for seq in refolding(self.crawl, self.store, archive.get, refold):
                if seq % REFOLDED_AT_A_TIME == 0:
                    # Signals are heard, and replies come in.
                    await asyncio.sleep(0)
                    if self._stopping:
                        return False
        return True

    def _tell(self, effects: Sequence[Effect]) -> None:
        self._note(effects)
        for observer in self.observers:
            observer.settled(effects, self.progress)

    async def _hold(self, since: float) -> None:
        """Stand still until there is news; the reader's time is not the crawl's."""
        await self._news.wait()
        self._news.clear()
        if self.crawl.leaser.started is not None:
            self.crawl.leaser.started += self.clock.now() - since

    def _wake_at(self) -> float | None:
        """When to look again though nothing arrived."""
        times = [self.crawl.next_ready()] if len(self._under_way) < self.concurrency else []
        now = self.clock.now()
        times += [since + self.late for since in self._waits() if now - since < self.late]
        limit = self.crawl.leaser.budget.seconds
        if limit is not None and self.crawl.leaser.started is not None:
            times.append(self.crawl.leaser.started + max(0.0, limit - self.crawl.tally.elapsed))
        known = [at for at in times if at is not None]
        if not known and not self._under_way:
            # Nothing under way and nobody resting: the frontier has just run dry.
            return now
        return min(known) if known else None

    def _waits(self) -> Iterable[float]:
        """Since when each task is under way, where that keeps others from being begun."""
        room = self.crawl.leaser.budget.remaining(self.crawl.tally, self.crawl.leaser.in_flight)
        return () if room or self.ordered or self.late == math.inf else self._since.values()

    def _lease(self, now: float) -> None:
        for task in self.crawl.lease(now, self.concurrency - len(self._under_way)):
            work = asyncio.create_task(self._perform(task))
            self._under_way[task.id] = (task, work)
            self._since[task.id] = now
            if self.ordered:
                self._order.append(task.id)

    def _settle(self) -> bool:
        """Settle what has arrived and may be settled, a batch or two; False when there was nothing."""
        size, settled = 0, False
        for _ in range(max(1, AT_A_TIME // self.batch)):
            ready = self._ready()
            settled = settled or bool(ready)
            if not ready or self.held() or (self.crawl.leaser.lent and self.crawl.spent(self.clock.now())):
                break
            batch = [self._arrived.pop(number) for number in ready]
            for number in ready:
                del self._under_way[number]
                del self._since[number]
                if self.ordered:
                    self._order.popleft()
            self._take(batch)
            size += sum(len(arrival.response.body) for arrival in batch if arrival.response is not None)
            if size >= BYTES_AT_A_TIME or self.ordered or self._wants_change():
                break
        return settled

    def _ready(self) -> list[int]:
        """The tasks to be settled next, together: those that arrived first; in order, the first of those
        leased, when all of them are there."""
        # What is asked for in the stead of late ones may use the budget up at any moment.
        most = 1 if self.crawl.leaser.lent else self.batch
        found: list[int] = []
        size = 0
        for number in islice(self._order if self.ordered else self._arrived, most):
            arrival = self._arrived.get(number)
            if arrival is None:
                return []
            found.append(number)
            size += 0 if arrival.response is None else len(arrival.response.body)
            if size >= BYTES_OF_A_BATCH:
                break
        return found

    def _take(self, batch: Sequence[Arrival]) -> None:
        now = self.clock.now()
        effects = self.crawl.settle_many([self._outcome_of(arrival, now) for arrival in batch], now)
        self.store.save(effects)
        self._gate.leave(len(batch))
        self._tell(effects)
        # What was learned grows with the crawl, and so does writing it down.
        if self.crawl.tally.pages >= self._checkpoint + max(CHECKPOINT_PAGES, self._checkpoint // 4):
            self._checkpoint = self.crawl.tally.pages
            self.store.save(self.crawl.drain())
        if checkpoint.is_due(self.crawl.tally.pages, self._kept) and not self.crawl.learner.behind:
            self._kept = self.crawl.tally.pages
            checkpoint.save(self.crawl, self.store, self.crawl.tracer.count)

    def _outcome_of(self, arrival: Arrival, now: float) -> Outcome:
        """Archive a reply, and read it if that is yet to be done."""
        outcome = arrival.outcome
        if arrival.response is not None:
            blob = self.store.append(arrival.response, now)
            outcome = replace(outcome, blob=blob) if outcome else self._read(arrival, blob)
        assert outcome is not None  # what has no reply has come to its end
        return outcome

    def _note(self, effects: Sequence[Effect]) -> None:
        tally, progress = self.crawl.tally, self.progress
        progress.take(effects)
        progress.pages, progress.matches = tally.pages, tally.matches
        progress.by_interest = tally.by_interest
        progress.requests, progress.failed = tally.requests, tally.failed
        progress.duplicates, progress.wire = tally.duplicates, tally.wire
        progress.audits, progress.best = tally.audits, tally.best
        progress.recall = self.crawl.prospects.estimator.last
        progress.known = self.crawl.prospects.known_targets
        progress.queued, progress.in_flight = self.crawl.frontier.queued, len(self._under_way)
        progress.now = self.clock.now()
        progress.point()

    def _note_waits(self, now: float) -> None:
        """Look what waits, now and then; observers hear of it when nothing else is going on."""
        if now < self._look_at_waits:
            return
        self._look_at_waits = now + BETWEEN_LOOKS
        self.progress.waiting = waits_in(self.crawl, now)
        if self.progress.waiting and not self._under_way:
            self._tell(())

    async def _perform(self, task: Task) -> None:
        await self._gate.enter()
        try:
            self._arrived[task.id] = await self._fetch(task)
        except Exception as problem:
            # Whatever a fetcher may raise, it said it would not: the crawl cannot go on as if nothing was.
            self._broken = problem
        self._news.set()

    async def _look_up(self, task: Task) -> Arrival:
        try:
            found = await self.fetcher.locate(task.host) if isinstance(self.fetcher, Locator) else ()
        except FetchError as problem:
            return _failed(task, problem)
        return Arrival(task, Outcome(task=task, addresses=found), None)

    async def _fetch(self, task: Task) -> Arrival:
        if task.kind is TaskKind.RESOLVE:
            return await self._look_up(task)
        limit = SIZE_LIMIT + 1 if task.kind is TaskKind.ROBOTS else None
        try:
            response = await self.fetcher.fetch(Request(task.url, limit))
            _insist(task, response)
        except FetchError as problem:
            return _failed(task, problem)
        if task.kind is TaskKind.ROBOTS or not 200 <= response.status < 300:
            return Arrival(task, self._outcome(task, response, None), response)
        if self.parser.at_once(response):
            # Read when its turn to be settled comes: nothing that takes time happens between two replies.
            return Arrival(task, None, response)
        reading = self.parser.reading
        try:
            found = await self._parse(task, response)
        except ParseError as problem:
            return Arrival(task, _illegible(task, problem), response)
        if reading != self.parser.reading:
            return Arrival(task, None, response)
        return Arrival(task, self._outcome(task, response, found), response)

    async def _parse(self, task: Task, response: Response) -> Page | Sitemap:
        if _lists_pages(task, response):
            return await self.parser.sitemap(response)
        return await self.parser.parse(response, task.depth)

    def _read(self, arrival: Arrival, blob: Blob | None) -> Outcome:
        """The outcome of a reply that is read on the spot."""
        task, response = arrival.task, arrival.response
        assert response is not None
        try:
            found = (
                to_sitemap(response)
                if _lists_pages(task, response)
                else to_page(response, task.depth, self.parser.reading)
            )
        except ParseError as problem:
            return replace(_illegible(task, problem), blob=blob)
        return self._outcome(task, response, found, blob)

    def _outcome(
        self, task: Task, response: Response, found: Page | Sitemap | None, blob: Blob | None = None
    ) -> Outcome:
        return Outcome(
            task=task,
            status=response.status,
            page=found if isinstance(found, Page) else None,
            sitemap=found if isinstance(found, Sitemap) else None,
            location=response.header("location"),
            body=response.body if task.kind is TaskKind.ROBOTS else b"",
            wire=response.wire,
            elapsed=response.elapsed,
            retry_after=retry_after(response.header("retry-after"), self.clock.now()),
            cached=response.cached,
            subrequests=response.subrequests,
            blob=blob,
            addresses=(response.address,) if response.address and not response.cached else (),
        )

    async def _abandon(self) -> None:
        """Cancel what is under way; the candidates go back to their queues."""
        for task, work in self._under_way.values():
            work.cancel()
            self.crawl.abandon(task)
        if self._under_way:
            await asyncio.gather(*(work for _, work in self._under_way.values()), return_exceptions=True)
        self._under_way.clear()
        self._since.clear()
        self._arrived.clear()


def _failed(task: Task, problem: FetchError) -> Arrival:
    return Arrival(task, Outcome(task=task, error=problem.reason, detail=problem.detail), None)


def _lists_pages(task: Task, response: Response) -> bool:
    """Whether a reply is to be read as a sitemap: it was asked for as one, or a seed turns out to be one."""
    return task.kind is TaskKind.SITEMAP or (task.depth == 0 and is_sitemap(response.body))


def _illegible(task: Task, problem: ParseError) -> Outcome:
    return Outcome(task=task, error=Reason.PARSE, detail=str(problem))


def _insist(task: Task, response: Response) -> None:
    """Count a page that broke off as failed while it may be tried again; at last, what came is taken.

    One that was too slow is not asked for again: it would be as slow the next time.
    """
    rule = None if response.broken in (None, Reason.TIMEOUT) else RETRY.get(response.broken)
    if rule is not None and task.attempt < rule.times and 200 <= response.status < 300:
        raise FetchError(response.broken or Reason.RESET, "the body broke off before its end")
