"""A crawl that learns, stopped and taken up again, knows what it knew."""

import asyncio
import sqlite3

import numpy as np
import pytest

from clew.factor import content, prior_crawl
from clew.fetch.replay import ReplayFetcher
from clew.lab import open_web
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import open_store
from clew.strategy import vectorizer


def session(web, store, pages, clock, *, depth=None, **more):
    config = CrawlConfig(
        seeds=web.seeds(),
        match=web.formula(),
        pages=pages,
        strategy="intelligent",
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        concurrency=1,
        depth=depth,
    )
    return Session(config, store, fetcher=ReplayFetcher(web), clock=clock, **more)


def test_knowledge_and_scores_come_back_to_the_last_count(tmp_path):
    web, clock = open_web("demo"), VirtualClock(1e9)
    store = open_store(tmp_path / "crawl")
    first = session(web, store, 120, clock)
    asyncio.run(first.run())
    store.close()
    store = open_store(tmp_path / "crawl")
    second = session(web, store, 120, clock)
    asyncio.run(second.run())
    store.close()
    a, b = first.crawl.strategy, second.crawl.strategy
    assert a.knowledge.satisfied > 5
    assert a.knowledge == b.knowledge
    ids = np.flatnonzero(a.graph.open[: a.graph.size])
    assert np.array_equal(ids, np.flatnonzero(b.graph.open[: b.graph.size]))
    assert np.array_equal(a.evidence(ids), b.evidence(ids))


@pytest.mark.slow
def test_a_crawl_in_two_sessions_finds_what_one_finds(tmp_path):
    """The same pages in the same order: learning again leaves no trace in the trace."""
    web = open_web("demo")
    lines = []
    for name, stops in (("one", (150,)), ("two", (70, 150))):
        for pages in stops:
            store = open_store(tmp_path / name)
            asyncio.run(session(web, store, pages, VirtualClock(1e9)).run())
            trace = [d.url for d in store.decisions() if d.kind == "page"]
            store.close()
        lines.append(trace)
    assert lines[0] == lines[1]


@pytest.mark.slow
def test_bounds_that_bite_leave_a_crawl_in_two_sessions_what_it_is_in_one(tmp_path, monkeypatch):
    """Words met when the vocabulary is full, and those of old pages that tell nothing, are forgotten."""
    monkeypatch.setattr(content, "RECENT", 20)
    monkeypatch.setattr(vectorizer, "MAX_WORDS", 300)
    monkeypatch.setattr(prior_crawl, "_FEATURES", 100)
    web = open_web("demo")
    lines, states = [], []
    for name, stops in (("one", (150,)), ("two", (70, 150))):
        for pages in stops:
            store = open_store(tmp_path / name)
            ran = session(web, store, pages, VirtualClock(1e9))
            asyncio.run(ran.run())
            trace = [d.line() for d in store.decisions() if d.kind == "page"]
            store.close()
        lines.append(trace)
        states.append(ran.crawl.strategy.state())
    assert lines[0] == lines[1]
    assert states[0] == states[1]
    known, words = ran.crawl.strategy.knowledge, ran.crawl.strategy.graph.words
    assert [len(table) for table in (known.words, known.tokens, known.hub_features)] == [300, 300, 100]
    lengths = [len(words.row(slot)) for slot in range(150)]
    assert sum(lengths[:100]) < 0.7 * sum(lengths[-50:]) * 2


def test_learning_again_says_how_far_it_is_and_can_be_stopped_without_loss(tmp_path):
    web = open_web("demo")
    store = open_store(tmp_path / "crawl")
    asyncio.run(session(web, store, 120, VirtualClock(1e9)).run())
    store.close()
    (known,) = sqlite3.connect(tmp_path / "crawl" / "clew.db").execute("SELECT state FROM learned").fetchone()

    heard = []

    def relearned(done, total):
        heard.append((done, total))
        if len(heard) == 2:
            second.stop()

    store = open_store(tmp_path / "crawl")
    second = session(web, store, 150, VirtualClock(1e9), relearned=relearned)
    finished = asyncio.run(second.run())
    store.close()
    assert heard == [(16, 120), (32, 120)]
    assert (finished.reason, finished.pages) == ("interrupted", 120)
    (still,) = sqlite3.connect(tmp_path / "crawl" / "clew.db").execute("SELECT state FROM learned").fetchone()
    assert still == known
    store = open_store(tmp_path / "crawl")
    third = asyncio.run(session(web, store, 150, VirtualClock(1e9)).run())
    store.close()
    assert third.pages == 150


def test_a_depth_limit_bounds_what_is_learned_again_too(tmp_path):
    """Links beyond the limit were not taken in; those that others led to later must not count for them."""
    web = open_web("demo")
    lines, inlinks = [], []
    for name, stops in (("one", (120,)), ("two", (60, 120))):
        for pages in stops:
            store = open_store(tmp_path / name)
            ran = session(web, store, pages, VirtualClock(1e9), depth=2)
            asyncio.run(ran.run())
            trace = [decision.line() for decision in store.decisions()]
            store.close()
        lines.append(trace)
        graph = ran.crawl.strategy.graph
        inlinks.append(sum(len(graph.children_of(slot)) for slot in range(graph.fetched)))
    assert inlinks[0] == inlinks[1]
    assert lines[0] == lines[1]
