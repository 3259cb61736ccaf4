"""`StoreContract`: what every `Store` must do, as tests to inherit; and effects to try a store with.

A store of one's own is checked by a subclass that gives a fresh store as the fixture `store`:

    class TestMine(StoreContract):
        @pytest.fixture
        def store(self, tmp_path):
            store = MyStore(tmp_path / "crawl")
            yield store
            store.close()
"""

from __future__ import annotations

import io
import json
from array import array
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from clew.errors import StoreForeign
from clew.fetch.base import Response
from clew.messages import (
    Blob,
    Close,
    Decision,
    Effect,
    Journal,
    Learned,
    Record,
    Rescore,
    SaveCandidates,
    SaveHost,
    SavePage,
    State,
    Via,
)
from clew.page import Page
from clew.predicate.verdict import Verdict
from clew.store.base import Snapshot, Store, StoreBackend
from clew.store.exports import export
from clew.store.memory import MemoryStore
from clew.url import host, keys

_SKETCH = bytes(range(101))


def found(
    first: int,
    urls: Sequence[str],
    *,
    source: int = -1,
    depth: int = 0,
    via: Via = Via.SEED,
    anchor: str = "",
    terms: Sequence[Sequence[float]] | None = None,
) -> SaveCandidates:
    """New candidates, as an engine would save them."""
    table = np.array(terms if terms is not None else [[1.0, 0.5]] * len(urls), np.float64)
    return SaveCandidates(
        first,
        np.asarray(keys(list(urls)), np.uint64),
        tuple(urls),
        tuple(map(host, urls)),
        (depth,) * len(urls),
        source,
        (anchor,) * len(urls),
        via,
        table if len(urls) else np.zeros((0, 2)),
    )


def fetched(
    candidate: int,
    url: str,
    *,
    text: str = "wind farm",
    score: float = 1.0,
    matched: bool = True,
    duplicate_of: int = -1,
    source: int = -1,
    at: float = 1_700_000_000.0,
    blob: Blob | None = None,
    links: Sequence[int] = (),
) -> list[Effect]:
    """A page and the closing of its candidate."""
    page = Page(url=url, title=f"Title of {url}", text=text, language="en", digest=len(text) or 1)
    page = replace(page, sketch=_SKETCH)
    saved = SavePage(
        candidate=candidate,
        page=page,
        verdict=Verdict(score, score >= 0.5, (f"wind {score}",)),
        matched=matched,
        duplicate_of=duplicate_of,
        near=False,
        source=source,
        depth=0 if source < 0 else 1,
        fetched_at=at,
        wire=100,
        blob=blob,
        links=array("q", links),
    )
    return [saved, Close(candidate, State.FETCHED, "fetched", 1)]


def decided(seq: int, url: str = "http://a.example/", **changes: Any) -> Record:
    """A line of the trace."""
    values: dict[str, Any] = {
        "at": 1_700_000_000.0 + seq,
        "kind": "page",
        "candidate": 0,
        "attempt": 0,
        "score": 1.5,
        "terms": (1.0, 0.5),
        "queue": 3,
        "status": 200,
        "result": "match",
        "verdict": 1.0,
        "reasons": ("wind 1.0",),
        "new": 2,
        "known": 1,
        "dropped": (("scope", 2),),
    }
    return Record(Decision(seq=seq, url=url, **(values | changes)))


def visited(name: str, **changes: Any) -> SaveHost:
    """What is remembered of a host."""
    values: dict[str, Any] = {
        "next_at": 12.5,
        "delay": 1.0,
        "failures": 0,
        "requests": 2,
        "pages": 1,
        "matches": 1,
        "robots": (("http://a.example", 200, 3.0, b"User-agent: *\n"),),
        "memory": "",
    }
    return SaveHost(host=name, **(values | changes))


def readings(store: Store, urls: Sequence[str]) -> dict[str, Any]:
    """All that a store can be asked, in a form fit to compare stores by; the places of bytes left out."""
    store.flush()
    snapshot = store.load()
    return {
        "urls": [store.url(number) for number in range(0 if snapshot is None else len(snapshot.keys))],
        "snapshot": None if snapshot is None else comparable(snapshot),
        "pages": [asdict(page) | {"blob": None} for page in store.pages()],
        "finds": [page.url for page in store.pages(matched=True, text=False)],
        "page": [None if (page := store.page(url)) is None else page.text for url in urls],
        "candidates": [store.candidate(url) for url in urls],
        "hosts": list(store.hosts()),
        "trace": [(decision.line(), decision) for decision in store.decisions()],
        "trace_of": [list(store.trace_of(url)) for url in urls],
        "counts": store.counts(),
        "meta": store.meta(),
    }


