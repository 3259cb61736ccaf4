"""`clew crawl`: start a crawl, or go on with one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.command import reproduce
from clew.cli.console import clean, put_json, say
from clew.cli.exits import INTERRUPTED, complain
from clew.cli.options import CrawlOptions
from clew.cli.places import Json, stored_config
from clew.errors import ClewError, UsageError

if TYPE_CHECKING:
    from clew.predicate.verdict import Predicate
    from clew.run.config import CrawlConfig
    from clew.run.observe import Observer
    from clew.run.session import Finished, Session
    from clew.run.settings import Loaded
    from clew.store.base import Store

REPORT = "report.html"
#: Signal handlers exist in the main thread only; elsewhere the caller has its own way to stop.
_NO_SIGNALS = (ValueError, RuntimeError, NotImplementedError)


@dataclass(frozen=True, slots=True)
class Plan:
    """A crawl about to run."""

    config: CrawlConfig
    predicate: Predicate
    directory: Path
    resumed: bool


def crawl(
    *seeds: Annotated[str, Parameter(help="Pages to start from. None to resume a crawl.")],
    directory: Annotated[
        Path,
        Parameter(name=("--directory", "-d"), metavar="DIR", help="Where the crawl is kept; resumes it."),
    ],
    options: CrawlOptions = CrawlOptions(),  # noqa: B008 - frozen
    json: Json = False,
) -> int:
    """Crawl towards the pages a formula describes, or resume a crawl.

    Give seeds and a formula to start; give the directory alone to go on with a crawl that was
    interrupted or whose budget is used up (with a larger one, such as --pages 5000). Settings come
    from the command line, then CLEW_* variables, then the nearest clew.toml.
    """
    plan = make_plan(seeds, directory, options.given())
    finished = perform(plan, command=reproduce(plan.config, directory))
    _summarise(plan, finished)
    if json:
        put_json(_as_json(plan, finished))
    return finished.exit_code


def make_plan(seeds: tuple[str, ...], directory: Path, given: dict[str, object]) -> Plan:
    """Settings and predicate, checked before anything is written."""
    from clew.run.assemble import predicate_of
    from clew.run.settings import load_config, resume_config
    from clew.store import is_crawl

    if seeds:
        given = {"seeds": seeds, **given}
    resumed = is_crawl(directory)
    loaded: Loaded
    if resumed:
        stored = _stored(directory)
        loaded = resume_config(stored, given, environ=os.environ)
        if _names_code(stored.match) and "match" not in given:
            raise UsageError(
                "the formula of this crawl names Python code to import, which is not done on a file's word: "
                "give --match again to go on"
            )
    else:
        if not seeds and not given and directory.exists():
            raise UsageError(f"there is no crawl in {directory}: give seeds and --match to start one")
        loaded = load_config(given, cwd=Path.cwd(), environ=os.environ)
    config = loaded.config
    return Plan(config, predicate_of(config), directory, resumed)


def perform(plan: Plan, *, command: str, observers: tuple[Observer, ...] | None = None) -> Finished:
    """Run the crawl to its end, with its log, views and report."""
    from clew.cli.views import choose_view
    from clew.run.logs import CrawlLog
    from clew.run.metrics import MetricsServer
    from clew.store import open_store

    config = plan.config
    metrics = MetricsServer(config.metrics_port) if config.metrics_port else None
    try:
        store = open_store(plan.directory)
        log = CrawlLog(plan.directory)
        try:
            store.set_meta(config=json.loads(config.to_json()), command=command)
            shown = (choose_view(),) if observers is None else observers
            watchers: list[Observer] = [log, *shown]
            if metrics:
                watchers.append(metrics)
            finished = asyncio.run(_run(plan, store, tuple(watchers)))
            _report(store, plan.directory, command)
            return finished
        except BaseException as error:
            if not isinstance(error, ClewError):
                log.trouble("unexpected", error)
            raise
        finally:
            store.close()
            log.close()
    finally:
        if metrics:
            metrics.close()


async def _run(plan: Plan, store: Store, observers: tuple[Observer, ...]) -> Finished:
    from clew.run.session import Session

    session = Session(plan.config, store, predicate=plan.predicate, observers=observers)
    with _signals(session, store):
        return await session.run()


class _signals:
    """The first Ctrl-C or SIGTERM asks the crawl to stop at a checkpoint; the second ends it at once."""

    def __init__(self, session: Session, store: Store) -> None:
        self.session = session
        self.store = store
        self.asked_ = False

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(*_NO_SIGNALS):
                loop.add_signal_handler(number, self._signalled)

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(*_NO_SIGNALS):
                loop.remove_signal_handler(number)

    def _signalled(self) -> None:
        if self.asked_:
            complain("ended at once; what was saved is safe, and the crawl can be resumed")
            with suppress(ClewError, OSError):
                self.store.flush()
            os._exit(INTERRUPTED)
        self.asked_ = True
        say("stopping: requests under way are being finished; press Ctrl-C again to end at once")
        self.session.stop()


def _stored(directory: Path) -> CrawlConfig:
    from clew.cli.places import reading

    with reading(directory) as reader:
        return stored_config(reader.meta())


def _names_code(match: str) -> bool:
    return "py:" in match


def _report(store: Store, directory: Path, command: str) -> None:
    from clew.report import write_report

    try:
        write_report(store, directory / REPORT, command=command)
    except OSError as error:
        # the crawl itself is safe: a full disk must not turn its end into a failure of another kind
        complain(
            f"the report could not be written ({error.strerror}); make it later with: clew report {directory}"
        )


def _summarise(plan: Plan, finished: Finished) -> None:
    per_find = f", {finished.requests / finished.matches:.1f} requests each" if finished.matches else ""
    say(
        f"{finished.reason}: {finished.matches} finds in {finished.pages} pages, "
        f"{finished.requests} requests{per_find}"
    )
    where = clean(str(plan.directory))
    say(f"  report  {where}/{REPORT}")
    say(f"  finds   clew export {where} --format jsonl --matched")
    if finished.exit_code == INTERRUPTED or finished.reason == "storage full":
        say(f"  resume  clew crawl -d {where}")
    elif finished.reason in ("pages", "matches", "time", "bytes", "requests"):
        say(f"  go on   clew crawl -d {where} --{finished.reason} MORE")


def _as_json(plan: Plan, finished: Finished) -> dict[str, Any]:
    return {
        "directory": str(plan.directory),
        "match": plan.predicate.text(),
        "reason": finished.reason,
        "pages": finished.pages,
        "matches": finished.matches,
        "requests": finished.requests,
        "exit_code": finished.exit_code,
        "report": str(plan.directory / REPORT),
    }
