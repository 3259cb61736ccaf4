"""What a log is worth by topic: nAUC with it over nAUC without, and where the log says little of a topic.

    clew lab run experiments/collaborative.toml -o out/collaborative
    python tools/visit_topics.py out/collaborative

Prints one JSON line for each corpus: the ratio of mean nAUC of `both` to the better of `intelligent` and
`collaborative`, with a 95 % interval (topics drawn again 10,000 times), and the ratio to `intelligent` over
the third of the topics whose pages were visited least.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from clew.lab.experiment import Experiment
from clew.lab.experiment_plan import ExperimentPlan
from clew.lab.visit_logs import WIKISPEEDIA, open_visits

NAMES = ("intelligent", "collaborative", "both")


def main(argv: Sequence[str] | None = None) -> int:
    (out,) = map(Path, sys.argv[1:] if argv is None else argv)
    plan = ExperimentPlan(Experiment.load(Path(__file__).parents[1] / "experiments" / "collaborative.toml"))
    log = open_visits(WIKISPEEDIA)
    visits = dict(zip(log.urls, np.bincount(log.page, minlength=len(log.urls)).tolist(), strict=True))
    runs = [json.loads(line) for line in (out / "runs.jsonl").read_text("utf-8").splitlines()]
    found = {(run["corpus"], run["topic"], run["strategy"]): run["nauc"] for run in runs}
    for corpus in plan.fields:
        cases = [case for case in plan.cases if case.corpus.name == corpus]
        told = [np.mean([visits.get(url, 0) for url in plan.field(c).targets(c.topic)]) for c in cases]
        scores = np.array([[found[corpus, case.topic.name, name] for name in NAMES] for case in cases])
        dice = np.random.default_rng(0)
        drawn = [ratio(scores[dice.integers(0, len(scores), len(scores))]) for _ in range(10_000)]
        thin = scores[np.argsort(told)[: len(cases) // 3]].mean(axis=0)
        row = {
            "corpus": corpus,
            "topics": len(cases),
            "both_over_better": round(ratio(scores), 3),
            "interval": [round(float(bound), 3) for bound in np.percentile(drawn, [2.5, 97.5])],
            "thin": round(float(thin[2] / thin[0]), 3),
            "visits_per_page_thin": round(float(np.sort(told)[: len(cases) // 3].mean()), 1),
            "visits_per_page": round(float(np.mean(told)), 1),
        }
        print(json.dumps(row))
    return 0


def ratio(scores: np.ndarray) -> float:
    """The mean of `both` over the better mean of the others."""
    mean = scores.mean(axis=0)
    return float(mean[2] / max(mean[0], mean[1]))


if __name__ == "__main__":
    sys.exit(main())
