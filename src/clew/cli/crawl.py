"""`clew crawl`: start a crawl, or go on with one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.console import clean, put_json, say
from clew.cli.exits import INTERRUPTED, NO_SEED
from clew.cli.options import CrawlOptions
from clew.cli.places import Json, reading, stored_config
from clew.cli.running import REPORT, Plan, perform
from clew.errors import StorageFull, UsageError

if TYPE_CHECKING:
    from clew.run.config import CrawlConfig
    from clew.run.session import Finished

#: Failures told one by one when nothing could be reached.
_SHOWN = 5
_BUDGETS = ("pages", "matches", "time", "bytes", "requests", "per-host")


def crawl(
    *seeds: Annotated[str, Parameter(help="Pages to start from; none to resume a crawl.")],
    directory: Annotated[
        Path, Parameter(name=("--directory", "-d"), metavar="DIR", help="Where the crawl is kept.")
    ],
    options: CrawlOptions = CrawlOptions(),  # noqa: B008 - frozen
    json: Json = False,
) -> int:
    """Crawl towards the pages a formula describes, or resume a crawl."""
    from clew.cli.views import choose_views

    plan = make_plan(seeds, directory, options.given())
    try:
        (finished,) = perform([plan], choose_views([""]))
    except StorageFull:
        say(f"once there is room, go on with: clew crawl -d {clean(str(directory))}")
        raise
    _summarise(plan, finished)
    if json:
        put_json(_as_json(plan, finished))
    return finished.exit_code


def make_plan(seeds: tuple[str, ...], directory: Path, given: dict[str, object]) -> Plan:
    """Settings and predicate, checked before anything is written."""
    from clew.run.assemble import check_browser, predicate_of, rules_of, strategy_of
    from clew.run.settings import load_config, resume_config
    from clew.store import is_crawl

    if seeds:
        given = {"seeds": seeds, **given}
    if is_crawl(directory):
        config = resume_config(_stored(directory, given), given, environ=os.environ).config
    else:
        config = load_config(given, cwd=Path.cwd(), environ=os.environ).config
    predicate = predicate_of(config)
    rules_of(config)
    check_browser(config)
    strategy_of(config, predicate)
    return Plan(config, predicate, directory)


def _stored(directory: Path, given: dict[str, object]) -> CrawlConfig:
    with reading(directory) as reader:
        stored = stored_config(reader.meta())
    if "py:" in stored.match and "match" not in given:
        raise UsageError(
            "the formula of this crawl names Python code to import, and that is not done on a file's word: "
            "give --match again to go on"
        )
    return stored


def _summarise(plan: Plan, finished: Finished) -> None:
    per_find = f", {finished.requests / finished.matches:.1f} requests each" if finished.matches else ""
    used_up = " used up" if finished.reason in _BUDGETS else ""
    say(
        f"{finished.reason}{used_up}: {finished.matches} finds in {finished.pages} pages, "
        f"{finished.requests} requests{per_find}"
    )
    if finished.exit_code == NO_SEED:
        _say_why(plan)
    where = clean(str(plan.directory))
    say(f"  report  {where}/{REPORT}")
    if finished.matches:
        say(f"  finds   clew export {where} --matched")
    if finished.exit_code == INTERRUPTED:
        say(f"  resume  clew crawl -d {where}")
    elif finished.exit_code == NO_SEED:
        say(f"  again   clew crawl -d {where}")
    elif finished.reason in _BUDGETS:
        say(f"  go on   clew crawl -d {where} --{finished.reason} MORE")


def _say_why(plan: Plan) -> None:
    """What stood between the seeds and us, a line for each address that was tried in vain."""
    with reading(plan.directory) as reader:
        last = {line.url: line for line in reader.decisions()}
    told = [line for line in last.values() if line.result in ("failed", "robots")]
    for line in told[:_SHOWN]:
        why = ": ".join(part for part in line.reasons if part) or line.result
        say(f"  {clean(line.url)}  {clean(why)}")


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
