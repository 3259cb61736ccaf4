"""Damaged and foreign files in a crawl directory, two processes in it: a clear word, nothing overwritten."""

from __future__ import annotations

import hashlib
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest


def contents(directory: Path) -> dict[str, str]:
    """What every file holds; the lock, the log and what SQLite keeps beside a database are left out."""
    passing = ("clew.lock", "clew.log", "clew.db-shm", "clew.db-wal", "report.html")
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name not in passing
    }


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(at)
        stream.write(data)


def garbage(directory: Path) -> None:
    (directory / "clew.db").write_bytes(b"\x00garbage" * 5000)


def empty(directory: Path) -> None:
    (directory / "clew.db").write_bytes(b"")


def cut(directory: Path) -> None:
    path = directory / "clew.db"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scratched(directory: Path) -> None:
    path = directory / "clew.db"
    for at in range(8192, path.stat().st_size - 4096, 4096):
        overwrite(path, at, b"\xff" * 200)


def somebody_elses(directory: Path) -> None:
    (directory / "clew.db").unlink()
    with sqlite3.connect(directory / "clew.db") as db:
        db.execute("CREATE TABLE mine (precious TEXT)")
    db.close()


def newer(directory: Path) -> None:
    with sqlite3.connect(directory / "clew.db") as db:
        db.execute("PRAGMA user_version = 999")
    db.close()


def short_archive(directory: Path) -> None:
    path = next((directory / "pages").glob("*.warc.gz"))
    path.write_bytes(path.read_bytes()[:-100])


def no_archive(directory: Path) -> None:
    shutil.rmtree(directory / "pages")


def archive_is_a_file(directory: Path) -> None:
    shutil.rmtree(directory / "pages")
    (directory / "pages").write_text("mine")


def database_is_a_directory(directory: Path) -> None:
    (directory / "clew.db").unlink()
    (directory / "clew.db").mkdir()
    (directory / "clew.db" / "precious").write_text("mine")


DAMAGE = (garbage, empty, cut, scratched, somebody_elses, newer)
DAMAGE += (short_archive, no_archive, archive_is_a_file, database_is_a_directory)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, crawling_in):
    """A crawl that ended, to be damaged in many ways."""
    from loopback import Site, serving

    place = tmp_path_factory.mktemp("finished")
    with serving(Site(30)) as site:
        crawling = crawling_in(site, place / "crawl")
        ended = crawling.run()
        assert ended.code == 0, ended.said
        yield crawling


@pytest.mark.parametrize("harm", DAMAGE, ids=lambda harm: harm.__name__)
def test_a_damaged_crawl_is_refused_in_a_sentence_and_left_as_it_is(finished, tmp_path, harm):
    directory = tmp_path / "copy"
    shutil.copytree(finished.directory, directory)
    harm(directory)
    before = contents(directory)
    ended = finished.here(directory)
    assert ended.code in (1, 2), ended.said
    assert "clew: " in ended.said
    assert "unexpected" not in ended.said
    assert "Traceback" not in ended.said
    assert contents(directory) == before


def test_a_directory_of_other_things_is_left_alone(crawling):
    crawling.directory.mkdir()
    (crawling.directory / "thesis.txt").write_text("mine")
    ended = crawling.here()
    assert ended.code == 1
    assert "thesis.txt" in ended.said
    assert [path.name for path in crawling.directory.iterdir()] == ["thesis.txt"]


def test_a_stranger_among_the_archives_is_not_overwritten(crawling):
    (crawling.directory / "pages").mkdir(parents=True)
    ended = crawling.here()
    assert ended.code == 0, ended.said
    stranger = crawling.directory / "pages" / "clew-00001.warc.gz"
    stranger.write_bytes(b"mine")
    assert crawling.here().code == 0
    assert stranger.read_bytes() == b"mine"


def test_the_second_of_two_crawls_in_one_directory_is_refused(crawling):
    crawling.site.latency = 0.2
    first = subprocess.Popen(
        crawling.command("--concurrency", 1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not crawling.site.log:
            assert first.poll() is None
            time.sleep(0.01)
        second = crawling.run()
        assert second.code == 1
        assert f"in use by process {first.pid}" in second.said
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    crawling.site.latency = 0.0
    assert crawling.run().code == 0
    crawling.whole()


@pytest.mark.slow
def test_a_directory_edited_anywhere_is_told_of_in_a_sentence_and_changes_nothing_outside_it(check):
    """The short form of the check; the long one makes 5,000 edits."""
    found = check("foreign_directory", "--edits", 20, "--seed", 2)
    assert found["edits"] == 20
    assert found["escapes"] == 0, found["failures"]
    assert found["failures"] == []
