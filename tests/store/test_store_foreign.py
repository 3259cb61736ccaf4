"""A crawl directory made by a stranger decides not where clew writes, what it runs, what it allocates."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from clew.errors import StoreForeign
from clew.fetch.base import Response
from clew.run.logs import CrawlLog
from clew.store import SqliteStore, export, open_reader
from clew.store.recorded import CrawlWeb
from clew.testing.stores import decided, fetched, found

A = "http://a.example/"


def search(directory: Path, query: str, **options):
    with open_reader(directory) as reader:
        return reader.search(query, **options)


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl of one page, with its reply."""
    directory = tmp_path / "here" / "crawl"
    with SqliteStore(directory) as store:
        blob = store.append(Response(url=A, status=200, body=b"wind farm"), 1_700_000_000.0)
        store.save([found(0, [A, f"{A}b"]), *fetched(0, A, blob=blob), decided(1, A)])
    return directory


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user's, outside the crawl."""
    path = tmp_path / "victim.txt"
    path.write_text("the only copy of something precious, far longer than twenty bytes")
    return path


def change(directory: Path, *statements: str) -> None:
    with closing(sqlite3.connect(directory / "clew.db", isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def read_all(directory: Path) -> None:
    """Everything that reading commands ask for."""
    with open_reader(directory) as reader:
        reader.meta(), reader.counts(), reader.learned(), reader.snapshot()
        list(reader.pages()), list(reader.hosts()), list(reader.decisions())
        reader.page(A), reader.candidate(A), reader.inlinks(A), reader.links(A)


class TestPaths:
    @pytest.mark.parametrize(
        "name",
        [
            *("../../../victim.txt", "/etc/passwd", "clew-00000.warc.gz/../../../../victim.txt", "", "."),
            *("clew-00000.warc.gz\n", "clew-٠٠٠٠٠.warc.gz", "clew-1.warc.gz", "clew-00001.warc.gz\0"),
        ],
    )
    def test_an_archive_of_a_name_that_is_not_clews_is_never_opened(self, crawl, victim, name) -> None:
        before = victim.read_bytes()
        with closing(sqlite3.connect(crawl / "clew.db")) as db:
            db.execute("UPDATE warcs SET name = ?, length = 20", (name,))
            db.commit()
        for attempt in (
            lambda: SqliteStore(crawl),
            lambda: CrawlWeb(crawl),
            lambda: export(crawl, crawl.parent / "out", "warc"),
        ):
            with pytest.raises(StoreForeign, match="which clew did not make"):
                attempt()
        assert victim.read_bytes() == before

    @pytest.mark.parametrize(
        "name",
        [
            *("clew.db", "clew.db-wal", "clew.db-shm", "clew.db-journal", "clew.lock", "clew.log"),
            *("search.db", "search.db-wal", "search.db-journal", "pages/clew-00000.warc.gz"),
        ],
    )
    @pytest.mark.parametrize("kind", ["symbolic", "hard", "pipe", "directory", "dangling"])
    def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_written(
        self, crawl, victim, name, kind
    ) -> None:
        path = crawl / name
        if path.exists():
            victim.write_bytes(path.read_bytes() + b"more")
            path.unlink()
        before = victim.read_bytes()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "directory":
            path.mkdir()
        elif kind == "hard":
            path.hardlink_to(victim)
        else:
            path.symlink_to(victim if kind == "symbolic" else victim.with_name("not yet there"))
        with pytest.raises(StoreForeign):
            SqliteStore(crawl)
        assert victim.read_bytes() == before
        assert not victim.with_name("not yet there").exists()

    @pytest.mark.parametrize("fresh", [False, True])
    def test_a_folder_that_is_a_link_is_refused(self, crawl, tmp_path, fresh) -> None:
        elsewhere = tmp_path / "elsewhere"
        (crawl / "pages").rename(elsewhere)
        if fresh:
            for path in (*crawl.iterdir(), *elsewhere.iterdir()):
                path.unlink()
        (crawl / "pages").symlink_to(elsewhere)
        before = sorted(elsewhere.iterdir())
        with pytest.raises(StoreForeign):
            SqliteStore(crawl)
        assert sorted(elsewhere.iterdir()) == before

    def test_a_journal_cannot_have_another_file_deleted(self, crawl, victim) -> None:
        """SQLite deletes the second journal that a journal names, once it has rolled back."""
        name = str(victim).encode()
        head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">iIIII", 0, 0, 2, 512, 4096)
        tail = struct.pack(">I", 262145) + name + struct.pack(">II", len(name), sum(name))
        tail += bytes.fromhex("d9d505f920a163d7")
        (crawl / "clew.db-journal").write_bytes(head.ljust(512, b"\0") + tail)
        for attempt in (lambda: SqliteStore(crawl), lambda: open_reader(crawl)):
            with pytest.raises(StoreForeign, match="names another file to be deleted"):
                attempt()
        assert victim.exists()

    def test_a_search_index_that_is_a_link_is_not_written_to(self, crawl, victim) -> None:
        (crawl / "search.db").symlink_to(victim.with_name("new.db"))
        with pytest.raises(StoreForeign, match="is a link"):
            search(crawl, "wind")
        assert not victim.with_name("new.db").exists()

    def test_a_log_that_is_a_link_is_not_written_to(self, tmp_path, victim) -> None:
        before = victim.read_bytes()
        (tmp_path / "clew.log").symlink_to(victim)
        log = CrawlLog(tmp_path)
        log.note("hello")
        log.close()
        assert victim.read_bytes() == before

    def test_a_record_is_read_from_within_its_file_alone(self, crawl) -> None:
        for offset, length in ((0, 1 << 60), (-1, 10), (1 << 60, 1), (0, -1)):
            change(crawl, f"UPDATE pages SET offset = {offset}, length = {length}")
            with open_reader(crawl) as reader:
                assert export(reader, crawl.parent / "out", "warc") == 0
                assert reader.unreadable == (f"reply of {A}",)


class TestSchema:
    @pytest.mark.parametrize(
        "statement",
        [
            "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM pages; END",
            "CREATE VIEW v AS SELECT * FROM pages",
            "CREATE VIRTUAL TABLE v USING fts5(a)",
            "CREATE INDEX i ON pages (abs(status))",
            "ALTER TABLE pages ADD COLUMN g AS (hex(zeroblob(100000000)))",
            "CREATE TABLE t (a)",
        ],
    )
    def test_what_clew_did_not_declare_is_refused(self, crawl, statement) -> None:
        change(crawl, statement)
        for attempt in (lambda: SqliteStore(crawl), lambda: open_reader(crawl)):
            with pytest.raises(StoreForeign, match="not as clew makes it"):
                attempt()

    def test_a_table_turned_into_a_view_is_refused(self, crawl) -> None:
        change(crawl, "ALTER TABLE texts RENAME TO old", "CREATE VIEW texts AS SELECT * FROM old")
        with pytest.raises(StoreForeign, match="not as clew makes it"):
            open_reader(crawl)

    def test_what_analyze_leaves_is_no_stranger(self, crawl) -> None:
        change(crawl, "ANALYZE")
        read_all(crawl)
        SqliteStore(crawl).close()

    def test_a_crawl_with_a_table_less_is_refused(self, crawl) -> None:
        change(crawl, "DROP TABLE robots")
        with pytest.raises(StoreForeign, match=r"'robots' is missing"):
            open_reader(crawl)


class TestSizes:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE candidates SET id = 4611686018427387904 WHERE id = 1",
            "UPDATE candidates SET id = -7 WHERE id = 1",
            "UPDATE candidates SET host = 7",
            "UPDATE candidates SET source = 99",
            "UPDATE candidates SET state = 77",
            "UPDATE candidates SET state = 1",
            "UPDATE candidates SET depth = -1",
            "UPDATE hosts SET id = 4611686018427387904",
            "UPDATE parts SET width = 1000000000",
            "UPDATE parts SET width = 3",
            "UPDATE parts SET chunk = 1000000000",
        ],
    )
    def test_a_number_out_of_range_makes_no_room(self, crawl, statement) -> None:
        change(crawl, statement)
        with SqliteStore(crawl) as store, pytest.raises(StoreForeign, match="is damaged"):
            store.load()

    def test_a_text_that_claims_to_be_huge_is_not_unpacked(self, crawl) -> None:
        frame = bytes.fromhex("28b52ffde0") + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00"
        change(crawl, f"UPDATE texts SET text = X'{frame.hex()}'")
        with open_reader(crawl) as reader:
            assert list(reader.pages()) == []
            assert reader.unreadable == ("pages 1",)


def test_a_setting_by_which_a_directory_reaches_beyond_itself_is_to_be_given_again(tmp_path) -> None:
    from clew.errors import ConfigError
    from clew.run.config import CrawlConfig
    from clew.run.settings import OUTWARD, resume_config

    for key in OUTWARD:
        stored = CrawlConfig(seeds=(A,), match="wind", **{key: "/somewhere/else"})
        stored = CrawlConfig.from_json(json.dumps(json.loads(stored.to_json())))
        with pytest.raises(ConfigError, match=f"--{key.replace('_', '-')} again"):
            resume_config(stored, {}, environ={})
        given = resume_config(stored, {key: "none"}, environ={}).config
        assert getattr(given, key) is None
        again = resume_config(stored, {}, environ={f"CLEW_{key.upper()}": "/mine"}).config
        assert str(getattr(again, key)) == "/mine"
