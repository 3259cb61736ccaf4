"""Speed beside other crawlers: CPU-seconds per 1,000 pages, in one run, on one site, on this machine.

    python bench/speed/run.py --setup      once: the other crawlers, in an environment of their own
    python bench/speed/run.py [--json]     builds the site, serves it, runs everyone, prints the table

Each contender is a process that crawls the same pages of a site on loopback, served by another process. What
is counted is the CPU time, user and system, of the contender and whatever processes it starts. With
`--rounds` everyone runs that often, in turn, and the median counts: a busy machine makes everyone slower.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import website

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
REQUIREMENTS = (
    "scrapy==2.19.0 aiohttp==3.14.5 selectolax==1.0.2 turbohtml==1.15.4 can_ada==3.0.0 uvloop==0.23.0"
)
#: The strategy of a crawl that names none; it learns, which costs more than the bars are about.
DEFAULT = "intelligent"
#: Not a crawler, but what the libraries take of clew's work: the most that any bar can be met by.
FLOOR = "the libraries alone"
SUBREAPER = 36
"""For prctl: orphans of our children become ours, so that their time can be counted."""


@dataclass(frozen=True)
class Contender:
    name: str
    script: str
    bar: float
    """How many times faster clew should be; 0 where nothing is asked."""
    extra: tuple[str, ...] = ()


OTHERS = (
    Contender("Scrapy, 64 concurrent", "scrapy_plain.py", 8.0),
    Contender("Scrapy, tuned", "scrapy_tuned.py", 2.3),
    Contender("Scrapy, tuned, hrefs alone", "scrapy_tuned.py", 0.0, ("lean",)),
    Contender("  the same, nothing but engine", "scrapy_tuned.py", 0.0, ("bare",)),
    Contender("aiohttp + selectolax + urljoin", "bare.py", 1.3),
)


@dataclass(frozen=True)
class Measured:
    pages: int
    cpu: float
    wall: float
    said: str

    @property
    def per_thousand(self) -> float:
        return 1000 * self.cpu / self.pages


def measure(command: list[str]) -> Measured:
    """Run a command to its end; its CPU time includes that of every process it left behind."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = time.monotonic() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    _reap()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    said = done.stdout.strip().splitlines()[-1]
    pages = json.loads(said)["pages"] if said.startswith("{") else int(said)
    return Measured(pages, cpu, wall, said)


