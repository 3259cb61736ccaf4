"""Does the estimate of recall hold what it says, and what does it cost to stop by it?

    python bench/recall.py [--only webkb] [--kept DIR] [--half tuned] [--fit] [--json]

Crawls of recorded webs (both Wikispeedias, the three departments of WebKB, the demo web, the mini-web), one a
topic, are watched by a judge who knows the truth: the share of the different targets that can be reached from
the seeds, as the lab counts them. At budgets of 100, 200, 400, … requests: is it within the 90 % interval?
Stopped at the first look with `recall >= 0.8`: was 0.8 reached, and after how many times the requests that
an oracle needs which stops the same crawl on the dot? A crawl is watched until 2.6 times these.

The constants of `clew.policy.recall` were chosen on one half of the topics (`tuned`): Wikispeedia's by a hash
of their names, students, projects and staff of Cornell and Texas, and words there. The other half, and
Washington, the demo web and the mini-web as a whole, are `judged`. Topics are the unit: a topic's crawls are
averaged first. Whether what was chosen travels is told by each web with constants fitted to the others alone.

A crawl does not depend on what is thought of its recall, so each is recorded once: what was fetched and what
came of it, and what waited at each look. With `--kept` the records are files of a directory, and only crawls
that are not there yet are made: another estimator is compared in seconds, over the same crawls.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.engine import Crawl, CrawlRules
from clew.frontier.hosts import Politeness
from clew.lab import oracle as oracles
from clew.lab.experiment import CorpusSpec, Experiment, Topic
from clew.lab.experiment_plan import ExperimentCorpus, ExperimentPlan
from clew.lab.parsed_web import AGENT
from clew.lab.statistics import interval
from clew.learn.logistic import DenseDesign, newton
from clew.messages import Decision, Journal, Record, SaveCandidates, State, TaskKind
from clew.policy import Budget, Scope
from clew.policy.recall import RecallEstimate, RecallEstimator, RecallEvidence, RecallModel
from clew.strategy import make

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

SHARES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
"""What is left by what was found: where a fit is to be right."""
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
WORDS = {
    "compiler": "compiler",
    "database": "database",
    "robot": "robot OR robotics",
    "graphics": "graphics",
    "parallel": "parallel AND performance",
    "java": "java",
    "music": "music",
    "photo": "photo OR pictures",
    "neural": '"neural network" OR "neural networks"',
    "theorem": "theorem OR proof",
    "vision": "vision",
    "soccer": "soccer OR basketball OR football",
    "china": "china OR taiwan",
    "india": "india",
    "prolog": "logic AND programming",
    "kernel": "kernel OR unix",
    "genetic": "genetic OR biology",
    "security": "security OR encryption",
    "multimedia": "multimedia",
    "thesis": "dissertation OR thesis",
}
"""Formulas to choose constants with: their finds are spread over a site, without a list."""
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
        words = self.topic.startswith("word.")
        return self.web in ("webkb:cornell", "webkb:texas") and (words or self.topic in TUNED_CLASSES)


@dataclass(frozen=True, slots=True)
class CrawlCurve:
    """A crawl as an estimator sees it, and the truth beside it."""

    job: Job
    reachable: int
    """Different targets that links lead to from the seeds."""
    requests: Counts
    """Of each decision about a page: the requests till then, …"""
    candidates: Counts
    scores: Floats
    results: NDArray[np.str_]
    new: Counts
    """… and the links it had that no page had before."""
    looks: Counts
    """Of each look: the decisions before it; …"""
    left: Counts
    """… targets not found yet; …"""
    hidden: Counts
    """… those of them that no fetched page links to."""
    ends: Counts
    """Where, in `waiting` and `promises`, those of a look end."""
    waiting: Counts
    promises: Floats
    sources: NDArray[np.int32]
    targets: Counts
    """The candidates that are targets."""
    urls: NDArray[np.str_]

    @property
    def goal_at(self) -> int | None:
        """Requests after which the share was found that is to be reached; None where it never was."""
        found = np.cumsum(self.results == "match")
        there = np.flatnonzero(found >= GOAL * self.reachable)
        return int(self.requests[there[0]]) if len(there) else None

    def save(self, path: Path) -> None:
        """Write all of it into a file."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        columns["job"] = json.dumps(asdict(self.job))
        np.savez_compressed(path, **columns)

    @staticmethod
    def load(path: Path) -> CrawlCurve:
        """Read it from a file."""
        with np.load(path) as found:
            columns = {name: found[name] for name in found.files}
        columns["job"] = Job(**json.loads(str(columns["job"])))
        columns["reachable"] = int(columns["reachable"])
        return CrawlCurve(**columns)


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
    evidence: tuple[RecallEvidence, ...]
    """What each look went by."""

    def again(self, model: RecallModel) -> Watched:
        """What another model would have said."""
        looks = zip(self.looks, self.evidence, strict=True)
        return replace(
            self, looks=tuple((at, replace(look, left=model.left(by))) for (at, look), by in looks)
        )


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
        for number, (name, formula) in enumerate(WORDS.items() if web != "webkb:washington" else ()):
            start = "entry" if (number + (web == "webkb:texas")) % 2 else "random"
            yield Job(web, f"word.{name}", "intelligent", start, formula)
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


