"""Does tunnelling find more? Formulas of two topics, with and without it.

    python bench/tunnelling.py                     # the halves that judge: narrow and broad formulas
    python bench/tunnelling.py --half tune         # the half that settings may be chosen on
    python bench/tunnelling.py --web wikispeedia:hard --way climb drop reweight --jobs 2

The rule, applied before anything is crawled. Topics are the labels of a web, in their tree, learned as the
paper's were (keyword lists, 20 pages each that have no other label). A formula joins two topics of different
branches. It is *narrow* if both have a topic above them, 15 to 80 pages satisfy it, and matches lie behind
off-topic pages: on every path from the start pages to at least half of them there are three or more pages
that do not satisfy it. It is *broad* if one has a topic above it and 100 pages or more satisfy it. Start
pages are three of the pages that satisfy it, the first by a hash of the address. Formulas are taken in the
order of a hash of their text, every other one for either half. A page satisfies a formula from a degree of
0.5 on, on Wikispeedia from 0.2: from 0.5 on there are too few.

The web that judges is `regions:2`: made up (`clew.lab.region_web`), of the same kind as the one that settings
were chosen on (`regions:1`), with other dice. On Wikispeedia the rule leaves hardly any narrow formula: it is
closely linked, and 2,000 requests are 38 % of it. `--behind 1` takes those of which half lie behind one page
or more.

Printed for each way: finds after 2,000 requests, the ratio to `ariadne` without tunnelling (the simple
focused crawler), with a bootstrap interval over formulas, and changes of focus. Beside it, breadth-first.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.lab import open_web
from clew.lab.graph import Graph, Mask
from clew.lab.label_topics import label_examples, label_library
from clew.lab.parsed_web import ParsedWeb
from clew.lab.simulate import simulate
from clew.lab.statistics import interval
from clew.policy.tunnel import TunnelRules
from clew.predicate import compile as compile_predicate
from clew.strategy import make
from clew.url import key

WEBS = {"tune": "regions:1", "judge": "regions:2"}
NARROW, BROAD = (15, 80), 100
STARTS = 3
#: The share of matches that lie behind other pages.
SHARE = 0.5


class Field:
    """A web, its topics, and the formulas that the rule gives."""

    def __init__(self, corpus: str, behind: int) -> None:
        self.corpus = corpus
        self.behind = behind
        self.threshold = 0.2 if corpus.startswith("wikispeedia") else 0.5
        self.web = ParsedWeb(open_web(corpus), dead_links=False, robots=False)
        _ = self.web.graph
        self.library = label_library(label_examples(self.web))
        scorers = self.library.scorers(self.library.models)
        self.names = scorers.names
        self.relevant = np.zeros((len(self.web), len(self.names)), np.bool_)
        for number, page in self.web.pages():
            self.relevant[number] = scorers.page(page).degrees >= self.threshold

    def formulas(self, kind: str, half: str, count: int) -> list[tuple[str, tuple[str, ...]]]:
        """Formulas of a kind with their start pages."""
        found = []
        for one, other in itertools.combinations(range(len(self.names)), 2):
            pair = self.names[one], self.names[other]
            deep = sum("." in name for name in pair)
            if pair[0].partition(".")[0] == pair[1].partition(".")[0] or deep < 1 + (kind == "narrow"):
                continue
            mask = self.relevant[:, one] & self.relevant[:, other]
            size = int(mask.sum())
            starts = sorted(np.flatnonzero(mask).tolist(), key=lambda n: key(self.web.urls[n]))[:STARTS]
            if kind == "broad":
                fits = size >= BROAD
            else:
                fits = NARROW[0] <= size <= NARROW[1] and self._behind(mask, starts) >= SHARE
            if fits:
                text = f"topic:{pair[0]} AND topic:{pair[1]}"
                found.append((text, tuple(self.web.urls[n] for n in starts)))
        found.sort(key=lambda pair: key(pair[0]))
        return found[half == "judge" :: 2][:count]

    def _behind(self, mask: Mask, starts: Sequence[int]) -> float:
        """The share of pages that lie behind so many others."""
        return float((crossed(self.web.graph, mask, starts)[mask] >= self.behind).mean())


def crossed(graph: Graph, mask: Mask, starts: Sequence[int]) -> NDArray[np.int32]:
    """Of each page, the fewest pages outside a set on any path from the start pages to it; -1 without one.

    >>> graph = Graph.of(4, [(0, 1), (1, 2), (2, 3), (0, 2)])
    >>> crossed(graph, np.array([True, True, False, True]), [0]).tolist()
    [0, 0, 0, 1]
    """
    far = np.full(len(graph), -1, np.int32)
    far[list(starts)] = 0
    waiting = deque(starts)
    done = np.zeros(len(graph), np.bool_)
    while waiting:
        page = waiting.popleft()
        if done[page]:
            continue
        done[page] = True
        beyond = far[page] + (not mask[page])
        for target in graph.tails[graph.starts[page] : graph.starts[page + 1]].tolist():
            if far[target] < 0 or beyond < far[target]:
                far[target] = beyond
                # Nothing outside was crossed: it is as near as this page.
                (waiting.appendleft if mask[page] else waiting.append)(target)
    return far


_FIELD: list[Field] = []


def crawl(job: tuple[str, tuple[str, ...], str, str, int]) -> dict[str, Any]:
    """One crawl: `way` is a way to tunnel, `off`, `prune` or `breadth-first`."""
    formula, starts, way, when, requests = job
    field = _FIELD[-1]
    wanted = compile_predicate(formula, topics=field.library, threshold=field.threshold)
    strategy = make("breadth-first" if way == "breadth-first" else "ariadne", wanted)
    tunnel = TunnelRules(way=way, when=when) if way in ("climb", "drop", "reweight") else None
    course = simulate(field.web, wanted, strategy, starts, requests, tunnel=tunnel, prune=way == "prune")
    return {
        "formula": formula,
        "way": way,
        "finds": len(course.finds),
        "changes": len(course.changes),
        "tunnelled": course.tunnelled,
    }


def measure(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every formula, every way."""
    field = Field(asked.web or WEBS[asked.half], asked.behind)
    _FIELD.append(field)
    ways = ["breadth-first", "off", *asked.way]
    with multiprocessing.get_context("fork").Pool(asked.jobs) as pool:
        for kind, count in (("narrow", asked.narrow), ("broad", asked.broad)):
            cases = field.formulas(kind, asked.half, count)
            jobs = [(*case, way, asked.when, asked.requests) for case in cases for way in ways]
            for done, row in enumerate(pool.imap(crawl, jobs), 1):
                print(f"{kind} {done}/{len(jobs)}: {row}", file=sys.stderr)
                yield {"kind": kind, **row}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=["tune", "judge"], default="judge")
    parser.add_argument("--web", default="", help="another web than that of the half")
    parser.add_argument("--behind", type=int, default=3, help="pages that matches lie behind")
    parser.add_argument("--way", nargs="*", default=["climb"])
    parser.add_argument("--when", choices=["lost", "paper"], default="lost")
    parser.add_argument("--narrow", type=int, default=12)
    parser.add_argument("--broad", type=int, default=6)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    figures = summary(list(measure(asked)), asked.way)
    if asked.json:
        print(json.dumps(figures))
        return 0
    for kind in figures:
        print(f"{kind['kind']}: {len(kind['formulas'])} formulas, {asked.requests} requests, {kind['web']}")
        for one in kind["formulas"]:
            told = "  ".join(f"{way} {finds}" for way, finds in one["finds"].items())
            print(f"  {one['formula']}: {told}")
        for row in kind["ways"]:
            mean, low, high = row["ratio"]
            print(
                f"  {row['way']} / off: {mean:.3f} [{low:.3f}, {high:.3f}], least {row['least']:.3f}, "
                f"{row['changes']} changes of focus"
            )
    return 0


def summary(rows: Sequence[dict[str, Any]], ways: Sequence[str]) -> list[dict[str, Any]]:
    """By kind: every formula's finds, and the ratios to `ariadne` without tunnelling."""
    found = []
    for kind in ("narrow", "broad"):
        crawls = {(row["formula"], row["way"]): row for row in rows if row["kind"] == kind}
        formulas = list(dict.fromkeys(formula for formula, _ in crawls))
        if not formulas:
            continue
        told = []
        for way in ("breadth-first", *ways):
            ratios = [crawls[one, way]["finds"] / max(1, crawls[one, "off"]["finds"]) for one in formulas]
            changes = sum(crawls[one, way]["changes"] for one in formulas)
            mean = [round(float(x), 4) for x in (np.mean(ratios), *interval(ratios))]
            told.append({"way": way, "ratio": mean, "least": round(min(ratios), 4), "changes": changes})
        listed = [
            {
                "formula": one,
                "finds": {way: row["finds"] for (formula, way), row in crawls.items() if formula == one},
            }
            for one in formulas
        ]
        found.append({"kind": kind, "web": _FIELD[-1].corpus, "formulas": listed, "ways": told})
    return found


if __name__ == "__main__":
    raise SystemExit(main())
