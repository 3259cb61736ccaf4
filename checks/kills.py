"""SIGKILLs over one crawl: what is lost, what is stored twice, what is asked for again?

    .venv/bin/python checks/kills.py [--pages 3000] [--kills 100] [--learning 40] [--browser] [--json]

Runs `clew crawl` as a user would, in a process of its own, over a site on loopback; kills it at random times
(often in its first tenths of a second, when it opens the directory); starts it again in the same directory;
and lets it end by itself at last. Of the kills, `--learning` are of a second crawl, by a strategy that
learns: every other one strikes while it learns again what it knew. Bars: no page lost, none stored twice, at
each kill no more requests made again than the crawler had under way (at most `--concurrency`), and every WARC
valid by `warcio check` and `fastwarc check`.
"""

from __future__ import annotations

import argparse
import atexit
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from loopback import Site, serving
from verdict import arguments, ended

PYTHON = Path(sys.executable)
#: Environment variable by which the processes of the crawls are told from others.
MARK = "CHECK_KILLS_OF"


def command(site: Site, directory: Path, given: argparse.Namespace, strategy: str) -> list[str]:
    """The crawl, as typed; the second time the same words resume it."""
    line = [str(PYTHON.with_name("clew")), "crawl", site.seed, "-m", "site*", "-d", str(directory)]
    line += ["--pages", "none", "--concurrency", str(given.concurrency), "--delay", "0"]
    line += ["--own", "127.0.0.1", "--allow-private", "127.0.0.1", "--strategy", strategy]
    line += ["--browser", "*"] if given.browser else []
    return line if given.parse_workers is None else [*line, "--parse-workers", str(given.parse_workers)]


def start(line: list[str], log: Path) -> subprocess.Popen[bytes]:
    """Begin the crawl; it does not outlive this process."""
    with log.open("ab") as stream:
        process = subprocess.Popen(
            line,
            stdout=stream,
            stderr=stream,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, MARK: str(os.getpid())},
        )
    atexit.register(process.kill)
    return process


def orphans() -> list[int]:
    """Processes that killed crawlers left behind, browsers too: all inherit a mark of this check's."""
    mark = f"{MARK}={os.getpid()}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                marked = mark in (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if marked and state != "Z":
                found.append(int(entry.name))
    return found


