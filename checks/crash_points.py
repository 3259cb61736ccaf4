"""Crash points chosen one by one: the crawl is killed at its n-th write, sync or rename, for many n.

    .venv/bin/python checks/crash_points.py [--points 240] [--pages 30] [--json]

Runs a small crawl of a recorded web under `strace`, which kills the process (SIGKILL) as it enters the n-th
system call of a kind that changes what is on disk; then takes the crawl up again in the same directory, lets
it end, and looks for damage. Bars: at least 200 points, no integrity failure. Needs strace, from the package
of that name.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

from fastwarc.warc import ArchiveIterator
from verdict import arguments, ended
from warcio.archiveiterator import ArchiveIterator as Warcio

from clew.errors import ClewError
from clew.run.config import CrawlConfig
from clew.run.session import Session
from clew.store import SqliteStore, is_crawl, open_reader
from clew.testing import ReplayFetcher, StaticWeb, VirtualClock, link_page

CALLS = ("pwrite64", "write", "fdatasync,fsync", "ftruncate", "rename,unlink,mkdir")
"""Each group is counted by itself, so a point is a group and a number."""
SHARE = {"pwrite64": 0.4, "write": 0.2, "fdatasync,fsync": 0.2}
STRACE = ("strace", "-f", "-qq", "-o", "/dev/null")


def web(pages: int) -> StaticWeb:
    """A little tree of pages, each with a word of its own."""
    found = {}
    for number in range(pages):
        near = range(number * 3 + 1, min(number * 3 + 4, pages))
        links = {f"to_{i}": address(i) for i in near}
        found[address(number)] = link_page(f"Page {number}", f"point{number:04d}page " * 9, **links)
    return StaticWeb(found)


def address(number: int) -> str:
    return f"http://h{number % 3}.example/{number}"


def crawl(directory: Path, pages: int) -> None:
    """The crawl, to its end: begun or taken up again."""
    config = CrawlConfig(seeds=(address(0),), match="point*", pages=None, delay=0.25, concurrency=4)
    with SqliteStore(directory, window=0.002, rotate_at=8_000) as store:
        store.set_meta(config=json.loads(config.to_json()))
        fetcher = ReplayFetcher(web(pages))
        asyncio.run(Session(config, store, fetcher=fetcher, clock=VirtualClock(1_000_000.0)).run())


def damage(directory: Path, pages: int) -> list[str]:
    """What is wrong with a finished crawl; nothing, one hopes."""
    wrong = []
    with closing(sqlite3.connect(directory / "clew.db")) as db:
        integrity = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if integrity != "ok":
            wrong.append(f"database: {integrity}")
    with open_reader(directory) as reader:
        rows = list(reader.pages())
        for row in rows:
            number = int(row.url.rpartition("/")[2])
            if f"point{number:04d}page" not in row.text:
                wrong.append(f"{row.url} has another page's text")
            record = reader.record(row)
            if record is None or _target(record) != row.url:
                wrong.append(f"{row.url} is not where the archive should have it")
        files = [path for path, _ in reader.archives()]
        trace = list(reader.decisions())
    stored = Counter(row.url for row in rows)
    wrong += [f"{url} stored {n} times" for url, n in stored.items() if n > 1]
    wrong += [f"{address(i)} lost" for i in range(pages) if address(i) not in stored]
    if [decision.seq for decision in trace] != list(range(trace[0].seq, trace[0].seq + len(trace))):
        wrong.append("the trace has gaps")
    archived: Counter[str] = Counter()
    for path in files:
        archived += _archived(path, wrong)
    wrong += [f"{url} archived {n} times" for url, n in archived.items() if n > 1 and "robots" not in url]
    return wrong


def _target(record: bytes) -> str:
    """The address an archived record is of."""
    return str(next(iter(ArchiveIterator(BytesIO(record), parse_http=False))).headers["WARC-Target-URI"])


def _archived(path: Path, wrong: list[str]) -> Counter[str]:
    """The replies in a file, as two readers of other people's see them."""
    found: Counter[str] = Counter()
    if not path.exists():
        return found
    try:
        with path.open("rb") as stream:
            for record in Warcio(stream, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type == "response":
                    found[record.rec_headers.get_header("WARC-Target-URI")] += 1
        with path.open("rb") as stream:
            whole = [entry.verify_block_digest() for entry in ArchiveIterator(stream, parse_http=False)]
        if not all(whole):
            wrong.append(f"{path.name}: a digest does not hold")
    except Exception as error:
        wrong.append(f"{path.name}: {error!r}")
    return found


def child(directory: Path, pages: int) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve()), "--crawl", str(directory), "--pages", str(pages)]


