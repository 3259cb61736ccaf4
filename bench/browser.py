"""What a browser costs: pages per second of processor time, the same pages shown to Chromium and not.

    .venv/bin/python bench/browser.py [--pages 60] [--json]

Runs `clew crawl` as a user would over a site on loopback, with `--browser '*'` and without. What is counted
is the CPU time, user and system, of the crawl and of every process it starts; starting them is counted too.
Needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "checks"))

from loopback import Site, serving

#: For prctl: orphans of our children become ours, so that their time is counted.
SUBREAPER = 36


def cpu_of(line: list[str]) -> tuple[float, float]:
    """Processor time and wall time of a command and all it started, in seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise SystemExit(f"the crawl failed with exit code {done.returncode}: {done.stderr[-500:]}")
    seconds = time.monotonic() - began
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


def measure(pages: int, words: list[str]) -> dict[str, Any]:
    """One crawl of a fresh site."""
    from clew.store import open_reader

    site = Site(pages)
    with tempfile.TemporaryDirectory() as place, serving(site):
        line = [str(Path(sys.executable).with_name("clew")), "crawl", site.seed, "-m", "site*"]
        line += ["-d", f"{place}/crawl", "--pages", "none", "--delay", "0", "--strategy", "best-first"]
        line += ["--own", "127.0.0.1", "--allow-private", "127.0.0.1", *words]
        cpu, seconds = cpu_of(line)
        with open_reader(Path(place) / "crawl") as reader:
            counts = reader.counts()
    if counts.pages != pages:
        raise SystemExit(f"{counts.pages} pages of {pages} were stored")
    return {
        "pages": pages,
        "rendered": counts.rendered,
        "cpu_seconds": round(cpu, 2),
        "seconds": round(seconds, 1),
        "pages_per_cpu_second": round(pages / cpu, 2),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    found = [
        {"with": name, **measure(asked.pages, words)}
        for name, words in (("no browser", []), ("every page in a browser", ["--browser", "*"]))
    ]
    if asked.json:
        print(json.dumps(found))
        return 0
    for one in found:
        cpu = f"{one['cpu_seconds']} s of CPU, {one['pages_per_cpu_second']} pages a CPU-second"
        print(f"{one['with']:<26}{one['pages']} pages in {one['seconds']} s, {cpu}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
