"""Knowledge used again: finds in the first requests with and without what an earlier crawl learned.

    python benchmarks/reuse.py                                      # classes of WebKB, 3 seed sets each
    python benchmarks/reuse.py --corpus wikispeedia:hard --topics 12
    python benchmarks/reuse.py --corpus wikispeedia --topics 12 --size 15 60

For each topic a crawl learns from one random page. Then crawls from other random pages run without knowledge,
with that of the same topic, with that of a related one (same branch of the taxonomy, where there is one), and
with that of an unrelated one. Blind predicates; every request counts. Printed: mean finds within the budgets,
and the ratio of the sums to those of the crawls without knowledge, with 95 % bootstrap intervals over topics.

There is something to win only where a crawl without knowledge does not find nearly everything by itself:
where finds are rare, and the way to them long.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from clew.knowledge import Knowledge
from clew.lab import open_web
from clew.lab.arena import Arena
from clew.lab.corpora import topics_of
from clew.lab.predicates import Blind
from clew.lab.simulate import simulate
from clew.strategy import Intelligent

KINDS = ("plain", "same", "related", "unrelated")
_REACH = 0.5


@dataclass(slots=True)
class Topic:
    """A predicate on one corpus, and the pages from which enough of it can be reached."""

    arena: Arena
    name: str
    targets: frozenset[str]
    seeds: list[str] = field(default_factory=list)
    knowledge: Knowledge | None = None

    @property
    def branch(self) -> str:
        """What related topics have in common."""
        return ".".join(self.name.split(".")[:2]) if "." in self.name else ""

    def run(self, seed: str, dice: int, known: Knowledge | None, budget: int) -> tuple[list[int], Knowledge]:
        strategy = Intelligent(dice, known=known)
        course = simulate(self.arena, Blind(self.name, self.targets), strategy, [seed], budget)
        return list(course.finds), strategy.knowledge


def topics(corpus: str, count: int, low: int, high: int, rng: np.random.Generator) -> Iterator[Topic]:
    """Topics of a corpus by size, each with seeds drawn for it."""
    web = open_web(corpus)
    recorded = corpus.startswith("webkb")
    # No robots.txt was recorded with WebKB: asking for it would double the price of every new host.
    arena = Arena(web, dead_links=recorded, robots=not recorded)
    members: dict[str, set[str]] = {}
    for url in arena.urls:
        for name in topics_of(web, url):
            members.setdefault(name, set()).add(url)
    fit = sorted(name for name, urls in members.items() if low <= len(urls) <= high and name != "other")
    chosen = sorted(rng.permutation(len(fit))[:count].tolist())
    pages = [i for i, _ in arena.pages()]
    for name in [fit[i] for i in chosen]:
        topic = Topic(arena, name, frozenset(members[name]))
        mask = np.array([url in topic.targets for url in arena.urls])
        for i in rng.permutation(len(pages)).tolist():
            reached = arena.graph.reach([pages[i]]) & mask
            if reached.sum() >= _REACH * mask.sum():
                topic.seeds.append(arena.urls[pages[i]])
            if len(topic.seeds) == 16:
                break
        yield topic


def others(topic: Topic, among: list[Topic]) -> dict[str, Knowledge | None]:
    """What each kind of crawl begins with; a kind for which there is no topic is left out."""
    related = [t for t in among if t is not topic and t.branch and t.branch == topic.branch]
    strange = [t for t in among if t is not topic and (not t.branch or t.branch != topic.branch)]
    found: dict[str, Knowledge | None] = {"plain": None, "same": topic.knowledge}
    place = among.index(topic)
    if related:
        found["related"] = related[place % len(related)].knowledge
    if strange:
        found["unrelated"] = strange[(place + len(strange) // 2) % len(strange)].knowledge
    return found


def interval(finds: np.ndarray, plain: np.ndarray) -> str:
    """The ratio of the sums, and where 95 % of it lie when topics are drawn anew."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(plain), size=(10_000, len(plain)))
    sums = plain[drawn].sum(axis=1)
    ratios = finds[drawn].sum(axis=1)[sums > 0] / sums[sums > 0]
    low, high = np.percentile(ratios, [2.5, 97.5])
    return f"{finds.sum() / plain.sum():5.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", nargs="*", default=["webkb:cornell", "webkb:texas"])
    parser.add_argument("--topics", type=int, default=12, help="of each corpus")
    parser.add_argument("--size", type=int, nargs=2, default=(15, 700), help="pages of a topic")
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--budget", type=int, nargs="*", default=[100, 200, 500])
    asked = parser.parse_args()
    rng = np.random.default_rng(3)
    longest = max(asked.budget)
    # (topics, kinds, budgets), NaN where a topic has no such crawl
    table: list[list[list[float]]] = []
    print(f"{'topic':44} " + " ".join(f"{kind:>20}" for kind in KINDS) + f"   finds in {asked.budget}")
    for corpus in asked.corpus:
        listed = list(topics(corpus, asked.topics, *asked.size, rng))
        for topic in listed:
            topic.knowledge = topic.run(topic.seeds[0], 1, None, longest)[1]
        for topic in listed:
            began = time.process_time()
            given = others(topic, listed)
            rows = np.full((len(KINDS), len(asked.budget)), np.nan)
            for kind, known in given.items():
                runs = [
                    topic.run(seed, 2 + n, known, longest)[0]
                    for n, seed in enumerate(topic.seeds[1 : asked.sets + 1])
                ]
                rows[KINDS.index(kind)] = [
                    np.mean([sum(f <= b for f in run) for run in runs]) for b in asked.budget
                ]
            table.append(rows.tolist())
            cells = [" ".join(f"{x:6.1f}" for x in row) for row in rows]
            print(
                f"{corpus.split(':')[-1][:8] + ' ' + topic.name[-35:]:44} "
                + " ".join(f"{c:>20}" for c in cells)
                + f"   {time.process_time() - began:.0f} s",
                flush=True,
            )
    found = np.array(table)
    for at, budget in enumerate(asked.budget):
        print(f"in the first {budget} requests, against crawls without knowledge:")
        for place, kind in enumerate(KINDS[1:], start=1):
            there = ~np.isnan(found[:, place, at])
            if there.any():
                ratio = interval(found[there, place, at], found[there, 0, at])
                print(f"  {kind:10} {ratio}  {there.sum()} topics")


if __name__ == "__main__":
    main()
