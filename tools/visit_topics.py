"""What a log is worth by topic: nAUC with it over nAUC without, and where the log says little of a topic.

    clew lab run experiments/collaborative-judge.toml -o out/collaborative-judge
    python tools/visit_topics.py out/collaborative-judge experiments/collaborative-judge.toml

Prints one JSON line for each corpus: the ratio of mean nAUC of `both` to the better of `intelligent` and
`collaborative`, and the ratio to `intelligent` over the third of the topics whose pages were visited least;
each with a 95 % interval (topics drawn again 10,000 times). A topic's value is the mean over its runs.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from clew.lab.experiment import Experiment
from clew.lab.experiment_plan import ExperimentPlan
from clew.lab.visit_logs import WIKISPEEDIA, open_visits

NAMES = ("intelligent", "collaborative", "both")


def main(argv: Sequence[str] | None = None) -> int:
    out, experiment = map(Path, sys.argv[1:] if argv is None else argv)
    plan = ExperimentPlan(Experiment.load(experiment))
    log = open_visits(WIKISPEEDIA)
    visits = dict(zip(log.urls, np.bincount(log.page, minlength=len(log.urls)).tolist(), strict=True))
    runs = [json.loads(line) for line in (out / "runs.jsonl").read_text("utf-8").splitlines()]
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for run in runs:
        found[run["corpus"], run["topic"], run["strategy"]].append(run["nauc"])
    for corpus in plan.fields:
        cases = {case.topic.name: case for case in plan.cases if case.corpus.name == corpus}
        told = [
            np.mean([visits.get(url, 0) for url in plan.field(c).targets(c.topic)]) for c in cases.values()
        ]
        scores = np.array([[np.mean(found[corpus, topic, name]) for name in NAMES] for topic in cases])
        least = scores[np.argsort(told, kind="stable")[: len(cases) // 3]]
        row = {
            "corpus": corpus,
            "topics": len(cases),
            "runs_each": len(found[corpus, next(iter(cases)), "both"]),
            "both_over_better": round(ratio(scores), 3),
            "interval": interval(scores, ratio),
            "thin": round(over_intelligent(least), 3),
            "thin_interval": interval(least, over_intelligent),
            "visits_per_page_thin": round(float(np.sort(told)[: len(cases) // 3].mean()), 1),
            "visits_per_page": round(float(np.mean(told)), 1),
        }
        print(json.dumps(row))
    return 0


def interval(scores: np.ndarray, of: Callable[[np.ndarray], float]) -> list[float]:
    """Where 95 % of such figures lie, of topics drawn again."""
    dice = np.random.default_rng(0)
    drawn = [of(scores[dice.integers(0, len(scores), len(scores))]) for _ in range(10_000)]
    return [round(float(bound), 3) for bound in np.percentile(drawn, [2.5, 97.5])]


def ratio(scores: np.ndarray) -> float:
    """The mean of `both` over the better mean of the others."""
    mean = scores.mean(axis=0)
    return float(mean[2] / max(mean[0], mean[1]))


def over_intelligent(scores: np.ndarray) -> float:
    """The mean of `both` over that of `intelligent`."""
    mean = scores.mean(axis=0)
    return float(mean[2] / mean[0])


if __name__ == "__main__":
    sys.exit(main())