def comparable(snapshot: Snapshot) -> dict[str, Any]:
    """A snapshot without arrays."""
    return {
        name: value.tolist() if isinstance(value := getattr(snapshot, name), np.ndarray) else value
        for name in Snapshot.__slots__
    }


A, B, C = "http://a.example/", "http://a.example/b", "http://c.example/"


class StoreContract:
    """Inherit, and give the fixture `store`: a fresh, empty store for each test."""

    def test_a_new_store_has_nothing_to_resume(self, store: Store) -> None:
        assert store.load() is None
        assert store.meta() == {}
        assert list(store.pages()) == []
        assert list(store.decisions()) == []
        assert store.counts().pages == 0

    def test_urls_are_known_at_once_and_after_a_flush(self, store: Store) -> None:
        store.save([found(0, [A, B])])
        store.save([found(2, [C], source=0, via=Via.LINK, depth=1)])
        assert [store.url(number) for number in range(3)] == [A, B, C]
        store.flush()
        assert [store.url(number) for number in range(3)] == [A, B, C]

    def test_a_number_never_saved_has_no_url(self, store: Store) -> None:
        store.save([found(0, [A])])
        for number in (-1, 1):
            try:
                store.url(number)
            except KeyError:
                continue
            raise AssertionError(f"candidate {number} should not exist")

    def test_what_is_not_closed_is_queued_after_a_restart(self, store: Store) -> None:
        store.save([found(0, [A, B, C])])
        store.save(
            [
                Close(0, State.FETCHED, "fetched", 1),
                Close(1, State.LEASED, ""),
                Close(2, State.QUEUED, "dns", 2),
            ]
        )
        snapshot = store.load()
        assert snapshot is not None
        assert snapshot.states.tolist() == [State.FETCHED, State.QUEUED, State.QUEUED]
        assert snapshot.attempts.tolist() == [1, 0, 2]

    def test_a_snapshot_has_every_candidate_by_number(self, store: Store) -> None:
        store.save([found(0, [A, C], terms=[[1.0, 0.25], [0.0, -0.5]])])
        store.save([found(2, [B], source=0, depth=1, via=Via.LINK, terms=[[0.5, 0.5]])])
        snapshot = store.load()
        assert snapshot is not None
        assert snapshot.keys.tolist() == list(keys([A, C, B]))
        assert [snapshot.host_names[i] for i in snapshot.hosts] == ["a.example", "c.example", "a.example"]
        assert snapshot.depths.tolist() == [0, 0, 1]
        assert snapshot.sources.tolist() == [-1, -1, 0]
        assert snapshot.terms.tolist() == [[1.0, 0.25], [0.0, -0.5], [0.5, 0.5]]

    def test_rescoring_changes_those_named_and_no_others(self, store: Store) -> None:
        urls = [f"http://a.example/{i}" for i in range(200)]
        store.save([found(0, urls, terms=[[float(i), 0.0] for i in range(200)])])
        ids = np.array([199, 0, 64, 63])
        store.save([Rescore(ids, np.array([[-float(i), 1.0] for i in ids]))])
        snapshot = store.load()
        assert snapshot is not None
        expected = [[-float(i), 1.0] if i in ids else [float(i), 0.0] for i in range(200)]
        assert snapshot.terms.tolist() == expected
        row = store.candidate(urls[64])
        assert row is not None
        assert (row.terms, row.score) == ((-64.0, 1.0), -63.0)

    def test_of_scores_saved_one_after_the_other_the_last_holds(self, store: Store) -> None:
        store.save(
            [
                found(0, [A, B, C], terms=[[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]),
                Rescore(np.array([2, 0]), np.array([[4.0, 1.0], [5.0, 1.0]])),
            ]
        )
        store.save([Rescore(np.array([0]), np.array([[6.0, 2.0]])), Rescore(np.array([1, 0]), np.eye(2))])
        snapshot = store.load()
        assert snapshot is not None
        assert snapshot.terms.tolist() == [[0.0, 1.0], [1.0, 0.0], [4.0, 1.0]]

    def test_pages_come_back_in_the_order_fetched(self, store: Store) -> None:
        store.save([found(0, [A, B, C])])
        store.save(fetched(2, C, text="first"))
        store.save(fetched(0, A, text="second", score=0.1, matched=False))
        store.save(fetched(1, B, text="", source=0, duplicate_of=2, matched=False))
        store.flush()
        pages = list(store.pages())
        assert [page.url for page in pages] == [C, A, B]
        assert [page.text for page in pages] == ["first", "second", ""]
        assert [page.matched for page in pages] == [True, False, False]
        assert [page.source for page in pages] == [None, None, A]
        assert [page.duplicate_of for page in pages] == [None, None, C]
        assert pages[0].fetched_at == "2023-11-14T22:13:20.000Z"
        assert [page.url for page in store.pages(matched=True)] == [C]
        assert all(page.text == "" for page in store.pages(text=False))

    def test_a_page_saved_again_is_not_there_twice(self, store: Store) -> None:
        store.save([found(0, [A])])
        store.save(fetched(0, A, text="old"))
        store.save(fetched(0, A, text="new"))
        store.flush()
        assert [page.text for page in store.pages()] == ["new"]
        assert store.counts().pages == 1

    def test_single_pages_and_candidates_are_found_by_url(self, store: Store) -> None:
        store.save([found(0, [A])])
        store.save([found(1, [B], source=0, depth=1, via=Via.LINK, anchor="to b"), *fetched(0, A)])
        store.save([Close(1, State.DROPPED, "robots")])
        store.flush()
        page, candidate = store.page(A), store.candidate(B)
        assert page is not None
        assert candidate is not None
        assert page.title == f"Title of {A}"
        assert (candidate.source, candidate.anchor, candidate.via, candidate.depth) == (A, "to b", "link", 1)
        assert (candidate.state, candidate.reason, candidate.score) == (State.DROPPED, "robots", 1.5)
        assert store.page(B) is None
        assert store.candidate("http://nowhere.example/") is None
        urls, texts = store.link_texts(np.array([1, 0]))
        assert (list(urls), list(texts)) == ([B, A], ["to b", ""])

    def test_duplicates_are_remembered_for_a_resume(self, store: Store) -> None:
        store.save([found(0, [A, B])])
        store.save(fetched(1, B, text="same"))
        store.save(fetched(0, A, text="same", duplicate_of=1, matched=False))
        snapshot = store.load()
        assert snapshot is not None
        assert snapshot.digests == {4: 1}
        assert snapshot.sketches == {1: _SKETCH}
        assert snapshot.matched == {1}
        assert snapshot.scores == {0: 1.0, 1: 1.0}
        assert snapshot.pages == 2

    def test_hosts_keep_their_robots_until_new_ones_come(self, store: Store) -> None:
        store.save([visited("a.example"), visited("c.example", robots=())])
        store.save([visited("a.example", requests=3, robots=None)])
        store.flush()
        hosts = list(store.hosts())
        assert [host.host for host in hosts] == ["a.example", "c.example"]
        assert hosts[0] == visited("a.example", requests=3)
        assert store.counts().requests == 5
        store.save([visited("a.example", wire=300), visited("c.example", wire=40)])
        store.flush()
        assert [host.wire for host in store.hosts()] == [300, 40]
        assert store.counts().wire == 340
        store.save([visited("a.example", robots=())])
        store.flush()
        assert next(iter(store.hosts())).robots == ()

    def test_the_last_checkpoint_is_kept_as_it_was_given(self, store: Store) -> None:
        assert store.checkpoint() is None
        given: list[list[bytes | memoryview]] = [[b"first"], [b"the ", memoryview(b"second")]]
        for pieces in given:
            store.save_checkpoint(pieces)
            found = store.checkpoint()
            assert found is None or bytes(found) == b"".join(pieces)

    def test_hosts_keep_their_memory_until_a_new_one_comes(self, store: Store) -> None:
        store.save([visited("a.example", memory='{"a":1}'), visited("b.example", memory=None)])
        store.save([visited("a.example", memory=None)])
        store.flush()
        assert [host.memory for host in store.hosts()] == ['{"a":1}', ""]
        store.save([visited("a.example", memory="")])
        store.flush()
        assert [host.memory for host in store.hosts()] == ["", ""]

    def test_the_trace_comes_back_to_the_last_bit(self, store: Store) -> None:
        lines = [
            decided(1, A, score=0.1 + 0.2, terms=(0.1, 0.2), verdict=1 / 3),
            decided(2, B, score=-0.0, terms=(), reasons=(), dropped=()),
            decided(3, A, kind="robots", score=float("inf"), dropped=(("depth", 1), ("scope", 3))),
        ]
        store.save(lines)
        store.flush()
        assert [decision.line() for decision in store.decisions()] == [line.decision.line() for line in lines]
        assert list(store.trace_of(A)) == [lines[0].decision, lines[2].decision]
        assert store.counts().by_reason == {"scope": 5, "depth": 1}

    def test_counts_tell_what_became_of_candidates(self, store: Store) -> None:
        urls = [f"http://h{i}.example/" for i in range(5)]
        store.save([found(0, urls)])
        store.save(fetched(0, urls[0]))
        store.save([Close(1, State.FAILED, "dns", 2), Close(2, State.DROPPED, "robots")])
        store.save([Close(3, State.REDIRECTED, "redirect")])
        store.flush()
        counts = store.counts()
        assert (counts.pages, counts.matched, counts.duplicates) == (1, 1, 0)
        assert (counts.queued, counts.failed, counts.dropped, counts.redirected) == (1, 1, 1, 1)
        assert counts.hosts == 5
        assert counts.by_reason == {"dns": 1, "redirect": 1, "robots": 1}

    def test_learned_state_is_replaced(self, store: Store) -> None:
        store.save([found(0, [A]), Learned('{"n":1}')])
        store.save([Learned('{"n":2}')])
        snapshot = store.load()
        assert snapshot is not None
        assert snapshot.learned == '{"n":2}'

    def test_meta_is_merged_and_made_of_plain_data(self, store: Store) -> None:
        store.set_meta(match="wind", sessions=[1, {"a": None}])
        store.set_meta(match="farm", pages=None)
        assert store.meta() == {"match": "farm", "pages": None, "sessions": [1, {"a": None}]}

    def test_figures_to_go_on_from_are_summed(self, store: Store) -> None:
        store.save([found(0, [A]), visited("a.example", requests=4)])
        store.save(
            [decided(1, at=10.0), decided(2, at=25.5, kind="drop"), decided(3, at=40.0, kind="robots")]
        )
        snapshot = store.load()
        assert snapshot is not None
        assert (snapshot.decisions, snapshot.tasks, snapshot.requests) == (3, 2, 4)
        assert snapshot.elapsed == 30.0

    def test_a_reader_has_what_resuming_and_explaining_need(self, store: Store) -> None:
        assert store.snapshot() is None
        assert store.learned() == ""
        store.save([found(0, [A]), *fetched(0, A), Learned('{"n":1}')])
        store.flush()
        snapshot, loaded = store.snapshot(), store.load()
        assert snapshot is not None
        assert loaded is not None
        assert comparable(snapshot) == comparable(loaded)
        assert store.learned() == '{"n":1}'
        assert list(store.unreadable) == []

    def test_a_reply_comes_back_as_it_was_archived_where_bytes_are_kept(self, store: Store) -> None:
        store.save([found(0, [A])])
        blob = store.append(Response(url=A, status=200, body=b"wind"), 1_700_000_000.0)
        store.save(fetched(0, A, blob=blob))
        store.flush()
        archive = store.replies()
        assert (archive is None) == (blob is None)
        if archive is not None and blob is not None:
            reply = archive.get(A)
            assert reply is not None
            assert (reply.status, reply.body) == (200, b"wind")
            assert archive.get(B) is None
            archive.close()
        page = store.page(A)
        assert page is not None
        record = store.record(page)
        assert (record is None) == (blob is None)
        assert record is None or blob is None or len(record) == blob.length

    def test_pages_are_found_by_their_words_best_first(self, store: Store) -> None:
        store.save([found(0, [A, B, C])])
        store.save(fetched(0, A, text="wind over the hills"))
        store.save(fetched(1, B, text="wind wind farm", score=0.2, matched=False))
        store.save(fetched(2, C, text="oil and Größe"))
        store.flush()
        assert [hit.url for hit in store.search("wind")] == [B, A]
        assert [hit.url for hit in store.search("wind -farm")] == [A]
        assert [hit.url for hit in store.search("wind", matched=True)] == [A]
        assert len(store.search("wind", limit=1)) == 1
        (hit,) = store.search("GRÖßE")
        assert (hit.url, hit.title, hit.matched) == (C, f"Title of {C}", True)
        assert "[Größe]" in hit.snippet

    def test_links_of_a_page_are_candidates_by_number(self, store: Store) -> None:
        store.save([found(0, [A, B, C]), *fetched(0, A, links=(2, 1))])
        store.flush()
        assert store.outlinks(0).tolist() == [2, 1]
        assert store.outlinks(1).tolist() == []

    def test_candidates_are_links_by_number(self, store: Store) -> None:
        store.save([found(0, [A]), *fetched(0, A), found(1, [B, C], source=0)])
        store.flush()
        assert store.links_numbered([]) == {}
        links = store.links_numbered([2, 0, 7, -1])
        assert {number: (link.id, link.url, link.source) for number, link in links.items()} == {
            0: (0, A, -1),
            2: (2, C, 0),
        }
        assert (links[0].state, links[2].state) == (State.FETCHED, State.QUEUED)

    def test_what_was_commanded_comes_back_in_order(self, store: Store) -> None:
        store.save([found(0, [A]), Journal(0, '{"a":1}')])
        store.save([Journal(3, '{"b":2}')])
        store.flush()
        assert list(store.journal()) == [Journal(0, '{"a":1}'), Journal(3, '{"b":2}')]

    def test_pages_are_exported_one_a_line(self, store: Store) -> None:
        store.save([found(0, [A, B]), *fetched(0, A), *fetched(1, B, matched=False)])
        store.flush()
        stream = io.BytesIO()
        assert export(store, stream, "jsonl") == 2
        assert [json.loads(line)["url"] for line in stream.getvalue().splitlines()] == [A, B]
        assert export(store, io.BytesIO(), "csv", matched=True) == 1

    def test_it_is_closed_by_the_end_of_a_with(self, store: Store) -> None:
        with store as entered:
            entered.save([found(0, [A])])
        store.close()

    def test_closing_twice_is_harmless(self, store: Store) -> None:
        store.save([found(0, [A])])
        store.close()
        store.close()


class BackendContract:
    """What a store that outlives its process must do besides. Inherit, and give the fixtures `backend`, a
    `StoreBackend`, and `place`, where there is no crawl yet."""

    def test_a_crawl_is_there_once_it_was_begun(self, backend: StoreBackend, place: str) -> None:
        assert not backend.exists(place)
        try:
            backend.read(place).close()
        except StoreForeign:
            pass
        else:
            raise AssertionError("there is nothing to read yet")
        with backend.open(place) as store:
            store.save([found(0, [A])])
        assert backend.exists(place)

    def test_what_was_saved_is_read_and_taken_up_again_by_others(
        self, backend: StoreBackend, place: str
    ) -> None:
        memory = MemoryStore()
        batches: list[list[Effect]] = [
            [found(0, [A, B]), visited("a.example")],
            [found(2, [C], source=0, depth=1, via=Via.LINK), *fetched(0, A, links=(1, 2)), decided(1)],
            [
                Rescore(np.array([1]), np.array([[0.25, 4.0]])),
                Close(1, State.FAILED, "dns", 2),
                Learned("{}"),
            ],
        ]
        with backend.open(place) as store:
            for batch in batches:
                store.save(batch)
                memory.save(batch)
            store.set_meta(match="wind")
            memory.set_meta(match="wind")
        expected = readings(memory, [A, B, C])
        with backend.read(place) as reader:
            assert reader.counts() == expected["counts"]
            assert [page.text for page in reader.pages()] == [page["text"] for page in expected["pages"]]
            assert reader.meta() == expected["meta"]
        with backend.open(place) as store:
            assert readings(store, [A, B, C]) == expected
            store.save([Close(2, State.DROPPED, "robots")])
        with backend.read(place) as reader:
            assert reader.counts().dropped == 1
