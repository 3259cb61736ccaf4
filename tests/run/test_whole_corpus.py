"""The whole of Wikispeedia, crawled in replay into a real crawl directory and exported."""

import asyncio
import io
import json

import pytest

from clew.fetch.replay import ReplayFetcher
from clew.lab import open_web
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import export, open_store

pytestmark = pytest.mark.slow


@pytest.mark.data
def test_every_page_is_crawled_and_exported_once(corpus, tmp_path):
    corpus("wikispeedia_pages.jsonl.zst")
    web = open_web("wikispeedia")
    pages = set(web.urls())
    settings = CrawlConfig(
        # Some pages have no in-link at all, so every page is a seed; links add nothing but the 404s.
        seeds=tuple(sorted(pages)),
        match="river",
        pages=len(pages),
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        exclude=("*/images/*",),
        parse_workers=0,
    )
    store = open_store(tmp_path / "crawl")
    store.set_meta(config=json.loads(settings.to_json()))
    finished = asyncio.run(Session(settings, store, fetcher=ReplayFetcher(web), clock=VirtualClock()).run())
    store.close()
    assert finished.pages == len(pages) == 5462
    out = io.BytesIO()
    export(tmp_path / "crawl", out, "jsonl")
    urls = [json.loads(line)["url"] for line in out.getvalue().splitlines()]
    assert len(urls) == len(set(urls))
    assert set(urls) == pages
