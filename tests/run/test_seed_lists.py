"""A sitemap or feed whose URL is a seed: what it lists is crawled, in one session or in several."""

import gzip

import pytest

import clew
from clew.fetch import ReplayFetcher
from clew.fetch.base import Response
from clew.testing import StaticWeb, VirtualClock, link_page

HOME = "http://a.example"
ENTRIES = "".join(f"<url><loc>{HOME}/{number}</loc></url>" for number in range(6))
SITEMAP = (
    f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{ENTRIES}</urlset>'
)
ITEMS = "".join(f"<item><title>x</title><link>{HOME}/{number}</link></item>" for number in range(6))
FEED = f'<?xml version="1.0"?><rss version="2.0"><channel><title>f</title>{ITEMS}</channel></rss>'


def web(body, kind):
    seed = f"{HOME}/list.xml"
    pages = {f"{HOME}/{n}": link_page(f"Page {n}", f"a wind farm, the {n}th of them") for n in range(6)}
    reply = Response(url=seed, status=200, headers=(("Content-Type", kind),), body=body, wire=len(body))
    return StaticWeb({**pages, seed: reply})


def crawl(over, directory, **settings):
    run = clew.crawl(
        f"{HOME}/list.xml",
        match='"wind farm"',
        directory=directory,
        fetcher=ReplayFetcher(over),
        clock=VirtualClock(),
        ordered=True,
        **settings,
    )
    finds = [find.url for find in run]
    lines = [(line.kind, line.url, line.result, line.new) for line in run.store.decisions()]
    run.close()
    return finds, lines


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (SITEMAP.encode(), "application/xml"),
        (SITEMAP.encode(), "text/html"),
        (gzip.compress(SITEMAP.encode(), mtime=0), "application/gzip"),
        (FEED.encode(), "application/rss+xml"),
        (FEED.encode(), "text/xml"),
    ],
)
def test_what_a_seed_lists_is_crawled(body, kind, tmp_path):
    finds, _ = crawl(web(body, kind), tmp_path / "c")
    assert set(finds) == {f"{HOME}/{number}" for number in range(6)}


@pytest.mark.parametrize("strategy", ["intelligent", "breadth-first"])
def test_a_crawl_of_a_sitemap_stopped_and_resumed_is_one_session(strategy, tmp_path):
    over = web(SITEMAP.encode(), "application/xml")
    whole = crawl(over, tmp_path / "whole", strategy=strategy)
    crawl(over, tmp_path / "parts", strategy=strategy, requests=4)
    _, lines = crawl(over, tmp_path / "parts", strategy=strategy, requests=100)
    assert lines == whole[1]