def counted(pages: int) -> dict[str, int]:
    """How many calls of each group an undisturbed crawl makes, by the thread that makes most of them."""
    with tempfile.TemporaryDirectory() as place:
        log = Path(place) / "log"
        line = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={','.join(CALLS)}"]
        done = subprocess.run([*line, *child(Path(place) / "crawl", pages)], check=False, capture_output=True)
        if done.returncode:
            raise SystemExit(f"strace does not work here: {done.stderr.decode()[-300:]}")
        calls: Counter[tuple[str, str]] = Counter()
        for thread, name in re.findall(r"^(\d+) +(\w+)\(", log.read_text(errors="replace"), re.M):
            calls[thread, name] += 1
    threads = {thread for thread, _ in calls}
    return {
        group: max(sum(calls[thread, name] for name in group.split(",")) for thread in threads)
        for group in CALLS
    }


def points(counts: dict[str, int], wanted: int) -> list[tuple[str, int]]:
    """Points spread evenly over the calls of each group; few calls mean few points."""
    found: list[tuple[str, int]] = []
    for group in sorted(counts, key=lambda g: counts[g]):
        share = SHARE.get(group, 0.05)
        n = min(counts[group], round(wanted * share))
        found += [(group, 1 + i * counts[group] // n) for i in range(n)]
    dice = random.Random(1)
    spare = [(g, i) for g in ("pwrite64", "write", "fdatasync,fsync") for i in range(1, counts[g] + 1)]
    spare = [point for point in spare if point not in set(found)]
    found += dice.sample(spare, min(len(spare), max(0, wanted - len(found))))
    return found[:wanted]


def strike(group: str, number: int, pages: int) -> dict[str, Any]:
    """Kill a crawl at one point, take it up again, look at it.

    How writes are gathered depends on the moment, so a crawl may be over before its n-th; then it is struck
    again, a little earlier.
    """
    while True:
        found = _strike(group, number, pages)
        if found["killed"] or found["wrong"] or number <= 1:
            return found
        number = min(number - 1, number * 9 // 10)


def _strike(group: str, number: int, pages: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place) / "crawl"
        inject = f"inject={group}:signal=SIGKILL:when={number}"
        line = [*STRACE, "-e", f"trace={group}", "-e", inject, *child(directory, pages)]
        done = subprocess.run(line, capture_output=True, check=False, timeout=120)
        killed = done.returncode in (-9, 137)
        try:
            if is_crawl(directory):
                # somebody may look before it is taken up
                with open_reader(directory) as reader:
                    reader.counts()
            crawl(directory, pages)
            wrong = damage(directory, pages)
        except ClewError as error:
            wrong = [f"cannot be taken up: {error}"]
        return {"point": f"{group} {number}", "killed": killed, "wrong": wrong}


def run(wanted: int, pages: int, jobs: int) -> dict[str, Any]:
    began = time.monotonic()
    counts = counted(pages)
    with ThreadPoolExecutor(jobs) as pool:
        struck = list(pool.map(lambda point: strike(*point, pages), points(counts, wanted)))
    return {
        "points": len(struck),
        "killed": sum(one["killed"] for one in struck),
        "failures": [one for one in struck if one["wrong"]],
        "by_group": dict(Counter(one["point"].rpartition(" ")[0] for one in struck if one["killed"])),
        "calls": counts,
        "seconds": round(time.monotonic() - began, 1),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Kill a crawl at chosen system calls and look for damage.")
    parser.add_argument("--points", type=int, default=240)
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2, help="points tried side by side")
    parser.add_argument("--crawl", type=Path, help="be the process that is killed")
    given = parser.parse_args(argv)
    if given.crawl is not None:
        crawl(given.crawl, given.pages)
        return 0
    if shutil.which("strace") is None:
        raise SystemExit("strace is needed to choose the moment: install it (apt-get install strace)")
    found = run(given.points, given.pages, given.jobs)
    failures = [f"{one['point']}: {'; '.join(map(str, one['wrong'][:3]))}" for one in found["failures"]]
    failures += ["a point at which the crawl was not killed"] * (found["points"] - found["killed"])
    lines = [
        f"calls of an undisturbed crawl: {found['calls']}",
        f"{found['points']} crash points, {found['killed']} kills: {found['by_group']}, {found['seconds']} s",
        f"integrity failures: {len(found['failures'])}",
    ]
    return ended(given, "crash_points", found["points"], failures, found, lines)


if __name__ == "__main__":
    sys.exit(main())
