"""Knowledge used again: finds in the first requests with and without what an earlier crawl learned.

    python bench/reuse.py                                       # pages with a word on them
    python bench/reuse.py --draw 8 --jobs 2                     # other words, two processes
    python bench/reuse.py --labels --size 100 700 --oracle      # pages of a subject
    python bench/reuse.py --corpus webkb:cornell webkb:texas --labels --size 15 700

For each topic one crawl learns, from one random page. Then crawls from other random pages run without
knowledge, with that of the same topic, and with that of an unrelated one: of the topics drawn, the one that
shares least with it. No seed is a find. Blind predicates: after each fetch yes or no, nothing about links.
Every request counts. Printed: mean finds within the budgets, of these how many the earlier crawl had not
found; and the ratios of the sums to those without knowledge, with 95 % bootstrap intervals over topics.

There is something to win only where a crawl without knowledge leaves much unfound. Subjects of an
encyclopaedia are not such: pages about birds link to each other, and 500 requests without knowledge find most
of what any crawl could (`--oracle` prints that). A word that stands on one page in ten, here and there, is:
links say little about it, and what was found before is worth knowing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.knowledge import Knowledge, dumps, loads
from clew.lab import open_web
from clew.lab.corpora import topics_of
from clew.lab.oracle import achievable
from clew.lab.parsed_web import ParsedWeb
from clew.lab.predicates import Blind
from clew.lab.simulate import simulate
from clew.page import Page
from clew.predicate.verdict import Verdict
from clew.strategy import Intelligent
from clew.strategy.vectorizer import distinct_words

KINDS = ("plain", "same", "unrelated")
#: The share of a topic that must be within reach of a seed.
_REACH = 0.5

Floats = NDArray[np.float64]


class Watched(Blind):
    """A blind predicate that remembers what it found."""

    def __init__(self, name: str, targets: frozenset[str]) -> None:
        super().__init__(name, targets)
        self.found: list[str] = []

    def judge(self, page: Page) -> Verdict:
        verdict = super().judge(page)
        if verdict.satisfied:
            self.found.append(page.url)
        return verdict


@dataclass(slots=True)
class Topic:
    """A predicate on one web, pages to begin at, and what a crawl from the first of them learned."""

    parsed_web: ParsedWeb
    name: str
    targets: frozenset[str]
    seeds: list[str] = field(default_factory=list)
    learned: str = ""
    found: frozenset[str] = frozenset()

    def run(
        self, seed: str, dice: int, known: Knowledge | None, budget: int
    ) -> tuple[list[int], list[str], Knowledge]:
        """The requests that brought finds, the finds, what was learned."""
        strategy = Intelligent(dice, known=known)
        watched = Watched(self.name, self.targets)
        course = simulate(self.parsed_web, watched, strategy, [seed], budget)
        return list(course.finds), watched.found, strategy.knowledge

    def oracle(self, seed: str, budgets: Sequence[int]) -> list[int]:
        """What a crawl that knows everything finds."""
        mask = np.array([url in self.targets for url in self.parsed_web.urls])
        number = self.parsed_web.number[seed]
        finds = achievable(self.parsed_web.graph, mask, [number], max(budgets), self.parsed_web.origins)
        return [sum(f <= b for f in finds) for b in budgets]


def members(parsed_web: ParsedWeb, labels: bool) -> dict[str, set[str]]:
    """The pages of each topic: by label, or by the stems of words on them."""
    found: dict[str, set[str]] = {}
    for _, page in parsed_web.pages():
        for name in topics_of(parsed_web.web, page.url) if labels else distinct_words(page):
            found.setdefault(name, set()).add(page.url)
    return found


def topics(corpus: str, asked: argparse.Namespace, rng: np.random.Generator) -> Iterator[Topic]:
    """Topics drawn from those of the right size, with seeds drawn for each."""
    recorded = corpus.startswith("webkb")
    # No robots.txt was recorded with WebKB: asking for it would double the price of every new host.
    parsed_web = ParsedWeb(open_web(corpus), dead_links=recorded, robots=not recorded)
    graph = parsed_web.graph
    pages = [i for i, _ in parsed_web.pages()]
    low, high = asked.size
    by_name = members(parsed_web, asked.labels)
    fit = sorted(name for name, urls in by_name.items() if low <= len(urls) <= high and name != "other")
    for place in rng.permutation(len(fit))[: asked.topics].tolist():
        topic = Topic(parsed_web, fit[place], frozenset(by_name[fit[place]]))
        mask = np.array([url in topic.targets for url in parsed_web.urls])
        for i in rng.permutation(len(pages)).tolist():
            if not mask[pages[i]] and (graph.reach([pages[i]]) & mask).sum() >= _REACH * mask.sum():
                topic.seeds.append(parsed_web.urls[pages[i]])
            if len(topic.seeds) > asked.seeds:
                yield topic
                break


def unrelated(topic: Topic, among: Sequence[Topic]) -> Topic | None:
    """The other topic that shares the smallest part of its pages with this one."""
    others = [t for t in among if t is not topic and t.found]
    return min(others, key=lambda t: len(t.targets & topic.targets) / len(t.targets), default=None)


def measure(topic: Topic, among: Sequence[Topic], asked: argparse.Namespace) -> dict[str, Floats]:
    """By kind of crawl: mean finds within each budget, and of the last how many were not found before."""
    strange = unrelated(topic, among)
    given = {"plain": "", "same": topic.learned, "unrelated": strange.learned if strange else ""}
    rows: dict[str, Floats] = {}
    for kind, text in given.items():
        if kind != "plain" and not text:
            continue
        found = []
        for n, seed in enumerate(topic.seeds[1:]):
            known = loads(text) if text else None
            finds, urls, _ = topic.run(seed, 2 + n, known, max(asked.budget))
            within = [sum(f <= b for f in finds) for b in asked.budget]
            found.append([*within, sum(url not in topic.found for url in urls)])
        rows[kind] = np.mean(found, axis=0)
    if asked.oracle:
        best = [topic.oracle(seed, asked.budget) for seed in topic.seeds[1:]]
        rows["oracle"] = np.append(np.mean(best, axis=0), np.nan)
    return rows


class Work:
    """What processes that share the web are asked to do, topic by topic."""

    def __init__(self, listed: list[Topic], asked: argparse.Namespace) -> None:
        self.listed, self.asked = listed, asked

    def learn(self, place: int) -> tuple[str, frozenset[str]]:
        topic = self.listed[place]
        _, found, learned = topic.run(topic.seeds[0], 1, None, self.asked.before)
        return dumps(learned), frozenset(found)

    def measure(self, place: int) -> dict[str, Floats]:
        return measure(self.listed[place], self.listed, self.asked)


#: Set before processes are forked, so that they need not be sent the web.
_WORK: list[Work] = []


def _learn(place: int) -> tuple[str, frozenset[str]]:
    return _WORK[-1].learn(place)


def _measure(place: int) -> dict[str, Floats]:
    return _WORK[-1].measure(place)


def work(listed: list[Topic], asked: argparse.Namespace) -> Iterator[dict[str, Floats]]:
    """Crawl for every topic once to learn, then to measure; in order, whatever the number of processes."""
    _WORK.append(Work(listed, asked))
    places = range(len(listed))
    fork = multiprocessing.get_context("fork")
    with fork.Pool(asked.jobs) as pool:
        for topic, (learned, found) in zip(listed, pool.imap(_learn, places), strict=True):
            topic.learned, topic.found = learned, found
    with fork.Pool(asked.jobs) as pool:
        yield from pool.imap(_measure, places)
        pool.close()
        pool.join()


def seconds() -> float:
    """CPU time of this process and of those it has started and seen end."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def ratio(finds: Floats, plain: Floats) -> tuple[float, float, float] | None:
    """The ratio of the sums, and where 95 % of it lie when topics are drawn anew; None for a sum of 0."""
    if not plain.any():
        return None
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(plain), size=(10_000, len(plain)))
    sums = plain[drawn].sum(axis=1)
    ratios = finds[drawn].sum(axis=1)[sums > 0] / sums[sums > 0]
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(finds.sum() / plain.sum()), float(low), float(high)


