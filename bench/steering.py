"""Steering a crawl of a million candidates: when its frontier is re-scored, and how long requests waited.

    python bench/steering.py                   # both strategies; six minutes of one core
    python bench/steering.py --candidates 50000 --pages 400

A live crawl over a web that is made up as it is asked for fetches pages of many links until that many
candidates wait. Then, while it goes on at thirty pages a second, it is steered to other weights, and to
another formula. Printed for `best-first` and `intelligent`: seconds and CPU seconds until the frontier was
re-scored and that was durable; for a formula, also until every page was judged and learned from again; the
longest time without a request meanwhile, beside the longest of a stretch before; and the pages that were
fetched meanwhile. Bars: weights 3 s, a formula 10 s.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import tables

from clew.engine import Change, SetMatch, SetWeights
from clew.fetch.base import Fetcher, Request, Response
from clew.run import CrawlConfig, Session
from clew.run.observe import Progress
from clew.store import SqliteStore

HOSTS, WORDS = 2000, 250
#: Seconds until a reply comes, once the frontier is there, and requests under way: thirty pages a second.
LATENCY, CONCURRENCY = 0.25, 8
TOPICS = ("wind turbine", "solar panel", "tidal lagoon", "peat bog", "steam engine", "honey bee")
FORMULAS = {"before": '"wind turbine"', "after": '"tidal lagoon" OR "peat bog"'}
WEIGHTS = {"best-first": {"source": 0.5, "hint": 2.0}, "intelligent": {"content": 1.0, "link_text": 2.0}}
#: Seconds of crawling that are looked at before each change.
BEFORE = 3.0
_SOUNDS = ("bdfgklmnprst", ("a", "e", "io", "ou"), ("ne", "rt", "l"))
_VOCABULARY = ["".join(sounds) for sounds in itertools.product(*_SOUNDS)]


class MadeUpWeb:
    """A fetcher that has a page at every address, each of one topic and with links to pages of all."""

    def __init__(self, links: int) -> None:
        self.links = links
        self.latency = 0.0

    async def fetch(self, request: Request) -> Response:
        await asyncio.sleep(self.latency)
        if request.url.endswith("/robots.txt"):
            return Response(url=request.url, status=404)
        body = self.body(request.url).encode()
        headers = (("Content-Type", "text/html"),)
        return Response(url=request.url, status=200, headers=headers, body=body, wire=len(body))

    def body(self, url: str) -> str:
        """A page, which is the same whenever it is asked for."""
        dice = random.Random(url)
        topic = TOPICS[dice.randrange(len(TOPICS))]
        said = " ".join(dice.choices(_VOCABULARY, k=WORDS))
        links = [self._link(dice, topic) for _ in range(self.links)]
        return f"<title>{topic}</title><p>{topic} {said}, {topic}.</p>{''.join(links)}"

    def _link(self, dice: random.Random, topic: str) -> str:
        to = topic if dice.random() < 0.3 else TOPICS[dice.randrange(len(TOPICS))]
        place = f"http://h{dice.randrange(HOSTS)}.example/{dice.choice(_VOCABULARY)}/{dice.randrange(10**9)}"
        # One word of the topic: a page is not a find for what it links to.
        said = dice.choice(to.split())
        return f'<a href="{place}">{said} {dice.choice(_VOCABULARY)} {dice.choice(_VOCABULARY)}</a> '

    async def close(self) -> None:
        """Nothing to let go of."""


class Watch:
    """An observer that hears of pages, and when anything was leased."""

    def __init__(self) -> None:
        self.pages = 0
        self.leased: list[float] = []

    def listen(self, session: Session) -> None:
        lease = session.crawl.lease

        def timed(now: float, n: int) -> Any:
            tasks = lease(now, n)
            if tasks:
                self.leased.append(time.perf_counter())
            return tasks

        session.crawl.lease = timed  # type: ignore[method-assign]

    def longest(self, since: float, until: float) -> float:
        """The longest time without a request between two moments."""
        times = [since, *[at for at in self.leased if since < at < until], until]
        return max(b - a for a, b in itertools.pairwise(times))

    def started(self, progress: Progress) -> None: ...

    def settled(self, effects: object, progress: Progress) -> None:
        self.pages = progress.pages

    def finished(self, progress: Progress, reason: str) -> None: ...


async def measure(
    strategy: str, candidates: int, pages: int, place: Path, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Crawl until so many candidates wait, steer twice, and stop."""
    web = MadeUpWeb(-(-candidates // pages))
    config = CrawlConfig(
        seeds=tuple(f"http://h{number}.example/" for number in range(32)),
        match=FORMULAS["before"], strategy=strategy, pages=None, own=("*",), proxy="http://127.0.0.1:9",
        delay=0, concurrency=CONCURRENCY, parse_workers=0, traps=False,
    )  # fmt: skip
    with SqliteStore(place) as store:
        store.set_meta(config=json.loads(config.to_json()))
        watch = Watch()

        def fetcher(config: CrawlConfig, clock: object) -> Fetcher:
            return web

        with mock.patch("clew.run.session.fetcher_of", fetcher):
            session = Session(config, store, observers=[watch])
            watch.listen(session)
            work = asyncio.create_task(session.run())
            began = time.process_time()
            while session.crawl.frontier.queued < candidates and not work.done():  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            tell(f"{strategy}: {session.crawl!r} in {time.process_time() - began:.0f} CPU s")
            web.latency = LATENCY
            found: dict[str, Any] = {"strategy": strategy, "pages": watch.pages}
            found["candidates"] = session.crawl.frontier.queued
            for name, change in (
                ("weights", SetWeights(WEIGHTS[strategy])),
                ("formula", SetMatch(FORMULAS["after"])),
            ):
                found[name] = await steer(session, watch, change)
                tell(f"  {name}: {found[name]}")
            session.stop()
            await work
    return found


async def steer(session: Session, watch: Watch, change: Change) -> dict[str, float]:
    """Make one change; gives what it took."""
    await asyncio.sleep(BEFORE)
    began, cpu, pages = time.perf_counter(), time.process_time(), watch.pages
    before = watch.longest(began - BEFORE, began)
    await asyncio.wrap_future(session.command(change))
    ended = time.perf_counter()
    found = {
        "seconds": ended - began,
        "cpu_seconds": time.process_time() - cpu,
        "longest_gap": watch.longest(began, ended),
        "longest_gap_before": before,
        "pages_meanwhile": watch.pages - pages,
    }
    while session.relearning:  # noqa: ASYNC110 - there is no event
        await asyncio.sleep(0.05)
    if time.perf_counter() - ended > 0.1:
        taught = time.perf_counter()
        found |= {
            "taught_seconds": taught - began,
            "taught_cpu_seconds": time.process_time() - cpu,
            "taught_longest_gap": watch.longest(ended, taught),
            "taught_pages_meanwhile": watch.pages - pages,
        }
    return {name: round(value, 2) for name, value in found.items()}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=2500, help="fetched by then, about")
    parser.add_argument("--strategy", action="append", choices=list(WEIGHTS))
    parser.add_argument("--json", action="store_true", help="for bench/run.py, which keeps it")
    asked = parser.parse_args(argv)
    rows = []
    for strategy in asked.strategy or WEIGHTS:
        with tempfile.TemporaryDirectory() as folder:
            tell: Callable[[str], None] = lambda line: None if asked.json else print(line, flush=True)  # noqa: E731
            rows.append(
                asyncio.run(measure(strategy, asked.candidates, asked.pages, Path(folder) / "crawl", tell))
            )
    print(json.dumps(rows) if asked.json else tables.steering(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
