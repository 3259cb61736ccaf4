"""Full-text search over a crawl's pages, by an FTS5 index that is made when it is first asked for.

Indexing costs more than all other storing together, so a crawl does not pay for it. The index lies
in `search.db`, apart from `clew.db`, which readers never write to. Each search first takes in the
pages fetched since the last one. The file can be deleted at any time.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from clew.errors import StoreForeign
from clew.store import directory as layout
from clew.store import schema
from clew.store.base import Hit, PageRow, Progress
from clew.store.faults import decoding, sqlite_code
from clew.store.query import Query, snippet
from clew.store.read import CrawlReader

_APPLICATION_ID = 0x636C6578
_VERSION = 1
_GROUP = 200
_INSERT = "INSERT INTO pages (rowid, title, text) VALUES (?, ?, ?)"


def search_directory(
    reader: CrawlReader, query: str, *, limit: int, matched: bool, progress: Progress | None
) -> list[Hit]:
    """Find pages of a crawl directory, by the index that lies in it; the first search makes it."""
    asked = Query.parse(query)
    path = reader.path / "search.db"
    with decoding(path), closing(_connect(path, reader.identity)) as index:
        _update(index, reader, progress)
        return list(islice(_hits(index, reader.page_at, asked, matched), limit))


def search_pages(
    pages: Iterable[PageRow], query: str, *, limit: int, matched: bool, progress: Progress | None = None
) -> list[Hit]:
    """Find pages by their words among those given, by an index in memory: for a store that keeps none."""
    asked = Query.parse(query)
    kept: dict[int, PageRow] = {}
    with closing(_prepare(sqlite3.connect(":memory:", isolation_level=None), "")) as index:
        for number, page in enumerate(pages, 1):
            index.execute(_INSERT, (number, page.title, page.text))
            kept[number] = page
            if progress is not None and number % _GROUP == 0:
                progress(number, number)
        return list(islice(_hits(index, kept.get, asked, matched), limit))


def _hits(
    index: sqlite3.Connection, page_at: Callable[[int], PageRow | None], query: Query, matched: bool
) -> Iterator[Hit]:
    found = index.execute(
        "SELECT rowid, bm25(pages, 4.0, 1.0) AS worth FROM pages WHERE pages MATCH ? ORDER BY worth, rowid",
        (query.fts(),),
    )
    for seq, worth in found:
        page = page_at(seq)
        if page is not None and (page.matched or not matched):
            yield _hit(page, query, -worth)


def _hit(page: PageRow, query: Query, rank: float) -> Hit:
    return Hit(
        url=page.url,
        title=page.title,
        snippet=snippet(page.text or page.title, query),
        rank=rank,
        score=page.score,
        matched=page.matched,
        interests=page.interests,
    )


def _connect(path: Path, identity: str) -> sqlite3.Connection:
    """The index of this very crawl: made new when absent, damaged, or left over from another."""
    layout.require_own_database(path)
    layout.require_own_file(path)
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return _prepare(sqlite3.connect(":memory:", isolation_level=None), identity)
    try:
        return _open(path, identity)
    except sqlite3.DatabaseError as error:
        code = sqlite_code(error)
        if code == sqlite3.SQLITE_CORRUPT:
            _remove(path)
            return _open(path, identity)
        if code == sqlite3.SQLITE_NOTADB:
            raise StoreForeign(f"{path} is not a search index of clew's: move it away") from error
        raise


def _open(path: Path, identity: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=60.0)
    try:
        schema.harden(connection)
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if owner != _APPLICATION_ID and tables:
            raise StoreForeign(f"{path} is not a search index of clew's: move it away")
        return _prepare(connection, identity)
    except BaseException:
        connection.close()
        raise


def _prepare(connection: sqlite3.Connection, identity: str) -> sqlite3.Connection:
    # What is lost in a crash is indexed again: no need to wait for the disk.
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    stale = version != _VERSION
    if not stale:
        stale = connection.execute("SELECT crawl FROM state").fetchone()[0] != identity
    if stale:
        connection.execute("DROP TABLE IF EXISTS pages")
        connection.execute("DROP TABLE IF EXISTS state")
        connection.execute("CREATE TABLE state (crawl TEXT NOT NULL, seq INTEGER NOT NULL)")
        connection.execute("INSERT INTO state VALUES (?, 0)", (identity,))
        connection.execute(
            "CREATE VIRTUAL TABLE pages USING fts5 "
            "(title, text, content='', tokenize=\"unicode61 remove_diacritics 2\")"
        )
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute("COMMIT")
    return connection


def _update(index: sqlite3.Connection, reader: CrawlReader, progress: Progress | None) -> None:
    """Take in the pages fetched since the last time."""
    total = reader.fetched() if progress is not None else 0
    while True:
        # Two searches at once: the second waits here, then goes on from where the first came to.
        index.execute("BEGIN IMMEDIATE")
        try:
            (done,) = index.execute("SELECT seq FROM state").fetchone()
            pages = list(islice(reader.numbered(after=done), _GROUP))
            rows = [(seq, page.title, page.text) for seq, page in pages]
            index.executemany(_INSERT, rows)
            if pages:
                index.execute("UPDATE state SET seq = ?", (pages[-1][0],))
            index.execute("COMMIT")
        except BaseException:
            index.execute("ROLLBACK")
            raise
        if not pages:
            return
        if progress is not None:
            progress(pages[-1][0], max(pages[-1][0], total))


def _remove(path: Path) -> None:
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        name.unlink(missing_ok=True)