def ratios(table: Sequence[dict[str, Floats]], budgets: Sequence[int]) -> Iterator[dict[str, Any]]:
    """For each kind of knowledge and each budget: mean finds with and without it, and their ratio."""
    for kind in dict.fromkeys(kind for rows in table for kind in rows if kind != "plain"):
        pairs = [(rows[kind], rows["plain"]) for rows in table if kind in rows]
        for at, budget in enumerate(budgets):
            finds, plain = (np.array([pair[i][at] for pair in pairs]) for i in (0, 1))
            yield {
                "kind": kind,
                "budget": budget,
                "finds": float(finds.mean()),
                "without": float(plain.mean()),
                "ratio": ratio(finds, plain),
                "topics": len(pairs),
            }


def report(table: Sequence[dict[str, Floats]], budgets: Sequence[int]) -> None:
    for row in ratios(table, budgets):
        head = f"{row['kind']:10} in {row['budget']:4}: {row['finds']:6.1f} against {row['without']:6.1f}"
        times = (
            "{:5.2f} [{:.2f}, {:.2f}]".format(*row["ratio"]) if row["ratio"] else "nothing without knowledge"
        )
        print(f"{head}, {times}, {row['topics']} topics")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", nargs="*", default=["wikispeedia:hard"])
    parser.add_argument("--labels", action="store_true", help="topics by label, not by word")
    parser.add_argument("--topics", type=int, default=10, help="of each corpus")
    parser.add_argument("--size", type=int, nargs=2, default=(150, 600), help="pages of a topic")
    parser.add_argument("--seeds", type=int, default=3, help="pages to begin at, for each topic")
    parser.add_argument("--before", type=int, default=1000, help="requests of the earlier crawl")
    parser.add_argument("--budget", type=int, nargs="*", default=[100, 250, 500])
    parser.add_argument("--draw", type=int, default=7, help="which topics and seeds are drawn")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--oracle", action="store_true", help="say what could be found at most")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    rng = np.random.default_rng(asked.draw)
    table: list[dict[str, Floats]] = []
    topic_rows: list[dict[str, Any]] = []
    if not asked.json:
        print(f"mean finds in {asked.budget}, and of the last how many the earlier crawl had not found")
    for corpus in asked.corpus:
        listed = list(topics(corpus, asked, rng))
        for topic, rows in zip(listed, work(listed, asked), strict=True):
            table.append(rows)
            row = {kind: list(map(float, values)) for kind, values in rows.items()}
            named = {"topic": topic.name, "pages": len(topic.targets), "found_before": len(topic.found)}
            topic_rows.append({**named, **row})
            if asked.json:
                continue
            cells = (f"{kind} " + " ".join(f"{x:5.1f}" for x in row) for kind, row in table[-1].items())
            head = f"{topic.name[-24:]:24} {len(topic.targets):4} pages, {len(topic.found):3} found before"
            print(f"{head} | " + " | ".join(cells), flush=True)
    if asked.json:
        told = {"budgets": asked.budget, "topics": topic_rows, "ratios": list(ratios(table, asked.budget))}
        print(json.dumps({**told, "cpu_seconds": round(seconds())}))
        return 0
    report(table, asked.budget)
    print(f"{seconds():.0f} s of CPU time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
