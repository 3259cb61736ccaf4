"""Crawls of a recorded web, one request at a time, as several tests make them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from clew.fetch import ReplayFetcher
from clew.lab import open_web
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import open_store


def config_of(web, pages, strategy):
    """The web's own seeds and formula, without politeness: it is ours."""
    return CrawlConfig(
        seeds=web.seeds(),
        match=web.formula(),
        pages=pages,
        strategy=strategy,
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        concurrency=1,
    )


def learning_crawl(path: Path, pages: int) -> CrawlConfig:
    """Crawl the demo web with `intelligent` into a directory; gives its settings."""
    web = open_web("demo")
    config = config_of(web, pages, "intelligent")
    store = open_store(path)
    store.set_meta(config=json.loads(config.to_json()))
    asyncio.run(Session(config, store, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9)).run())
    store.close()
    return config
