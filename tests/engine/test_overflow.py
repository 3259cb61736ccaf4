"""`max-size`: the list is bounded, and nothing that falls off its end is lost."""

import asyncio

import numpy as np
import pytest
from loop import Loop

from clew.fetch.replay import ReplayFetcher
from clew.frontier.hosts import Politeness
from clew.messages import State
from clew.page import Link, Links, Page
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import MemoryStore, open_store
from clew.testing import DemoWeb

OWN = Politeness(own=lambda host: True, own_robots=False, own_delay=0.0)


def wide(count, hosts=3):
    """A page that links to many, each with a link to one more."""
    web = {}
    seed = "http://h0.example/"
    targets = [f"http://h{i % hosts}.example/{i}" for i in range(count)]
    links = [Link(seed, t, "wind" if i % 2 else "") for i, t in enumerate(targets)]
    web[seed] = Page(url=seed, text="start", links=Links.of(seed, links))
    for target in targets:
        more = [Link(target, target + "/next")]
        web[target] = Page(url=target, text=target, links=Links.of(target, more))
        web[target + "/next"] = Page(url=target + "/next", text=target + " next")
    return seed, web


def at_hand(crawl):
    return crawl.frontier.queued - crawl.frontier.overflow_count


@pytest.mark.parametrize("limit", [10, 25, 60])
def test_a_small_list_still_reaches_every_page_and_is_never_longer(limit):
    seed, web = wide(100)
    loop = Loop(web, politeness=OWN, max_size=limit).start(seed)
    longest = 0
    while not loop.crawl.stopped(loop.now):
        tasks = loop.lease()
        longest = max(longest, at_hand(loop.crawl))
        for task in tasks:
            loop.answer(task)
    assert sorted(loop.fetched()) == sorted(web)
    assert longest <= limit + limit // 4
    assert loop.crawl.frontier.overflow_count == 0


def test_the_best_stay_at_hand_and_what_falls_off_comes_back_best_first():
    seed, web = wide(100)
    loop = Loop(web, politeness=OWN, max_size=20).start(seed)
    loop.answer(loop.lease()[0])
    loop.lease()
    frontier = loop.crawl.frontier
    aside = np.flatnonzero(frontier.overflowed[: frontier.count])
    kept = np.flatnonzero(
        (frontier.states[: frontier.count] == State.QUEUED) & ~frontier.overflowed[: frontier.count]
    )
    assert len(aside) > 70
    assert frontier.scores[kept].min() >= frontier.scores[aside].max()


def test_without_a_limit_the_order_is_what_it_was_and_a_large_one_changes_nothing():
    seed, web = wide(60)
    orders = [Loop(web, politeness=OWN, max_size=limit).start(seed) for limit in (None, 1000)]
    for loop in orders:
        loop.run()
    assert orders[0].fetched() == orders[1].fetched()


def test_a_list_full_of_a_host_that_is_done_with_gives_way():
    """With two pages a host, the others wait behind hundreds of the first."""
    seed, web = wide(100, hosts=1)
    other = "http://z.example/"
    links = [*web[seed].links, Link(seed, other)]
    web[seed] = Page(url=seed, text="start", links=Links.of(seed, links))
    web[other] = Page(url=other, text="other")
    rules = Politeness(own=lambda host: True, own_robots=False, own_delay=0.0, per_host=2)
    loop = Loop(web, politeness=rules, max_size=10).start(seed)
    loop.run()
    assert other in loop.fetched()
    assert loop.crawl.stopped(loop.now) == "per-host"


def session(web, store, pages, limit):
    config = CrawlConfig(
        seeds=web.seeds(),
        match=web.formula(),
        pages=pages,
        max_size=limit,
        traps=False,
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        concurrency=1,
    )
    return Session(config, store, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9))


@pytest.mark.slow
def test_with_a_strategy_that_learns_the_whole_web_is_reached_alike_every_time():
    """What is at hand is worth exactly what an evaluation gives, also what came back."""
    web = DemoWeb(pages=300, hosts=16)
    traces = []
    for _ in range(2):
        store = MemoryStore()
        running = session(web, store, None, 40)
        finished = asyncio.run(running.run())
        traces.append([d.line() for d in store.decisions()])
    assert traces[0] == traces[1]
    whole = MemoryStore()
    plain = asyncio.run(session(web, whole, None, None).run())
    # Two of its hosts are busy for ever, and what is queued there waits.
    assert finished.reason == plain.reason == "robots.txt unavailable"
    assert finished.pages == plain.pages
    assert finished.matches == plain.matches


def test_scores_at_hand_are_exact_while_others_wait():
    web = DemoWeb(pages=600)
    running = session(web, MemoryStore(), 120, 50)
    asyncio.run(running.run())
    frontier, strategy = running.crawl.frontier, running.crawl.strategy
    ids = np.flatnonzero(strategy.graph.open[: strategy.graph.size])
    ids = ids[(frontier.states[ids] == State.QUEUED) & ~frontier.overflowed[ids]]
    assert frontier.overflow_count > 50
    assert len(ids) > 20
    assert np.array_equal(frontier.terms[ids], strategy.evaluate(ids))


@pytest.mark.slow
def test_a_crawl_taken_up_again_has_lost_nothing(tmp_path):
    web = DemoWeb(pages=300, hosts=16)
    for pages in (60, None):
        store = open_store(tmp_path / "crawl")
        finished = asyncio.run(session(web, store, pages, 30).run())
        store.close()
    whole = asyncio.run(session(web, MemoryStore(), None, None).run())
    assert finished.pages == whole.pages
    assert finished.matches == whole.matches