def left_behind(patience: float = 10.0) -> list[int]:
    """`orphans`, once those that end by themselves have had the time to."""
    deadline = time.monotonic() + patience
    while (found := orphans()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


class Opening:
    """The time between a crawl's having its directory and its first request: it reads, and learns again."""

    def __init__(self, site: Site, directory: Path, process: subprocess.Popen[bytes]) -> None:
        self.site, self.process = site, process
        self.lock = directory / "clew.lock"
        self.before = len(site.log)
        self.begun: float | None = None
        self.seconds: float | None = None
        """How long it took, once it is over."""

    def look(self) -> None:
        """Notice where the crawl is by now."""
        if self.begun is None and self._has_directory():
            self.begun = time.monotonic()
        if self.begun is not None and self.seconds is None and len(self.site.log) > self.before:
            self.seconds = time.monotonic() - self.begun

    @property
    def under_way(self) -> bool:
        """Whether the crawl has its directory, and has asked for nothing yet."""
        self.look()
        return self.begun is not None and len(self.site.log) == self.before and self.process.poll() is None

    def _has_directory(self) -> bool:
        try:
            return self.lock.read_text().strip() == str(self.process.pid)
        except OSError:
            return False


def kill_many(
    site: Site, directory: Path, given: argparse.Namespace, dice: random.Random, kills: int, strategy: str
) -> list[dict[str, int]]:
    """Kill, resume, kill; spread over the crawl by the number of pages asked for."""
    log = directory.with_suffix(".log")
    learning = strategy != "breadth-first"
    lasted = 0.0
    struck: list[dict[str, int]] = []
    for number in range(kills):
        process = start(command(site, directory, given, strategy), log)
        opening = Opening(site, directory, process)
        before = len(site.log)
        # A share of what is left, so that there is a crawl to kill until the last of them.
        share = (site.pages - before) / (kills - number + 1)
        goal = before + max(1, round(share * dice.uniform(0.3, 1.2) * (2 if learning else 1)))
        # One in five somewhere in the opening of the directory, perhaps before the first request.
        early = dice.random() < 0.2
        deadline = time.monotonic() + (dice.uniform(0.0, 1.0) if early and not learning else 60)
        relearns = learning and number % 2 == 1 and lasted > 0
        moment = dice.uniform(0.0, 0.9 * lasted)
        while len(site.log) < goal and process.poll() is None and time.monotonic() < deadline:
            opening.look()
            if relearns and opening.begun is not None and time.monotonic() > opening.begun + moment:
                break
            time.sleep(0.002)
        if not relearns:
            time.sleep(dice.uniform(0.0, site.latency))
        lasted = opening.seconds or lasted
        amid = opening.under_way
        ended, running = process.poll(), len(orphans())
        process.send_signal(signal.SIGKILL)
        process.wait()
        # What it had sent before it died is still on its way to the server's log.
        time.sleep(2 * site.latency + 0.05)
        made = len(site.log)
        kill = {
            "at": made,
            "open": site.unanswered(before),
            "pid": process.pid,
            "ended": int(ended is not None),
        }
        struck.append({**kill, "running": running, "learning": int(amid and learning and made == before)})
    return struck


def repeats(site: Site, kills: list[dict[str, int]]) -> None:
    """Count, for every kill, the requests made before it (and after the one before) that were made again."""
    marks = [0, *(kill["at"] for kill in kills), len(site.log)]
    session_of: dict[int, list[int]] = {}
    for session in range(len(marks) - 1):
        for asked in site.log[marks[session] : marks[session + 1]]:
            session_of.setdefault(asked.page, []).append(session)
    again = Counter(sessions[i] for sessions in session_of.values() for i in range(len(sessions) - 1))
    for number, kill in enumerate(kills):
        kill["repeated"] = again[number]


def check_warcs(directory: Path) -> dict[str, int]:
    """Both checkers over every file; gives the number of files and of failures."""
    files = sorted((directory / "pages").glob("*.warc.gz"))
    failed = 0
    for path in files:
        for checker in ("warcio", "fastwarc"):
            done = subprocess.run(
                [str(PYTHON.with_name(checker)), "check", str(path)],
                capture_output=True,
                text=True,
                check=False,
            )
            failed += done.returncode != 0
            if done.returncode:
                print(checker, done.stdout[-500:], done.stderr[-500:], file=sys.stderr)
    return {"files": len(files), "failed": failed}


def archived(directory: Path) -> Counter[str]:
    """How often each page was archived."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    found: Counter[str] = Counter()
    for path in sorted((directory / "pages").glob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=False):
                found[record.headers["WARC-Target-URI"]] += 1
    return found


def verdict(site: Site, directory: Path, kills: list[dict[str, int]], concurrency: int) -> dict[str, Any]:
    """The figures, from the directory and from the server's own log."""
    from clew.store import open_reader

    with open_reader(directory) as reader:
        pages = Counter(
            page.url for page in reader.pages() if site.token(int(page.url.rpartition("/")[2])) in page.text
        )
        rows = reader.counts().pages
    with closing(sqlite3.connect(directory / "clew.db")) as db:
        integrity = str(db.execute("PRAGMA integrity_check(1)").fetchone()[0])
    wanted = {site.url(i) for i in range(site.pages)}
    in_warcs = archived(directory)
    repeats(site, kills)
    left = left_behind()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return {
        "pages": site.pages,
        "kills": len(kills),
        "kills_while_running": sum(not kill["ended"] for kill in kills),
        "kills_while_learning": sum(kill["learning"] for kill in kills),
        "lost": len(wanted - set(pages)),
        "stored_twice": sum(n - 1 for n in pages.values()) + rows - sum(pages.values()),
        "archived_twice": sum(n - 1 for url, n in in_warcs.items() if url in wanted),
        "archive_lacks": len(wanted - set(in_warcs)),
        "requests": len(site.log),
        "repeated": sum(kill["repeated"] for kill in kills),
        "repeated_at_most": max((kill["repeated"] for kill in kills), default=0),
        "open_at_server": sum(kill["open"] for kill in kills),
        "kills_over_in_flight": sum(kill["repeated"] > concurrency for kill in kills),
        "processes_at_most": max((kill["running"] for kill in kills), default=0),
        "orphans": len(left),
        "integrity": integrity,
        "warc": check_warcs(directory),
    }


def run(given: argparse.Namespace, *, pages: int, kills: int, strategy: str) -> dict[str, Any]:
    """One crawl, killed so often, in a directory that goes away."""
    site = Site(pages, latency=given.latency)
    with tempfile.TemporaryDirectory() as place, serving(site):
        directory = Path(place) / "crawl"
        began = time.monotonic()
        struck = kill_many(site, directory, given, random.Random(given.seed), kills, strategy)
        end = start(command(site, directory, given, strategy), Path(place) / "end.log")
        code = end.wait(timeout=600)
        if code:
            print((Path(place) / "end.log").read_text()[-2000:], file=sys.stderr)
        found = verdict(site, directory, struck, given.concurrency)
        found |= {"strategy": strategy, "exit_code": code, "seconds": round(time.monotonic() - began, 1)}
        # what was said by crawls that ended before they could be killed
        said = (Path(place) / "crawl.log").read_text(errors="replace") if struck else ""
        found["errors"] = [line for line in said.splitlines() if line.startswith("clew:")][:5]
        return found


def wrong(found: dict[str, Any]) -> list[str]:
    """What a crawl that was killed must not show."""
    bad = {
        "pages lost": found["lost"],
        "pages stored twice": found["stored_twice"],
        "replies archived twice": found["archived_twice"],
        "replies the archive lacks": found["archive_lacks"],
        "kills after which more was asked for again than was under way": found["kills_over_in_flight"],
        "processes left behind": found["orphans"],
        "archives refused by a checker": found["warc"]["failed"],
        "database not sound": int(found["integrity"] != "ok"),
        "exit code of the last run": found["exit_code"],
    }
    return [f"{what}: {count}" for what, count in bad.items() if count]


def told(found: dict[str, Any], concurrency: int) -> list[str]:
    """The figures of one crawl, in lines."""
    kills = f"{found['kills']} SIGKILLs ({found['kills_while_running']} of a running crawl, "
    kills += f"{found['kills_while_learning']} while it learned again)"
    twice = f"stored twice {found['stored_twice']}, archived twice {found['archived_twice']}"
    return [
        f"{kills} over {found['pages']} pages, {found['strategy']}",
        f"  lost {found['lost']}, {twice}",
        f"  requests {found['requests']}, repeated {found['repeated']} "
        f"({found['repeated'] / max(1, found['kills']):.1f} a kill, at most {found['repeated_at_most']}; "
        f"kills with more than {concurrency}: {found['kills_over_in_flight']})",
        f"  unanswered at the server when killed, all kills together: {found['open_at_server']}",
        f"  WARC files {found['warc']['files']}, refused by a checker {found['warc']['failed']}",
        f"  database: {found['integrity']}; processes at a kill: at most {found['processes_at_most']}, "
        f"left behind: {found['orphans']}",
        f"  last run: exit {found['exit_code']}; {found['seconds']} s; errors said: {found['errors']}",
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Kill a crawl again and again, and look for damage.")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--kills", type=int, default=100, help="in all")
    parser.add_argument(
        "--learning", type=int, default=40, help="kills of a crawl that learns, and learns again"
    )
    parser.add_argument("--learning-pages", type=int, default=600, help="pages of that crawl")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.02, help="seconds the server takes to answer")
    parser.add_argument("--parse-workers", type=int, default=None)
    parser.add_argument("--browser", action="store_true", help="every page is shown to Chromium")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    # Whoever ends this ends the crawl with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ.pop("CLEW_CONFIG", None)
    plain = {"pages": given.pages, "kills": given.kills - given.learning, "strategy": "breadth-first"}
    learns = {"pages": given.learning_pages, "kills": given.learning, "strategy": "intelligent"}
    crawls = [run(given, **crawl) for crawl in (plain, learns) if crawl["kills"]]
    failures = [bad for found in crawls for bad in wrong(found)]
    if given.learning > 3 and not any(found["kills_while_learning"] for found in crawls):
        failures.append("no kill struck while a crawl learned again")
    lines = [line for found in crawls for line in told(found, given.concurrency)]
    name = "browser_kills" if given.browser else "kills"
    return ended(given, name, sum(found["kills"] for found in crawls), failures, crawls, lines)


if __name__ == "__main__":
    sys.exit(main())
