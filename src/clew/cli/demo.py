"""`clew demo`: an embedded web, crawled three ways side by side."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.console import put, put_json, put_table, say
from clew.cli.directories import Json, reading
from clew.cli.exits import DONE, NO_MATCH, code_of_end
from clew.cli.runner import REPORT, CrawlPlan, perform
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.lab.demo import DemoWeb
    from clew.report import ComparedCrawl

STRATEGIES = ("breadth-first", "best-first", "intelligent")
#: Seconds after which a page of the demo that never comes is hung up on, by its server. The crawls are
#: patient, so that on a busy machine they find what they find on an idle one.
STALL = 1.0
#: Marks a directory that a demo made, and that the next one may therefore replace.
MARKER = ".clew-demo"


def demo(
    *,
    directory: Annotated[
        Path, Parameter(name=("--directory", "-d"), metavar="DIR", help="Where the crawls are kept.")
    ] = Path("demo"),
    seed: Annotated[int, Parameter(metavar="N", help="Which web is made up, and how the dice fall.")] = 7,
    pages: Annotated[int, Parameter(metavar="N", help="Pages for each of the three crawls.")] = 300,
    json: Json = False,
) -> int:
    """Crawl an embedded web on this machine, three ways, side by side."""
    from clew.cli.views import choose_views
    from clew.lab.demo import DemoWeb
    from clew.lab.serve import serving

    _make_room(directory)
    web = DemoWeb(seed=seed)
    with serving(web, stall=STALL) as proxy:
        say(f"serving {web.name} on {proxy}; looking for: {web.formula()}")
        plans = [_plan(web, strategy, directory / strategy, proxy, seed, pages) for strategy in STRATEGIES]
        performed = perform(plans, choose_views(STRATEGIES))
    runs = [_run_of(plan) for plan in plans]
    cut = next((end for end in performed.finished if end.reason == "interrupted"), None)
    times = {} if cut else ratios(runs)
    report = _report(runs, directory, web.formula(), seed, pages)
    if json:
        put_json({"runs": [_as_json(run) for run in runs], "ratios": times, "report": str(report)})
    else:
        _show(runs, times)
    say(f"report: {report}")
    if cut is not None:
        # Each was cut off at another point: there is nothing to compare.
        return code_of_end(cut.reason, cut.matches, performed.signal)
    return DONE if all(run.matches for run in runs) else NO_MATCH


def ratios(runs: list[ComparedCrawl]) -> dict[str, float]:
    """How many times as many requests per find the first run needed as each of the others."""
    first, *others = runs
    many = first.requests_per_match
    if not many:
        return {}
    return {run.name: many / run.requests_per_match for run in others if run.requests_per_match}


def _make_room(directory: Path) -> None:
    """An empty place for the demo; what an earlier demo left is replaced, anything else is not."""
    ours = not directory.exists() or (directory / MARKER).is_file()
    if not ours and not (directory.is_dir() and not any(directory.iterdir())):
        raise UsageError(f"{directory} is there and was not made by a demo: choose another --directory")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / MARKER).write_text("made by clew demo; the next one replaces it\n", encoding="utf-8")
    for strategy in STRATEGIES:
        shutil.rmtree(directory / strategy, ignore_errors=True)


def _plan(web: DemoWeb, strategy: str, directory: Path, proxy: str, seed: int, pages: int) -> CrawlPlan:
    from clew.run.build import predicate_of
    from clew.run.settings import make_config

    config = make_config(
        {
            "seeds": web.seeds(),
            "match": web.formula(),
            "strategy": strategy,
            "seed": seed,
            "pages": pages,
            "own": ("*",),
            "proxy": proxy,
            "delay": 0,
            "ordered": True,
            "parse_workers": 0,
        }
    )
    return CrawlPlan(config, predicate_of(config), directory)


def _run_of(plan: CrawlPlan) -> ComparedCrawl:
    from clew.report import gather

    with reading(plan.directory) as reader:
        return gather(reader).run(plan.config.strategy)


def _report(runs: list[ComparedCrawl], directory: Path, formula: str, seed: int, pages: int) -> Path:
    from clew.report import write_comparison

    path = directory / REPORT
    note = f"An embedded web (seed {seed}), {pages} pages for each crawl, looking for {formula}"
    command = f"clew demo --directory {directory} --seed {seed} --pages {pages}"
    write_comparison(runs, path, title="Three ways through one web", note=note, command=command)
    return path


def _show(runs: list[ComparedCrawl], times: dict[str, float]) -> None:
    rows = [
        (
            run.name,
            run.pages,
            run.requests,
            run.matches,
            f"{run.requests_per_match:.1f}" if run.requests_per_match else "–",
        )
        for run in runs
    ]
    put_table(("crawl", "pages", "requests", "finds", "fetches per find"), rows, right=(1, 2, 3, 4))
    for name, many in times.items():
        put(f"{name} needed {many:.1f} times fewer fetches per find than {runs[0].name}")


def _as_json(run: ComparedCrawl) -> dict[str, Any]:
    return {
        "strategy": run.name,
        "pages": run.pages,
        "requests": run.requests,
        "finds": run.matches,
        "fetches_per_find": run.requests_per_match,
    }
