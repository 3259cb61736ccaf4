"""What every benchmark shares: a stamp that says where a figure comes from, and one JSON file each.

    record("walk", {"files": 66, ...})      # writes bench/results/walk.json, prints it

`bench/run.py` keeps what every benchmark measured that way, and `bench/tables.py` makes the tables of
docs/benchmarks.md of the files of one run.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import clew

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"


def stamp() -> dict[str, Any]:
    """Where and when this process measures: commit, date, processor, python, load."""
    return {
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "clew": clew.__version__,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def commit() -> str:
    """The commit that is checked out, with a `+` where files that are measured differ from it."""
    try:
        head = _git("rev-parse", "--short=10", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--", "src", "bench", "setup.py") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def processor() -> str:
    """The processor's name as it tells it, or its kind."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def record(name: str, figures: Any, started: dict[str, Any] | None = None, *, quiet: bool = False) -> Path:
    """Write `{"name", "stamp", "figures"}` to bench/results, print it unless `quiet`, and give the path.

    `started` is the stamp of when measuring began, if that is to be told rather than now.
    """
    told = {"name": name, "stamp": started or stamp(), "figures": figures}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    text = as_text(told)
    path.write_text(text + "\n", encoding="utf-8")
    if not quiet:
        sys.stdout.write(text + "\n")
    return path


def as_text(told: dict[str, Any]) -> str:
    """JSON to read and to compare by line: one figure a line, rows of a table on one line each."""
    text = json.dumps(told, indent=1, ensure_ascii=False)
    return re.sub(r"\[\s[^][{}]*\]", lambda row: " ".join(row[0].split()), text)


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True
    ).stdout.strip()
