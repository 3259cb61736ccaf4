"""One seed gives one trace: over HTTP through the forward proxy, and in replay, to the last bit."""

import asyncio

import pytest

from clew.fetch.replay import ReplayFetcher
from clew.lab import open_web, serving
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import MemoryStore


def config(web, pages, **more):
    settings = {
        "match": "river OR license",
        "pages": pages,
        "own": ("*",),
        "delay": 0,
        "ordered": True,
        **more,
    }
    return CrawlConfig(seeds=web.seeds()[:3], proxy="http://127.0.0.1:9", **settings)


def trace(store):
    return [decision.line() for decision in store.decisions()]


def replayed(web, settings):
    store = MemoryStore()
    session = Session(settings, store, fetcher=ReplayFetcher(web), clock=VirtualClock())
    return asyncio.run(session.run()), store


def lived(web, settings):
    store = MemoryStore()
    with serving(web) as proxy:
        settings = settings.model_copy(update={"proxy": proxy})
        return asyncio.run(Session(settings, store).run()), store


@pytest.mark.data
@pytest.mark.parametrize("name", ["wikispeedia", "miniweb:http"])
@pytest.mark.slow
def test_live_and_replay_agree_for_500_pages(corpus, name):
    corpus(f"{name.partition(':')[0]}_pages.jsonl.zst")
    web = open_web(name)
    settings = config(web, 500, concurrency=8, parse_workers=0)
    there, seen = replayed(web, settings)
    here, lines = lived(web, settings)
    assert there == here
    assert here.pages == 500
    assert trace(lines) == trace(seen)


def test_the_demo_web_agrees_with_parse_workers_and_without():
    """Worker processes, redirects, robots rules, failing hosts: still one trace."""
    web = open_web("demo")
    settings = config(web, 120, match=web.formula(), concurrency=4, parse_workers=0)
    _, seen = replayed(web, settings)
    _, lines = lived(web, settings.model_copy(update={"parse_workers": 1}))
    assert trace(lines) == trace(seen)


def test_concurrency_changes_the_trace_so_equality_means_something():
    web = open_web("demo")
    one, many = (replayed(web, config(web, 120, concurrency=n))[1] for n in (1, 8))
    assert trace(one) != trace(many)


@pytest.mark.parametrize("strategy", ["best-first", "breadth-first", "random"])
def test_replay_repeats_itself(strategy):
    web = open_web("demo")
    settings = config(web, 150, strategy=strategy, random_seed=3)
    first, second = (trace(replayed(web, settings)[1]) for _ in range(2))
    assert first == second
    assert len(first) >= 150
