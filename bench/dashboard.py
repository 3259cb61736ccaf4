"""The dashboard on a large crawl: when a page is there, what an update costs, what the crawl pays for it.

    python bench/dashboard.py                  100,000 pages, 1,000,000 candidates; ten minutes
    python bench/dashboard.py --pages 2000 --candidates 20000 --turns 2

A crawl directory of that size is made directly in the store. Then, in a real Chromium:

- `clew dash` is started and the page opened: until something is painted, until the figures and the curve are
  there, and until the whole crawl was taken in. Once for a dashboard that has seen nothing yet, once for one
  that has.
- the crawl goes on, over a web that is made up as it is asked for, and the page looks on: processor time of
  the server for an update, and of its process in all.
- meanwhile the page is opened and closed by turns: pages for each second of the crawl's processor time, with
  the page and without, and how far that ratio scatters from turn to turn. A ratio: machines are noisy.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clew.fetch.base import Response
from clew.fetch.chromium import find_chromium
from clew.lab.serve import serving
from clew.messages import (
    Close,
    Decision,
    Effect,
    Journal,
    Record,
    SaveCandidates,
    SaveHost,
    SavePage,
    State,
    Via,
)
from clew.page import Page
from clew.policy.recall import RecallEstimate
from clew.predicate.verdict import Verdict
from clew.run import CrawlConfig
from clew.store import SqliteStore
from clew.url import keys

HOSTS, LINKS, BATCH = 2000, 10, 200
TURN = 5.0
#: Every so many pages one is a find; words of a text.
_FIND, _WORDS = 12, 120
_COLUMNS = [f"factor {number}" for number in range(14)]
_TEXT = " ".join(f"word{number}" for number in range(_WORDS))


class EndlessWeb:
    """A web that has a page at every address, with links to ten others."""

    name = "endless"

    def get(self, url: str) -> Response | None:
        """A page, made up."""
        if url.endswith("/robots.txt"):
            return None
        number = sum(url.encode())
        targets = ((number * 7 + i, number * 1_000_003 + 7919 * i) for i in range(LINKS))
        links = "".join(f'<a href="http://h{a % HOSTS}.example/{b % 10**9}">a link</a>' for a, b in targets)
        found = "wind farm" if number % _FIND == 0 else "meadow"
        body = f"<title>{found} {number}</title><p>{found} {_TEXT} {url}</p>{links}".encode()
        return Response(
            url=url, status=200, headers=(("Content-Type", "text/html"),), body=body, wire=len(body)
        )

    def urls(self) -> Iterator[str]:
        """They have no end."""
        return iter(())


def make(place: Path, pages: int, candidates: int) -> None:
    """A crawl of that size, interrupted, written directly."""
    each = candidates // pages
    with SqliteStore(place) as store:
        config = CrawlConfig(
            seeds=("http://h0.example/0",), match='"wind farm"', strategy="best-first", pages=None,
            own=("*",), delay=0, traps=False, proxy="http://127.0.0.1:9",
        )  # fmt: skip
        store.set_meta(config=json.loads(config.to_json()), stopped="interrupted")
        columns = json.dumps({"command": "set-focus", "formula": '"wind farm"', "columns": _COLUMNS})
        store.save([_decision(1, "command", "set-focus", reasons=(columns,))])
        for first in range(0, pages, BATCH):
            store.save(_effects(first, min(pages, first + BATCH), each, pages))
        for at in range(20, pages, max(1, pages // 100)):
            look = RecallEstimate(
                fetched=at, pages=at, finds=at // _FIND, left=(at // 100, at // 40, at // 9), unseen=0.3
            )
            store.save([Journal(at, look.dumps())])


def _effects(first: int, last: int, each: int, pages: int) -> list[Effect]:
    found: list[Effect] = []
    for page in range(first, last):
        numbers = range(page * each, (page + 1) * each)
        urls = tuple(f"http://h{n % HOSTS}.example/{n}" for n in numbers)
        found.append(
            SaveCandidates(
                page * each, keys(urls), urls,
                tuple(f"h{n % HOSTS}.example" for n in numbers), (page % 9,) * each,
                (page - 1) * each if page else -1, ("a link to follow",) * each,
                Via.LINK if page else Via.SEED, np.full((each, 2), 0.1 + page / pages),
            )
        )  # fmt: skip
        candidate, matched = page * each, page % _FIND == 0
        title = f"{'wind farm' if matched else 'meadow'} {page}"
        found += [
            Close(candidate, State.FETCHED, "", 1),
            SavePage(
                candidate=candidate, verdict=Verdict(0.9 if matched else 0.0, matched, ()), matched=matched,
                page=Page(url=urls[0], title=title, text=f"{title} {_TEXT}", digest=page), duplicate_of=-1,
                near=False, source=-1, depth=page % 9, fetched_at=float(page), wire=2000, blob=None,
                links=array("I", numbers),
            ),
            _decision(
                page + 2, "page", "match" if matched else "miss", url=urls[0], candidate=candidate,
                at=float(page), queue=page * (each - 1), new=each,
                terms=tuple(((page * 31 + k) % 17 - 8) / 10 for k in range(14)),
            ),
        ]  # fmt: skip
    asked = range(first, last)
    found += [
        SaveHost(
            host=f"h{n * each % HOSTS}.example", next_at=0.0, delay=0.0, failures=0, requests=n // 99 + 1,
            pages=n // 99 + 1, matches=n // 999, robots=(),
        )
        for n in asked
    ]  # fmt: skip
    return found


def _decision(seq: int, kind: str, result: str, **more: Any) -> Record:
    told: dict[str, Any] = {
        "seq": seq, "at": 0.0, "kind": kind, "url": "", "candidate": -1, "attempt": 0, "score": 0.5,
        "terms": (), "queue": 0, "status": 200, "verdict": 0.9, "reasons": (), "new": 0, "known": 0,
        "dropped": (),
    }  # fmt: skip
    return Record(Decision(**(told | {"result": result} | more)))


def cpu_of(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pages_of(place: Path) -> int:
    """How many pages are saved."""
    with contextlib.closing(sqlite3.connect(f"file:{place / 'clew.db'}?mode=ro", uri=True)) as database:
        return int(database.execute("SELECT max(seq) FROM pages").fetchone()[0])


@contextlib.contextmanager
def dashboard(place: Path) -> Iterator[tuple[str, int]]:
    """`clew dash` as a process of its own; gives the address and its number."""
    process = subprocess.Popen(
        [sys.executable, "-m", "clew.cli", "dash", str(place), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process.pid
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


_WATCH = """() => { window.updates = []; window.behind = true;
  const source = new EventSource(location.pathname + '/events');
  source.addEventListener('update', (event) => {
    const { ms, behind } = JSON.parse(event.data); window.updates.push(ms); window.behind = behind; }); }"""


def opened(page: Any, url: str) -> dict[str, float]:
    """Seconds until a page was painted, until its figures were there, and until everything was taken in."""
    began = time.perf_counter()
    page.goto(url)
    page.wait_for_function(
        "() => /[1-9]/.test(document.querySelector('#f-finds').textContent)", timeout=60_000
    )
    page.wait_for_selector("#chart-curve canvas", timeout=60_000)
    figures = time.perf_counter() - began
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    page.evaluate(_WATCH)
    page.wait_for_function("() => window.behind === false", timeout=600_000, polling=50)
    return {
        "first_paint": round(painted / 1000, 3),
        "figures_and_curve": round(figures, 3),
        "all_taken_in": round(time.perf_counter() - began, 2),
        "updates": len(page.evaluate("window.updates")),
        "update_ms_median": round(statistics.median(page.evaluate("window.updates")), 1),
        "update_ms_most": round(max(page.evaluate("window.updates")), 1),
    }


def crawling(place: Path, proxy: str) -> subprocess.Popen[bytes]:
    """The crawl goes on."""
    words = ["crawl", "-d", str(place), "--proxy", proxy, "--pages", "none"]
    return subprocess.Popen(
        [sys.executable, "-m", "clew.cli", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def turns(page: Any, url: str, place: Path, pid: int, server: int, count: int) -> dict[str, Any]:
    """Pages for each second of the crawl's processor time, page open and closed by turns."""
    ratios, sums = [], {True: [0.0, 0.0], False: [0.0, 0.0]}
    updates: list[float] = []
    spent = 0.0
    for number in range(count):
        rates = {}
        for shown in (True, False) if number % 2 else (False, True):
            page.goto(url if shown else "about:blank")
            if shown:
                page.evaluate(_WATCH)
            time.sleep(1.0)
            served, cpu, pages = cpu_of(server), cpu_of(pid), pages_of(place)
            time.sleep(TURN)
            more, used = pages_of(place) - pages, cpu_of(pid) - cpu
            sums[shown][0] += more
            sums[shown][1] += used
            rates[shown] = more / max(used, 0.01)
            if shown:
                spent += cpu_of(server) - served
                updates += page.evaluate("window.updates")
        ratios.append(rates[True] / rates[False])
    whole = (sums[True][0] / sums[True][1]) / (sums[False][0] / sums[False][1])
    scatter = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else None
    return {
        "turns": count,
        "pages_per_cpu_second_shown": round(sums[True][0] / sums[True][1], 1),
        "pages_per_cpu_second_alone": round(sums[False][0] / sums[False][1], 1),
        "ratio": round(whole, 3),
        "ratio_standard_error": None if scatter is None else round(scatter, 3),
        "update_ms_median": round(statistics.median(updates), 1),
        "update_ms_most": round(max(updates), 1),
        "server_cpu_seconds_a_second": round(spent / (count * TURN), 3),
    }


