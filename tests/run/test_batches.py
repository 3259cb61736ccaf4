"""Outcomes settled together: one trace live and in replay, learned again as it was learned, saved whole."""

import asyncio
import os
import subprocess
import sys

import numpy as np
import pytest

from clew.fetch.replay import ReplayFetcher
from clew.lab import open_web, serving
from clew.messages import Record
from clew.run import CrawlConfig, Session, VirtualClock
from clew.run.build import crawl_of
from clew.run.relearn import relearn
from clew.run.resume import restore
from clew.store import MemoryStore, SqliteStore, open_reader
from clew.store.writer import Batch

PAGES, BATCH = 90, 6


def config_of(web, **more):
    settings = {"strategy": "intelligent", "pages": PAGES, "concurrency": 8, "batch": BATCH, **more}
    return CrawlConfig(
        seeds=web.seeds(),
        match=web.formula(),
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        ordered=True,
        parse_workers=0,
        **settings,
    )


def crawled(store, **more):
    web = open_web("demo")
    session = Session(config_of(web, **more), store, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9))
    asyncio.run(session.run())
    return session


def lines(store):
    return [decision.line() for decision in store.decisions()]


def sizes(decisions):
    """How many tasks each batch settled."""
    found = []
    for decision in decisions:
        if decision.joined:
            found[-1] += 1
        elif decision.kind not in ("drop", "command"):
            found.append(1)
    return found


@pytest.mark.parametrize("strategy", ["best-first", "intelligent", "tagpath"])
def test_batches_are_settled_whole_and_told_in_the_trace(strategy):
    store = MemoryStore()
    crawled(store, strategy=strategy)
    found = sizes(store.decisions())
    assert max(found) == BATCH
    assert found.count(BATCH) >= 5
    assert [d.seq for d in store.decisions()] == list(range(1, sum(1 for _ in store.decisions()) + 1))
    assert [line.endswith(" &") for line in lines(store)] == [d.joined for d in store.decisions()]


def test_a_crawl_that_settles_one_at_a_time_joins_nothing():
    store = MemoryStore()
    crawled(store, batch=1)
    assert not [d for d in store.decisions() if d.joined]


@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
def test_live_and_replay_settle_the_same_batches(strategy):
    web, lived = open_web("demo"), MemoryStore()
    with serving(web) as proxy:
        settings = config_of(web, strategy=strategy).model_copy(update={"proxy": proxy})
        asyncio.run(Session(settings, lived).run())
    replayed = MemoryStore()
    crawled(replayed, strategy=strategy)
    assert lines(lived) == lines(replayed)


def test_every_link_of_a_batch_is_numbered_once_and_found_where_it_was_first_seen():
    store = MemoryStore()
    session = crawled(store)
    frontier = session.crawl.frontier
    keys = frontier.keys[: frontier.count]
    assert len(np.unique(keys)) == len(keys)
    assert frontier.find(keys).tolist() == list(range(frontier.count))
    for number, row in enumerate(store.pages()):
        assert set(store.outlinks(row.id).tolist()) <= set(range(frontier.count)), number


def test_a_resumed_crawl_has_learned_what_the_batches_taught(tmp_path):
    with SqliteStore(tmp_path / "crawl") as store:
        live = crawled(store).crawl
        again = crawl_of(config_of(open_web("demo")), store)
        restore(again, store.load(), 1e9)
        archive = store.replies()
        assert relearn(again, store, archive.get) >= PAGES
        archive.close()
    assert again.strategy.state() == live.strategy.state()
    count = live.frontier.count
    waiting = np.flatnonzero(live.frontier.states[:count] == 0)
    assert len(waiting) > 50
    assert again.frontier.scores[waiting].tolist() == live.frontier.scores[waiting].tolist()
    assert np.array_equal(again.frontier.terms[waiting], live.frontier.terms[waiting])


class Mortal(SqliteStore):
    """A store whose process ends without a word when it was given so many batches."""

    left = 5

    def save(self, effects):
        if sum(isinstance(effect, Record) for effect in effects) > 1:
            self.left -= 1
        if self.left < 0:
            # Half a batch must not be there, whoever was faster, the writer or the end.
            super().save(effects)
            os._exit(9)
        super().save(effects)


def test_killed_in_the_middle_a_batch_is_there_whole_or_not_at_all(tmp_path):
    with SqliteStore(tmp_path / "whole") as store:
        crawled(store)
        whole = lines(store)
    ended = subprocess.run([sys.executable, __file__, str(tmp_path / "killed")], check=False)
    assert ended.returncode == 9
    with open_reader(tmp_path / "killed") as reader:
        kept = list(reader.decisions())
        pages = [row.url for row in reader.pages()]
    assert 0 < len(kept) < len(whole)
    assert [decision.line() for decision in kept] == whole[: len(kept)]
    assert not whole[len(kept)].endswith(" &")
    judged = {"match", "miss", "duplicate", "noindex"}
    assert pages == [decision.url for decision in kept if decision.result in judged]


def test_a_batch_that_is_not_durable_counts_as_many_requests_as_it_would_cost_again():
    store = MemoryStore()
    crawled(store)
    records = [Record(decision) for decision in store.decisions()]
    assert Batch(effects=records).replies == sum(sizes(store.decisions()))
    assert Batch().replies == 1


if __name__ == "__main__":
    crawled(Mortal(sys.argv[1]))
