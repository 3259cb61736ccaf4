"""What did the lucky crawls of a case do that the unlucky ones did not?

    python tools/luck.py [--suite tune] [--parts cornell texas …] [--sets 2] [--dice 5] [--budget 300]
        [--option refresh=0.1] [--workers 2] [-o luck.jsonl]

Every case is crawled by `intelligent` with several dice, and the best crawl compared with the worst. A find
*comes from* the page on which its link was first met, and from the page on which that page's was. Of the
pages that the best crawl fetched and the worst did not, or 50 requests later, the one that most of the best
crawl's finds come from made the difference. Of it is told what a crawler could see before fetching it: how
it was linked, from where, since which request, and whether the worst crawl had that link in its frontier
too.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew import url as urls
from clew.factor.link_features import Source, parts_of
from clew.lab.experiment_plan import ExperimentPlan
from clew.lab.metrics import area
from clew.lab.simulate import simulate
from clew.lab.suite import load_suite
from clew.lab.workers import map_in_processes
from clew.strategy import make
from clew.strategy.base import Expansion, Scored
from clew.strategy.intelligent import Intelligent

HOME = Path(__file__).resolve().parent.parent
_plan: ExperimentPlan | None = None
_asked: argparse.Namespace | None = None


@dataclass(slots=True)
class LinkSeen:
    """How a page was first linked."""

    page: str
    """On which page."""
    request: int
    """That page was the crawl's so-and-so-many-th."""
    anchor: str
    path: str
    on_a_find: bool


@dataclass(slots=True)
class CrawlTrace:
    """The pages of one crawl in the order fetched, and where each link was first met."""

    order: dict[str, int] = field(default_factory=dict)
    finds: list[str] = field(default_factory=list)
    dead: set[str] = field(default_factory=set)
    links: dict[str, LinkSeen] = field(default_factory=dict)
    area: int = 0

    def add(self, expansion: Expansion) -> None:
        """Take in one page."""
        page = expansion.page
        self.order.setdefault(page.url, len(self.order) + 1)
        if expansion.verdict.satisfied:
            self.finds.append(page.url)
        if not 200 <= page.status < 300:
            self.dead.add(page.url)
        links = expansion.links
        for i, target in enumerate(links.targets):
            if target not in self.links:
                path = links.paths[i] if links.paths else ""
                self.links[target] = LinkSeen(
                    page.url, len(self.order), links.anchors[i], path, expansion.verdict.satisfied
                )

    def credit(self) -> Counter[str]:
        """For each page the finds that come from it, or from a page that does."""
        found: Counter[str] = Counter()
        for find in self.finds:
            at = find
            for _ in range(2):
                seen = self.links.get(at)
                if seen is None or seen.page == at:
                    break
                at = seen.page
                found[at] += 1
        return found


class TracedIntelligent(Intelligent):
    """The strategy itself, keeping a trace."""

    trace: CrawlTrace

    def observe_many(self, expansions: Sequence[Expansion]) -> list[Scored]:
        for expansion in expansions:
            self.trace.add(expansion)
        return super().observe_many(expansions)


def compare(number: int) -> dict[str, Any] | None:
    """Crawl one case with all dice; what set the best apart from the worst."""
    assert _plan is not None
    assert _asked is not None
    case = _plan.cases[number]
    predicate = _plan.predicate(case)
    traces = []
    for throw in range(1, _asked.dice + 1):
        options = dict(option.split("=", 1) for option in _asked.option)
        seed = make("intelligent", predicate, seed=throw, options=options)
        assert seed.setup is not None
        strategy = TracedIntelligent.build(seed.setup)
        strategy.setup, strategy.trace = seed.setup, CrawlTrace()
        run = simulate(_plan.field(case).parsed_web, predicate, strategy, case.seeds, _asked.budget)
        strategy.trace.area = area(run.finds, _asked.budget)
        traces.append(strategy.trace)
    traces.sort(key=lambda trace: trace.area)
    worst, best = traces[0], traces[-1]
    mean = math.fsum([trace.area for trace in traces]) / len(traces)
    row: dict[str, Any] = {
        "case": case.name,
        "part": _plan.experiment.name,
        "start": case.start,
        "best": best.area,
        "mean": mean,
        "worst": worst.area,
        "finds": [len(best.finds), len(worst.finds)],
    }
    missed = [
        (count, -best.order[page], page)
        for page, count in best.credit().items()
        if page not in case.seeds and worst.order.get(page, math.inf) > best.order[page] + 50
    ]
    if missed and best.area > worst.area:
        row["hub"] = described(max(missed)[2], max(missed)[0], best, worst, case.seeds)
    return row


