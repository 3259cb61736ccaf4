"""Both stores keep the contract, and answer alike whatever is saved in them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.messages import Close, Effect, Learned, Rescore, State, Via
from clew.store import STORES, MemoryStore, SqliteStore, Store, StoreBackend
from clew.testing.stores import BackendContract, StoreContract, decided, fetched, found, readings, visited


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = SqliteStore(tmp_path / "crawl")
        yield store
        store.close()


class TestSqliteBackend(BackendContract):
    @pytest.fixture
    def backend(self) -> StoreBackend:
        return STORES["sqlite"]

    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        return f"sqlite:{tmp_path / 'crawl'}"


HOSTS = ("a.example", "b.example", "c.example")
FLOATS = st.floats(-1e6, 1e6)
WORDS = st.text(max_size=20)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[list[Effect]], list[str]]:
    """Batches as an engine might save them, and the URLs in them."""
    urls: list[str] = []
    batches: list[list[Effect]] = []
    fresh = draw(st.integers(0, 3)) + 1
    for step in range(draw(st.integers(1, 6))):
        batch: list[Effect] = []
        new = [f"http://{draw(st.sampled_from(HOSTS))}/{len(urls) + i}" for i in range(fresh)]
        width = draw(st.sampled_from((2, 2, 2, 3)))
        parts = draw(
            st.lists(st.lists(FLOATS, min_size=width, max_size=width), min_size=fresh, max_size=fresh)
        )
        source = draw(st.integers(-1, len(urls) - 1)) if urls else -1
        batch.append(
            found(len(urls), new, source=source, depth=step, via=Via.LINK, anchor=draw(WORDS), terms=parts)
        )
        urls += new
        some = st.integers(0, len(urls) - 1)
        if draw(st.booleans()):
            number = draw(some)
            score = draw(st.floats(0, 1))
            batch += fetched(
                number,
                urls[number],
                text=draw(WORDS),
                score=score,
                matched=draw(st.booleans()),
                duplicate_of=draw(st.integers(-1, len(urls) - 1)),
                source=draw(st.integers(-1, len(urls) - 1)),
                links=draw(st.lists(some, max_size=4)),
            )
        if draw(st.booleans()):
            state = draw(st.sampled_from(list(State)))
            batch.append(Close(draw(some), state, draw(WORDS), draw(st.integers(0, 300))))
        if draw(st.booleans()):
            ids = draw(st.lists(some, max_size=5, unique=True))
            batch.append(
                Rescore(np.array(ids, np.int64), np.array([[draw(FLOATS)] * 2 for _ in ids]).reshape(-1, 2))
            )
        if draw(st.booleans()):
            robots = draw(st.sampled_from((None, (), (("http://a.example", 404, 1.0, b"\x00\xff"),))))
            batch.append(
                visited(draw(st.sampled_from((*HOSTS, "d.example"))), robots=robots, delay=draw(FLOATS))
            )
        if draw(st.booleans()):
            values = {
                "score": draw(FLOATS),
                "verdict": draw(st.floats()),
                "reasons": tuple(draw(st.lists(WORDS))),
            }
            if values["verdict"] != values["verdict"]:
                values["verdict"] = -0.0
            batch.append(decided(step + 1, draw(st.sampled_from(urls)), **values))
        if draw(st.booleans()):
            batch.append(Learned(draw(WORDS)))
        batches.append(batch)
        fresh = draw(st.integers(0, 3))
    return batches, urls


@given(histories())
@settings(max_examples=40, deadline=None)
def test_both_stores_answer_alike(history: tuple[list[list[Effect]], list[str]]) -> None:
    """Whatever is saved, reading it from disk, also after a restart, gives what memory gives."""
    batches, urls = history
    memory = MemoryStore()
    with tempfile.TemporaryDirectory() as folder:
        with SqliteStore(Path(folder) / "crawl") as disk:
            for batch in batches:
                memory.save(batch)
                disk.save(batch)
            expected = readings(memory, urls)
            assert readings(disk, urls) == expected
        with SqliteStore(Path(folder) / "crawl") as again:
            assert readings(again, urls) == expected
