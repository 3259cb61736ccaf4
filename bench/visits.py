"""How fast a log becomes visits, in how much memory; and what the log adds to the cost of a page.

    python bench/visits.py [--lines 1000000] [--json]

A log in Squid's own format is made (20,000 addresses, 50,000 pages, four of ten lines embedded resources) and
imported in this process; then the demo web is crawled by `intelligent` without and with a log of made people,
in turn, several times each (`page`: these are two crawls, of other pages and with other candidates). What the
crawl with the log was told is told again to `intelligent` with and without it, in turn (`scoring`: what the
log's factors and offers add, as a share of all else that a page costs; pages come parsed). Prints one JSON
line per quantity; with `--json`, one list of them.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clew.factor.visit_log import VisitLog
from clew.lab import DemoWeb
from clew.lab.made_log import made_log
from clew.lab.parsed_web import ParsedWeb
from clew.lab.predicates import Blind
from clew.lab.simulate import SimulatedCrawl, simulate
from clew.lab.visit_logs import visit_log
from clew.strategy import Strategy, make
from clew.visits import ImportSettings, Secret, VisitsDatabase, import_log, read_visits

KINDS = ("text/html",) * 6 + ("image/png",) * 3 + ("text/css",)


def write_log(path: Path, lines: int) -> None:
    """A log of so many lines."""
    dice = random.Random(1)
    urls = [f"http://site{i % 997}.example/{'abcde'[i % 5]}/page-{i}.html" for i in range(50_000)]
    with path.open("w") as file:
        for i in range(lines):
            # Everybody sleeps: a twenty-fourth of them is there at a time.
            person = int(dice.random() * 833) + 833 * (i * 24 // lines)
            url = urls[int(dice.random() ** 3 * len(urls))]
            file.write(
                f"{1_700_000_000 + i * 0.01:.3f}    {i % 900} 10.0.{person >> 8}.{person & 255} TCP_MISS/200 "
                f"{i % 50_000} GET {url} - HIER_DIRECT/192.0.2.1 {KINDS[i % 10]}\n"
            )


def importing(lines: int) -> list[dict[str, object]]:
    """Lines a second of processor time, memory, and how long the visits take to read."""
    secret = Secret(b"bench".ljust(32))
    with tempfile.TemporaryDirectory() as folder:
        log, place = Path(folder) / "access.log", Path(folder) / "visits.db"
        write_log(log, lines)
        before = time.process_time()
        with VisitsDatabase(place, secret, create=True) as database:
            counts = import_log(database, secret, log, ImportSettings()).counts
        took = time.process_time() - before
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        before = time.process_time()
        read = read_visits(place, 3).log
        reading = time.process_time() - before
    assert counts.balanced
    rate = {
        "what": "import",
        "lines": counts.lines,
        "visits": counts.visits,
        "lines_per_cpu_s": round(counts.lines / took),
    }
    return [
        {**rate, "MB": round(most)},
        {"what": "read", "visits": len(read.person), "cpu_s": round(reading, 2)},
    ]


def crawling(budget: int = 400, rounds: int = 7) -> list[dict[str, object]]:
    """What a page costs with a log and without, and what scoring by it costs; the least of several rounds."""
    web = DemoWeb()
    lines = [line.split(" ", 7) for line in made_log(web, {"wind": web.relevant()}, people=200, robots=0)]
    log = visit_log([(row[2], int(float(row[0]) * 1000), row[6]) for row in lines])
    wanted = Blind("wind", web.relevant())
    parsed = ParsedWeb(web)

    def crawled(visits: VisitLog | None, told: list[tuple[str, Any]] | None = None) -> SimulatedCrawl:
        strategy = make("intelligent", wanted, visits=visits)
        if told is not None:
            overhear(strategy, told)
        return simulate(parsed, wanted, strategy, web.seeds(), budget)

    def learned(visits: VisitLog | None) -> float:
        strategy = make("intelligent", wanted, visits=visits)
        before = time.process_time()
        for name, given in told:
            getattr(strategy, name)(given)
        return time.process_time() - before

    told: list[tuple[str, Any]] = []
    pages = crawled(log, told).pages
    page: dict[str, float] = defaultdict(lambda: math.inf)
    strategy: dict[str, float] = defaultdict(lambda: math.inf)
    for _ in range(rounds):
        for name, visits in (("without", None), ("with", log)):
            course = crawled(visits)
            page[name] = min(page[name], 1000 * course.cpu / course.pages)
            strategy[name] = min(strategy[name], 1000 * learned(visits) / pages)
    added = strategy["with"] - strategy["without"]

    def shown(cost: Mapping[str, float]) -> dict[str, float]:
        return {f"ms_{name}": round(ms, 3) for name, ms in cost.items()}

    return [
        {"what": "page", **shown(page), "ratio": round(page["with"] / page["without"], 3)},
        {"what": "scoring", **shown(strategy), "added": round(added / (page["with"] - added), 3)},
    ]


def overhear(strategy: Strategy, told: list[tuple[str, Any]]) -> None:
    """Keep what a strategy is told: pages that were fetched, candidates without a page."""

    def kept(name: str) -> Callable[[Any], Any]:
        heard = getattr(strategy, name)

        def hear(given: Any) -> Any:
            told.append((name, given))
            return heard(given)

        return hear

    for name in ("observe_many", "meet"):
        setattr(strategy, name, kept(name))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    found = [*importing(asked.lines), *crawling()]
    if asked.json:
        print(json.dumps(found))
    else:
        for row in found:
            print(json.dumps(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
