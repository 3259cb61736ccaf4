"""An archive that is not what it was is looked at before it is cut, told, and fetched again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew.errors import StoreForeign
from clew.fetch.base import Response
from clew.messages import State
from clew.store import SqliteStore, export, open_reader
from clew.store.examine import examine, repair
from clew.testing.stores import decided, fetched, found

URLS = [f"http://a.example/{i}" for i in range(6)]


def fill(directory: Path, word: str = "wind", pages: int = 6) -> Path:
    """A crawl with a reply for each page, and one of robots.txt that no row names."""
    with SqliteStore(directory) as store:
        store.save([found(0, URLS)])
        store.append(Response(url="http://a.example/robots.txt", status=200, body=word.encode()), 1.7e9)
        for number, url in enumerate(URLS[:pages]):
            body = f"{word} {number} ".encode() * (50 + number)
            blob = store.append(Response(url=url, status=200, body=body), 1.7e9)
            store.save([*fetched(number, url, text=f"text {number}", blob=blob), decided(number + 1, url)])
    return directory


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    return fill(tmp_path / "crawl")


def archive(directory: Path) -> Path:
    return directory / "pages" / "clew-00000.warc.gz"


def places(directory: Path) -> list[tuple[int, int]]:
    with closing(sqlite3.connect(directory / "clew.db")) as db:
        return db.execute("SELECT offset, length FROM pages ORDER BY seq").fetchall()


def flip(directory: Path, page: int) -> None:
    """One bit of a page's reply."""
    offset, length = places(directory)[page]
    data = bytearray(archive(directory).read_bytes())
    data[offset + length // 2] ^= 4
    archive(directory).write_bytes(data)


def test_a_sound_crawl_is_sound(crawl: Path) -> None:
    found_there = examine(crawl)
    assert found_there.sound
    assert (found_there.pages, found_there.replies) == (6, 6)


def test_a_torn_tail_is_cut_from_a_file_that_is_ours(crawl: Path) -> None:
    whole = archive(crawl).read_bytes()
    archive(crawl).write_bytes(whole + b"\x1f\x8b half a record")
    SqliteStore(crawl).close()
    assert archive(crawl).read_bytes() == whole


def test_a_longer_foreign_file_is_not_cut_and_what_was_there_can_be_put_back(
    crawl: Path, tmp_path: Path
) -> None:
    whole = archive(crawl).read_bytes()
    other = archive(fill(tmp_path / "other", "storm " * 40)).read_bytes()
    assert len(other) > len(whole)
    archive(crawl).write_bytes(other)
    with pytest.raises(StoreForeign, match=r"not as clew left it .*nothing was changed"):
        SqliteStore(crawl)
    assert archive(crawl).read_bytes() == other
    assert not examine(crawl).sound
    archive(crawl).write_bytes(whole)
    assert examine(crawl).sound
    SqliteStore(crawl).close()


@pytest.mark.parametrize(
    "foreign", [b"some text of the user's", b"PK\x03\x04" * 900, b"\x1f\x8b" + bytes(5000)]
)
def test_what_is_no_archive_is_neither_cut_nor_appended_to(crawl: Path, foreign: bytes) -> None:
    padded = foreign.ljust(len(archive(crawl).read_bytes()) + 10, b"x")
    archive(crawl).write_bytes(padded)
    with pytest.raises(StoreForeign, match="nothing was changed"):
        SqliteStore(crawl)
    assert archive(crawl).read_bytes() == padded


def test_a_file_that_nothing_was_committed_to_is_not_emptied_unless_clew_began_it(crawl: Path) -> None:
    with closing(sqlite3.connect(crawl / "clew.db")) as db:
        db.execute("INSERT INTO warcs (name, length) VALUES ('clew-00001.warc.gz', 0)")
        db.commit()
    begun = crawl / "pages" / "clew-00001.warc.gz"
    begun.write_text("a letter")
    with pytest.raises(StoreForeign, match="not begun by clew"):
        SqliteStore(crawl)
    assert begun.read_text() == "a letter"
    for left_by_a_crash in (b"", b"\x1f", b"\x1f\x8b\x08 torn", bytes(4096)):
        begun.write_bytes(left_by_a_crash)
        SqliteStore(crawl).close()
        assert begun.read_bytes() == b""


def test_a_flipped_bit_before_a_torn_tail_is_found_before_the_cut(crawl: Path) -> None:
    flip(crawl, 5)
    archive(crawl).write_bytes(damaged := archive(crawl).read_bytes() + b"torn")
    with pytest.raises(StoreForeign, match="nothing was changed"):
        SqliteStore(crawl)
    assert archive(crawl).read_bytes() == damaged


@pytest.mark.parametrize("page", [0, 3, 5])
def test_an_export_has_only_replies_that_are_what_they_were(crawl: Path, tmp_path: Path, page: int) -> None:
    flip(crawl, page)
    with open_reader(crawl) as reader:
        assert export(reader, tmp_path / "out.warc.gz", "warc") == 5
        assert reader.unreadable == (f"reply of {URLS[page]}",)
        assert export(reader, tmp_path / "out.jsonl", "jsonl") == 6


def test_the_reply_of_another_page_is_not_taken_for_this_ones(crawl: Path) -> None:
    offset, length = places(crawl)[1]
    with closing(sqlite3.connect(crawl / "clew.db")) as db:
        db.execute("UPDATE pages SET offset = ?, length = ? WHERE seq = 3", (offset, length))
        db.commit()
    assert examine(crawl).lost == (URLS[2],)


def test_replies_behind_damage_are_still_found(crawl: Path) -> None:
    """One flipped bit costs one reply, not all that follow, when a strategy learns again."""
    flip(crawl, 2)
    with open_reader(crawl) as reader:
        replies = reader.replies()
        assert replies is not None
        assert [replies.get(url) is not None for url in URLS] == [True, True, False, True, True, True]
        replies.close()
        assert len(reader.unreadable) == 1


@pytest.mark.parametrize("page", [0, 5])
def test_what_is_lost_is_queued_again_and_nothing_else_is_lost(crawl: Path, page: int) -> None:
    flip(crawl, page)
    found_there = examine(crawl)
    assert found_there.lost == (URLS[page],)
    assert repair(crawl, found_there) == 1
    assert examine(crawl).sound
    with SqliteStore(crawl) as store:
        saved = store.load()
        assert saved is not None
        assert saved.states.tolist().count(State.QUEUED) == 1
        assert saved.states[page] == State.QUEUED
        assert page not in saved.digests.values()
        blob = store.append(Response(url=URLS[page], status=200, body=b"again"), 1.8e9)
        store.save(fetched(page, URLS[page], text="again", blob=blob))
    assert examine(crawl).sound
    with open_reader(crawl) as reader:
        assert [row.text for row in reader.pages()] == [
            "again" if number == page else f"text {number}" for number in range(6)
        ]


@pytest.mark.parametrize("gone", ["file", "tail", "foreign"])
def test_a_crawl_whose_archive_is_gone_goes_on_in_a_new_file(crawl: Path, gone: str) -> None:
    if gone == "file":
        archive(crawl).unlink()
    elif gone == "tail":
        archive(crawl).write_bytes(archive(crawl).read_bytes()[: places(crawl)[3][0] + 5])
    else:
        archive(crawl).write_bytes(b"foreign" * 5000)
    kept = archive(crawl).read_bytes() if archive(crawl).exists() else None
    lost = len(examine(crawl).lost)
    assert lost == (3 if gone == "tail" else 6)
    assert repair(crawl, examine(crawl)) == lost
    assert examine(crawl).sound
    with SqliteStore(crawl) as store:
        blob = store.append(Response(url=URLS[4], status=200, body=b"again"), 1.8e9)
        assert blob.file == "clew-00001.warc.gz"
        store.save(fetched(4, URLS[4], text="again", blob=blob))
    assert examine(crawl).sound
    assert (archive(crawl).read_bytes() if archive(crawl).exists() else None) == kept


def test_a_page_whose_row_is_damaged_is_fetched_again_and_the_crawl_resumes(crawl: Path) -> None:
    with closing(sqlite3.connect(crawl / "clew.db")) as db:
        db.execute("UPDATE pages SET score = 'much' WHERE seq = 2")
        db.commit()
    with SqliteStore(crawl) as store, pytest.raises(StoreForeign, match="is damaged"):
        store.load()
    found_there = examine(crawl)
    assert found_there.unreadable == ("pages 2",)
    assert repair(crawl, found_there) == 1
    assert examine(crawl).sound
    with SqliteStore(crawl) as store:
        saved = store.load()
        assert saved is not None
        assert saved.states[1] == State.QUEUED


def test_a_reading_that_fails_leaves_the_database_unlocked(crawl: Path) -> None:
    """Whoever keeps the error must not keep the crawl from being resumed."""
    with closing(sqlite3.connect(crawl / "clew.db")) as db:
        db.execute("UPDATE parts SET data = x'00'")
        db.commit()
    with open_reader(crawl) as reader, pytest.raises(StoreForeign, match="is damaged") as kept:
        reader.snapshot()
    with closing(sqlite3.connect(crawl / "clew.db", isolation_level=None, timeout=0)) as db:
        db.execute("BEGIN EXCLUSIVE")
    assert kept.value


def test_a_schema_that_is_no_text_is_damage(crawl: Path) -> None:
    path = crawl / "clew.db"
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE robots", b"CREATE TABL\xff robots"))
    with pytest.raises(StoreForeign, match="is damaged"):
        open_reader(crawl)


def test_rows_that_come_again_without_end_are_told(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged index can lead back to rows that were read; whoever reads on would never end."""
    with open_reader(crawl) as reader:
        ask = reader._all
        monkeypatch.setattr(reader, "_all", lambda query, given=(): ask(query, (0,) if given else ()))
        for reading in (reader.decisions, reader.pages):
            with pytest.raises(StoreForeign, match="out of order"):
                list(reading())
