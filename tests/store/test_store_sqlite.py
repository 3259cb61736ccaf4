"""What only the store on disk promises: whom it refuses, how it upgrades, what it keeps in memory."""

from __future__ import annotations

import re
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from clew.errors import StoreError, StoreForeign
from clew.fetch.base import Response
from clew.messages import Blob, Close, State
from clew.page import Page
from clew.store import SqliteStore, is_crawl, open_reader, schema
from clew.testing.stores import decided, fetched, found, visited

A = "http://a.example/"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A small crawl, closed."""
    directory = tmp_path / "crawl"
    with SqliteStore(directory) as store:
        store.save([found(0, [A, f"{A}b"], terms=[[1.0], [2.0]])])
        blob = store.append(Response(url=A, status=200, body=b"wind"), 0.0)
        store.save(
            [*fetched(0, A, text="wind", blob=blob, links=[1, 1]), decided(1, A), visited("a.example")]
        )
    return directory


def everything(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name != "clew.lock"
    }


def damage(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(data)


class TestRefusals:
    """A clear error, and nothing overwritten."""

    @pytest.mark.parametrize("opened", [open_reader, lambda path: SqliteStore(path, create=False)])
    def test_what_does_not_exist(self, tmp_path: Path, opened) -> None:
        with pytest.raises(StoreForeign, match="does not exist"):
            opened(tmp_path / "nowhere")
        assert not (tmp_path / "nowhere").exists()

    @pytest.mark.parametrize("opened", [open_reader, lambda path: SqliteStore(path, create=False)])
    def test_a_directory_without_a_crawl(self, tmp_path: Path, opened) -> None:
        with pytest.raises(StoreForeign, match=r"is not a crawl directory.*no clew\.db in it"):
            opened(tmp_path)

    @pytest.mark.parametrize("name", ["thesis.tex", "report.html", "search.db"])
    def test_a_directory_with_other_things_in_it(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text("precious")
        with pytest.raises(StoreForeign, match=rf"not empty and not a crawl directory \({re.escape(name)}"):
            SqliteStore(tmp_path)
        assert everything(tmp_path) == {name: b"precious"}

    def test_a_lock_that_leads_elsewhere(self, tmp_path: Path) -> None:
        (tmp_path / "diary").write_text("precious")
        (tmp_path / "farms").mkdir()
        (tmp_path / "farms" / "clew.lock").symlink_to(tmp_path / "diary")
        with pytest.raises(StoreError):
            SqliteStore(tmp_path / "farms")
        assert (tmp_path / "diary").read_text() == "precious"

    def test_an_archive_without_its_database(self, tmp_path: Path) -> None:
        (tmp_path / "pages").mkdir()
        (tmp_path / "pages" / "clew-00000.warc.gz").write_bytes(b"replies")
        with pytest.raises(StoreForeign, match="not empty"):
            SqliteStore(tmp_path)

    def test_a_file_in_place_of_a_directory(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("precious")
        for opened in (SqliteStore, open_reader):
            with pytest.raises(StoreForeign, match=r"is a file|is not a directory"):
                opened(tmp_path / "file")

    @pytest.mark.parametrize("opened", [open_reader, SqliteStore])
    def test_something_else_called_clew_db(self, tmp_path: Path, opened) -> None:
        (tmp_path / "clew.db").write_text("my notes " * 100)
        before = everything(tmp_path)
        with pytest.raises(StoreForeign, match="is not an SQLite database"):
            opened(tmp_path)
        assert everything(tmp_path) == before

    @pytest.mark.parametrize("opened", [open_reader, SqliteStore])
    def test_somebody_elses_database(self, tmp_path: Path, opened) -> None:
        with closing(sqlite3.connect(tmp_path / "clew.db")) as connection, connection:
            connection.execute("CREATE TABLE notes (text)")
        before = everything(tmp_path)
        with pytest.raises(StoreForeign, match="not a crawl of clew's"):
            opened(tmp_path)
        assert everything(tmp_path) == before

    @pytest.mark.parametrize("opened", [open_reader, SqliteStore])
    def test_a_crawl_of_a_newer_clew(self, crawl: Path, opened) -> None:
        with closing(sqlite3.connect(crawl / "clew.db")) as connection, connection:
            connection.execute("PRAGMA user_version = 99")
        with pytest.raises(StoreForeign, match=r"newer clew .* upgrade clew"):
            opened(crawl)

    def test_values_that_were_never_clews(self, crawl: Path) -> None:
        with closing(sqlite3.connect(crawl / "clew.db")) as connection, connection:
            connection.execute("UPDATE parts SET data = x'00'")
        with SqliteStore(crawl) as store, pytest.raises(StoreForeign, match="restore it from a copy"):
            store.load()

    @pytest.mark.parametrize("opened", [open_reader, SqliteStore])
    def test_a_database_cut_short(self, crawl: Path, opened) -> None:
        path = crawl / "clew.db"
        path.write_bytes(path.read_bytes()[:9000])
        before = everything(crawl)
        with pytest.raises(StoreForeign, match="damaged"):
            opened(crawl)
        assert everything(crawl) == before

    def test_a_database_with_garbage_inside(self, crawl: Path) -> None:
        """A crawl is not resumed on top of damage, even where no row of it would be read."""
        path = crawl / "clew.db"
        with closing(sqlite3.connect(path)) as connection:
            (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'texts'").fetchone()
        damage(path, (root - 1) * 4096, b"\xff" * 4096)
        before = everything(crawl)
        with pytest.raises(StoreForeign, match="damaged"):
            SqliteStore(crawl)
        assert everything(crawl)["clew.db"] == before["clew.db"]
        with open_reader(crawl) as reader, pytest.raises(StoreForeign, match="damaged"):
            list(reader.pages())

    def test_a_refused_directory_is_not_kept_locked(self, crawl: Path) -> None:
        path = crawl / "clew.db"
        whole = path.read_bytes()
        path.write_bytes(whole[:9000])
        with pytest.raises(StoreForeign):
            SqliteStore(crawl)
        path.write_bytes(whole)
        SqliteStore(crawl).close()


class TestUpgrades:
    def test_an_older_crawl_is_brought_up_to_date_and_keeps_its_data(
        self, crawl: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def later(connection: sqlite3.Connection) -> None:
            connection.execute("ALTER TABLE hosts ADD COLUMN slot INTEGER")

        monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, later])
        before = (crawl / "clew.db").read_bytes()
        with open_reader(crawl) as reader:
            assert [page.url for page in reader.pages()] == [A]
        assert (crawl / "clew.db").read_bytes() == before
        with SqliteStore(crawl) as store:
            assert [page.url for page in store.pages()] == [A]
        with open_reader(crawl) as reader:
            assert reader.connection.execute("PRAGMA user_version").fetchone() == (len(schema.MIGRATIONS),)
            assert reader.connection.execute("SELECT slot FROM hosts").fetchall() == [(None,)]

    def test_an_upgrade_that_fails_changes_nothing(
        self, crawl: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(connection: sqlite3.Connection) -> None:
            connection.execute("DROP TABLE pages")
            raise sqlite3.OperationalError("no such luck")

        with monkeypatch.context() as patch:
            patch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, broken])
            with pytest.raises(StoreError, match="no such luck"):
                SqliteStore(crawl)
        with SqliteStore(crawl) as store:
            assert [page.url for page in store.pages()] == [A]

    def test_every_version_there_ever_was_can_be_migrated_from_nothing(self, tmp_path: Path) -> None:
        schema.create(tmp_path / "clew.db")
        with closing(schema.connect_reader(tmp_path / "clew.db")) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (len(schema.MIGRATIONS),)


class TestWriting:
    def test_saved_urls_do_not_stay_in_memory(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "crawl") as store:
            for first in range(0, 6000, 100):
                store.save([found(first, [f"{A}{number}" for number in range(first, first + 100)])])
            store.flush()
            assert store._pending == {}
            assert [store.url(number) for number in range(6000)] == [f"{A}{number}" for number in range(6000)]
            assert len(store._recent) <= 4096

    def test_a_slow_disk_holds_the_crawl_back(self, tmp_path: Path) -> None:
        """The queue is bounded: while another connection blocks the writer, saving waits."""
        with SqliteStore(tmp_path / "crawl", window=0.0) as store:
            most = 0

            def work() -> None:
                nonlocal most
                for number in range(1500):
                    store.save([decided(number + 1)])
                    most = max(most, store.backlog)

            blocker = sqlite3.connect(tmp_path / "crawl" / "clew.db", isolation_level=None)
            blocker.execute("BEGIN IMMEDIATE")
            saving = threading.Thread(target=work)
            saving.start()
            saving.join(0.5)
            blocker.execute("ROLLBACK")
            blocker.close()
            saving.join()
            store.flush()
            assert most <= 1000
            assert store.backlog == 0
            assert sum(1 for _ in store.decisions()) == 1500

    def test_a_gap_in_the_numbers_is_an_error(self, tmp_path: Path) -> None:
        store = SqliteStore(tmp_path / "crawl")
        store.save([found(1, [A])])
        with pytest.raises(StoreError, match="candidate 0 was expected next"):
            store.flush()
        store.close()

    @pytest.mark.parametrize(
        "effect", [Close(5, State.FAILED, "dns"), fetched(0, A, blob=Blob("x.warc.gz", 0, 1))[0]]
    )
    def test_a_batch_with_an_impossible_effect_is_not_stored_at_all(self, crawl: Path, effect) -> None:
        store = SqliteStore(crawl)
        store.save([found(2, [f"{A}c"]), effect])
        with pytest.raises(StoreError):
            store.flush()
        store.close()
        with SqliteStore(crawl) as again:
            saved = again.load()
            assert saved is not None
            assert len(saved.keys) == 2

    def test_text_that_cannot_be_encoded_is_mended(self, tmp_path: Path) -> None:
        """Lone surrogates come from hostile pages; they must not end a crawl."""
        with SqliteStore(tmp_path / "crawl") as store:
            bad = "a\ud800b"
            store.save([found(0, [A], anchor=bad), *fetched(0, A, text=bad), decided(1, A, reasons=(bad,))])
            store.flush()
            (page,) = store.pages()
            candidate = store.candidate(A)
            assert candidate is not None
            assert (page.text, candidate.anchor) == ("a?b", "a?b")

    def test_a_closed_store_says_so(self, crawl: Path) -> None:
        store = SqliteStore(crawl)
        store.close()
        with pytest.raises(StoreError, match="is closed"):
            store.save([])

    def test_sessions_add_up(self, tmp_path: Path) -> None:
        """Time between sessions is not time of crawling."""
        for session in range(3):
            with SqliteStore(tmp_path / "crawl") as store:
                if not session:
                    store.save([found(0, [A])])
                start = 1000.0 * session
                store.save([decided(2 * session + 1, at=start), decided(2 * session + 2, at=start + 7)])
        with SqliteStore(tmp_path / "crawl") as store:
            saved = store.load()
            assert saved is not None
            assert saved.elapsed == 21.0

    def test_the_log_is_folded_back_when_closed(self, crawl: Path) -> None:
        assert sorted(path.name for path in crawl.iterdir()) == ["clew.db", "clew.lock", "pages"]

    def test_the_archive_goes_on_in_the_last_file_and_then_in_a_new_one(self, tmp_path: Path) -> None:
        names = []
        for _ in range(4):
            with SqliteStore(tmp_path / "crawl", rotate_at=900) as store:
                blob = store.append(Response(url=A, status=200, body=b"wind"), 0.0)
                store.save([])
                names.append((blob.file, blob.offset > 0))
        assert names[0] == ("clew-00000.warc.gz", True)
        assert [name for name, _ in names[:2]] == ["clew-00000.warc.gz"] * 2
        assert names[-1][0] == "clew-00001.warc.gz"


class TestReading:
    def test_a_running_crawl_can_be_read(self, crawl: Path) -> None:
        with SqliteStore(crawl) as store, open_reader(crawl) as reader:
            store.save([found(2, [f"{A}c"])])
            store.flush()
            assert reader.counts().queued == 2
            assert reader.url(2) == f"{A}c"

    def test_readers_change_nothing(self, crawl: Path) -> None:
        before = everything(crawl)
        with open_reader(crawl) as reader:
            list(reader.pages())
            reader.counts()
        assert everything(crawl) == before

    def test_links_can_be_followed_both_ways(self, crawl: Path) -> None:
        with open_reader(crawl) as reader:
            assert reader.links(A) == [f"{A}b", f"{A}b"]
            assert reader.inlinks(f"{A}b") == [A]
            assert reader.inlinks(A) == []
            assert reader.inlinks("http://nowhere.example/") == []

    def test_a_crawl_is_recognised(self, crawl: Path, tmp_path: Path) -> None:
        assert is_crawl(crawl)
        assert not is_crawl(tmp_path)

    def test_more_pages_than_are_read_at_once_come_in_order_and_once(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "crawl") as store:
            urls = [f"{A}{number}" for number in range(1234)]
            store.save([found(0, urls)])
            for number, url in enumerate(urls):
                store.save(fetched(number, url, matched=number % 3 == 0))
            store.flush()
            assert [page.url for page in store.pages(text=False)] == urls
            assert [page.url for page in store.pages(matched=True)] == urls[::3]

    def test_every_part_of_a_page_is_kept(self, tmp_path: Path) -> None:
        page = Page(
            url=A, digest=2**64 - 1, sketch=bytes(range(101)), text="ä\x00b", title="„T“", type="text/plain"
        )
        with SqliteStore(tmp_path / "crawl") as store:
            store.save([found(0, [A])])
            saved, close = fetched(0, A)
            store.save([replace(saved, page=page, near=True), close])
            snapshot = store.load()
            assert snapshot is not None
            assert snapshot.digests == {2**64 - 1: 0}
            assert snapshot.sketches == {0: bytes(range(101))}
            row = store.page(A)
            assert row is not None
            assert (row.text, row.title, row.type, row.near) == ("ä\x00b", "„T“", "text/plain", True)


def test_what_older_crawls_received_is_known_from_their_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:2])
        (tmp_path / "old").mkdir()
        schema.create(tmp_path / "old" / "clew.db")
    with closing(sqlite3.connect(tmp_path / "old" / "clew.db")) as db:
        db.execute(
            "INSERT INTO hosts (id, name, next_at, delay, failures, requests, pages, matches) "
            "VALUES (0, 'a.example', 0, 1, 0, 2, 1, 1), (1, 'b.example', 0, 1, 0, 1, 0, 0)"
        )
        db.execute(
            "INSERT INTO candidates (id, key, host, depth, source, via, url, anchor) "
            "VALUES (0, 1, 0, 0, -1, 'seed', 'http://a.example/', '')"
        )
        columns = (
            "candidate, status, type, title, lang, score, satisfied, matched, duplicate_of, near, digest, "
        )
        columns += "simhash, source, depth, fetched_at, wire, reasons"
        db.execute(
            f"INSERT INTO pages ({columns}) "
            "VALUES (0, 200, '', '', '', 1, 1, 1, -1, 0, 1, 1, -1, 0, 0, 321, '[]')"
        )
        db.commit()
    (tmp_path / "old" / "pages").mkdir()
    with SqliteStore(tmp_path / "old") as store:
        assert store.counts().wire == 321
        assert [host.wire for host in store.hosts()] == [321, 0]
        assert [page.rendered for page in store.pages()] == [False]
