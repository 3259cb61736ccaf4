"""Runs the benchmarks, keeps what each measured in bench/results, and makes the tables of docs/benchmarks.md.

    python bench/run.py                       everything, then the document; an hour on two free cores
    python bench/run.py --only walk --only parse_speed      some of it; the document is left alone
    python bench/run.py --tables              the document again, from the results of the last whole run
    python bench/run.py --short               everything in small, nothing kept: does each still run?

The tables are made of one run, on one commit: results of several runs are never put together.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tables
from record import RESULTS, ROOT, record, stamp

#: Name of the result, script, words. Light ones first: what is broken is seen early.
PLAN: dict[str, tuple[str, ...]] = {
    "walk": ("walk.py",),
    "browser": ("browser.py",),
    "dashboard": ("dashboard.py",),
    "parse_speed": ("parse_speed.py",),
    "robots_speed": ("robots_speed.py",),
    "topics": ("topics.py",),
    "frontier_memory": ("frontier_memory.py",),
    "learning_memory": ("learning_memory.py",),
    "visits": ("visits.py",),
    "exact": ("reprioritise.py", "--exact", "--pages", "2000"),
    "reprioritise": ("reprioritise.py",),
    "resume": ("resume.py",),
    "steering": ("steering.py",),
    "soak": ("soak.py",),
    "speed": ("speed/run.py",),
    "factors": ("factors.py",),
    "reuse": ("reuse.py", "--jobs", str(os.cpu_count() or 1)),
    "learning": ("learning.py",),
    "recall": ("recall.py", "--workers", str(os.cpu_count() or 1)),
    "confidence": ("confidence.py", "--jobs", str(os.cpu_count() or 1)),
    "climbing": ("climbing.py", "--jobs", str(os.cpu_count() or 1)),
    "interests": ("interests.py", "--kind", "related", "--throws", "1"),
    "topic_driven_cost": ("reprioritise.py", "--strategy", "topic-driven"),
    "tunnelling": ("tunnelling.py", "--way", "climb", "drop", "reweight", "--jobs", str(os.cpu_count() or 1)),
}

#: Words of a run that shows no more than that the script runs: minutes for all. Of speed, clew's part alone.
SHORT: dict[str, tuple[str, ...]] = {
    "walk": ("--web", "demo", "--pages", "40", "--warm-up", "10"),
    "browser": ("--pages", "4"),
    "dashboard": ("--pages", "500", "--candidates", "5000", "--turns", "1"),
    "parse_speed": (),
    "robots_speed": (),
    "topics": ("--kind", "keyword", "--examples", "5"),
    "frontier_memory": ("--limit", "10000"),
    "learning_memory": ("--pages", "7500", "--words", "20"),
    "visits": ("--lines", "20000"),
    "exact": ("--exact", "--pages", "40"),
    "reprioritise": ("--limit", "10000"),
    "resume": ("--pages", "600"),
    "steering": ("--candidates", "8000", "--pages", "40"),
    "soak": ("--pages", "600", "--every", "0.05"),
    "speed": ("--only", "stalls"),
    "factors": ("--corpus", "webkb:cornell", "--topics", "1", "--budget", "40"),
    "reuse": ("--topics", "2", "--seeds", "1", "--before", "60", "--budget", "40"),
    "learning": ("--experiment", "quick", "--budget", "40"),
    "recall": ("--only", "demo", "--topics", "1"),
    "confidence": ("--web", "detours", "--strategy", "breadth-first", "--budget", "40", "--half", "tune"),
    "climbing": ("--web", "webkb:cornell", "--topics", "1", "--requests", "150"),
    "interests": ("--only", "demo", "--requests", "60", "--throws", "1"),
    "topic_driven_cost": ("--strategy", "topic-driven", "--limit", "10000"),
    "tunnelling": ("--narrow", "1", "--broad", "1", "--requests", "150"),
}


class BenchmarkFailed(SystemExit):
    """One script ended with an error."""


def figures(name: str, *, short: bool = False) -> Any:
    """Run one benchmark; gives what it printed: one JSON value, or a list of one a line."""
    script, *words = (PLAN[name][0], *SHORT[name]) if short else PLAN[name]
    line = [sys.executable, str(ROOT / "bench" / script), "--json", *words]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise BenchmarkFailed(f"{name} failed with exit code {done.returncode}: {' '.join(line)}")
    values = [json.loads(row) for row in done.stdout.splitlines() if row.strip()]
    return values[0] if len(values) == 1 else values


def fill(document: Path) -> None:
    """Put the tables of the last whole run into the document."""
    results = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob("*.json"))}
    document.write_text(tables.filled(document.read_text("utf-8"), results, PLAN), "utf-8")
    print(f"{document.relative_to(ROOT)} has the figures of {results['walk']['stamp']['run']}")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=PLAN, metavar="NAME", help="may be given again")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    parser.add_argument("--short", action="store_true", help="everything in small, nothing kept")
    asked = parser.parse_args(argv)
    run, failed = stamp()["date"], 0
    for name in () if asked.tables else asked.only or PLAN:
        began, started = time.monotonic(), stamp()
        print(f"{name} …", flush=True)
        if asked.short:
            failed += _runs(name)
            continue
        found = figures(name)
        record(name, found, {**started, "run": run, "seconds": round(time.monotonic() - began)}, quiet=True)
    if not asked.only and not asked.short:
        fill(ROOT / "docs" / "benchmarks.md")
    return int(failed > 0)


def _runs(name: str) -> bool:
    """Run one benchmark in small and say how that went; whether it failed."""
    began = time.monotonic()
    try:
        figures(name, short=True)
    except BenchmarkFailed as problem:
        print(f"  {problem}", flush=True)
        return True
    print(f"  runs, {time.monotonic() - began:.0f} s", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())
