"""Running crawls from the command line: stores, logs, views, signals and reports around `Session`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.cli.console import ProgressNotice, say
from clew.cli.directories import tell_unreadable
from clew.cli.exits import FAILURE, complain
from clew.cli.progress_figures import elapsed
from clew.cli.rerun import rerun_command

if TYPE_CHECKING:
    from clew.messages import Effect
    from clew.predicate.verdict import Predicate
    from clew.run.config import CrawlConfig
    from clew.run.observe import Observer, Progress
    from clew.run.session import Finished, Session
    from clew.run.user_code import UserCode
    from clew.store.base import Store

REPORT = "report.html"
#: Signals that ask a crawl to stop: Ctrl-C, a supervisor, a terminal that was closed (not on Windows).
_STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_ALARM = getattr(signal, "SIGALRM", None)
#: Seconds between two looks at the clock while functions of the user's are asked, and how often one of them
#: may go on though it was told to end.
_TICK, _STUBBORN = 0.25, 8


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """A crawl about to run: its settings, its predicate, its place."""

    config: CrawlConfig
    predicate: Predicate
    directory: Path | str
    code: UserCode | None = None
    """What watches the functions that the formula names."""

    @property
    def command(self) -> str:
        """What to type to do it again."""
        return rerun_command(self.config, self.directory)

    @property
    def report(self) -> Path | None:
        """Where its report goes; None where its store has no folder."""
        from clew.store import folder_of

        folder = folder_of(self.directory)
        return None if folder is None else folder / REPORT


class ElapsedRecorder:
    """An observer that writes the seconds spent crawling to the crawl's record when it ends."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def started(self, progress: Progress) -> None:
        """Nothing yet."""

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None:
        """Nothing yet."""

    def finished(self, progress: Progress, reason: str) -> None:
        self.store.set_meta(elapsed=elapsed(progress))


@dataclass(frozen=True, slots=True)
class Performed:
    """How crawls ended, in the order of their plans."""

    finished: tuple[Finished, ...]
    signal: int = 0
    """The signal that asked them to stop; 0 for none."""


def perform(plans: Sequence[CrawlPlan], views: Sequence[Observer]) -> Performed:
    """Run crawls side by side, each with its own view, to their end; gives how each ended."""
    with ExitStack() as stack:
        sessions, stores = [], []
        for plan, view in zip(plans, views, strict=True):
            session, store = _open(plan, view, stack)
            sessions.append(session)
            stores.append(store)
        codes = [plan.code for plan in plans if plan.code is not None and plan.code.times]
        performed = asyncio.run(_run(sessions, codes))
        for plan, store in zip(plans, stores, strict=True):
            _report(store, plan)
            tell_unreadable(store, plan.directory)
        return performed


def _open(plan: CrawlPlan, view: Observer, stack: ExitStack) -> tuple[Session, Store]:
    from clew.run.logs import CrawlLog
    from clew.run.metrics import MetricsServer
    from clew.run.session import Session
    from clew.run.user_code import SlowFunctions
    from clew.store import is_crawl, open_store
    from clew.store.inbox import Inbox

    observers: list[Observer] = []
    # A crawl under way has both its directory and its port: it is the directory that tells why. A new one
    # is made only once the port is there.
    store = stack.enter_context(open_store(plan.directory)) if is_crawl(plan.directory) else None
    if plan.config.metrics_port:
        metrics = MetricsServer(plan.config.metrics_port)
        stack.callback(metrics.close)
        observers.append(metrics)
    if store is None:
        store = stack.enter_context(open_store(plan.directory))
    if plan.report is not None:
        log = CrawlLog(plan.report.parent)
        stack.callback(log.close)
        stack.push(log.on_exit)
        observers.append(log)
    if close := getattr(view, "close", None):
        stack.callback(close)
    store.set_meta(config=json.loads(plan.config.to_json()), command=plan.command)
    if plan.code is not None:
        observers.append(SlowFunctions(store, plan.code))
    observers += [ElapsedRecorder(store), view]
    relearning = ProgressNotice("learning again from what was fetched")
    session = Session(
        plan.config,
        store,
        predicate=plan.predicate,
        observers=observers,
        relearned=relearning.tell,
        inbox=None if plan.report is None else Inbox(plan.report.parent),
    )
    return session, store


async def _run(sessions: Sequence[Session], codes: Sequence[UserCode]) -> Performed:
    try:
        with Signals(sessions, codes) as signals:
            async with asyncio.TaskGroup() as group:
                running = [group.create_task(session.run()) for session in sessions]
    except BaseExceptionGroup as failed:
        # one failure stops the others; the first is the one to tell
        raise failed.exceptions[0] from None
    return Performed(tuple([task.result() for task in running]), signals.asked)


class Signals:
    """The first Ctrl-C, SIGTERM or SIGHUP stops the crawls at a checkpoint; the second ends them at once.

    A program that a signal ended at once exits as shells and supervisors expect, with 128 and its number.

    The system's handlers, not the event loop's: those would wait for the loop, which is busy for minutes
    when a large crawl is taken up again. And nothing else would be heard while a function of the user's
    judges a page: that is interrupted, by a signal and when the time of the crawl is over.
    """

    def __init__(self, sessions: Sequence[Session], codes: Sequence[UserCode] = ()) -> None:
        self.sessions = sessions
        self.codes = codes
        self.asked = 0
        """The signal that asked the crawls to stop."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        self._loop = asyncio.get_running_loop()
        for number in _STOPPING:
            # They exist in the main thread only; elsewhere the caller has its own way to stop.
            with suppress(ValueError):
                self._before[number] = signal.signal(number, self._signalled)
        if self.codes and self._before and _ALARM is not None:
            self._before[_ALARM] = signal.signal(_ALARM, self._ticked)
            signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
        return self

    def __exit__(self, *_: object) -> None:
        if _ALARM in self._before:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _signalled(self, number: int, _: object) -> None:
        # The next may come while this one is told.
        again, self.asked = self.asked, number
        # Wherever the program is just now: it may be amid a line of its own, or hold the store's lock.
        with suppress(RuntimeError):
            if again:
                complain("ended at once; what was saved is safe, and the crawl can be resumed")
            else:
                say("stopping at a checkpoint; press Ctrl-C again to end at once")
        if again:
            os._exit(128 + number)
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stop)
        self._interrupt("interrupted")

    def _ticked(self, number: int, _: object) -> None:
        """Now and then, where functions of the user's are asked: is the time of the crawl over?"""
        left = [session.time_left() for session in self.sessions]
        if any(seconds is not None and seconds <= 0 for seconds in left):
            self._interrupt("time")

    def _interrupt(self, reason: str) -> None:
        for code in self.codes:
            if code.interruptions >= _STUBBORN:
                complain(f"{code.running} cannot be interrupted: ended at once; what was saved is safe")
                os._exit(FAILURE)
            code.interrupt(reason)

    def _stop(self) -> None:
        for session in self.sessions:
            session.stop()


def _report(store: Store, plan: CrawlPlan) -> None:
    from clew.report import write_report

    if plan.report is None:
        return
    try:
        write_report(store, plan.report, command=plan.command)
    except OSError as error:
        # the crawl itself is safe: its end must not turn into a failure of another kind
        complain(f"the report could not be written ({error.strerror}); later: clew report {plan.directory}")
