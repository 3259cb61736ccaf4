"""`clew demo`: an embedded web, crawled three ways side by side."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from clew.cli.console import put, put_json, put_table, say
from clew.cli.directories import Json, reading
from clew.cli.exits import DONE, NO_MATCH, code_of_end
from clew.cli.runner import REPORT, CrawlPlan, perform
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.lab.demo import DemoWeb
    from clew.report import ComparedCrawl

#: Seconds after which a page of the demo that never comes is hung up on, by its server. The crawls are
#: patient, so that on a busy machine they find what they find on an idle one.
STALL = 1.0
#: What is compared, and the strategy of each; for links, for people, and for topics.
STRATEGIES = {"breadth-first": "breadth-first", "best-first": "best-first", "intelligent": "intelligent"}
PEOPLE = {"breadth-first": "breadth-first", "intelligent": "intelligent", "both": "intelligent"}
TOPICS = {"breadth-first": "breadth-first", "focused": "ariadne", "tunnelling": "ariadne"}
SHOWN = {"links": STRATEGIES, "people": PEOPLE, "topics": TOPICS}
#: The one that goes by a log of visits too, and the one that widens its focus.
BOTH, TUNNELLING = "both", "tunnelling"
_LOG, _TOPICS = "visits", "topics"
#: Pages for each crawl. What two topics share is rare, and takes longer to find.
_PAGES, _MORE = 300, 600
#: Pages of a session of the crawl that tunnels: short, as the crawl is.
_SESSION = 50
#: Marks a directory that a demo made, and that the next one may therefore replace.
MARKER = ".clew-demo"


def demo(
    *,
    directory: Annotated[
        Path, Parameter(name=("--directory", "-d"), metavar="DIR", help="Where the crawls are kept.")
    ] = Path("demo"),
    seed: Annotated[int, Parameter(metavar="N", help="Which web is made up, and how the dice fall.")] = 7,
    pages: Annotated[
        int | None, Parameter(metavar="N", help="Pages for each of the three crawls (300; for topics 600).")
    ] = None,
    interest: Annotated[
        Literal["links", "people", "topics"],
        Parameter(
            metavar="links|people|topics",
            help="What is shown: ways by links, what people's visits add, or tunnelling to two topics.",
        ),
    ] = "links",
    json: Json = False,
) -> int:
    """Crawl an embedded web on this machine, three ways, side by side."""
    from clew.cli.views import choose_views
    from clew.lab.demo import DemoWeb
    from clew.lab.serve import serving

    _make_room(directory)
    pages = pages or (_MORE if interest == "topics" else _PAGES)
    web = DemoWeb(seed=seed)
    topics = directory / _TOPICS if interest == "topics" else None
    formula = web.formula() if topics is None else _trained(web, topics)
    with serving(web, stall=STALL) as proxy:
        say(f"serving {web.name} on {proxy}; looking for: {formula}")
        shown = SHOWN[interest]
        visits = _visits(web, directory / _LOG, seed) if interest == "people" else None
        asked = {
            "seeds": web.seeds(),
            "match": formula,
            "topics": topics,
            "seed": seed,
            "pages": pages,
            "proxy": proxy,
        }
        plans = [
            _plan(
                directory / name,
                asked
                | {
                    "strategy": way,
                    "visits": visits if name == BOTH else None,
                    "tunnel": "climb" if name == TUNNELLING else "off",
                    "tunnel_session": _SESSION,
                },
            )
            for name, way in shown.items()
        ]
        performed = perform(plans, choose_views(list(shown)))
    runs = [_run_of(name, plan) for name, plan in zip(shown, plans, strict=True)]
    cut = next((end for end in performed.finished if end.reason == "interrupted"), None)
    times = {} if cut else ratios(runs)
    report = _report(runs, directory, formula, seed, pages, interest)
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
    for name in (*STRATEGIES, *PEOPLE, *TOPICS, _LOG, _TOPICS):
        shutil.rmtree(directory / name, ignore_errors=True)


def _visits(web: DemoWeb, place: Path, seed: int) -> Path:
    """Visits of made-up people, half of whom want what is looked for, by way of a log."""
    from clew.testing import made_log
    from clew.visits import ImportSettings, Secret, VisitsDatabase, import_log

    place.mkdir(parents=True)
    log, visits = place / "access.log", place / "visits.db"
    log.write_text("\n".join(made_log(web, {"wind": web.relevant()}, seed=seed)) + "\n", encoding="utf-8")
    # Nobody is behind these addresses: the secret need not be one.
    secret = Secret(b"people of the demo web".ljust(32))
    with VisitsDatabase(visits, secret, create=True) as database:
        counts = import_log(database, secret, log, ImportSettings()).counts
    say(f"{counts.lines:,} lines of a log gave {counts.visits:,} visits: clew visits audit {visits}")
    return visits


def _trained(web: DemoWeb, folder: Path) -> str:
    """Two topics of the web, trained from its pages, and the formula that joins them."""
    from clew.lab.demo.topics import make_topics

    formula = make_topics(web, folder)
    say(f"trained two topics from its pages: clew topic list --topics {folder}")
    return formula


def _plan(directory: Path, asked: dict[str, Any]) -> CrawlPlan:
    from clew.run.build import predicate_of
    from clew.run.settings import make_config

    rules = {"own": ("*",), "delay": 0, "ordered": True, "parse_workers": 0}
    config = make_config(asked | rules)
    return CrawlPlan(config, predicate_of(config), directory)


def _run_of(name: str, plan: CrawlPlan) -> ComparedCrawl:
    from clew.report import gather

    with reading(plan.directory) as reader:
        return gather(reader).run(name)


def _report(
    runs: list[ComparedCrawl], directory: Path, formula: str, seed: int, pages: int, interest: str
) -> Path:
    from clew.report import write_comparison

    path = directory / REPORT
    note = f"An embedded web (seed {seed}), {pages} pages for each crawl, looking for {formula}"
    command = f"clew demo --directory {directory} --seed {seed} --pages {pages}"
    command += "" if interest == "links" else f" --interest {interest}"
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
    for run in runs:
        for change in run.changes:
            put(
                f"{run.name}, after page {change.pages}: seeking {change.after} "
                f"({change.off_topic} off-topic pages, {change.finds} finds; led to {change.led_to})"
            )


def _as_json(run: ComparedCrawl) -> dict[str, Any]:
    return {
        "strategy": run.name,
        "pages": run.pages,
        "requests": run.requests,
        "finds": run.matches,
        "fetches_per_find": run.requests_per_match,
        "focus": [asdict(change) for change in run.changes],
    }
