"""How long does it take to take a crawl up again? Learning again from the archive, and from a checkpoint.

    python bench/resume.py [--pages 2000] [--json]

Crawls a made-up web with `intelligent`, without a network, and takes the crawl up in two ways. Figures are
seconds per 1,000 pages and their ratio to crawling them, all in one process on one core.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clew.fetch import Response
from clew.fetch.replay import ReplayFetcher
from clew.run import CrawlConfig, Session, VirtualClock, checkpoint
from clew.run.build import crawl_of
from clew.run.relearn import relearning
from clew.run.resume import restore
from clew.store import SqliteStore, open_reader

HOSTS, LINKS, WORDS = 200, 40, 200
VOCABULARY = [
    f"{a}{b}{c}" for a in ("ber", "tal", "wi", "so", "len") for b in ("ka", "mo", "ri") for c in range(400)
]


class MadeWeb:
    """Pages without end; what each says, and where it leads, is a throw of dice by its number."""

    name = "made"

    def __init__(self, pages: int) -> None:
        self.pages = pages

    def urls(self) -> Iterator[str]:
        return map(self.url, range(self.pages))

    def url(self, number: int) -> str:
        return f"http://h{number % HOSTS}.example/{VOCABULARY[number % 97]}/{number}.html"

    def get(self, url: str) -> Response | None:
        if not url.endswith(".html"):
            return Response(url=url, status=404)
        number = int(url.rpartition("/")[2].removesuffix(".html"))
        dice = random.Random(hashlib.blake2b(str(number).encode(), digest_size=8).digest())
        words = [VOCABULARY[int(len(VOCABULARY) * dice.random() ** 3)] for _ in range(WORDS)]
        if number % 7 == 0:
            words.append("turbine")
        near = [(number + dice.randrange(1, 500)) % self.pages for _ in range(LINKS // 2)]
        far = [dice.randrange(self.pages) for _ in range(LINKS // 2)]
        links = "".join(f"<li><a href='{self.url(n)}'>{VOCABULARY[n % 500]} {n % 7}</a>" for n in near + far)
        body = f"<title>{words[0]} {number}</title><p>{' '.join(words)}</p><ul>{links}</ul>".encode()
        return Response(
            url=url, status=200, headers=(("Content-Type", "text/html"),), body=body, wire=len(body)
        )


def config_of(web: MadeWeb, pages: int) -> CrawlConfig:
    return CrawlConfig(
        seeds=(web.url(0),),
        match="turbine",
        pages=pages,
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        strategy="intelligent",
    )


def crawl(path: Path, config: CrawlConfig, web: MadeWeb) -> float:
    """Seconds of crawling."""
    with SqliteStore(path) as store:
        session = Session(config, store, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9))
        began = time.process_time()
        asyncio.run(session.run())
        return time.process_time() - began


def take_up(path: Path, config: CrawlConfig, *, go_on: bool, most: int | None = None) -> tuple[float, int]:
    """Seconds it takes until the crawl could go on, and how many pages were learned from; from a checkpoint
    if it is to `go_on`, otherwise from the first `most` pages."""
    with open_reader(path) as reader:
        began, done = time.process_time(), 0
        engine = crawl_of(config, reader)
        saved, archive = reader.snapshot(), reader.replies()
        assert saved is not None
        assert archive is not None
        restore(engine, saved, 1e9)
        with contextlib.closing(archive):
            for done, _ in relearning(engine, reader, archive.get, go_on=go_on):
                if done == most:
                    break
        known = engine.strategy.knowledge
        return time.process_time() - began, done or int(known.pages if known else 0)


def measure(pages: int, directory: Path) -> dict[str, Any]:
    web = MadeWeb(20 * pages)
    config = config_of(web, pages)
    crawling = crawl(directory, config, web)
    size = (directory / "clew.learned").stat().st_size
    learning, learned = take_up(directory, config, go_on=False)
    taking, _ = take_up(directory, config, go_on=True)
    began = time.process_time()
    with SqliteStore(directory) as store:
        engine = crawl_of(config, store)
        restore(engine, store.load(), 1e9)  # type: ignore[arg-type]
        checkpoint.take_up(engine, store)
        began = time.process_time()
        checkpoint.save(engine, store, engine.tracer.count)
        saving = time.process_time() - began
        candidates = engine.frontier.count
    return {
        "pages": pages,
        "candidates": candidates,
        "outcomes": learned,
        "checkpoint_mb": round(size / 1e6, 1),
        "seconds": {
            "crawling": round(crawling, 2),
            "learning_again": round(learning, 2),
            "from_checkpoint": round(taking, 2),
            "making_checkpoint": round(saving, 2),
        },
        "per_1000_pages": {
            "crawling": round(1000 * crawling / pages, 3),
            "learning_again": round(1000 * learning / pages, 3),
            "from_checkpoint": round(1000 * taking / pages, 3),
        },
        "of_crawling": {
            "learning_again": round(learning / crawling, 3),
            "from_checkpoint": round(taking / crawling, 4),
        },
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as place:
        found = measure(asked.pages, Path(place) / "crawl")
    if asked.json:
        print(json.dumps(found))
        return 0
    print(f"{found['pages']} pages, {found['candidates']} candidates, checkpoint {found['checkpoint_mb']} MB")
    for way, seconds in found["per_1000_pages"].items():
        share = found["of_crawling"].get(way, 1.0)
        print(f"  {way.replace('_', ' '):<18}{seconds:8.3f} s per 1,000 pages{share:10.1%} of crawling")
    print(f"  a checkpoint takes {found['seconds']['making_checkpoint']} s to make")
    return 0


if __name__ == "__main__":
    sys.exit(main())
