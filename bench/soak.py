"""A long crawl, watched from outside: do memory, descriptors, threads and logs stay within bounds?

    .venv/bin/python bench/soak.py [--pages 30000] [--concurrency 32] [--json]

Runs `clew crawl` as a user would over a site on loopback and looks at the process and its workers twice a
second. Bars: memory in the last third of the crawl at most 1.05 times that in the second; descriptors and
threads flat; the write-ahead log folded back while the crawl runs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "checks"))

from loopback import Site, serving


@dataclass(frozen=True, slots=True)
class Sample:
    """The process and its children at one moment."""

    pages: int
    rss_mb: float
    main_mb: float
    """Of the process itself, without its parse workers."""
    files: int
    threads: int
    wal_mb: float
    log_mb: float


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def status(pid: int) -> dict[str, int]:
    """Memory in kilobytes, threads and open files of a process; zeros when it has gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        values = dict(line.split(":", 1) for line in lines)
        return {
            "rss": int(values.get("VmRSS", "0").split()[0]),
            "threads": int(values["Threads"]),
            "files": len(os.listdir(f"/proc/{pid}/fd")),
        }
    except (OSError, KeyError):
        return {"rss": 0, "threads": 0, "files": 0}


def look(pid: int, pages: int, directory: Path) -> Sample:
    """One sample."""
    found = {one: status(one) for one in family(pid)}

    def size(pattern: str) -> float:
        return sum(path.stat().st_size for path in directory.glob(pattern)) / 1e6

    return Sample(
        pages,
        sum(one["rss"] for one in found.values()) / 1024,
        found[pid]["rss"] / 1024,
        found[pid]["files"],
        found[pid]["threads"],
        size("clew.db-wal"),
        size("clew.log*"),
    )


def watch(site: Site, directory: Path, given: argparse.Namespace) -> tuple[int, list[Sample]]:
    """Run the crawl to its end; gives its exit code and the samples."""
    line = [
        str(Path(sys.executable).with_name("clew")),
        "crawl",
        site.seed,
        "-m",
        "site*",
        "-d",
        str(directory),
    ]
    line += ["--pages", "none", "--concurrency", str(given.concurrency), "--delay", "0"]
    line += ["--own", "127.0.0.1", "--allow-private", "127.0.0.1", "--strategy", given.strategy]
    with directory.with_suffix(".out").open("wb") as out:
        process = subprocess.Popen(line, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    samples = []
    try:
        while process.poll() is None:
            samples.append(look(process.pid, len(site.log), directory))
            time.sleep(given.every)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
    # a process that is ending is not what was asked about
    return process.returncode, [sample for sample in samples if sample.main_mb and sample.pages]


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
