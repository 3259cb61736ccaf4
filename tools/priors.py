"""Would other weights to begin with make `intelligent` better? What the frontier's candidates really are.

    python tools/priors.py [--parts cornell texas …] [--topics 6] [--sets 2] [--dice 1] [--crawl]
        [--workers 2]

Learned weights are pulled towards a prior (`FactorSpec.prior`) while little is known. Here crawls of the
tuning half are stopped now and then after the first find, candidates are drawn from the frontier, half from
all and half from the two hundred best, and the web is asked what is behind them: so what is learned from is
not chosen by the weights that are judged. A logistic regression of that on the evidence, with a constant
for each crawl and every web counting the same, gives weights; weights below 0 become 0.

Printed: the weights by web and of all; how well weights order the drawn candidates, as the mean average
precision of finds, where those of a web are fitted on all others; and with `--crawl` what crawls gain by
beginning with the weights fitted on the other webs, nAUC paired by case, factors that look elsewhere
(`url_depth`, `opic`) keeping theirs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from compare_settings import panel
from numpy.typing import NDArray

from clew.factor import FACTORS
from clew.factor.url_depth import Bold
from clew.lab.experiment import Experiment, StrategySpec
from clew.lab.experiment_plan import ExperimentPlan
from clew.lab.parsed_web import ParsedWeb
from clew.lab.predicates import Blind
from clew.lab.results import Oracle, RunResult
from clew.lab.runner import do_oracle, do_run
from clew.lab.simulate import simulate
from clew.lab.statistics import interval
from clew.lab.workers import map_in_processes
from clew.predicate.verdict import Predicate
from clew.strategy import make
from clew.strategy.base import Expansion, Scored, totals
from clew.strategy.combiner import LearnedWeights
from clew.strategy.intelligent import Intelligent

HOME = Path(__file__).resolve().parent.parent
Floats = NDArray[np.float64]
#: Pages fetched at which candidates are drawn.
MARKS = (10, 20, 40, 80, 120, 160, 200, 250, 350, 450, 550)
DRAWN, BEST, AMONG = 150, 100, 200
#: What a weight is pulled to 0 by, in candidates; each web counts as so many of them.
RIDGE, WEB = 5.0, 3000.0
_plan: ExperimentPlan | None = None


@dataclass(slots=True)
class Drawn:
    """Candidates of one crawl: their evidence, whether they are finds, and at which mark they were drawn."""

    evidence: list[Floats] = field(default_factory=list)
    finds: list[NDArray[np.bool_]] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)


class ProbedIntelligent(Intelligent):
    """The strategy itself, whose frontier is looked into."""

    web: ParsedWeb
    wanted: Predicate
    drawn: Drawn
    urls: dict[int, str]

    def observe_many(self, expansions: Sequence[Expansion]) -> list[Scored]:
        for expansion in expansions:
            self.urls.update(zip(expansion.ids.tolist(), expansion.links.targets, strict=True))
        found = super().observe_many(expansions)
        if self._found and self._fetched in MARKS:
            self._probe()
        return found

    def _probe(self) -> None:
        """Draw candidates and see what they are."""
        ids = self.candidates()
        if len(ids) < BEST:
            return
        rng = np.random.default_rng(self._fetched)
        best = ids[np.argsort(-totals(self.evaluate(ids)), kind="stable")[:AMONG]]
        some = np.unique(np.concatenate([rng.choice(ids, DRAWN), rng.choice(best, BEST)]))
        assert isinstance(self.combiner, LearnedWeights)
        pages = [self.web.page(self.urls[number]) for number in some.tolist()]
        finds = [page is not None and self.wanted.judge(page).satisfied for page in pages]
        self.drawn.evidence.append(self.combiner._scaled(self.evidence(some)))
        self.drawn.finds.append(np.array(finds, np.bool_))
        self.drawn.marks.append(self._fetched)


def draw(number: int, throw: int) -> Drawn:
    """Crawl one case and draw from its frontier."""
    assert _plan is not None
    case = _plan.cases[number]
    predicate = _plan.predicate(case)
    plain = make("intelligent", predicate, seed=throw)
    assert plain.setup is not None
    strategy = ProbedIntelligent.build(plain.setup)
    strategy.setup, strategy.drawn, strategy.urls = plain.setup, Drawn(), {}
    strategy.web, strategy.wanted = _plan.field(case).parsed_web, predicate
    simulate(strategy.web, predicate, strategy, case.seeds, _plan.experiment.longest)
    return strategy.drawn


def fitted(crawls: Sequence[Sequence[Drawn]], silent: Sequence[int]) -> Floats:
    """Weights by the crawls of some webs, with a constant for each crawl; `silent` factors get none."""
    x, y, trust, owner = [], [], [], []
    count = 0
    for web in crawls:
        told = [crawl for crawl in web if any(found.any() for found in crawl.finds)]
        rows = sum(len(found) for crawl in told for found in crawl.finds)
        for crawl in told:
            mine = np.concatenate(crawl.finds)
            x.append(np.concatenate(crawl.evidence))
            y.append(mine.astype(np.float64))
            trust.append(np.full(len(mine), WEB / rows))
            owner.append(np.full(len(mine), count))
            count += 1
    if not x:
        return np.zeros(0)
    rows_x, labels = np.concatenate(x), np.concatenate(y)
    weight, group = np.concatenate(trust), np.concatenate(owner)
    rows_x[:, list(silent)] = 0.0
    w, constant = np.zeros(rows_x.shape[1]), np.full(count, -3.0)
    for _ in range(40):
        # Newton's method, the constants eliminated: the matrix of the rest is small.
        p = 1.0 / (1.0 + np.exp(-np.clip(rows_x @ w + constant[group], -30, 30)))
        rest, curve = weight * (labels - p), weight * p * (1.0 - p) + 1e-9
        slope = np.bincount(group, rest, count) - 0.001 * constant
        bend = np.bincount(group, curve, count) + 0.001
        both = np.stack([np.bincount(group, curve * column, count) for column in rows_x.T])
        matrix = (rows_x * curve[:, None]).T @ rows_x + RIDGE * np.eye(len(w)) - (both / bend) @ both.T
        step = np.linalg.solve(matrix, rows_x.T @ rest - RIDGE * w - both @ (slope / bend))
        shift = (slope - both.T @ step) / bend
        far = max(1.0, float(np.abs(step).max()), float(np.abs(shift).max()))
        w, constant = w + step / far, constant + shift / far
    return np.maximum(w, 0.0)


def precision(weights: Floats, crawls: Sequence[Drawn], silent: Sequence[int]) -> float:
    """Mean average precision of the order that weights give, over draws with something to order."""
    found = []
    for crawl in crawls:
        for evidence, finds in zip(crawl.evidence, crawl.finds, strict=True):
            if not finds.any() or finds.all():
                continue
            heard = evidence.copy()
            heard[:, list(silent)] = 0.0
            hits = finds[np.argsort(-(heard @ weights), kind="stable")].astype(np.float64)
            found.append(float((hits.cumsum() / np.arange(1, len(hits) + 1))[hits > 0].mean()))
    return math.fsum(found) / len(found) if found else math.nan


def crawl(number: int, throw: int, priors: Mapping[str, float]) -> tuple[str, str, float | None]:
    """One case with these priors: its name, the kind of its start, its nAUC."""
    assert _plan is not None
    kept = {name: FACTORS[name].spec for name in priors}
    for name, prior in priors.items():
        FACTORS[name].spec = replace(kept[name], prior=prior)
    try:
        oracle, _ = do_oracle(_plan, (number, -1, 0))
        assert isinstance(oracle, Oracle)
        run, _ = do_run(_plan, (number, 0, throw), oracle)
    finally:
        for name, spec in kept.items():
            FACTORS[name].spec = spec
    assert isinstance(run, RunResult)
    return f"{_plan.cases[number].name}/{throw}", run.start, run.nauc


def web_of(experiment: Experiment) -> str:
    """The web a part is on: variants of one are one, and so are made ones."""
    name = experiment.corpora[0].name
    return "made" if name.startswith("made:") else "wikispeedia" if "wikispeedia" in name else name


def each(work: Any, calls: Sequence[tuple[Any, ...]], workers: int) -> list[Any]:
    if workers < 2:
        return [work(*call) for call in calls]
    return list(map_in_processes(work, calls, workers, lambda _: None, ""))


def main(argv: Sequence[str] | None = None) -> int:
    global _plan
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="*", default=())
    parser.add_argument("--topics", type=int, default=6, help="of each part so many; 0 for all")
    parser.add_argument("--sets", type=int, default=2)
    parser.add_argument("--dice", type=int, default=1)
    parser.add_argument("--crawl", action="store_true", help="crawl with the weights, too")
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args(argv)
    names = make("intelligent", Blind("", frozenset())).parts[:-1]
    prior = np.array([FACTORS[name].spec.prior for name in names])
    silent = [at for at, name in enumerate(names) if FACTORS[name].spec.about_leads]
    webs: dict[str, list[Drawn]] = {}
    alone = [StrategySpec.model_validate({"name": "intelligent"})]
    parts = list(panel("tune", asked.parts, alone, asked.topics, asked.sets, asked.dice))
    for part in parts:
        _plan = ExperimentPlan(part)
        calls = [(number, throw) for number in range(len(_plan.cases)) for throw in range(1, asked.dice + 1)]
        webs.setdefault(web_of(part), []).extend(each(draw, calls, asked.workers))
        print(f"{part.name}: {len(calls)} crawls", file=sys.stderr, flush=True)
    own = {web: fitted([crawls], silent) for web, crawls in webs.items()}
    own = {web: weights for web, weights in own.items() if len(weights)}
    if len(own) < 2:
        parser.error("weights of other webs take two webs on which something is found: name more --parts")
    others = {web: fitted([crawls for other, crawls in webs.items() if other != web], silent) for web in webs}
    everything = fitted(list(webs.values()), silent)
    print(f"{'weights':<18}{'prior':>8}{'all':>8}" + "".join(f"{web[-9:]:>11}" for web in own))
    for at, name in enumerate(names):
        print(
            f"{name:<18}{prior[at]:>8.2f}{everything[at]:>8.2f}"
            + "".join(f"{own[w][at]:>11.2f}" for w in own)
        )
    print("\nmean average precision of finds among the drawn: prior, weights of the other webs, its own")
    for web in own:
        shown = [precision(weights, webs[web], silent) for weights in (prior, others[web], own[web])]
        print(f"{web:<18}" + "".join(f"{value:>8.3f}" for value in shown))
    if asked.crawl:
        print("\nnAUC with the prior, with weights of the other webs, and the paired difference")
        for part in parts:
            _plan = ExperimentPlan(part)
            tried = others[web_of(part)]
            # What looks elsewhere is there to find lists, not finds: its weight is not in question.
            new = {
                name: float(tried[at])
                for at, name in enumerate(names)
                if at not in silent and not issubclass(FACTORS[name], Bold) and name != "prior_crawl"
            }
            throws = [(n, t) for n in range(len(_plan.cases)) for t in range(1, asked.dice + 1)]
            both = [each(crawl, [(n, t, priors) for n, t in throws], asked.workers) for priors in ({}, new)]
            for line in _compared(part.name, *both):
                print(line, flush=True)
    return 0


def _compared(part: str, before: Sequence[Any], after: Sequence[Any]) -> Iterator[str]:
    for kind, warm in (("cold", False), ("warm", True)):
        pairs = [
            (a[2], b[2])
            for a, b in zip(before, after, strict=True)
            if (a[1] == "warm") is warm and a[2] is not None and b[2] is not None
        ]
        if pairs:
            gaps = [b - a for a, b in pairs]
            low, high = interval(gaps)
            old, new = (math.fsum(pair[at] for pair in pairs) / len(pairs) for at in (0, 1))
            shown = f"{math.fsum(gaps) / len(gaps):+.3f} [{low:+.3f}, {high:+.3f}]"
            yield f"{part + ' ' + kind:<18}{len(pairs):>4} {old:>7.3f}{new:>7.3f}  {shown}"


if __name__ == "__main__":
    sys.exit(main())
