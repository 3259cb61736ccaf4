"""Does the estimate of recall hold what it says, and what does it cost to stop by it?

    python bench/recall.py [--only webkb] [--json]

Crawls of recorded webs (both Wikispeedias, the three departments of WebKB, the demo web, the mini-web), one a
topic, are watched by a judge who knows the truth: the share of the different targets that can be reached from
the seeds, as the lab counts them. At budgets of 100, 200, 400, … requests: is it within the 90 % interval?
Stopped at the first look with `recall >= 0.8`: was 0.8 reached, and after how many times the requests that
an oracle needs which stops the same crawl on the dot? A crawl is watched until 2.6 times these.

The constants of `clew.policy.recall` were chosen on one half of the topics (`tuned`): Wikispeedia's by a hash
of their names, and students, projects and staff of Cornell and Texas. The other half, and Washington, the
demo web and the mini-web as a whole, are `judged`. Topics are the unit: a topic's crawls are averaged first.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache
from multiprocessing import get_context
from typing import Any

import numpy as np

from clew import url as urls
from clew.engine import Crawl, CrawlRules
from clew.frontier.hosts import Politeness
from clew.lab import oracle as oracles
from clew.lab.experiment import CorpusSpec, Experiment, Topic
from clew.lab.experiment_plan import ExperimentCorpus, ExperimentPlan
from clew.lab.parsed_web import AGENT
from clew.lab.statistics import interval
from clew.messages import SaveCandidates
from clew.policy import Budget, Scope
from clew.policy.recall import RecallEstimate
from clew.strategy import make

GOAL = 0.8
WATCHED = 2.6
LEAST = 300
"""Requests that every crawl is watched for."""
BUDGETS = (100, 200, 400, 800, 1600)
CAPS = {"wikispeedia": 2600, "webkb": 4000, "demo": 2600, "miniweb": 3000}
SUBJECTS = [
    "Everyday_life",
    "Design_and_Technology",
    "Countries",
    "Science.Physics",
    "Citizenship",
    "Language_and_literature",
    "Science.Chemistry",
    "Science.Biology.Birds",
    "History.British_History",
    "Geography.European_Geography",
    "Geography.African_Geography",
    "Religion",
    "Geography.Geography_of_Great_Britain",
    "Science.Chemistry.Chemical_elements",
    "Science.Biology.Mammals",
    "Science.Biology.Health_and_medicine",
    "People.Historical_figures",
    "Science.Biology.Plants",
    "Geography.Geography_of_Asia",
    "Science.Physics.Space_Astronomy",
    "Geography.North_American_Geography",
    "Music",
    "Citizenship.Politics_and_government",
    "Everyday_life.Food_and_agriculture",
    "Business_Studies",
    "Design_and_Technology.Railway_transport",
    "IT",
    "History.General_history",
    "Geography.Geology_and_geophysics",
    "Design_and_Technology.Engineering",
    "Science.Biology.Insects_Reptiles_and_Fish",
    "People.Writers_and_critics",
    "Science.Biology.Dinosaurs",
    "Geography.Geography_of_Oceania_Australasia",
    "Mathematics",
    "People.Monarchs_of_Great_Britain",
]
PACKAGES = [
    "git-doc",
    "apache2-doc",
    "ant-doc",
    "gap-doc",
    "python-astroquery-doc",
    "python-pymatgen-doc",
    "rdkit-doc",
]
INTERESTS = (
    *("wind", "football", "astronomy", "gardening", "railways"),
    *("cooking", "sailing", "bees", "chess", "medieval"),
)
FORMULAS = {
    "crypto": "encryption AND key",
    "regex": '"regular expression" AND match',
    "replication": "replication",
}
TUNED_CLASSES = frozenset({"student", "project", "staff"})


@dataclass(frozen=True, slots=True)
class Job:
    """One crawl to watch."""

    web: str
    topic: str
    strategy: str
    start: str
    formula: str = ""

    @property
    def tuned(self) -> bool:
        """Whether the constants were chosen with it."""
        if self.web.startswith("wikispeedia"):
            return hashlib.sha256(self.topic.encode()).digest()[0] % 2 == 0
        return self.web in ("webkb:cornell", "webkb:texas") and self.topic in TUNED_CLASSES


@dataclass(frozen=True, slots=True)
class Watched:
    """What came of a job: of each look the requests before it, the finds, and what it said was left."""

    job: Job
    reachable: int
    goal_at: int | None
    """Requests after which the share was found that is to be reached; None where it never was."""
    requests: int
    looks: tuple[tuple[int, RecallEstimate], ...]
    unseen: tuple[float, ...]
    """Of what was left at each look, the share that was no candidate yet."""


def jobs() -> Iterator[Job]:
    """Every crawl: each topic by `intelligent`, some by others."""
    for web in ("wikispeedia", "wikispeedia:hard"):
        for number, subject in enumerate(SUBJECTS):
            yield Job(web, f"subject.{subject}", "intelligent", "random")
            if number % 4 == (web == "wikispeedia:hard"):
                other = "best-first" if number % 8 < 4 else "focused"
                yield Job(web, f"subject.{subject}", other, "random")
    for web in ("webkb:cornell", "webkb:texas", "webkb:washington"):
        for name in ("student", "course", "faculty", "project", "staff"):
            for start in ("entry", "random"):
                yield Job(web, name, "intelligent", start)
            yield Job(web, name, "breadth-first", "entry")
    for name in INTERESTS:
        yield Job("demo", name, "intelligent", "entry")
        if name < "c":
            yield Job("demo", name, "focused", "entry")
    for name in PACKAGES:
        yield Job("miniweb", name, "intelligent", "entry")
    for name, formula in FORMULAS.items():
        yield Job("miniweb", name, "intelligent", "entry", formula)


@lru_cache(maxsize=2)
def corpus(web: str) -> ExperimentCorpus:
    spec = {"name": web, "robots": "ignore"} if web.startswith("webkb") else {"name": web}
    return ExperimentCorpus(CorpusSpec.model_validate(spec))


def watch(job: Job) -> Watched | None:
    """Crawl, and look when the crawl looks; None where fewer than ten targets can be reached."""
    field = corpus(job.web)
    topic = Topic(name=job.topic, label="" if job.formula else job.topic, formula=job.formula)
    if topic.label and topic.label not in field.labelled:
        return None
    web = field.parsed_web
    seeds = _seeds(field, topic, job)
    mask = field.mask(topic) & web.graph.reach([web.number[seed] for seed in seeds])
    reachable = oracles.distinct(mask, web.originals)
    if reachable < 10:
        return None
    predicate = field.predicate(topic, blind=True)
    known: list[str] = []
    cap = CAPS[job.web.partition(":")[0]]
    rules = CrawlRules(
        scope=Scope(),
        budget=Budget(requests=cap),
        politeness=Politeness(agent=AGENT, own=lambda host: True, own_delay=0.0, own_robots=web.robots),
        sitemaps="off",
        traps=False,
    )
    crawl = Crawl(predicate, make(job.strategy, predicate), rules, known.__getitem__)
    effects = crawl.start(seeds, 0.0)
    looks: list[tuple[int, RecallEstimate]] = []
    unseen: list[float] = []
    goal_at, now = None, 0.0
    while True:
        known += [url for effect in effects if isinstance(effect, SaveCandidates) for url in effect.urls]
        requests, finds = crawl.tally.requests, crawl.tally.matches
        last = crawl.prospects.estimator.last
        if last is not None and (not looks or looks[-1][1] is not last):
            looks.append((requests, last))
            left = reachable - finds
            hidden = left - _in_sight(field, crawl, mask, known)
            unseen.append(min(1.0, max(0.0, hidden / left)) if left else math.nan)
        if goal_at is None and finds >= GOAL * reachable:
            goal_at = requests
        if crawl.stopped(now) is not None or (
            goal_at is not None and requests >= max(LEAST, WATCHED * goal_at)
        ):
            return Watched(job, reachable, goal_at, requests, tuple(looks), tuple(unseen))
        tasks = crawl.lease(now, 1)
        effects = crawl.settle_many([web.outcome(task) for task in tasks], now) if tasks else ()
        if not tasks and (ready := crawl.next_ready()) is not None:
            now = max(now, ready)


def _seeds(field: ExperimentCorpus, topic: Topic, job: Job) -> tuple[str, ...]:
    """Where a crawl begins: as an experiment of the lab would."""
    if job.start == "entry":
        return tuple(urls.canonical(seed) or seed for seed in field.parsed_web.web.seeds())
    plain = {"name": "recall", "corpora": "demo", "topics": [{"formula": "wind"}], "budget": 1}
    plan = ExperimentPlan(Experiment.parse({**plain, "strategies": ["random"]}))
    rule = plan.experiment.seeds[0]
    return next(iter(plan._seed_sets(field, topic, rule)))


def _in_sight(field: ExperimentCorpus, crawl: Crawl, mask: np.ndarray, known: Sequence[str]) -> int:
    """Targets that are candidates and were not fetched."""
    open_ = np.flatnonzero(crawl.frontier.states[: crawl.frontier.count] <= 1).tolist()
    numbers = [field.parsed_web.number.get(known[i], -1) for i in open_]
    return int(mask[[number for number in numbers if number >= 0]].sum())


# what it comes to


def at_budgets(run: Watched) -> list[bool]:
    """At each budget that was spent: whether the truth was in the interval of the last look."""
    found = []
    for budget in BUDGETS:
        before = [look for at, look in run.looks if at <= budget]
        if before and run.requests >= budget:
            found.append(covers(run, before[-1]))
    return found


def covers(run: Watched, look: RecallEstimate) -> bool:
    """Whether the truth at a look was in its interval."""
    return look.left[0] <= run.reachable - look.finds <= look.left[2]


def stopped_at(run: Watched) -> tuple[bool, float] | None:
    """Whether the goal was reached when the rule held, and the requests by those of an oracle; None where
    the goal was not reached while it was watched. A rule that did not hold till then costs what was watched.
    """
    if run.goal_at is None:
        return None
    for at, look in run.looks:
        if look.low >= GOAL:
            return look.finds >= GOAL * run.reachable, at / run.goal_at
    return True, max(WATCHED, run.requests / run.goal_at)


def table(runs: Sequence[Watched]) -> dict[str, Any]:
    """The figures of some crawls."""
    budgets = [hit for run in runs for hit in at_budgets(run)]
    looks = [float(np.mean([covers(run, look) for _, look in run.looks])) for run in runs if run.looks]
    stops = [stop for run in runs if (stop := stopped_at(run)) is not None]
    topics: dict[str, list[float]] = {}
    for run in runs:
        if hits := at_budgets(run):
            topics.setdefault(run.job.topic, []).append(float(np.mean(hits)))
    by_topic = [float(np.mean(values)) for values in topics.values()]
    seen = [
        (look.unseen, true) for run in runs for (_, look), true in zip(run.looks, run.unseen, strict=True)
    ]
    pairs = [pair for pair in seen if not math.isnan(pair[1])]
    return {
        "runs": len(runs),
        "topics": len({run.job.topic for run in runs}),
        "budgets": len(budgets),
        "covered": round(float(np.mean(budgets)), 3) if budgets else None,
        "covered_by_topic": [round(value, 3) for value in (float(np.mean(by_topic)), *interval(by_topic))]
        if by_topic
        else None,
        "covered_at_looks": round(float(np.mean(looks)), 3) if looks else None,
        "stopped": len(stops),
        "reached": round(float(np.mean([ok for ok, _ in stops])), 3) if stops else None,
        "median_cost": round(float(np.median([cost for _, cost in stops])), 3) if stops else None,
        "held_by_then": round(float(np.mean([cost < WATCHED for _, cost in stops])), 3) if stops else None,
        "unseen_said": round(float(np.mean([said for said, _ in pairs])), 3) if pairs else None,
        "unseen_true": round(float(np.mean([true for _, true in pairs])), 3) if pairs else None,
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="webs whose names begin so")
    parser.add_argument("--topics", type=int, default=None, help="so many crawls alone, for a trial")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="a line for every crawl")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    wanted = [job for job in jobs() if job.web.startswith(asked.only)][: asked.topics]
    if asked.workers > 1:
        with ProcessPoolExecutor(asked.workers, mp_context=get_context("fork")) as pool:
            done = list(pool.map(watch, wanted, chunksize=8))
    else:
        done = [watch(job) for job in wanted]
    runs = [run for run in done if run is not None]
    judged = [run for run in runs if not run.job.tuned]
    rows: dict[str, Any] = {"tuned": table([run for run in runs if run.job.tuned]), "judged": table(judged)}
    for web in sorted({run.job.web for run in judged}):
        rows[f"judged, {web}"] = table([run for run in judged if run.job.web == web])
    learned = [run for run in judged if run.job.strategy == "intelligent"]
    rows["judged, intelligent"] = table(learned)
    rows["judged, other strategies"] = table([run for run in judged if run not in learned])
    if asked.json:
        print(json.dumps(rows))
        return 0
    for run in runs if asked.each else ():
        print(json.dumps({**asdict(run.job), "tuned": run.job.tuned, "reachable": run.reachable,
                          "budgets": at_budgets(run), "stop": stopped_at(run)}))  # fmt: skip
    for name, row in rows.items():
        print(f"{name:28} {json.dumps(row)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
