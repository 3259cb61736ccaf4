"""The walk of an ordinary page, from lease to save: source files entered and Python calls made.

A crawl of a recorded web is run by the real session with the real SQLite store, one page at a time: leased,
fetched (from the record), parsed, judged, learned from, its links scored and queued, saved, and committed by
the writer's thread. Every Python call on the way is seen by `sys.setprofile`, in both threads. What the
recorded web does to produce a reply is counted apart (`web_calls`): it stands where the network would be. The
figures are those of the median page after a warm-up:

    files          files of clew that were entered
    calls          Python functions called, clew's and its libraries'
    calls_in_clew  of these, clew's own
    web_calls      functions called by the recorded web to give the reply
    top            where the calls are: (file, calls) per page, on average

    python bench/walk.py                # Wikispeedia, both strategies; kept in bench/results/walk.json
    python bench/walk.py --web demo --strategy intelligent --top 20 --print      # printed, not kept

Counts differ a little between minor versions of Python (3.12 makes no call of a list comprehension).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from record import as_text, record, stamp

import clew
from clew.fetch.base import Response
from clew.fetch.replay import RecordedWeb, ReplayFetcher
from clew.lab import open_web
from clew.messages import Effect
from clew.run import CrawlConfig, Session, VirtualClock
from clew.run.observe import Progress
from clew.store import SqliteStore

SOURCE = str(Path(clew.__file__).parent) + "/"


class Counts:
    """The Python calls since `clear`; those made within `web` apart."""

    def __init__(self) -> None:
        self.in_web = False
        self.clear()

    def clear(self) -> None:
        self.by_file: Counter[str] = Counter()
        self.elsewhere = 0
        self.web = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        name = frame.f_code.co_filename
        if name == __file__:
            return
        if self.in_web:
            self.web += 1
        elif name.startswith(SOURCE):
            self.by_file[name[len(SOURCE) :]] += 1
        else:
            self.elsewhere += 1


class CountedApart:
    """A recorded web, with the calls it makes counted as its own."""

    def __init__(self, web: RecordedWeb, counts: Counts) -> None:
        self._web, self._counts, self.name = web, counts, web.name

    def get(self, url: str) -> Response | None:
        self._counts.in_web = True
        try:
            return self._web.get(url)
        finally:
            self._counts.in_web = False

    def urls(self) -> Iterator[str]:
        return self._web.urls()


class EachPage:
    """Observes a crawl; after each settled page waits till it is durable, and notes what it took."""

    def __init__(self, counts: Counts, store: SqliteStore) -> None:
        self.counts, self.store = counts, store
        self.samples: list[tuple[Counter[str], int, int]] = []
        self._pages = 0

    def started(self, progress: Progress) -> None:
        self.counts.clear()

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None:
        self.store.flush()
        # Robots.txt, sitemaps and failures are walks of other kinds.
        if progress.pages == self._pages + 1:
            self.samples.append((self.counts.by_file, self.counts.elsewhere, self.counts.web))
        self._pages = progress.pages
        self.counts.clear()

    def finished(self, progress: Progress, reason: str) -> None:
        """Nothing to do: the samples are there."""


def walked(name: str, strategy: str, match: str, pages: int, warm_up: int, top: int) -> dict[str, Any]:
    """The figures of one web and one strategy."""
    web, counts = open_web(name), Counts()
    config = CrawlConfig(
        seeds=web.seeds()[:3],
        match=match or (web.formula() if hasattr(web, "formula") else "river OR license"),
        pages=pages,
        strategy=strategy,
        own=("*",),
        delay=0,
        ordered=True,
        proxy="http://127.0.0.1:9",  # never asked: it only says that the whole web may be called one's own
        concurrency=1,
        parse_workers=0,
    )
    with tempfile.TemporaryDirectory() as folder:
        # The writer's thread begins with the store.
        threading.setprofile(counts)
        with SqliteStore(Path(folder) / "crawl") as store:
            observer = EachPage(counts, store)
            fetcher = ReplayFetcher(CountedApart(web, counts))
            session = Session(config, store, fetcher=fetcher, clock=VirtualClock(), observers=(observer,))
            sys.setprofile(counts)
            try:
                asyncio.run(session.run())
            finally:
                sys.setprofile(None)
                threading.setprofile(None)  # type: ignore[arg-type]
    samples = observer.samples[warm_up:]
    if not samples:
        raise SystemExit(
            f"{name} has {len(observer.samples)} pages for {strategy}: no page after the warm-up"
        )
    total: Counter[str] = Counter()
    for by_file, _, _ in samples:
        total.update(by_file)
    return {
        "web": name,
        "strategy": strategy,
        "pages": len(samples),
        "files": statistics.median(len(by_file) for by_file, _, _ in samples),
        "calls": statistics.median(by_file.total() + others for by_file, others, _ in samples),
        "calls_in_clew": statistics.median(by_file.total() for by_file, _, _ in samples),
        "web_calls": statistics.median(web_calls for _, _, web_calls in samples),
        "top": [[file, round(n / len(samples), 1)] for file, n in total.most_common(top)],
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="files entered and calls made for one page, lease to save")
    parser.add_argument("--web", action="append", help="recorded web; may be given again [wikispeedia]")
    parser.add_argument("--strategy", action="append", help="may be given again [best-first, intelligent]")
    parser.add_argument("--match", default="", help="formula [the web's own]")
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--warm-up", type=int, default=200, help="pages before those that count")
    parser.add_argument("--top", type=int, default=10, help="files to name, by calls")
    parser.add_argument("--print", action="store_true", help="print only, leave bench/results alone")
    parser.add_argument("--json", action="store_true", help="print the figures alone, without a stamp")
    args = parser.parse_args(argv)
    started = stamp()
    figures = [
        walked(web, strategy, args.match, args.pages, args.warm_up, args.top)
        for web in args.web or ["wikispeedia"]
        for strategy in args.strategy or ["best-first", "intelligent"]
    ]
    if args.json:
        print(json.dumps(figures))
    elif args.print:
        print(as_text({"name": "walk", "stamp": started, "figures": figures}))
    else:
        record("walk", figures, started)
    return 0


if __name__ == "__main__":
    sys.exit(main())