def record(job: Job) -> CrawlCurve | None:
    """Crawl, and keep what an estimator sees; None where fewer than ten targets can be reached."""
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
    decisions: list[tuple[int, Decision]] = []
    looks: list[tuple[int, int, int]] = []
    waiting: list[Counts] = []
    promises: list[Floats] = []
    goal_at, now = None, 0.0
    while True:
        known += [url for effect in effects if isinstance(effect, SaveCandidates) for url in effect.urls]
        requests, finds = crawl.tally.requests, crawl.tally.matches
        for effect in effects:
            if isinstance(effect, Record) and effect.decision.kind == TaskKind.PAGE:
                decisions.append((requests, effect.decision))
            elif isinstance(effect, Journal) and RecallEstimate.loads(effect.entry) is not None:
                open_ = np.flatnonzero(crawl.frontier.states[: crawl.frontier.count] <= State.LEASED)
                numbers = [web.number.get(known[i], -1) for i in open_.tolist()]
                left = reachable - finds
                in_sight = int(mask[[number for number in numbers if number >= 0]].sum())
                looks.append((len(decisions), left, min(left, max(0, left - in_sight))))
                waiting.append(open_.astype(np.int32))
                promises.append(crawl.frontier.scores[open_])
        if goal_at is None and finds >= GOAL * reachable:
            goal_at = requests
        if crawl.stopped(now) is not None or (
            goal_at is not None and requests >= max(LEAST, WATCHED * goal_at)
        ):
            break
        tasks = crawl.lease(now, 1)
        effects = crawl.settle_many([web.outcome(task) for task in tasks], now) if tasks else ()
        if not tasks and (ready := crawl.next_ready()) is not None:
            now = max(now, ready)
    made = [decision for _, decision in decisions]
    at, missing, hidden = np.array(looks, np.int64).reshape(-1, 3).T
    return CrawlCurve(
        job=job,
        reachable=reachable,
        requests=np.array([requests for requests, _ in decisions]),
        candidates=np.array([decision.candidate for decision in made]),
        scores=np.array([decision.score for decision in made]),
        results=np.array([decision.result for decision in made]),
        new=np.array([decision.new for decision in made]),
        looks=at,
        left=missing,
        hidden=hidden,
        ends=np.cumsum([len(one) for one in waiting]),
        waiting=np.concatenate([np.zeros(0, np.int32), *waiting]),
        promises=np.concatenate([np.zeros(0), *promises]),
        sources=crawl.frontier.sources[: crawl.frontier.count].copy(),
        targets=np.flatnonzero([mask[web.number[url]] if url in web.number else False for url in known]),
        urls=np.array(known),
    )


def _seeds(field: ExperimentCorpus, topic: Topic, job: Job) -> tuple[str, ...]:
    """Where a crawl begins: as an experiment of the lab would."""
    if job.start == "entry":
        return tuple(urls.canonical(seed) or seed for seed in field.parsed_web.web.seeds())
    plain = {"name": "recall", "corpora": "demo", "topics": [{"formula": "wind"}], "budget": 1}
    plan = ExperimentPlan(Experiment.parse({**plain, "strategies": ["random"]}))
    rule = plan.experiment.seeds[0]
    return next(iter(plan._seed_sets(field, topic, rule)))


def watch(curve: CrawlCurve) -> Watched:
    """Have an estimator see a crawl, and look when the crawl looked."""
    estimator = RecallEstimator()
    looks: list[tuple[int, RecallEstimate]] = []
    unseen: list[float] = []
    evidence: list[RecallEvidence] = []
    done = first = 0
    for at, left, hidden, end in zip(
        curve.looks.tolist(), curve.left.tolist(), curve.hidden.tolist(), curve.ends.tolist(), strict=True
    ):
        for number in range(done, at):
            estimator.record(_decision(curve, number))
        found = estimator.evidence(end - first, curve.sources)
        look = estimator.look(end - first, curve.sources)
        done, first = at, end
        if look is not None and found is not None:
            evidence.append(found)
            looks.append((int(curve.requests[at - 1]), look))
            unseen.append(hidden / left if left else math.nan)
    requests = int(curve.requests[-1])
    return Watched(
        curve.job, curve.reachable, curve.goal_at, requests, tuple(looks), tuple(unseen), tuple(evidence)
    )