def _reap() -> None:
    """Wait for orphans that ended; the server, which goes on, is not waited for."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


@contextlib.contextmanager
def serving(python: str, site: Path) -> Iterator[str]:
    server = subprocess.Popen([python, str(HERE / "server.py"), str(site)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.kill()
        server.wait()


def clew(out: Path, origin: str, pages: int, *settings: str, path: str = website.START) -> list[str]:
    """The command of a whole crawl into a directory of its own."""
    script = str(HERE / "contenders" / "clew_full.py")
    return [sys.executable, script, origin + path, str(pages), str(_fresh(out)), *settings]


def _fresh(out: Path) -> Path:
    """A new directory."""
    directory = out / f"crawl-{len(list(out.glob('crawl-*')))}"
    directory.mkdir()
    return directory


def compare(args: argparse.Namespace, origin: str) -> dict[str, Any]:
    """CPU-seconds per 1,000 pages of everyone, the median of the rounds."""
    python = args.out / "venv" / "bin" / "python"
    everyone: dict[str, list[Measured]] = {}
    for _ in range(args.rounds):
        for strategy in dict.fromkeys((args.strategy, DEFAULT)):
            command = clew(args.out, origin, args.pages, f"strategy={json.dumps(strategy)}")
            everyone.setdefault(strategy, []).append(measure(command))
        directory = _fresh(args.out)
        script = str(HERE / "contenders" / "floor.py")
        command = [sys.executable, script, origin + website.START, str(args.pages), str(directory)]
        everyone.setdefault(FLOOR, []).append(measure(command))
        for other in OTHERS if python.exists() else ():
            script = str(HERE / "contenders" / other.script)
            command = [str(python), script, origin + website.START, str(args.pages), *other.extra]
            everyone.setdefault(other.name, []).append(measure(command))
    if not python.exists():
        print(
            f"The other crawlers are not installed: run {Path(__file__).name} --setup first.", file=sys.stderr
        )
    medians = {name: statistics.median([m.per_thousand for m in found]) for name, found in everyone.items()}
    if args.json:
        return medians
    print(f"\n{'CPU-seconds per 1,000 pages':<38}{'':>8}{'clew is':>12}{'bar':>8}{'libraries':>16}")
    for strategy in dict.fromkeys((args.strategy, DEFAULT)):
        print(f"{'clew, everything (' + strategy + ')':<38}{medians[strategy]:8.2f}")
    print(f"{FLOOR:<38}{medians[FLOOR]:8.2f}")
    for other in OTHERS:
        if other.name in medians:
            ratio = medians[other.name] / medians[args.strategy]
            bar = f"{other.bar:g} x {'met' if ratio >= other.bar else 'MISSED'}" if other.bar else ""
            most = medians[other.name] / medians[FLOOR]
            print(f"{other.name:<38}{medians[other.name]:8.2f}{ratio:10.2f} x  {bar:<14}{most:8.2f} x")
    return medians


def two_processes(args: argparse.Namespace, first: str, second: str) -> dict[str, Any]:
    """Two crawls of two hosts at once, against one: pages per second of the wall's clock.

    The wall's clock counts what else the machine does, so that is said too.
    """
    pages = min(args.pages, 2000)
    strategy = f"strategy={json.dumps(args.strategy)}"
    load = os.getloadavg()[0]
    one = measure(clew(args.out, first, pages, strategy)).wall
    start = time.monotonic()
    both = [
        subprocess.Popen(clew(args.out, origin, pages, strategy), stdout=subprocess.DEVNULL)
        for origin in (first, second)
    ]
    for process in both:
        process.wait()
    ratio = 2 * one / (time.monotonic() - start)
    if not args.json:
        print(f"two processes against one              {ratio:8.2f} x  bar 1.7 x", end="")
        print(f" ({os.cpu_count()} processors, load {load:.1f} before)")
    return {"ratio": ratio, "load": load}


def memory(args: argparse.Namespace, origin: str) -> dict[str, Any]:
    """Peak RSS of a crawl of 5,000 pages, by strategy."""
    found = {}
    for strategy in dict.fromkeys((args.strategy, DEFAULT)):
        settings = [f"also={json.dumps([origin + website.MORE])}", f"strategy={json.dumps(strategy)}"]
        said = json.loads(measure(clew(args.out, origin, 5000, *settings)).said)
        label = f"peak memory at {said['pages']} pages, {strategy}"
        found[strategy] = said["rss"]
        if not args.json:
            print(f"{label:<39}{said['rss']:8.0f} MB  bar 250 MB")
    return found


def stalls(args: argparse.Namespace, origin: str) -> dict[str, Any]:
    """The longest time that a page of just under a megabyte keeps the loop, once the crawl is under way."""
    found = {}
    for strategy in dict.fromkeys((args.strategy, DEFAULT)):
        settings = f"strategy={json.dumps(strategy)}"
        said = json.loads(measure(clew(args.out, origin, 20, settings, path="/large/")).said)
        wall, cpu = 1000 * said["stall"], 1000 * said["stall_cpu"]
        label = f"longest stall, under 1 MB, {strategy}"
        found[strategy] = {"cpu_ms": cpu, "wall_ms": wall}
        if not args.json:
            print(f"{label:<39}{cpu:8.0f} ms of CPU, {wall:.0f} ms by the wall; bar 100 ms")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=PROJECT / "out" / "speed")
    parser.add_argument("--corpora", type=Path, default=os.environ.get("CLEW_CORPORA"))
    parser.add_argument("--pages", type=int, default=4500)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--strategy", default="best-first")
    parser.add_argument(
        "--setup", action="store_true", help="install the other crawlers under --out, and end"
    )
    parser.add_argument("--only", choices=("compare", "two", "memory", "stalls"))
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    if args.setup:
        subprocess.run([sys.executable, "-m", "venv", str(args.out / "venv")], check=True)
        install = [str(args.out / "venv" / "bin" / "pip"), "install", "--quiet", *REQUIREMENTS.split()]
        return subprocess.run(install, check=False).returncode
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    if not (args.out / "site.json").exists():
        website.build((args.corpora or PROJECT.parent / "shared" / "corpora") / website.CORPUS, args.out)
    facts = website.facts(args.out)
    size, links = facts["bytes"] / 1000, facts["links"]
    if not args.json:
        print(f"site: {facts['pages']} pages, {size:.1f} KB and {links:.0f} links on average")
    found: dict[str, Any] = {"site": facts, "pages": args.pages, "strategy": args.strategy}
    for old in args.out.glob("crawl-*"):
        shutil.rmtree(old)
    with serving(sys.executable, args.out) as first, serving(sys.executable, args.out) as second:
        if args.only in (None, "compare"):
            found["compare"] = compare(args, first)
        if args.only in (None, "two"):
            found["two"] = two_processes(args, first, second)
        if args.only in (None, "memory"):
            found["memory"] = memory(args, first)
        if args.only in (None, "stalls"):
            found["stalls"] = stalls(args, first)
    if args.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
