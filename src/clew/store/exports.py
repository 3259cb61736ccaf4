"""Streaming exports: jsonl, csv, warc, parquet. One page at a time, whatever the size of the crawl."""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Protocol

from clew.errors import UsageError
from clew.predicate.interests import formulas
from clew.store.backends import open_reader
from clew.store.base import PageRow, Reader
from clew.store.faults import mapped
from clew.store.warc import info_record

FIELDS = (
    *("url", "status", "title", "score", "matched", "depth", "source", "fetched_at", "lang"),
    *("rendered", "feedback", "interests", "text"),
)
#: As many characters as Python's `csv` takes for a cell, unless told otherwise.
LONGEST_CELL = 131_072
#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_GROUP = 500


def export(
    source: Path | str | Reader,
    target: Path | str | IO[bytes],
    format: str = "jsonl",  # noqa: A002 - what it is
    *,
    matched: bool = False,
    interest: str = "",
    raw: bool = False,
) -> int:
    """Write the pages of a crawl; gives how many. What is damaged is left out: `reader.unreadable` names it.

    A path is written beside its place and moved there when complete, so it never holds half an
    export; a binary stream is written as it goes.

    Parameters: the place of a crawl or a reader of one; a path or a binary stream; `jsonl`, `csv`, `warc`
    or `parquet`; `matched` for the finds alone; `interest` for those that satisfy one of a crawl's
    several interests; `raw` for csv cells as they are, though a spreadsheet may
    take them for formulas and Python's `csv` finds them too long.

    >>> from clew.store import MemoryStore
    >>> stream = io.BytesIO()
    >>> export(MemoryStore(), stream, "csv"), stream.getvalue().decode().strip()
    (0, 'url,status,title,score,matched,depth,source,fetched_at,lang,rendered,feedback,interests,text')
    """
    writer = _WRITERS.get(format)
    if writer is None:
        raise UsageError(f"there is no export format {format!r}: choose one of {', '.join(_WRITERS)}")
    if raw and format != "csv":
        raise UsageError(f"raw is for csv: {format} has every value as it is anyway")
    if raw:
        writer = partial(_csv, raw=True)
    with _reading(source) as reader:
        rows: Pages = _OfInterest(reader, interest) if interest else reader
        matched = matched or bool(interest)
        if isinstance(target, (str, Path)):
            with mapped(Path(target)), _replacing(Path(target)) as stream:
                return writer(rows, stream, matched)
        return writer(rows, target, matched)


class Pages(Protocol):
    """What an export needs of a reader."""

    def pages(self, *, matched: bool = False, text: bool = True) -> Iterator[PageRow]: ...

    def record(self, row: PageRow) -> bytes | None: ...


class _OfInterest:
    """A reader of a crawl of several interests that has the pages of one alone."""

    def __init__(self, reader: Reader, interest: str) -> None:
        config = reader.meta().get("config")
        names = tuple(formulas(str(config.get("match", ""))) if isinstance(config, dict) else ())
        self.reader, self.interest = reader, interest
        found = {*names, *reader.counts().by_interest} - {""}
        if interest not in found:
            raise UsageError(
                f"this crawl has no interest {interest!r}: "
                + (f"it has {', '.join(sorted(found))}" if found else "it has one formula, without a name")
            )

    def pages(self, *, matched: bool = False, text: bool = True) -> Iterator[PageRow]:
        rows = self.reader.pages(matched=matched, text=text)
        return (row for row in rows if self.interest in row.interests)

    def record(self, row: PageRow) -> bytes | None:
        return self.reader.record(row)


def record(row: PageRow) -> dict[str, Any]:
    """A page as exports show it."""
    said = None if row.feedback is None else "yes" if row.feedback else "no"
    told = {"feedback": said, "interests": list(row.interests)}
    return {name: getattr(row, name) for name in FIELDS} | told


@contextmanager
def _reading(source: Path | str | Reader) -> Iterator[Reader]:
    if not isinstance(source, (str, Path)):
        yield source
        return
    with open_reader(source) as reader:
        yield reader


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its place only when all went well."""
    building = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with building.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        building.replace(path)
    except BaseException:
        building.unlink(missing_ok=True)
        raise


def _jsonl(reader: Pages, stream: IO[bytes], matched: bool) -> int:
    count = 0
    for row in reader.pages(matched=matched):
        line = json.dumps(record(row), ensure_ascii=False, separators=(",", ":"))
        stream.write(line.encode("utf-8", "replace") + b"\n")
        count += 1
    return count


def _csv(reader: Pages, stream: IO[bytes], matched: bool, raw: bool = False) -> int:
    text = io.TextIOWrapper(stream, "utf-8", errors="replace", newline="", write_through=True)
    try:
        table = csv.writer(text, lineterminator="\r\n")
        table.writerow(FIELDS)
        count = 0
        for row in reader.pages(matched=matched):
            flags = {"matched": str(row.matched).lower(), "rendered": str(row.rendered).lower()}
            values = record(row) | flags | {"interests": " ".join(row.interests)}
            table.writerow(values.values() if raw else map(_harmless, values.values()))
            count += 1
        return count
    finally:
        text.detach()  # the stream is the caller's: not ours to close


def _harmless(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula and Python's `csv` reads as it is."""
    if not isinstance(cell, str):
        return cell
    return f"'{cell[: LONGEST_CELL - 1]}" if cell.startswith(_FORMULA) else cell[:LONGEST_CELL]


def _warc(reader: Pages, stream: IO[bytes], matched: bool) -> int:
    rows = reader.pages(matched=matched, text=False)
    first = next((row for row in rows if row.blob is not None), None)
    if first is None and any(True for _ in reader.pages(matched=matched, text=False)):
        raise UsageError("only a crawl directory has replies to export as warc")
    stream.write(info_record("export.warc.gz", "clew", time.time()))
    count = 0
    for row in () if first is None else chain([first], rows):
        if (data := reader.record(row)) is not None:
            stream.write(data)
            count += 1
    return count


def _parquet(reader: Pages, stream: IO[bytes], matched: bool) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError("parquet needs pyarrow: install it with `pip install 'clew[parquet]'`") from None
    kinds = {
        "status": pyarrow.int32(),
        "score": pyarrow.float64(),
        "matched": pyarrow.bool_(),
        "depth": pyarrow.int32(),
        "rendered": pyarrow.bool_(),
        "fetched_at": pyarrow.timestamp("ms", tz="UTC"),
        "interests": pyarrow.list_(pyarrow.string()),
    }
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in FIELDS])
    rows = reader.pages(matched=matched)
    count = 0
    with parquet.ParquetWriter(stream, schema, compression="zstd") as table:
        while group := [_timed(record(row)) for row in islice(rows, _GROUP)]:
            table.write_table(pyarrow.Table.from_pylist(group, schema=schema))
            count += len(group)
    return count


def _timed(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"fetched_at": datetime.fromisoformat(values["fetched_at"])}


_WRITERS: dict[str, Callable[[Pages, IO[bytes], bool], int]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "warc": _warc,
    "parquet": _parquet,
}
