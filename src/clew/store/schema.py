"""The tables of `clew.db`, and the way from every older version to the newest.

Three things keep the cost of a crawl low. Nothing is indexed that is not needed while crawling: a
random index over a million URLs would dirty a page of disk for every link found. What is rewritten
often is narrow: contributions to scores lie in `parts`, `CHUNK` candidates to a row, so that
changing one costs one page of disk and changing all costs little more. What is bulky (`texts`,
`links`) lies apart from what is scanned (`pages`).
"""

from __future__ import annotations

import contextlib
import sqlite3
import uuid
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from clew.errors import StoreForeign
from clew.store.faults import mapped

APPLICATION_ID = 0x636C6577  # "clew"
CHUNK = 64

_TABLES = """
CREATE TABLE crawl (id TEXT NOT NULL);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE hosts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    next_at REAL, delay REAL, failures INTEGER, requests INTEGER, pages INTEGER, matches INTEGER
);
CREATE TABLE robots (
    host INTEGER NOT NULL, position INTEGER NOT NULL, origin TEXT NOT NULL,
    status INTEGER NOT NULL, fetched_at REAL NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (host, position)
) WITHOUT ROWID;
CREATE TABLE candidates (
    id INTEGER PRIMARY KEY, key INTEGER NOT NULL, host INTEGER NOT NULL, depth INTEGER NOT NULL,
    source INTEGER NOT NULL, state INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
    via TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', url TEXT NOT NULL, anchor TEXT NOT NULL
);
CREATE TABLE parts (chunk INTEGER PRIMARY KEY, width INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE pages (
    seq INTEGER PRIMARY KEY, candidate INTEGER NOT NULL UNIQUE,
    status INTEGER NOT NULL, type TEXT NOT NULL, title TEXT NOT NULL, lang TEXT NOT NULL,
    score REAL NOT NULL, satisfied INTEGER NOT NULL, matched INTEGER NOT NULL,
    duplicate_of INTEGER NOT NULL, near INTEGER NOT NULL, digest INTEGER NOT NULL, simhash INTEGER NOT NULL,
    source INTEGER NOT NULL, depth INTEGER NOT NULL, fetched_at REAL NOT NULL, wire INTEGER NOT NULL,
    warc INTEGER, offset INTEGER, length INTEGER, reasons TEXT NOT NULL
);
CREATE TABLE texts (candidate INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE links (candidate INTEGER PRIMARY KEY, targets BLOB NOT NULL);
CREATE TABLE trace (
    seq INTEGER PRIMARY KEY, session INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,
    url TEXT NOT NULL, candidate INTEGER NOT NULL, attempt INTEGER NOT NULL, score REAL,
    queue INTEGER NOT NULL, status INTEGER NOT NULL, result TEXT NOT NULL, verdict REAL,
    new INTEGER NOT NULL, known INTEGER NOT NULL, exact BLOB NOT NULL,
    reasons TEXT NOT NULL, dropped TEXT NOT NULL
);
CREATE TABLE learned (id INTEGER PRIMARY KEY CHECK (id = 0), state TEXT NOT NULL);
CREATE TABLE warcs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, length INTEGER NOT NULL);
"""


def _first(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("INSERT INTO crawl VALUES (?)", (uuid.uuid4().hex,))


def _host_memory(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE hosts ADD COLUMN memory TEXT NOT NULL DEFAULT ''")


def _wire_and_rendered(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE pages ADD COLUMN rendered INTEGER NOT NULL DEFAULT 0")
    connection.execute("ALTER TABLE hosts ADD COLUMN wire INTEGER NOT NULL DEFAULT 0")
    # Of older crawls only what pages took is known.
    connection.execute(
        "UPDATE hosts SET wire = taken.bytes FROM (SELECT c.host AS host, sum(p.wire) AS bytes FROM pages p "
        "JOIN candidates c ON c.id = p.candidate GROUP BY c.host) AS taken WHERE taken.host = hosts.id"
    )


#: Migration `i` leads from version `i` to version `i + 1`; each runs in one transaction of its own.
MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = [_first, _host_memory, _wire_and_rendered]


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database to the newest version; a crash in between leaves the version reached so far."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number in range(version, len(MIGRATIONS)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            MIGRATIONS[number](connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise


def create(path: Path) -> None:
    """Make an empty `clew.db`, at once whole: it is built beside its place and moved there."""
    building = path.with_name(path.name + ".new")
    with mapped(path):
        for leftover in (building, Path(f"{building}-journal")):
            leftover.unlink(missing_ok=True)
        connection = sqlite3.connect(building, isolation_level=None)
        try:
            migrate(connection)
        finally:
            connection.close()
        building.rename(path)


def check(connection: sqlite3.Connection, path: Path, *, current: bool) -> None:
    """Refuse a database that is not a crawl, or one of a version this clew cannot handle.

    Parameters: `current` demands the newest version (readers, which may not migrate).
    """
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # finds a file cut short
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    if owner != APPLICATION_ID:
        raise StoreForeign(
            f"{path} is an SQLite database, but not a crawl of clew's: choose another directory"
        )
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise StoreForeign(
            f"{path} was written by a newer clew (format {version}, this one knows up to {len(MIGRATIONS)}): "
            "upgrade clew to open it"
        )
    if current and version < len(MIGRATIONS):
        raise StoreForeign(
            f"{path} was written by an older clew (format {version}): resume it once with `clew crawl -d` "
            "to bring it up to date"
        )


def connect_writer(path: Path) -> sqlite3.Connection:
    """The one writing connection: WAL, every commit durable."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=10.0, check_same_thread=False)
    try:
        check(connection, path, current=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        connection.execute("PRAGMA cache_size = -16384")
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def disconnect_writer(connection: sqlite3.Connection) -> None:
    """Fold the log back and leave `clew.db` alone in the directory, unless somebody is reading just now."""
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA busy_timeout = 100")
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        connection.close()


_READ_ONLY = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY})


def connect_reader(path: Path, *, current: bool = True) -> sqlite3.Connection:
    """A connection that cannot write, good beside a running crawl, after a crash and on read-only media."""
    try:
        return _read_only(path, "mode=ro", current)
    except sqlite3.OperationalError as error:
        wal = Path(f"{path}-wal")
        if error.sqlite_errorcode & 0xFF not in _READ_ONLY or (wal.exists() and wal.stat().st_size):
            raise
        # A directory that may not be written to, or a crash just as the database was opened or closed, and no
        # log to heed: what is there is all there is. (A journal left behind by such a crash is about the mode
        # of the database only; who opens it for writing rolls it back.)
        return _read_only(path, "mode=ro&immutable=1", current)


def _read_only(path: Path, options: str, current: bool) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?{options}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10.0, check_same_thread=False)
    try:
        check(connection, path, current=current)
    except BaseException:
        connection.close()
        raise
    return connection
