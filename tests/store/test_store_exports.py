"""Exports have every page once, whole, in formats that read back."""

from __future__ import annotations

import csv
import io
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from clew.errors import StoreForeign, UsageError
from clew.fetch.base import Response
from clew.store import MemoryStore, SqliteStore, export, open_reader
from clew.store.exports import FIELDS
from clew.testing.stores import fetched, found

A = "http://a.example/"
TEXT = 'He said "wind",\nthen left; =1+1 \u00e4 \u2028 end'


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    directory = tmp_path / "crawl"
    with SqliteStore(directory) as store:
        store.save([found(0, [A, f"{A}b", f"{A}c"])])
        for number, url in enumerate([A, f"{A}b", f"{A}c"]):
            blob = store.append(Response(url=url, status=200, body=url.encode()), 0.0) if number < 2 else None
            store.save(fetched(number, url, text=TEXT, matched=number == 1, source=number - 1, blob=blob))
    return directory


def exported(directory: Path, kind: str, **options: bool) -> tuple[int, bytes]:
    stream = io.BytesIO()
    count = export(directory, stream, kind, **options)
    assert not stream.closed
    return count, stream.getvalue()


def test_jsonl_has_one_page_a_line(crawl: Path) -> None:
    count, data = exported(crawl, "jsonl")
    rows = [json.loads(line) for line in data.decode().removesuffix("\n").split("\n")]
    assert count == len(rows) == 3
    assert list(rows[1]) == list(FIELDS)
    assert rows[1] == {
        "url": f"{A}b",
        "status": 200,
        "title": f"Title of {A}b",
        "score": 1.0,
        "matched": True,
        "depth": 1,
        "source": A,
        "fetched_at": "2023-11-14T22:13:20.000Z",
        "lang": "en",
        "rendered": False,
        "feedback": None,
        "interests": [],
        "text": TEXT,
    }


def test_csv_reads_back_equal(crawl: Path) -> None:
    count, data = exported(crawl, "csv")
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    assert count == len(rows) == 3
    assert [row["text"] for row in rows] == [TEXT] * 3
    assert [row["matched"] for row in rows] == ["false", "true", "false"]
    assert [row["source"] for row in rows] == ["", A, f"{A}b"]


@pytest.mark.parametrize("first", list("=+-@\t\r"))
def test_no_csv_cell_is_a_formula_unless_asked_for(tmp_path: Path, first: str) -> None:
    text = f"{first}cmd|' /C calc'!A0"
    with SqliteStore(tmp_path / "crawl") as store:
        store.save([found(0, [A])])
        store.save(fetched(0, A, text=text))
    _, data = exported(tmp_path / "crawl", "csv")
    assert [row["text"] for row in csv.DictReader(io.StringIO(data.decode(), newline=""))] == [f"'{text}"]
    _, data = exported(tmp_path / "crawl", "csv", raw=True)
    assert [row["text"] for row in csv.DictReader(io.StringIO(data.decode(), newline=""))] == [text]
    with pytest.raises(UsageError, match="raw is for csv"):
        exported(tmp_path / "crawl", "jsonl", raw=True)


@pytest.mark.parametrize("first", ["", "="])
def test_pythons_csv_opens_a_page_of_any_length(tmp_path: Path, first: str) -> None:
    text = first + "wind " * 60_000
    with SqliteStore(tmp_path / "crawl") as store:
        store.save([found(0, [A])])
        store.save(fetched(0, A, text=text))
    _, data = exported(tmp_path / "crawl", "csv")
    (row,) = csv.DictReader(io.StringIO(data.decode(), newline=""))
    assert len(row["text"]) == csv.field_size_limit()
    assert text.startswith(row["text"].removeprefix("'"))


def test_finds_alone(crawl: Path) -> None:
    count, data = exported(crawl, "jsonl", matched=True)
    assert count == 1
    assert json.loads(data)["url"] == f"{A}b"


def test_warc_has_the_replies_as_archived(crawl: Path) -> None:
    count, data = exported(crawl, "warc")
    records = [
        (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read())
        for record in ArchiveIterator(io.BytesIO(data), check_digests="raise")
    ]
    assert count == 2
    assert records[0][0] == "warcinfo"
    assert records[1:] == [("response", A, A.encode()), ("response", f"{A}b", f"{A}b".encode())]


def test_a_path_is_written_whole_or_not_at_all(crawl: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages.jsonl"
    target.write_text("before")

    class Failing(MemoryStore):
        def pages(self, *, matched: bool = False, text: bool = True):
            with open_reader(crawl) as reader:
                yield next(iter(reader.pages()))
            raise StoreForeign("gone")

    with pytest.raises(StoreForeign, match="gone"):
        export(Failing(), target, "jsonl")
    assert target.read_text() == "before"
    assert export(crawl, target, "jsonl") == 3
    assert len(target.read_text().split("\n")) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl", "pages.jsonl"]


def test_a_crawl_in_memory_exports_alike(crawl: Path) -> None:
    memory = MemoryStore()
    memory.save([found(0, [A])])
    memory.save(fetched(0, A, text=TEXT))
    stream = io.BytesIO()
    assert export(memory, stream, "csv") == 1
    with pytest.raises(UsageError, match="only a crawl directory"):
        export(memory, stream, "warc")


def test_an_unknown_format_names_the_known(crawl: Path) -> None:
    with pytest.raises(UsageError, match="jsonl, csv, warc, parquet"):
        export(crawl, io.BytesIO(), "xml")


def test_parquet_without_pyarrow_says_what_to_install(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'clew\[parquet\]'"):
        export(crawl, io.BytesIO(), "parquet")


def test_parquet_reads_back_equal(crawl: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    assert export(crawl, tmp_path / "pages.parquet", "parquet") == 3
    table = parquet.read_table(tmp_path / "pages.parquet").to_pylist()
    assert [row["text"] for row in table] == [TEXT] * 3
    assert [row["matched"] for row in table] == [False, True, False]
    assert table[0]["fetched_at"] == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