def measure(pages: int, candidates: int, count: int, place: Path) -> dict[str, Any]:
    """Everything."""
    from playwright.sync_api import sync_playwright

    began = time.perf_counter()
    if not (place / "clew.db").exists():
        make(place, pages, candidates)
    found: dict[str, Any] = {
        "pages": pages, "candidates": candidates, "made_in": round(time.perf_counter() - began, 1),
        "database_mb": round((place / "clew.db").stat().st_size / 1e6),
    }  # fmt: skip
    with sync_playwright() as tool, serving(EndlessWeb()) as proxy:
        browser = tool.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        with dashboard(place) as (url, server):
            found["first_look"] = opened(page, url)
            found["second_look"] = opened(page, re.sub(r"\?.*", "", url))
            page.goto("about:blank")
            crawl = crawling(place, proxy)
            try:
                have = pages_of(place)
                while pages_of(place) < have + 50:
                    if crawl.poll() is not None:
                        raise SystemExit("the crawl did not go on")
                    time.sleep(0.2)
                found["crawling"] = turns(page, re.sub(r"\?.*", "", url), place, crawl.pid, server, count)
            finally:
                crawl.terminate()
                crawl.wait()
        browser.close()
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Make a crawl, look at it, and say what that took."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--candidates", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=12, help="turns with the page and without")
    parser.add_argument("--keep", type=Path, help="where the crawl is made, and found again the next time")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(asked.pages, asked.candidates, asked.turns, asked.keep or Path(folder) / "large")
    print(json.dumps(found, indent=None if asked.json else 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
