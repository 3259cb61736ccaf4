"""What does a setting of a strategy change, on which webs? Variants on a panel of the tuning half, paired.

    python tools/compare_settings.py 'now=intelligent' 'calm=intelligent,refresh=0.1' [--parts cornell hubs]
        [--topics 4] [--sets 1] [--dice 2] [--workers 2] [-o runs.jsonl]

Every variant crawls the same cases with the same dice: a label, a strategy, and options of it. The first is
what the others are compared with. Of each web, cold and warm starts apart, it prints the mean nAUC, the
worst of the dice as a share of the mean, the share of runs without a find in 50 requests, and the mean
paired difference with a bootstrap interval over cases. Where a web has too few runs to tell a difference of
0.05 from luck, a last line says so. `-o` keeps the runs; runs that are there are not
done again, so remove the file when the code has changed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clew.lab.experiment import Experiment, StrategySpec
from clew.lab.experiment_plan import ExperimentPlan
from clew.lab.results import Oracle, RunResult
from clew.lab.runner import do_oracle, do_run
from clew.lab.statistics import interval
from clew.lab.suite import load_suite
from clew.lab.workers import map_in_processes
from clew.strategy import find

HOME = Path(__file__).resolve().parent.parent
#: Runs of a variant on a web. Dice alone have a standard deviation of some 0.17 within a case: with fewer
#: runs than this, a difference of 0.05 is no more than two standard errors.
ENOUGH = 60
_plan: ExperimentPlan | None = None
_oracles: dict[int, Oracle] = {}


def variant(text: str) -> StrategySpec:
    """`label=strategy,option=value,…` as a strategy of an experiment."""
    label, _, rest = text.partition("=")
    name, *options = rest.split(",")
    given = dict(option.split("=", 1) for option in options)
    return StrategySpec.model_validate({"name": name, "label": label, **given})


def panel(
    suite: str, parts: Sequence[str], variants: Sequence[StrategySpec], topics: int, sets: int, dice: int
) -> Iterator[Experiment]:
    """The parts of a suite with these strategies, and so many of its topics spread over all of them."""
    for part in load_suite(HOME / "experiments" / f"{suite}.toml").only(parts).parts:
        some = part.topics
        if isinstance(some, tuple) and len(some) > topics > 0:
            some = tuple(some[i * len(some) // topics] for i in range(topics))
        yield part.model_copy(
            update={"strategies": tuple(variants), "topics": some, "baseline": variants[0].label}
        ).repeated(dice=dice, sets=sets)


def _case(number: int, known: frozenset[tuple[str, int]]) -> list[dict[str, Any]]:
    """One case with every variant and throw that is not known yet."""
    assert _plan is not None
    found = []
    for place, spec in enumerate(_plan.experiment.strategies):
        throws = range(1, _plan.experiment.dice + 1) if find(spec.name).capabilities.throws else range(1)
        for throw in throws:
            if (spec.label, throw) in known:
                continue
            if number not in _oracles:
                oracle, _ = do_oracle(_plan, (number, -1, 0))
                assert isinstance(oracle, Oracle)
                _oracles[number] = oracle
            run, cpu = do_run(_plan, (number, place, throw), _oracles[number])
            assert isinstance(run, RunResult)
            found.append(
                {
                    "part": _plan.experiment.name,
                    "case": _plan.cases[number].name,
                    "start": run.start,
                    "variant": spec.label,
                    "throw": throw,
                    "nauc": run.nauc,
                    "finds": [at for at in run.finds if at not in run.given],
                    "requests": run.requests,
                    "cpu": round(cpu, 3),
                }
            )
    return found


def measure(experiment: Experiment, workers: int, known: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """All runs of a part that are not known yet."""
    global _plan
    _plan = ExperimentPlan(experiment)
    _oracles.clear()
    done: dict[str, set[tuple[str, int]]] = {}
    for row in known:
        if row["part"] == experiment.name:
            done.setdefault(row["case"], set()).add((row["variant"], row["throw"]))
    calls = [(n, frozenset(done.get(case.name, ()))) for n, case in enumerate(_plan.cases)]
    if workers < 2:
        return [row for call in calls for row in _case(*call)]
    return [row for rows in map_in_processes(_case, calls, workers, lambda _: None, "") for row in rows]


def table(rows: Sequence[dict[str, Any]], variants: Sequence[str], by_case: bool = False) -> Iterator[str]:
    """Lines for each web and kind of start."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["variant"] in variants and row["nauc"] is not None:
            groups.setdefault(f"{row['part']}{' warm' if row['start'] == 'warm' else ''}", []).append(row)
    means: dict[str, dict[str, float]] = {}
    few: dict[str, int] = {}
    yield f"{'':<20}{'variant':<16}{'nAUC':>6}{'÷mean':>7}{'none':>6}{'cpu':>6}  difference"
    for group, runs in groups.items():
        base = _by_case(runs, variants[0])
        for name in variants:
            mine = _by_case(runs, name)
            if not mine:
                continue
            gaps = [_mean(mine[case]) - _mean(base[case]) for case in mine if case in base]
            low, high = interval(gaps)
            worst = _mean([min(values) for values in mine.values()])
            mean = _mean([_mean(values) for values in mine.values()])
            means.setdefault(name, {})[group] = _mean(gaps)
            of = [run for run in runs if run["variant"] == name]
            if len(of) < ENOUGH:
                few[group] = len(of)
            none = _mean([float(not run["finds"] or run["finds"][0] > 50) for run in of])
            cpu = _mean([run["cpu"] for run in of])
            shown = "" if name == variants[0] else f"{_mean(gaps):+.3f} [{low:+.3f}, {high:+.3f}]"
            share = worst / mean if mean else math.nan
            yield f"{group:<20}{name:<16}{mean:>6.3f}{share:>7.2f}{none:>6.2f}{cpu:>6.2f}  {shown}"
            if by_case:
                yield from [f"    {case:<60} {_mean(values):.3f}" for case, values in mine.items()]
    for name in variants[1:]:
        gaps = list(means.get(name, {}).values())
        if gaps:
            low, high = interval(gaps)
            yield f"{'all webs':<20}{name:<16}{'':>25}  {_mean(gaps):+.3f} [{low:+.3f}, {high:+.3f}]"
    if few:
        named = ", ".join([f"{group} ({runs})" for group, runs in few.items()])
        yield f"fewer than {ENOUGH} runs of a variant, so that 0.05 may be luck: {named}"


def _by_case(runs: Sequence[dict[str, Any]], name: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for run in runs:
        if run["variant"] == name:
            found.setdefault(run["case"], []).append(run["nauc"])
    return found


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("variants", nargs="+", type=variant)
    parser.add_argument("--suite", default="tune", choices=("tune", "judge"))
    parser.add_argument("--parts", nargs="*", default=())
    parser.add_argument("--topics", type=int, default=0, help="of each part so many; 0 for all")
    parser.add_argument("--sets", type=int, default=1)
    parser.add_argument("--dice", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--cases", action="store_true", help="a line for each case too")
    parser.add_argument("-o", "--output", type=Path, default=None)
    asked = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    if asked.output is not None and asked.output.exists():
        rows = [json.loads(line) for line in asked.output.read_text("utf-8").splitlines()]
    for experiment in panel(asked.suite, asked.parts, asked.variants, asked.topics, asked.sets, asked.dice):
        new = measure(experiment, asked.workers, rows)
        rows += new
        print(f"{experiment.name}: {len(new)} runs", file=sys.stderr, flush=True)
        if asked.output is not None:
            with asked.output.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in new)
    for line in table(rows, [spec.label for spec in asked.variants], asked.cases):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
