"""What the factors of a crawl are worth: size of their log ratios, and the weights hindsight gives them.

    python bench/factors.py                     # the balanced composite on three corpora
    python bench/factors.py --weights learned   # all factors

For each corpus, crawls by the strategy record the evidence there was for every page they chose. Printed for
each factor: the mean absolute log ratio (alike, if on one scale); the rank correlation of its evidence
with the outcome within a crawl, alone (chance gives 0); its weight in a logistic regression over all crawls
together, per standard deviation; and the strongest correlation with another factor.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from clew.lab.experiment import Experiment
from clew.lab.experiment_plan import ExperimentPlan
from clew.lab.simulate import simulate
from clew.strategy import Intelligent
from clew.strategy.base import Expansion


def crawls(corpus: str, weights: str, topics: int, budget: int) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """Evidence and outcome (last column) of the pages of each crawl."""
    webkb = corpus.startswith("webkb")
    given = {
        "name": "factors",
        "corpora": [{"name": corpus, "robots": "ignore" if webkb else "obey"}],
        "topics": ["course", "faculty", "project", "student"]
        if webkb
        else {"count": topics, "min": 100, "max": 700},
        "budget": [budget],
        "strategies": [{"name": "intelligent", "weights": weights}],
    }
    plan = ExperimentPlan(Experiment.parse(given))
    found = []
    for case in plan.cases[:topics]:
        predicate = plan.predicate(case)
        strategy = plan.strategy(case, plan.experiment.strategies[0], predicate)
        assert isinstance(strategy, Intelligent)
        rows: list[np.ndarray] = []
        _watch(strategy, rows)
        simulate(plan.field(case).parsed_web, predicate, strategy, case.seeds, budget)
        found.append(np.array(rows))
    return strategy.factors, [rows for rows in found if len(rows)]


def _watch(strategy: Intelligent, rows: list[np.ndarray]) -> None:
    observe = strategy.observe

    def observed(expansion: Expansion):  # type: ignore[no-untyped-def]
        source = expansion.source
        if (
            strategy.knowledge.satisfied
            and source < strategy.graph.size
            and strategy.graph.parents_of(source)
        ):
            rows.append(np.append(strategy.evidence(np.array([source]))[0], expansion.verdict.satisfied))
        return observe(expansion)

    strategy.observe = observed  # type: ignore[method-assign]


def regression(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of a logistic regression with a light penalty; the last is the constant."""
    design = np.column_stack([x, np.ones(len(y))])
    w = np.zeros(design.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(design @ w, -30, 30)))
        curve = (design * (p * (1 - p))[:, None]).T @ design + np.eye(len(w))
        step = np.linalg.solve(curve, design.T @ (y - p) - w)
        w = w + step / max(1.0, float(np.abs(step).max()))
    return w


def ranks(values: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(float)


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if a.std() and b.std() else 0.0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", nargs="*", default=["webkb:cornell", "wikispeedia", "wikispeedia:hard"])
    parser.add_argument("--weights", default="balanced")
    parser.add_argument("--topics", type=int, default=4)
    parser.add_argument("--budget", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    told: list[dict[str, Any]] = []
    for corpus in asked.corpus:
        names, found = crawls(corpus, asked.weights, asked.topics, asked.budget)
        table = np.concatenate(found)
        x, y = table[:, :-1], table[:, -1]
        spread = x.std(axis=0)
        weights = regression((x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y)
        rows: list[dict[str, Any]] = []
        told.append(
            {
                "corpus": corpus,
                "weights": asked.weights,
                "crawls": len(found),
                "pages": len(y),
                "finds": float(y.mean()),
                "factors": rows,
            }
        )
        for i, name in enumerate(names):
            if not spread[i]:
                continue
            alone = np.mean([correlation(ranks(r[:, i]), r[:, -1]) for r in found])
            alike = {
                other: np.mean([correlation(ranks(r[:, i]), ranks(r[:, k])) for r in found])
                for k, other in enumerate(names)
                if k != i and spread[k]
            }
            near = max(alike, key=lambda other: abs(alike[other])) if alike else ""
            rows.append(
                {
                    "factor": name,
                    "size": float(np.abs(x[:, i]).mean()),
                    "outcome": float(alone),
                    "weight": float(weights[i]),
                    "alike": f"{near} {alike[near]:.2f}" if near else "",
                }
            )
        if not asked.json:
            show(told[-1])
    if asked.json:
        print(json.dumps(told))
    return 0


def show(told: dict[str, Any]) -> None:
    """Print the factors of one corpus."""
    of = f"{told['crawls']} crawls, {told['pages']} pages, {told['finds']:.0%} finds"
    print(f"\n{told['corpus']}, {told['weights']}: {of}")
    print(f"{'factor':10} {'mean |log ratio|':>17} {'with outcome':>13} {'weight':>7}  most alike")
    for row in told["factors"]:
        head = f"{row['factor']:10} {row['size']:17.2f} {row['outcome']:13.2f}"
        print(f"{head} {row['weight']:7.2f}  {row['alike']}")


if __name__ == "__main__":
    sys.exit(main())
