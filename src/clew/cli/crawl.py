"""`clew crawl`: start a crawl, or go on with one."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.console import clean, put_json, say
from clew.cli.directories import Json, reading
from clew.cli.exits import code_of_end
from clew.cli.options import CrawlOptions
from clew.cli.runner import CrawlPlan, perform
from clew.errors import StorageFull, UsageError

if TYPE_CHECKING:
    from clew.dashboard.beside import DashboardBeside
    from clew.run.config import CrawlConfig
    from clew.run.session import Finished
    from clew.topic import TopicLibrary

#: Seeds told one by one when none could be reached.
_SHOWN = 5
_BUDGETS = ("pages", "matches", "time", "bytes", "requests", "per-host")


def crawl(
    *seeds: Annotated[
        str,
        Parameter(
            help="Pages to start from; @FILE, or - for standard input, has a list; none to resume a crawl."
        ),
    ],
    directory: Annotated[
        str,
        Parameter(
            name=("--directory", "-d"),
            metavar="DIR",
            help="Where the crawl is kept.",
        ),
    ],
    seeds_file: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="FILE",
            negative=(),
            help="Pages to start from, one a line, or a sitemap or feed; can be repeated.",
        ),
    ] = (),
    options: CrawlOptions = CrawlOptions(),  # noqa: B008 - frozen
    dash: Annotated[
        bool, Parameter(negative=(), help="Show it in a browser while it runs: says which address to open.")
    ] = False,
    json: Json = False,
) -> int:
    """Crawl towards the pages a formula describes, or resume a crawl."""
    from clew.cli.seeds import read_seeds
    from clew.cli.views import choose_views

    plan = make_plan(read_seeds(seeds, seeds_file), directory, options.given())
    with ExitStack() as stack:
        shown = _dashboard(plan, stack) if dash else None
        try:
            performed = perform([plan], choose_views([""]))
        except StorageFull:
            say(f"once there is room, go on with: clew crawl -d {clean(str(directory))}")
            raise
        (finished,) = performed.finished
        _summarise(plan, finished)
        if json:
            put_json(_as_json(plan, finished))
        if shown is not None and shown.url and not performed.signal and sys.stdin.isatty():
            say(f"  look    {shown.url} until Ctrl-C; later clew dash {clean(str(directory))}")
            with suppress(KeyboardInterrupt):
                shown.wait()
    return code_of_end(finished.reason, finished.matches, performed.signal)


def _dashboard(plan: CrawlPlan, stack: ExitStack) -> DashboardBeside:
    """The dashboard of a crawl, in a process of its own that ends with this one."""
    from clew.dashboard.beside import DashboardBeside

    if plan.report is None:
        raise UsageError("--dash shows crawls in directories, which this one is not: leave it out")
    found = DashboardBeside(plan.report.parent, lambda url: say(f"dashboard: {url}"))
    stack.callback(found.close)
    return found


def make_plan(seeds: tuple[str, ...], directory: str, given: dict[str, object]) -> CrawlPlan:
    """Settings and predicate, checked before anything is written."""
    from clew.predicate import notes
    from clew.run.build import check_fetcher, predicate_of, rules_of, strategy_of
    from clew.run.known import known_of
    from clew.run.settings import load_config, resume_config
    from clew.run.user_code import UserCode
    from clew.store import is_crawl

    if seeds:
        given = {"seeds": seeds, **given}
    topics = None
    if is_crawl(directory):
        stored, topics = _stored(directory, given)
        config = resume_config(stored, given, environ=os.environ).config
    else:
        config = load_config(given, cwd=Path.cwd(), environ=os.environ).config
    code = UserCode(config.predicate_timeout)
    predicate = predicate_of(config, code=code, topics=topics)
    rules_of(config)
    check_fetcher(config)
    strategy_of(config, predicate, topics)
    if not is_crawl(directory):
        known_of(config, {})
        for note in notes(config.match):
            say(f"note: {note}")
        for line in predicate.text().split("\n"):
            say(f"looking for: {clean(line)}")
    return CrawlPlan(config, predicate, directory, code)


def _stored(directory: str, given: dict[str, object]) -> tuple[CrawlConfig, TopicLibrary | None]:
    """The settings of a crawl, and the topics it keeps; tells when those have changed where they came
    from."""
    from clew.run.settings import stored_config
    from clew.run.topics import changed_topics, kept_topics

    with reading(directory) as reader:
        meta = reader.meta()
    stored, topics = stored_config(meta), kept_topics(meta)
    # Only a folder that was named now, or lies here: a crawl directory may come from a stranger.
    named = given.get("topics")
    if topics is not None and (changed := changed_topics(topics, Path(str(named)) if named else None)):
        say(
            f"note: {', '.join(changed)} changed since the crawl began, which goes on with what it began with"
        )
    if "py:" in stored.match and "match" not in given:
        raise UsageError(
            "the formula of this crawl names Python code to import, and that is not done on a file's word: "
            "give --match again to go on"
        )
    return stored, topics


def _summarise(plan: CrawlPlan, finished: Finished) -> None:
    per_find = f", {finished.requests / finished.matches:.1f} requests each" if finished.matches else ""
    used_up = " used up" if finished.reason in _BUDGETS else ""
    say(
        f"{finished.reason}{used_up}: {finished.matches} finds in {finished.pages} pages, "
        f"{finished.requests} requests{per_find}"
    )
    if finished.by_interest:
        from clew.cli.status import interest_pairs

        each = interest_pairs(plan.predicate.text(), dict(finished.by_interest))
        say(f"  finds   {', '.join(f'{name.strip()} {count}' for name, count in each.items())}")
    if (recall := finished.recall) is not None:
        least, about, most = recall.left
        say(
            f"  recall  {recall.low:.2f} to {recall.high:.2f} of what links lead to, as of page "
            f"{recall.pages}: {least} to {most} more, about {about}"
        )
    if plan.config.threshold == "start":
        from clew.run.settings import stored_config

        with reading(plan.directory) as reader:
            degree = stored_config(reader.meta()).threshold
        say(f"  threshold {degree:.4g}, the least degree above 0 of the start pages")
    unreachable = finished.reason == "no seed reachable"
    if unreachable:
        _say_why(plan)
    where = clean(str(plan.directory))
    if plan.report is not None:
        say(f"  report  {clean(str(plan.report))}")
    if finished.matches:
        say(f"  finds   clew export {where} --matched")
    if finished.reason == "interrupted":
        say(f"  resume  clew crawl -d {where}")
    elif unreachable or finished.reason == "robots.txt unavailable":
        say(f"  again   clew crawl -d {where}")
    elif finished.reason in _BUDGETS:
        say(f"  go on   clew crawl -d {where} --{finished.reason} MORE")


def _say_why(plan: CrawlPlan) -> None:
    """What stood between the seeds and us, a line for each."""
    from clew.cli.unreached import proxy_hint, unreached

    with reading(plan.directory) as reader:
        told = unreached(reader, plan.config)
        hint = proxy_hint(reader, plan.config, os.environ)
    for seed, why in told[:_SHOWN]:
        say(f"  {clean(seed)}  {clean(why)}")
    if len(told) > _SHOWN:
        say(f"  and {len(told) - _SHOWN} more")
    if hint:
        say(f"  {hint}")


def _as_json(plan: CrawlPlan, finished: Finished) -> dict[str, Any]:
    return {
        "directory": str(plan.directory),
        "match": plan.predicate.text(),
        "reason": finished.reason,
        "pages": finished.pages,
        "matches": finished.matches,
        "by_interest": dict(finished.by_interest),
        "requests": finished.requests,
        "recall": None if finished.recall is None else finished.recall.as_dict(),
        "exit_code": code_of_end(finished.reason, finished.matches),
        "report": None if plan.report is None else str(plan.report),
    }
