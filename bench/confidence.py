"""What suspending costs, and what it gains: every strategy with `--confidence` against itself without.

    python bench/confidence.py                     # the topics that judge, on the recorded webs, and detours
    python bench/confidence.py --half tune         # the topics that settings may be chosen on
    python bench/confidence.py --web hard --strategy intelligent --level 0.8 0.95

Topics are those of experiments/judge.toml (or tune.toml), the first few of each web; a start is drawn for
each, and there is one more at a page of the topic. Crawls are long enough for finds to be counted, since
nothing is suspended before. The planted web, `made:detours` with three seeds, is crawled from its first page
for all its topics. Printed for each web and strategy: the mean nAUC with and without, their ratio with a
bootstrap interval over topics, and the worst topic. Its looks at the topics that judge are logged as those
of `clew lab run` are.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from record import ROOT

from clew.lab.experiment import Experiment, StrategySpec
from clew.lab.runner import run_experiment
from clew.lab.statistics import ratio_interval
from clew.lab.suite import load_suite, note_look

WEBS = ("miniweb", "wikispeedia", "hard", "cornell", "texas", "washington")
STRATEGIES = ("breadth-first", "best-first", "focused", "shark", "topic-driven", "intelligent")
PLANTED = ("wind", "cooking", "football")
SEEDS = (1, 2, 3)


def experiments(asked: argparse.Namespace) -> Iterator[Experiment]:
    """One a web."""
    specs = [
        StrategySpec.model_validate(
            {"name": name, "label": f"{name} {level:g}" if level else name}
            | ({"confidence": level} if level else {})
        )
        for name in asked.strategy
        for level in (0.0, *asked.level)
    ]
    common: dict[str, Any] = {"strategies": tuple(specs), "baseline": "", "dice": 1}
    suite = load_suite(ROOT / "experiments" / f"{asked.half}.toml")
    for part in suite.parts:
        if part.name not in asked.web or not isinstance(part.topics, tuple):
            continue
        starts = [rule for rule in part.seeds if rule.kind != "entry"]
        changes = {
            "budget": (asked.budget,),
            "topics": part.topics[: asked.topics],
            "seeds": tuple(rule.model_copy(update={"sets": 1}) for rule in starts),
        }
        yield part.model_copy(update=common | changes)
    if "detours" in asked.web:
        yield Experiment.parse(
            {
                "name": "detours",
                "corpora": [{"name": f"made:detours:{seed}", "robots": "ignore"} for seed in SEEDS],
                "topics": list(PLANTED),
                "seeds": [{"kind": "entry"}],
                "budget": asked.budget,
                "strategies": ["random"],
            }
        ).model_copy(update=common)


def rows_of(experiment: Experiment, asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Crawl, and set against each other what is to be compared."""
    with tempfile.TemporaryDirectory() as folder:
        results = run_experiment(experiment, Path(folder), workers=asked.jobs)
        runs = list(results.runs().values())
    found: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        topic = f"{run.corpus}/{run.topic}"
        found.setdefault(run.strategy, {}).setdefault(topic, []).append(run.nauc or 0.0)
    means = {
        name: {topic: math.fsum(some) / len(some) for topic, some in topics.items()}
        for name, topics in found.items()
    }
    for name in asked.strategy:
        for level in asked.level:
            base, other = means[name], means[f"{name} {level:g}"]
            topics = sorted(base)
            off, on = ([one[topic] for topic in topics] for one in (base, other))
            ratios = [b / a for a, b in zip(off, on, strict=True) if a]
            yield {
                "web": experiment.name,
                "strategy": name,
                "level": level,
                "topics": len(topics),
                "off": math.fsum(off) / len(off),
                "on": math.fsum(on) / len(on),
                "ratio": math.fsum(on) / math.fsum(off) if any(off) else None,
                "interval": ratio_interval(on, off),
                "least": min(ratios, default=None),
            }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=["tune", "judge"], default="judge")
    parser.add_argument("--web", nargs="*", default=[*WEBS, "detours"], choices=[*WEBS, "detours"])
    parser.add_argument("--strategy", nargs="*", default=list(STRATEGIES))
    parser.add_argument("--level", nargs="*", type=float, default=[0.9])
    parser.add_argument("--topics", type=int, default=6)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    suite = load_suite(ROOT / "experiments" / f"{asked.half}.toml")
    if suite.log is not None and set(asked.web) - {"detours"}:
        note_look(suite, "bench/confidence.py")
    for experiment in experiments(asked):
        for row in rows_of(experiment, asked):
            low, high = row["interval"]
            if asked.json:
                print(json.dumps(row), flush=True)
            elif row["ratio"] is None:
                print(f"{row['web']:12} {row['strategy']:14} nothing found", flush=True)
            else:
                print(
                    f"{row['web']:12} {row['strategy']:14} {row['level']:g}: nAUC {row['off']:.3f} -> "
                    f"{row['on']:.3f}, ratio {row['ratio']:.3f} [{low:.3f}, {high:.3f}], worst of "
                    f"{row['topics']} topics {row['least']:.3f}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
