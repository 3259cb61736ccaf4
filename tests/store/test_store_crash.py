"""Kills, torn tails and full disks: nothing acknowledged is lost, nothing is stored twice."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator
from warcio.archiveiterator import ArchiveIterator as Warcio

from clew.errors import StorageFull, StoreBusy, StoreForeign
from clew.fetch.base import Response
from clew.store import SqliteStore, open_reader
from clew.store.archive import Archive
from clew.store.replies import http_reply
from clew.store.warc import response_record
from clew.testing.stores import fetched, found

CHILD = Path(__file__).with_name("crawling.py")


@contextmanager
def child(directory: Path, stop: int, every: int, limit: int = 0) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(CHILD), str(directory), str(stop), str(every), str(limit)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def verify(directory: Path, acknowledged: int) -> int:
    """Resume, and check that the crawl is whole up to its last batch; gives the number of pages."""
    with SqliteStore(directory, create=False) as store:
        pages = list(store.pages())
        assert len(pages) >= acknowledged
        assert [page.id for page in pages] == list(range(len(pages)))
        saved = store.load()
        assert saved is not None
        # A batch is a page, its candidate and its decision: whole, or not there at all.
        assert len(saved.keys) == len(pages) + 1
        assert saved.decisions == len(pages)
    with open_reader(directory) as reader:
        for page in pages:
            assert page.blob is not None
            reply = archived(reader.record(page), page.url)
            assert reply.body.startswith(page.text.encode())
        archived_urls = [url for path, _ in reader.archives() for url in valid(path)]
    assert archived_urls == [page.url for page in pages]
    return len(pages)


def archived(record: bytes, url: str) -> Response:
    warc = ArchiveIterator(BytesIO(record), parse_http=False)
    reply = http_reply(url, next(iter(warc)).reader.read(), 1 << 20)
    assert reply is not None
    return reply


def valid(path: Path) -> list[str]:
    """Check a WARC file by two readers of other people's; gives the URLs of its replies."""
    if not path.exists():
        return []
    urls = []
    with path.open("rb") as stream:
        for record in Warcio(stream, check_digests="raise"):
            record.content_stream().read()
            if record.rec_type == "response":
                urls.append(record.rec_headers.get_header("WARC-Target-URI"))
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, parse_http=False):
            assert record.verify_block_digest()
    return urls


@pytest.mark.slow
def test_kills_lose_nothing_acknowledged_and_store_nothing_twice(tmp_path: Path) -> None:
    """SIGKILL at random moments of one crawl, each time taken up again."""
    dice = random.Random(5)
    directory = tmp_path / "crawl"
    reached = 0
    for _ in range(6):
        acknowledged = reached
        with child(directory, reached + 10_000, dice.choice((3, 7, 40))) as process:
            assert process.stdout is not None
            for _ in range(dice.randrange(1, 12)):
                acknowledged = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().split()
            process.wait()
        acknowledged = max([acknowledged, *map(int, rest)])
        reached = verify(directory, acknowledged)
    with child(directory, reached + 20, 20) as process:
        assert process.wait() == 0
    assert verify(directory, reached + 20) == reached + 20


@pytest.fixture
def two_pages(tmp_path: Path) -> Path:
    """A crawl of two pages, closed."""
    directory = tmp_path / "crawl"
    with SqliteStore(directory) as store:
        store.save([found(0, ["http://a.example/0", "http://a.example/1", "http://a.example/2"])])
        for number in range(2):
            add_page(store, number)
    return directory


def add_page(store: SqliteStore, number: int) -> None:
    url = f"http://a.example/{number}"
    blob = store.append(Response(url=url, status=200, body=f"text {number}".encode()), 0.0)
    store.save(fetched(number, url, text=f"text {number}", blob=blob))