def described(
    page: str, count: int, best: CrawlTrace, worst: CrawlTrace, seeds: Sequence[str]
) -> dict[str, Any]:
    """What could be seen of a link before it was followed."""
    seen, other = best.links.get(page), worst.links.get(page)
    host, directory, file, _ = parts_of(page)
    source = Source.of(seen.page if seen else seeds[0], False)
    up = host == source.host and source.directory.startswith(directory) and directory != source.directory
    return {
        "url": page,
        "finds behind it": count,
        "is a find": page in best.finds,
        "fetched at": best.order[page],
        "link met at": seen.request if seen else 0,
        "linked from a find": bool(seen and seen.on_a_find),
        "linked from a start page": bool(seen and seen.page in seeds),
        "anchor": seen.anchor[:60] if seen else "",
        "path": seen.path[-40:] if seen else "",
        "same host": host == source.host,
        "up": up,
        "index": bool(re.fullmatch(r"((index|default|home|contents|welcome)\..*)?", file.lower())),
        "steps": directory.count("/") + bool(directory) + bool(file),
        "worst: link met at": other.request if other else None,
        "worst: fetched at": worst.order.get(page),
        "worst: dead": len(worst.dead),
        "worst: pages of one directory": Counter(
            urls.origin(url) + "/" + parts_of(url)[1] for url in worst.order
        ).most_common(1)[0][1],
        "best: dead": len(best.dead),
    }


def summary(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What the cases have in common."""
    told = [row["hub"] for row in rows if "hub" in row]
    n = len(told) or 1
    by: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by.setdefault(row["part"], []).append(row)
    lines = [f"{'web':<14}{'cases':>6}{'worst÷mean':>12}{'best÷mean':>11}"]
    for part, some in by.items():
        total = math.fsum([row["mean"] for row in some]) or 1.0
        worst = math.fsum([row["worst"] for row in some]) / total
        best = math.fsum([row["best"] for row in some]) / total
        lines.append(f"{part:<14}{len(some):>6}{worst:>12.2f}{best:>11.2f}")
    counted = {
        "the worst crawl had the link in its frontier": [h["worst: link met at"] is not None for h in told],
        "… and within its first 50 requests": [(h["worst: link met at"] or 1e9) <= 50 for h in told],
        "the worst crawl never fetched it": [h["worst: fetched at"] is None for h in told],
        "the page is no find itself": [not h["is a find"] for h in told],
        "linked from a start page": [h["linked from a start page"] for h in told],
        "linked from a find": [h["linked from a find"] for h in told],
        "on the host of the page that links to it": [h["same host"] for h in told],
        "up the path of the page that links to it": [h["up"] for h in told],
        "an index page by its name": [h["index"] for h in told],
        "one step deep or less": [h["steps"] <= 1 for h in told],
        "two steps deep or less": [h["steps"] <= 2 for h in told],
        "fetched within the best crawl's first 50": [h["fetched at"] <= 50 for h in told],
    }
    lines.append(f"of {len(told)} cases with a page that made the difference:")
    lines += [f"  {name:<52}{sum(values) / n:>5.0%}" for name, values in counted.items()]
    mean = lambda key: math.fsum([h[key] for h in told]) / n  # noqa: E731
    lines.append(f"  finds that come from it {mean('finds behind it'):.1f}")
    lines.append(f"  dead links fetched: worst {mean('worst: dead'):.0f}, best {mean('best: dead'):.0f}")
    most = mean("worst: pages of one directory")
    lines.append(f"  the worst crawl's pages in one directory, at most {most:.0f}")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    global _plan, _asked
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="tune", choices=("tune", "judge"))
    parser.add_argument("--parts", nargs="*", default=())
    parser.add_argument("--sets", type=int, default=2)
    parser.add_argument("--dice", type=int, default=5)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--option", nargs="*", default=[], help="options of the strategy, as name=value")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, default=None)
    _asked = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    for part in load_suite(HOME / "experiments" / f"{_asked.suite}.toml").only(_asked.parts).parts:
        _plan = ExperimentPlan(part.repeated(dice=1, sets=_asked.sets))
        calls = [(n,) for n in range(len(_plan.cases))]
        found = map_in_processes(compare, calls, _asked.workers, lambda _: None, "")
        rows += [row for row in found if row is not None]
    rows.sort(key=lambda row: row["case"])
    if _asked.output is not None:
        _asked.output.write_text("".join([json.dumps(row) + "\n" for row in rows]), "utf-8")
    for line in summary(rows):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
