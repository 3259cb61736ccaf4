"""A checkpoint of what was learned is what learning again gives, bit by bit; any other is passed over."""

import asyncio

import numpy as np
import pytest
import xxhash

from clew.fetch.replay import ReplayFetcher
from clew.lab import open_web
from clew.learn.checkpoint import arrays_of
from clew.run import CrawlConfig, Session, VirtualClock, checkpoint
from clew.run.build import crawl_of
from clew.run.relearn import relearn
from clew.run.resume import restore
from clew.store import SqliteStore, open_reader

PAGES = 60
WAYS = [
    {},
    {"weights": "balanced"},
    {"weights": {"content": 1.0, "url": 0.5}, "option": ("content=inlink",)},
    {"weights": "product", "option": ("parents=union",)},
]


@pytest.fixture(autouse=True)
def _few_pages(monkeypatch):
    monkeypatch.setattr(checkpoint, "FEW", 0)
    monkeypatch.setattr(checkpoint, "LEAST", 25)


def config_of(pages=PAGES, **more):
    web = open_web("demo")
    plain = {"own": ("*",), "proxy": "http://127.0.0.1:9", "delay": 0, "concurrency": 1}
    return CrawlConfig(seeds=web.seeds(), match=web.formula(), pages=pages, **plain, **more)


def crawled(path, pages=PAGES, relearned=lambda done, total: None, **more):
    """A session of the demo web; gives it, and the trace."""
    with SqliteStore(path) as store:
        session = Session(
            config_of(pages, **more),
            store,
            fetcher=ReplayFetcher(open_web("demo")),
            clock=VirtualClock(1e9),
            relearned=relearned,
        )
        asyncio.run(session.run())
        return session, [decision.line() for decision in store.decisions()]


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """The trace of one session of twice as many pages."""
    return crawled(tmp_path_factory.mktemp("one") / "crawl", 2 * PAGES)[1]


def restored(reader, config):
    crawl = crawl_of(config, reader)
    restore(crawl, reader.snapshot(), 1e9)
    return crawl


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_checkpoint_is_what_learning_again_gives_bit_by_bit(tmp_path, way):
    session, _ = crawled(tmp_path / "crawl", **way)
    with open_reader(tmp_path / "crawl") as reader:
        taken, learned = restored(reader, session.config), restored(reader, session.config)
        assert checkpoint.take_up(taken, reader) == taken.tracer.count
        relearn(learned, reader, reader.replies().get)
    kept, again = dict(arrays_of(taken.strategy)), dict(arrays_of(learned.strategy))
    assert [name for name in again if kept[name].tobytes() != again[name].tobytes()] == []
    queued = np.flatnonzero(taken.frontier.states[: taken.frontier.count] == 0)
    assert len(queued) > 100
    assert taken.frontier.terms[queued].tobytes() == learned.frontier.terms[queued].tobytes()


def test_with_knowledge_of_an_earlier_crawl_all_is_learned_again(tmp_path):
    crawled(tmp_path / "earlier", 30)
    session, _ = crawled(tmp_path / "crawl", use=(str(tmp_path / "earlier"),))
    with open_reader(tmp_path / "crawl") as reader:
        assert checkpoint.take_up(restored(reader, session.config), reader) == -1


@pytest.mark.slow
def test_killed_while_it_learns_again_the_next_start_goes_on_from_there(tmp_path, one, monkeypatch):
    path = tmp_path / "crawl"
    crawled(path)
    (path / "clew.learned").unlink()
    told = []

    class Killed(BaseException): ...

    def tell(done, total):
        told.append(done)
        if done >= 40:
            raise Killed

    with pytest.raises(Killed):
        crawled(path, 2 * PAGES, relearned=tell)
    assert told[0] == 16
    told.clear()
    _, trace = crawled(path, 2 * PAGES, relearned=lambda done, total: told.append(done))
    assert told[0] > 16
    assert trace == one


def damaged(data):
    data[len(data) // 2] ^= 1


def cut(data):
    del data[-100:]


def emptied(data):
    data.clear()


@pytest.mark.slow
@pytest.mark.parametrize("harm", [damaged, cut, emptied])
def test_a_damaged_checkpoint_is_passed_over(tmp_path, one, harm):
    crawled(tmp_path / "crawl")
    file = tmp_path / "crawl" / "clew.learned"
    data = bytearray(file.read_bytes())
    harm(data)
    file.write_bytes(data)
    assert crawled(tmp_path / "crawl", 2 * PAGES)[1] == one


@pytest.mark.slow
def test_a_checkpoint_of_other_settings_or_another_crawl_is_passed_over(tmp_path):
    session, _ = crawled(tmp_path / "crawl")
    crawled(tmp_path / "other", 30)
    with open_reader(tmp_path / "crawl") as reader:
        for other in ({"random_seed": 1}, {"weights": "balanced"}, {"option": ("smoothing=2",)}):
            assert checkpoint.take_up(restored(reader, config_of(**other)), reader) == -1
    file = tmp_path / "crawl" / "clew.learned"
    file.write_bytes((tmp_path / "other" / "clew.learned").read_bytes())
    with open_reader(tmp_path / "crawl") as reader:
        crawl = restored(reader, session.config)
        crawl.frontier.keys[3] += 1
        assert checkpoint.take_up(crawl, reader) == -1


@pytest.mark.slow
def test_numbers_of_a_stranger_are_refused_or_crawled_with(tmp_path):
    """Whatever stands in the arrays, with a digest that is right: a crawl goes on, and says nothing odd."""
    path = tmp_path / "crawl"
    crawled(path)
    file = path / "clew.learned"
    plain, dice = file.read_bytes(), np.random.default_rng(1)
    refused = 0
    for _ in range(60):
        data = bytearray(plain)
        at = int(dice.integers(len(data) // 8, len(data) - 24))
        data[at : at + 4] = dice.bytes(4)
        file.write_bytes(data[:-16] + xxhash.xxh3_128(bytes(data[:-16])).digest())
        with open_reader(path) as reader:
            crawl = restored(reader, config_of())
            try:
                checkpoint.take_up(crawl, reader)
            except checkpoint.UnusableCheckpoint:
                refused += 1
    assert refused > 5
    # The last of them, and a crawl that finds out late.
    assert len(crawled(path, PAGES + 10)[1]) > PAGES
