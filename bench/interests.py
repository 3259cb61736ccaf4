"""Three interests in one crawl, against three crawls of a third of the budget each.

    python bench/interests.py                     # the half that judges
    python bench/interests.py --half tune         # the half that settings may be chosen on
    python bench/interests.py --only demo --json

Related interests are three subjects of one branch of Wikispeedia's tree (both Wikispeedias), and formulas
for the mini-web and the demo web that are about one field; unrelated ones are three subjects of different
branches. Which three is decided by a hash of their names before anything is crawled; every other trio is for
tuning. All crawls of a trio begin at the same page, with the same dice, and ask for `--requests` in all.

Printed by share (`even`, `greedy`): what each interest found in the crawl of three, by what it found alone
with a third of the requests (mean and median over interests; the share of interests with at least 0.9 times
as much; the least of three, mean over trios); and what all found together, by what the three crawls found
together, with a bootstrap interval over trios. A page that is a find for two interests counts for both, on
both sides. An interest that found nothing alone has no ratio and counts in what was found together.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from typing import Any

import numpy as np

from clew import url as urls
from clew.engine import Crawl, CrawlRules
from clew.frontier.hosts import Politeness
from clew.lab.experiment import CorpusSpec, Topic
from clew.lab.experiment_plan import ExperimentCorpus
from clew.lab.parsed_web import AGENT
from clew.lab.statistics import ratio_interval
from clew.messages import SaveCandidates, SavePage
from clew.policy import Budget, Scope
from clew.predicate import Interests, Predicate
from clew.strategy import make
from clew.strategy.per_interest import SHARES, Share
from clew.strategy.vectorizer import distinct_words

REQUESTS = 900
#: Pages of a subject that is taken.
SIZE = 20, 200
FORMULAS: dict[str, list[dict[str, str]]] = {
    "miniweb": [
        {"crypto": "encryption AND key", "tls": "certificate AND TLS", "signing": "signature AND verify"},
        {"regex": '"regular expression" AND match', "unicode": "unicode AND encoding", "parsing": "parser"},
        {"replicas": "replication", "transactions": "transaction AND commit", "indexes": "index AND query"},
        {"threads": "thread AND lock", "async": "coroutine OR asyncio", "signals": "signal AND process"},
        {"mail": "mail AND server", "proxy": "proxy AND server", "cookies": "cookie AND session"},
        {"matrices": "matrix AND eigenvalue", "integrals": "integral", "plots": "plot AND axis"},
    ],
    "demo": [
        {"wind": "wind AND turbine", "blades": "turbine AND blade", "grid": "wind AND grid"},
        {"stars": "star AND telescope", "planets": "planet AND orbit", "moons": "moon"},
        {"bees": "bee AND hive", "garden": "garden AND soil", "kitchen": "recipe AND oven"},
        {"rails": "railway AND station", "sails": "sail AND harbour", "castles": "castle AND medieval"},
    ],
}  # fmt: skip

#: The words of pages that were crawled before.
_CUTS: dict[str, list[str]] = {}


@dataclass(frozen=True, slots=True)
class Trio:
    """Three interests on a web."""

    web: str
    kind: str
    """`related` or `unrelated`."""
    topics: tuple[Topic, ...]

    @property
    def name(self) -> str:
        return f"{self.web}/{'+'.join(topic.name for topic in self.topics)}"

    def half(self, place: int) -> str:
        return "judge" if place % 2 else "tune"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=2)
def corpus(web: str) -> ExperimentCorpus:
    return ExperimentCorpus(CorpusSpec.model_validate({"name": web}))


def trios(web: str) -> Iterator[Trio]:
    """All trios of a web, in the order of a hash."""
    if web in FORMULAS:
        for each in FORMULAS[web]:
            yield Trio(web, "related", tuple(Topic(name=n, formula=text) for n, text in each.items()))
        return
    subjects = [
        name
        for name, pages in corpus(web).labelled.items()
        if SIZE[0] <= len(pages) <= SIZE[1] and name.count(".") > 1
    ]
    branches: dict[str, list[str]] = {}
    for name in sorted(subjects, key=_hash):
        branches.setdefault(name.rpartition(".")[0], []).append(name)
    related = [names[at : at + 3] for names in branches.values() for at in range(0, len(names) - 2, 3)]
    firsts = [names for names in branches.values() if "." not in names[0].partition(".")[2].partition(".")[2]]
    apart = [[names[turn % len(names)] for names in firsts[at : at + 3]]
             for turn in range(2) for at in range(0, len(firsts) - 2, 3)]  # fmt: skip
    for kind, found in (("related", related), ("unrelated", apart)):
        for names in sorted(found, key=lambda names: _hash("+".join(names))):
            yield Trio(web, kind, tuple(Topic(name=_short(n), label=n) for n in names))


def _short(label: str) -> str:
    """The last word of a subject, as the name of an interest."""
    return label.rpartition(".")[2][:40]


def crawl(field: ExperimentCorpus, seeds: Sequence[str], predicate: Predicate, requests: int, dice: int,
          share: Share = "even") -> dict[str, int]:  # fmt: skip
    """Finds by the names of the interests; a single one has none."""
    web, known = field.parsed_web, list[str]()
    rules = CrawlRules(
        scope=Scope(),
        budget=Budget(requests=requests),
        politeness=Politeness(agent=AGENT, own=lambda host: True, own_delay=0.0, own_robots=web.robots),
        sitemaps="off",
        traps=False,
    )
    strategy = make("intelligent", predicate, seed=dice, share=share)
    strategy.cut_words_with(
        lambda page: _CUTS.get(page.url) or _CUTS.setdefault(page.url, distinct_words(page))
    )
    run = Crawl(predicate, strategy, rules, known.__getitem__)
    effects, now, found = run.start(seeds, 0.0), 0.0, dict[str, int]()
    while True:
        for effect in effects:
            if isinstance(effect, SaveCandidates):
                known += effect.urls
            elif isinstance(effect, SavePage) and effect.matched:
                for name in effect.verdict.interests or ("",):
                    found[name] = found.get(name, 0) + 1
        if run.stopped(now) is not None:
            return found
        tasks = run.lease(now, 1)
        effects = run.settle_many([web.outcome(task) for task in tasks], now) if tasks else ()
        if not tasks and (ready := run.next_ready()) is not None:
            now = max(now, ready)


def seeds_of(field: ExperimentCorpus, trio: Trio, throw: int) -> tuple[str, ...]:
    """Where all crawls of a trio begin: at the web's own start, or at a page drawn by a hash from which four
    fifths of each subject can be reached; nowhere, if no page of a hundred is such."""
    if trio.web in FORMULAS:
        return tuple(urls.canonical(seed) or seed for seed in field.parsed_web.web.seeds())
    pages = field.numbers
    for draw in range(100):
        number = pages[int(_hash(f"{trio.name}/{throw}/{draw}"), 16) % len(pages)]
        reached = field.parsed_web.graph.reach([number])
        masks = [field.mask(topic) for topic in trio.topics]
        if all((reached & mask).sum() >= 0.8 * mask.sum() for mask in masks):
            return (field.parsed_web.urls[number],)
    return ()


def measure(job: tuple[Trio, int, int]) -> dict[str, Any] | None:
    """The finds of one trio, alone and together; None where no page leads to all three."""
    trio, throws, requests = job
    field = corpus(trio.web)
    names = [topic.name for topic in trio.topics]
    ways: dict[str, dict[str, float]] = {way: dict.fromkeys(names, 0.0) for way in ("alone", *SHARES)}
    blind = not trio.topics[0].formula
    for throw in range(throws):
        if not (seeds := seeds_of(field, trio, throw)):
            return None
        each = {topic.name: field.predicate(topic, blind=blind) for topic in trio.topics}
        for name in names:
            ways["alone"][name] += sum(crawl(field, seeds, each[name], requests // 3, throw).values())
        for share in SHARES:
            for name, count in crawl(field, seeds, Interests(each), requests, throw, share).items():
                ways[share][name] += count
    return {"trio": trio.name, "kind": trio.kind, "web": trio.web, "finds": ways}


def table(rows: Sequence[dict[str, Any]], share: str) -> dict[str, Any]:
    """The figures of some trios, with one way to share."""
    pairs = [(row["finds"][share][name], alone) for row in rows
             for name, alone in row["finds"]["alone"].items() if alone]  # fmt: skip
    ours = [sum(row["finds"][share].values()) for row in rows]
    alone = [sum(row["finds"]["alone"].values()) for row in rows]
    low = [min([found / max(1.0, row["finds"]["alone"][name]) for name, found in row["finds"][share].items()])
           for row in rows]  # fmt: skip
    return {
        "trios": len(rows),
        "interests": len(pairs),
        "each": round(float(np.mean([a / b for a, b in pairs])), 3),
        "each_median": round(float(np.median([a / b for a, b in pairs])), 3),
        "each_reached": round(float(np.mean([a >= 0.9 * b for a, b in pairs])), 3),
        "worst_of_three": round(float(np.mean(low)), 3),
        "together": round(sum(ours) / sum(alone), 3),
        "together_interval": [round(end, 3) for end in ratio_interval(ours, alone)],
        "finds_alone": round(float(np.mean(alone)), 1),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("tune", "judge", "both"), default="judge")
    parser.add_argument("--only", default="", help="webs whose names begin so")
    parser.add_argument("--kind", default="", help="related or unrelated alone")
    parser.add_argument("--trios", type=int, default=None, help="so many of each web and kind, for a trial")
    parser.add_argument("--throws", type=int, default=2, help="dice and start pages of each trio")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="of the crawl of three")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="a line for every trio")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    wanted: list[Trio] = []
    for web in ("wikispeedia", "wikispeedia:hard", "miniweb", "demo"):
        if web.startswith(asked.only):
            for kind in ("related", "unrelated"):
                listed = [trio for trio in trios(web) if trio.kind == kind and kind.startswith(asked.kind)]
                mine = [t for place, t in enumerate(listed) if asked.half in ("both", t.half(place))]
                wanted += mine[: asked.trios]
    jobs = [(trio, asked.throws, asked.requests) for trio in wanted]
    if asked.workers > 1:
        with ProcessPoolExecutor(asked.workers, mp_context=get_context("fork")) as pool:
            done = list(pool.map(measure, jobs, chunksize=4))
    else:
        done = list(map(measure, jobs))
    rows = [row for row in done if row is not None]
    for row in rows if asked.each else ():
        print(json.dumps(row))
    found: dict[str, Any] = {}
    for kind in dict.fromkeys(row["kind"] for row in rows):
        mine = [row for row in rows if row["kind"] == kind]
        for share in SHARES:
            found[f"{kind}, {share}"] = table(mine, share)
            for web in dict.fromkeys(row["web"] for row in mine):
                found[f"{kind}, {share}, {web}"] = table([row for row in mine if row["web"] == web], share)
    if asked.json:
        print(json.dumps(found))
        return 0
    for name, row in found.items():
        print(f"{name:36} {json.dumps(row)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
