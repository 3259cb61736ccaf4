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
import sys
import uuid
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from clew.errors import StoreForeign
from clew.store.faults import mapped, sqlite_code

APPLICATION_ID = 0x636C6577  # "clew"
CHUNK = 64
LONGEST = 1 << 28
"""Bytes of the longest row, text or blob: a length that is damaged asks for no more memory than that."""

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


def _journal(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE journal (id INTEGER PRIMARY KEY, after INTEGER NOT NULL, entry TEXT NOT NULL)"
    )


def _sketches(connection: sqlite3.Connection) -> None:
    # Digests and similarity hashes of older crawls are of the main text alone. Such a digest equals a new one
    # only where the main text was all there is, and then rightly; the hashes are of no use any more.
    connection.execute("ALTER TABLE pages RENAME COLUMN simhash TO sketch")
    connection.execute("UPDATE pages SET sketch = x''")


def _joined(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE trace ADD COLUMN joined INTEGER NOT NULL DEFAULT 0")


def _words_said(connection: sqlite3.Connection) -> None:
    # Of pages of older crawls it is not known, and what follows from it lies in the memory of their hosts.
    connection.execute("ALTER TABLE pages ADD COLUMN said INTEGER")


def _feedback(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE pages ADD COLUMN feedback INTEGER")


def _interests(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE pages ADD COLUMN interests TEXT NOT NULL DEFAULT ''")


#: Migration `i` leads from version `i` to version `i + 1`; each runs in one transaction of its own.
MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = [
    _first,
    _host_memory,
    _wire_and_rendered,
    _journal,
    _sketches,
    _joined,
    _words_said,
    _feedback,
    _interests,
]


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


def harden(connection: sqlite3.Connection) -> None:
    """Keep a database that may come from a stranger from running or allocating what its maker chose."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)


Schema = frozenset[tuple[str, str, str, str | None]]
"""Kind, name, table and statement of everything a database declares."""


def declared(connection: sqlite3.Connection) -> Schema:
    """What a database declares, but for the statistics that `ANALYZE` leaves."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    return frozenset(
        (kind, name, table, None if sql is None else " ".join(str(sql).split()))
        for kind, name, table, sql in rows
        if not str(name).startswith("sqlite_stat")
    )


@lru_cache(maxsize=8)
def _expected(migrations: tuple[Callable[[sqlite3.Connection], None], ...]) -> Schema:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for migration in migrations:
            migration(connection)
        return declared(connection)


def require_schema(found: Schema, expected: Schema, path: Path) -> None:
    """Refuse a database with a trigger, view, index or table that is not clew's, or without one that is."""
    for kind, name, *_ in sorted(found - expected, key=str):
        raise StoreForeign(
            f"{path} has a {kind} {str(name)[:80]!r} that is not as clew makes it, and could run what "
            "its maker chose: do not use it, or drop what you added; nothing was changed"
        )
    for kind, name, *_ in sorted(expected - found, key=str):
        raise StoreForeign(f"{path} is damaged (the {kind} {name!r} is missing): restore it from a copy")


def check(connection: sqlite3.Connection, path: Path) -> int:
    """Refuse a database that is not a crawl, or one of a newer format; gives the number of its format."""
    harden(connection)
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
    if version < 1:
        raise StoreForeign(f"{path} is damaged (format {version}): restore it from a copy")
    require_schema(declared(connection), _expected(tuple(MIGRATIONS[:version])), path)
    return int(version)


def connect_writer(path: Path) -> sqlite3.Connection:
    """The one writing connection: WAL, every commit durable."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=10.0, check_same_thread=False)
    try:
        check(connection, path)
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
    """A connection that cannot write, good beside a running crawl, after a crash and on read-only media.

    Parameters: the database; `current`, whether an older format is read as a copy brought up to date.
    """
    try:
        return _read_only(path, "mode=ro", current)
    except sqlite3.OperationalError as error:
        wal = Path(f"{path}-wal")
        if sqlite_code(error) not in _READ_ONLY or (wal.exists() and wal.stat().st_size):
            raise
        # A directory that may not be written to, or a crash just as the database was opened or closed, and no
        # log to heed: what is there is all there is. (A journal left behind by such a crash is about the mode
        # of the database only; who opens it for writing rolls it back.)
        return _read_only(path, "mode=ro&immutable=1", current)


def _upgraded(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A copy of an older format, brought up to date: readers never write to what they read.

    SQLite keeps it in memory while it is small, and in a file without a name when it grows.
    """
    copy = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    try:
        with contextlib.closing(connection):
            harden(connection)
            connection.backup(copy)
        harden(copy)
        migrate(copy)
    except BaseException:
        copy.close()
        raise
    return copy


def _read_only(path: Path, options: str, current: bool) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?{options}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10.0, check_same_thread=False)
    try:
        version = check(connection, path)
    except BaseException:
        connection.close()
        raise
    return _upgraded(connection) if current and version < len(MIGRATIONS) else connection
