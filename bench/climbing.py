"""Does tunnelling cost `intelligent` anything? Blind topics, with `--tunnel climb` and without it.

    python bench/climbing.py                        # both Wikispeedia variants and WebKB
    python bench/climbing.py --web webkb --topics 5 --requests 200

A topic is a label that none is below of: a page is a find if it has the label, and what is above it in the
tree is sought when the scent is lost. Blind: nothing is known of a link, neither for the label nor for what
is above it. WebKB's classes are no tree; students, faculty and staff are put under `people`, the others have
nothing above them, so that for them nothing can change. Topics are the first by a hash of the label among
those with 30 to 400 pages; each has a start page (the first by a hash of its address with the topic's name)
from which half of its pages can be reached.

Printed by web: finds after so many requests as a share of those without tunnelling, from the same start page
with the same dice: the mean with a bootstrap interval over topics, the least, and changes of focus.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xxhash

from clew.lab import open_web
from clew.lab.corpora import TAXONOMY
from clew.lab.parsed_web import ParsedWeb
from clew.lab.simulate import simulate
from clew.lab.statistics import interval
from clew.page import Links, Page
from clew.policy.tunnel import TunnelRules
from clew.predicate import Formula, FormulaPredicate, Or, Verdict, Weighted, parse
from clew.predicate.atoms.topic import TopicAtom
from clew.predicate.formula import weight
from clew.predicate.logic import weigh
from clew.strategy import make
from clew.topic import Taxonomy, TopicLibrary, TopicModel

WEBS = ("wikispeedia", "wikispeedia:hard", "webkb")
PEOPLE = ("student", "faculty", "staff")
SIZES = (30, 400)

Labelled = Mapping[str, frozenset[str]]


class LabelTopic(FormulaPredicate):
    """A formula of topics that are labels: true of the pages that have them, and silent about links."""

    __slots__ = ("labelled",)

    def __init__(self, formula: Formula, labelled: Labelled) -> None:
        nothing = TopicModel("keyword", (), np.zeros(0), -9.0)
        library = TopicLibrary(Taxonomy(labelled), dict.fromkeys(labelled, nothing), source="labels")
        super().__init__(formula, topics=library)
        self.labelled = labelled

    def judge(self, page: Page, *, explain: bool = False) -> Verdict:
        """Whether the page has the labels."""
        score = self._degree(self.formula, page.url)
        return Verdict(score, score >= self.threshold, ())

    def estimate_links(self, links: Links) -> Sequence[float]:
        """Nothing: a link is a link."""
        return [0.0] * len(links)

    def another(self, formula: str) -> LabelTopic:
        """The predicate of another formula, of the same labels."""
        return LabelTopic(parse(formula), self.labelled)

    def _degree(self, formula: Formula, url: str) -> float:
        match formula:
            case TopicAtom():
                return float(url in self.labelled[formula.name])
            case Weighted():
                return self._degree(formula.part, url)
            case Or():
                return weigh(max, [(weight(part), self._degree(part, url)) for part in formula.parts])
        raise TypeError(f"{formula} is no formula of labels")


def labels_of(web: ParsedWeb) -> dict[str, frozenset[str]]:
    """The pages of each topic of a web, those of topics below it included."""
    found: dict[str, set[str]] = {}
    for url in web.urls:
        for label in web.web.labels(url):
            path = f"people.{label}" if label in PEOPLE else label.removeprefix(TAXONOMY).casefold()
            steps = path.split(".")
            for depth in range(1, len(steps) + 1):
                found.setdefault(".".join(steps[:depth]), set()).add(url)
    return {path: frozenset(urls) for path, urls in found.items()}


class Field:
    """A web with its labels, and the cases on it."""

    def __init__(self, corpus: str) -> None:
        dead = not corpus.startswith("wikispeedia")
        self.web = ParsedWeb(open_web(corpus), dead_links=dead)
        self.labelled = labels_of(self.web)

    def cases(self, count: int) -> list[tuple[str, str]]:
        """Topics with their start pages."""
        found: list[tuple[str, str]] = []
        for path in sorted(self.labelled, key=_hash):
            pages = self.labelled[path]
            leaf = not any(other.startswith(f"{path}.") for other in self.labelled)
            if leaf and SIZES[0] <= len(pages) <= SIZES[1] and len(found) < count:
                start = self._start(path, pages)
                found += [(path, start)] if start else []
        return found

    def _start(self, path: str, pages: frozenset[str]) -> str:
        mask = np.array([url in pages for url in self.web.urls])
        for url in sorted(self.web.urls, key=lambda url: _hash(f"{path} {url}"))[:200]:
            if mask[self.web.graph.reach([self.web.number[url]])].sum() >= 0.5 * len(pages):
                return url
        return ""


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode())


_FIELD: list[Field] = []


def crawl(job: tuple[str, str, str, int]) -> dict[str, Any]:
    """One crawl."""
    path, start, way, requests = job
    field = _FIELD[-1]
    wanted = LabelTopic(parse(f"topic:{path}"), field.labelled)
    strategy = make("intelligent", wanted, seed=_hash(path) >> 33)
    tunnel = None if way == "off" else TunnelRules(way=way)
    course = simulate(field.web, wanted, strategy, (start,), requests, tunnel=tunnel)
    return {"topic": path, "way": way, "finds": len(course.finds), "changes": len(course.changes)}


def measure(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """By web: every topic with and without."""
    for corpus in asked.web:
        field = Field(corpus)
        _FIELD.append(field)
        jobs = [
            (*case, way, asked.requests) for case in field.cases(asked.topics) for way in ("off", "climb")
        ]
        rows = []
        with multiprocessing.get_context("fork").Pool(asked.jobs) as pool:
            for done, row in enumerate(pool.imap(crawl, jobs), 1):
                print(f"{corpus} {done}/{len(jobs)}: {row}", file=sys.stderr)
                rows.append(row)
        yield summary(corpus, rows)


def summary(corpus: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One web."""
    crawls = {(row["topic"], row["way"]): row for row in rows}
    topics = list(dict.fromkeys(topic for topic, _ in crawls))
    # Nothing found without, and nothing with: nothing lost.
    ratios = [
        (crawls[one, "climb"]["finds"] + 1) / (crawls[one, "off"]["finds"] + 1)
        if not crawls[one, "off"]["finds"]
        else crawls[one, "climb"]["finds"] / crawls[one, "off"]["finds"]
        for one in topics
    ]
    return {
        "web": corpus,
        "topics": [
            {"topic": one, "off": crawls[one, "off"]["finds"], "climb": crawls[one, "climb"]["finds"]}
            for one in topics
        ],
        "ratio": [round(float(x), 4) for x in (np.mean(ratios), *interval(ratios))],
        "least": round(min(ratios), 4),
        "all": round(
            sum(crawls[one, "climb"]["finds"] for one in topics)
            / max(1, sum(crawls[one, "off"]["finds"] for one in topics)),
            4,
        ),
        "changes": sum(crawls[one, "climb"]["changes"] for one in topics),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", nargs="*", default=list(WEBS))
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    figures = list(measure(asked))
    if asked.json:
        print(json.dumps(figures))
        return 0
    for web in figures:
        mean, low, high = web["ratio"]
        print(
            f"{web['web']}: {len(web['topics'])} topics, {asked.requests} requests: climb / off {mean:.3f} "
            f"[{low:.3f}, {high:.3f}], least {web['least']:.3f}, of all finds {web['all']:.3f}, "
            f"{web['changes']} changes of focus"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