def _decision(curve: CrawlCurve, number: int) -> Decision:
    """A line of the trace, as much of it as was kept."""
    return Decision(
        seq=number,
        at=0.0,
        kind=TaskKind.PAGE,
        url="",
        candidate=int(curve.candidates[number]),
        attempt=0,
        score=float(curve.scores[number]),
        terms=(),
        queue=0,
        status=200,
        result=str(curve.results[number]),
        verdict=0.0,
        reasons=(),
        new=int(curve.new[number]),
        known=0,
        dropped=(),
    )


def recorded(job: Job, kept: Path | None) -> CrawlCurve | None:
    """A crawl, read from where crawls are kept or made and put there."""
    if kept is None:
        return record(job)
    name = "-".join((job.web, job.topic, job.strategy, job.start)).replace(":", ".")
    path = kept / ("tuned" if job.tuned else "judged") / f"{name}.npz"
    if path.exists():
        return CrawlCurve.load(path)
    curve = record(job)
    if curve is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        curve.save(path)
    return curve


def watched(job: Job, kept: Path | None) -> Watched | None:
    """What an estimator says of a crawl; None where it has too few targets."""
    curve = recorded(job, kept)
    return None if curve is None else watch(curve)


# choosing constants


def fitted(runs: Sequence[Watched]) -> RecallModel:
    """The constants that say best whether no more is left than these shares of the finds: a logistic
    regression over every look and share, every crawl weighing the same."""
    columns: list[tuple[float, float, float]] = []
    held: list[bool] = []
    weights: list[float] = []
    for run in runs:
        for (_, look), by in zip(run.looks, run.evidence, strict=True):
            for share in SHARES:
                columns.append((math.log(share / by.foreseen), math.log(by.slowing), 1.0))
                held.append(run.reachable - look.finds <= share * look.finds)
                weights.append(1000 / len(run.looks) / len(runs))
    steep, slowing, constant = newton(
        DenseDesign(np.array(columns).T),
        np.array(held, np.float64),
        np.array([1.0, -1.0, 0.0]),
        np.full(3, 1e-3),
        centre=np.zeros(3),
        trust=np.array(weights),
        clip=30.0,
        floor=1e-9,
        steps=50,
        still=1e-8,
        leap=2.0,
    ).tolist()
    return RecallModel(
        slowing=round(-slowing / steep, 3), shift=round(-constant / steep, 3), spread=round(1 / steep, 3)
    )


def across(runs: Sequence[Watched]) -> list[Watched]:
    """Each web by constants that were fitted to the others."""
    webs = sorted({run.job.web for run in runs})
    models = {web: fitted([run for run in runs if run.job.web != web]) for web in webs if len(webs) > 1}
    return [run.again(models[run.job.web]) for run in runs if run.job.web in models]


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
    parser.add_argument("--half", choices=("tuned", "judged"), help="topics of one half alone")
    parser.add_argument("--kept", type=Path, help="a directory of recorded crawls, added to as needed")
    parser.add_argument("--fit", action="store_true", help="print constants fitted anew")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="a line for every crawl")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    wanted = [job for job in jobs() if job.web.startswith(asked.only)]
    if asked.half is not None:
        wanted = [job for job in wanted if job.tuned == (asked.half == "tuned")]
    wanted = wanted[: asked.topics]
    one = partial(watched, kept=asked.kept)
    if asked.workers > 1:
        with ProcessPoolExecutor(asked.workers, mp_context=get_context("fork")) as pool:
            done = list(pool.map(one, wanted, chunksize=8))
    else:
        done = [one(job) for job in wanted]
    runs = [run for run in done if run is not None]
    judged = [run for run in runs if not run.job.tuned]
    tuned = [run for run in runs if run.job.tuned]
    rows: dict[str, Any] = {"judged": table(judged)}
    for name, chosen in (("tuned", tuned), ("tuned, each web by the others", across(tuned))):
        rows[name] = table(chosen)
        rows[f"{name}, topics"] = table([run for run in chosen if not run.job.formula])
        rows[f"{name}, words"] = table([run for run in chosen if run.job.formula])
    if asked.fit:
        print(fitted(tuned))
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
