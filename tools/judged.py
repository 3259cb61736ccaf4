"""The last whole run of the judging half, as a table for the documents.

    python tools/judged.py [--log experiments/judged.jsonl]

Each row is a web and a kind of start: nAUC of `intelligent`, of the best other strategy and of chance, the
mean over cases of the worst of the dice as a share of the mean, and the share of runs without a find in 50
requests.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

LOG = Path(__file__).resolve().parents[1] / "experiments" / "judged.jsonl"
OURS, CHANCE = "intelligent", "random"


def last(lines: Sequence[str]) -> Mapping[str, Any]:
    """The last run of the suite that was finished."""
    runs = [json.loads(line) for line in lines]
    whole = [run for run in runs if run["event"] == "finished" and run["suite"] == "judge"]
    if not whole:
        raise SystemExit("no whole run is in the log: clew lab run experiments/judge.toml")
    found: Mapping[str, Any] = whole[-1]
    return found


def table(run: Mapping[str, Any]) -> Iterator[str]:
    """Lines of Markdown."""
    stamp = f"{run['date'][:10]}, commit `{run['commit'][:10]}`"
    yield f"{stamp}, {run['dice']} dice, {run['sets']} sets of each kind of start:"
    yield ""
    yield "| web and starts | `intelligent` | best other | chance | worst ÷ mean | none in 50 |"
    yield "|---|---|---|---|---|---|"
    for where, figures in run["figures"].items():
        others = {name: row for name, row in figures.items() if name not in (OURS, CHANCE)}
        best = max(others, key=lambda name: others[name][0])
        nauc, worst, none = figures[OURS]
        yield (
            f"| {where.replace(' pages, ', ', ')} | {nauc:.3f} | {best} {others[best][0]:.3f} "
            f"| {figures[CHANCE][0]:.3f} | {worst:.2f} | {none:.0%} |"
        )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", type=Path, default=LOG)
    asked = parser.parse_args(argv)
    print("\n".join(table(last(asked.log.read_text("utf-8").splitlines()))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