def test_a_tail_torn_at_any_byte_is_cut(two_pages: Path) -> None:
    """Whatever part of a record was written before the end, the committed ones stay and it goes."""
    warc = two_pages / "pages" / "clew-00000.warc.gz"
    whole = warc.read_bytes()
    record = response_record(Response(url="http://a.example/2", status=200, body=b"torn"), 0.0)
    with closing(sqlite3.connect(two_pages / "clew.db", isolation_level=None)) as connection:
        for length in range(len(record) + 1):
            warc.write_bytes(whole + record[:length])
            Archive(two_pages / "pages", connection).cut()
            assert warc.read_bytes() == whole
    warc.write_bytes(whole + record[: len(record) // 2])
    with SqliteStore(two_pages) as store:
        add_page(store, 2)
    assert len(valid(warc)) == 3


def test_the_reader_of_a_torn_crawl_sees_what_was_committed(two_pages: Path) -> None:
    warc = two_pages / "pages" / "clew-00000.warc.gz"
    with warc.open("ab") as stream:
        stream.write(b"\x1f\x8b torn")
    with open_reader(two_pages) as reader:
        assert [page.text for page in reader.pages()] == ["text 0", "text 1"]
        assert reader.archives() == [(warc, warc.stat().st_size - 7)]


def test_an_archive_that_lost_bytes_is_refused_and_left_alone(two_pages: Path) -> None:
    warc = two_pages / "pages" / "clew-00000.warc.gz"
    short = warc.read_bytes()[:-1]
    warc.write_bytes(short)
    with pytest.raises(StoreForeign, match=r"not as clew left it .it had"):
        SqliteStore(two_pages)
    assert warc.read_bytes() == short


def test_a_file_registered_and_never_created_is_gone_on_in(two_pages: Path) -> None:
    """A crash between the two steps of beginning a new file."""
    with closing(sqlite3.connect(two_pages / "clew.db")) as connection, connection:
        connection.execute("INSERT INTO warcs (name, length) VALUES ('clew-00001.warc.gz', 0)")
    with SqliteStore(two_pages) as store:
        add_page(store, 2)
    assert valid(two_pages / "pages" / "clew-00001.warc.gz") == ["http://a.example/2"]


def test_a_file_of_somebody_else_is_not_overwritten(tmp_path: Path) -> None:
    directory = tmp_path / "crawl"
    SqliteStore(directory).close()
    stranger = directory / "pages" / "clew-00000.warc.gz"
    stranger.write_bytes(b"mine")
    with SqliteStore(directory) as store:
        store.save([found(0, ["http://a.example/0"])])
        add_page(store, 0)
    assert stranger.read_bytes() == b"mine"
    assert valid(directory / "pages" / "clew-00001.warc.gz") == ["http://a.example/0"]


def test_a_full_archive_disk_is_told_and_the_crawl_resumes(tmp_path: Path) -> None:
    """The archive cannot grow (a limit on file sizes stands in for the disk): exit 5, then go on."""
    directory = tmp_path / "crawl"
    with child(directory, 10_000, 5, limit=2_000_000) as process:
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        assert process.wait() == 5
    assert lines[-1].startswith("StorageFull")
    assert "no room left" in lines[-1]
    reached = verify(directory, int(lines[-2]))
    with child(directory, reached + 5, reached + 5) as process:
        assert process.wait() == 0
    verify(directory, reached + 5)


def test_a_full_database_disk_is_told_and_the_crawl_resumes(two_pages: Path) -> None:
    """SQLite finds no room: every later call says so, and what was flushed is there afterwards."""
    store = SqliteStore(two_pages)
    (pages,) = store._db.execute("PRAGMA page_count").fetchone()
    store._db.execute(f"PRAGMA max_page_count = {pages + 3}")
    urls = [f"http://a.example/{'x' * 500}/{number}" for number in range(200)]
    store.save([found(3, urls)])
    with pytest.raises(StorageFull, match="no room left"):
        store.flush()
    with pytest.raises(StorageFull, match="no room left"):
        store.save([])
    with pytest.raises(StorageFull):
        store.append(Response(url="http://a.example/", status=200), 0.0)
    store.close()
    with SqliteStore(two_pages) as again:
        saved = again.load()
        assert saved is not None
        assert len(saved.keys) == 3
        again.save([found(3, urls)])
        again.flush()
        assert again.url(202) == urls[-1]


def test_a_failure_nobody_was_told_of_is_raised_by_close(two_pages: Path) -> None:
    store = SqliteStore(two_pages)
    store._db.execute("PRAGMA max_page_count = 1")
    store.save([found(3, [f"http://a.example/{'x' * 500}/{number}" for number in range(200)])])
    with pytest.raises(StorageFull):
        store.close()
    SqliteStore(two_pages).close()


def test_a_second_process_is_refused_by_the_pid_of_the_first(tmp_path: Path) -> None:
    directory = tmp_path / "crawl"
    with child(directory, 1_000_000, 1) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(StoreBusy, match=f"process {process.pid}"):
            SqliteStore(directory)
        with open_reader(directory) as reader:
            assert reader.counts().pages >= 1
        process.kill()
        process.wait()
        SqliteStore(directory).close()


def test_a_second_opening_in_one_process_is_refused(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "crawl") as store:
        with pytest.raises(StoreBusy, match="already open in this process"):
            SqliteStore(tmp_path / "crawl")
        store.set_meta(still="fine")
    SqliteStore(tmp_path / "crawl").close()


def test_a_worker_forked_from_a_killed_crawler_does_not_keep_the_directory(tmp_path: Path) -> None:
    program = (
        "import os, sys, time; from clew.store import SqliteStore\n"
        f"store = SqliteStore({str(tmp_path / 'crawl')!r})\n"
        "pid = os.fork()\n"
        "if not pid: time.sleep(60)\n"
        "print(pid, flush=True); os.kill(os.getpid(), 9)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    try:
        process.wait()
        SqliteStore(tmp_path / "crawl").close()
    finally:
        os.kill(worker, signal.SIGKILL)
        process.stdout.close()


def test_a_copy_taken_at_any_commit_is_a_crawl_of_its_own(tmp_path: Path) -> None:
    """What is on disk after a flush is enough: nothing of importance is only in the process."""
    with SqliteStore(tmp_path / "crawl") as store:
        store.save([found(0, ["http://a.example/0", "http://a.example/1"])])
        add_page(store, 0)
        store.flush()
        shutil.copytree(tmp_path / "crawl", tmp_path / "copy")
        add_page(store, 1)
    with SqliteStore(tmp_path / "copy") as copy:
        assert [page.text for page in copy.pages()] == ["text 0"]
