"""A corpus file, turned once into an index that opens at once.

Corpora are long compressed streams: good to ship, useless to look a page up in. The first use writes
`NAME-KEY.db` to the cache directory, SQLite with each body compressed by itself; later uses only open
it. The key is made of the corpus file's size and time, so that a changed file is read anew. The index
can be deleted at any time. Where the cache directory cannot be written, the same tables are built in
memory.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

FORMAT = 1
"""Part of the file name: raise it when the tables change."""

SCHEMA = """
CREATE TABLE page (n INTEGER PRIMARY KEY, url TEXT, kind TEXT, labels TEXT, headers TEXT);
CREATE TABLE body (n INTEGER PRIMARY KEY, size INTEGER, data BLOB);
"""


@dataclass(frozen=True, slots=True)
class RecordedPage:
    """One recorded page, as an adapter reads it from its corpus."""

    url: str
    kind: str
    labels: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    body: bytes


def cache_home() -> Path:
    """Where things that can be made again are kept: `CLEW_CACHE_HOME`, else `~/.cache/clew`."""
    if named := os.environ.get("CLEW_CACHE_HOME"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clew"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a `.jsonl.zst` file, one at a time."""
    with path.open("rb") as file:
        plain = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        for line in io.TextIOWrapper(plain, encoding="utf-8", newline="\n"):
            yield json.loads(line)


class CorpusIndex:
    """The pages of one corpus file by number, in the file's order.

    Safe to use from several threads and, when it is a file, after a fork.
    """

    def __init__(self, path: Path | None, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._zstd = zstandard.ZstdDecompressor()
        connection.execute("SELECT 1 FROM page JOIN body USING (n) LIMIT 1").fetchone()

    def listing(self) -> Iterator[tuple[int, str, str]]:
        """Number, URL as recorded and kind of every page."""
        with self._lock:
            found = self._db().execute("SELECT n, url, kind FROM page ORDER BY n").fetchall()
        yield from found

    def labels(self, n: int) -> tuple[str, ...]:
        """The labels of page `n`."""
        with self._lock:
            (text,) = self._db().execute("SELECT labels FROM page WHERE n = ?", (n,)).fetchone()
        return tuple(json.loads(text))

    def read(self, n: int) -> tuple[tuple[tuple[str, str], ...], bytes]:
        """Headers and body of page `n`."""
        query = "SELECT headers, size, data FROM page JOIN body USING (n) WHERE n = ?"
        with self._lock:
            headers, size, data = self._db().execute(query, (n,)).fetchone()
            body = self._zstd.decompress(data, max_output_size=size) if size else b""
        return tuple((name, value) for name, value in json.loads(headers)), body

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    def _db(self) -> sqlite3.Connection:
        # SQLite forbids using a connection made before a fork in the child.
        if self.path is not None and self._pid != os.getpid():
            self._connection = _connect(self.path)
            self._pid = os.getpid()
        return self._connection


def open_index(name: str, source: Path, read: Callable[[Path], Iterator[RecordedPage]]) -> CorpusIndex:
    """The index of a corpus file, made now if it is not in the cache.

    Two processes may make it at once: each writes its own file and moves it into place whole.
    """
    stat = source.stat()
    path = cache_home() / f"{name}-{stat.st_size:x}-{stat.st_mtime_ns:x}-{FORMAT}.db"
    with contextlib.suppress(sqlite3.Error):  # missing, or damaged
        return CorpusIndex(path, _connect(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(prefix=f"{name}-", suffix=".new", dir=path.parent)
    except OSError:
        return CorpusIndex(None, _build(":memory:", read(source)))
    os.close(handle)
    try:
        _build(made, read(source)).close()
        Path(made).replace(path)
        return CorpusIndex(path, _connect(path))
    except sqlite3.Error:  # no room on that device
        return CorpusIndex(None, _build(":memory:", read(source)))
    finally:
        Path(made).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    # immutable: the file never changes once it is in place, so no locks and no journal are needed.
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
    )


def _build(target: str, entries: Iterator[RecordedPage]) -> sqlite3.Connection:
    connection = sqlite3.connect(target, check_same_thread=False, isolation_level=None)
    # Nothing is lost if this fails half-way: the file has its name only once it is whole.
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.executescript(SCHEMA)
    connection.execute("BEGIN")
    compressor = zstandard.ZstdCompressor(level=3)
    for n, entry in enumerate(entries):
        row = (n, entry.url, entry.kind, json.dumps(entry.labels), json.dumps(entry.headers))
        connection.execute("INSERT INTO page VALUES (?, ?, ?, ?, ?)", row)
        packed = compressor.compress(entry.body)
        connection.execute("INSERT INTO body VALUES (?, ?, ?)", (n, len(entry.body), packed))
    connection.execute("COMMIT")
    return connection
