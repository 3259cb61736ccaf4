"""A long crawl, watched from outside: do memory, descriptors, threads and logs stay within bounds?

    .venv/bin/python bench/soak.py [--pages 30000] [--concurrency 32] [--json]

Runs `clew crawl` as a user would over a site on loopback and looks at the process and its workers twice a
second. Bars: memory in the last third of the crawl at most 1.05 times that in the second; descriptors and
threads flat; the write-ahead log folded back while the crawl runs.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "checks"))

from loopback import Site, serving
from watching import Sample, watched


def watch(site: Site, directory: Path, given: argparse.Namespace) -> tuple[int, list[Sample]]:
    """Run the crawl to its end; gives its exit code and the samples."""
    line = [str(Path(sys.executable).with_name("clew")), "crawl", site.seed, "-m", "site*"]
    line += ["-d", str(directory), "--pages", "none", "--concurrency", str(given.concurrency), "--delay", "0"]
    line += ["--own", "127.0.0.1", "--allow-private", "127.0.0.1", "--strategy", given.strategy]
    return watched(line, directory, lambda: len(site.log), every=given.every)


def thirds(samples: list[Sample], pages: int) -> list[list[Sample]]:
    """The samples by third of the crawl, those after its last page left out."""
    return [[s for s in samples if pages * i <= 3 * s.pages < pages * (i + 1)] for i in range(3)]


def run(given: argparse.Namespace) -> dict[str, Any]:
    site = Site(given.pages, words=given.words, links=given.links)
    with tempfile.TemporaryDirectory() as place, serving(site):
        directory = Path(place) / "crawl"
        began = time.monotonic()
        code, samples = watch(site, directory, given)
        seconds = time.monotonic() - began
        from clew.store import open_reader

        with open_reader(directory) as reader:
            stored = reader.counts().pages
    parts = thirds(samples, given.pages)
    if not all(parts):
        raise SystemExit("the crawl was over too soon to be watched: give it more --pages")
    memory = [statistics.fmean(s.rss_mb for s in part) for part in parts]
    main = [statistics.fmean(s.main_mb for s in part) for part in parts]
    return {
        "pages": stored,
        "exit_code": code,
        "seconds": round(seconds, 1),
        "samples": len(samples),
        "rss_mb_by_third": [round(x, 1) for x in memory],
        "ratio": round(memory[2] / memory[1], 3),
        "main_ratio": round(main[2] / main[1], 3),
        "main_mb_by_third": [round(x, 1) for x in main],
        "files_by_third": [max(s.files for s in part) for part in parts],
        "threads_by_third": [max(s.threads for s in part) for part in parts],
        "wal_mb_most": round(max(s.wal_mb for s in samples), 1),
        "wal_mb_by_third": [round(max(s.wal_mb for s in part), 1) for part in parts],
        "log_mb": round(samples[-1].log_mb, 2),
        "curve": [asdict(s) for s in samples[:: max(1, len(samples) // 12)]],
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Watch a long crawl from outside.")
    parser.add_argument("--pages", type=int, default=30_000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--strategy", default="best-first")
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--links", type=int, default=30)
    parser.add_argument("--every", type=float, default=0.5, help="seconds between looks")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(argv)
    # Whoever ends this ends the crawl with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    found = run(given)
    if given.json:
        print(json.dumps(found))
        return 0
    rate = found["pages"] / found["seconds"]
    print(f"{found['pages']} pages in {found['seconds']} s ({rate:.0f}/s), exit {found['exit_code']}")
    print(f"memory by third {found['rss_mb_by_third']} MB: last / second = {found['ratio']}")
    print(f"  without parse workers {found['main_mb_by_third']} MB: last / second = {found['main_ratio']}")
    print(f"descriptors by third {found['files_by_third']}, threads {found['threads_by_third']}")
    print(f"write-ahead log at most {found['wal_mb_most']} MB, by third {found['wal_mb_by_third']}")
    print(f"log {found['log_mb']} MB")
    for row in found["curve"]:
        print(f"  {row['pages']:>7} pages  {row['rss_mb']:7.1f} MB ({row['main_mb']:.1f} itself)", end="")
        print(f"  {row['files']} files  {row['threads']} threads  log {row['wal_mb']:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
