"""What is wrong with the files of a crawl directory, and how it is set right: what is lost is fetched again.

A reply that is lost loses no page: its text, its verdict and its links are in the database, and stay. What is
queued again is the URL, so that the next `clew crawl` archives its reply anew.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from clew.errors import StoreForeign
from clew.messages import State
from clew.store import directory as layout
from clew.store import schema
from clew.store.archive import Archive
from clew.store.faults import decoding
from clew.store.read import read_directory
from clew.store.warc import next_file

_QUEUE = f"UPDATE candidates SET state = {State.QUEUED.value}, attempts = 0, reason = '' WHERE id = ?"
#: The reply is gone, and so is what would make the page that comes in its place a copy of itself.
_FORGET = (
    "UPDATE pages SET warc = NULL, offset = NULL, length = NULL, digest = 0, sketch = x'' WHERE candidate = ?"
)
_SHOWN = 20


def check(directory: Path) -> list[str]:
    """What is wrong with the database and with the archive's files, each a sentence."""
    layout.inspect(directory)
    path = layout.database(directory)
    with decoding(path), contextlib.closing(schema.connect_reader(path, current=False)) as connection:
        damage = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_SHOWN})")]
        problems = [f"{path} is damaged: {finding}" for finding in damage if finding != "ok"]
        try:
            faults = Archive(layout.archive(directory), connection).faults()
        except StoreForeign as error:
            return [*problems, str(error)]
    return problems + [f"pages/{name} is not as clew left it: {fault}" for name, fault in faults.items()]


def repair(directory: Path, urls: Sequence[str]) -> int:
    """Queue again the pages of these URLs and those whose rows cannot be read; gives how many.

    An archive file that is not what it was is kept as it is, and a new one is begun behind it.
    """
    lock = layout.prepare(directory, create=False)
    try:
        layout.verify(directory)
        damaged = _damaged_pages(directory)
        path = layout.database(directory)
        with decoding(path), contextlib.closing(schema.connect_writer(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            queued = _queue_lost(connection, urls) | _queue_damaged(connection, damaged)
            _begin_new_file(connection, layout.archive(directory))
            connection.execute("COMMIT")
            schema.disconnect_writer(connection)
        # Its numbers are those of rows that may be gone; it is made anew by the next search.
        for name in ("search.db", "search.db-wal", "search.db-shm"):
            (directory / name).unlink(missing_ok=True)
    finally:
        lock.release()
    return len(queued)


def _damaged_pages(directory: Path) -> list[int]:
    with read_directory(directory) as reader:
        for page in reader.pages():
            reader.outlinks(page.id)
        named = [name.split(" ") for name in reader.unreadable]
    return [int(words[1]) for words in named if words[0] == "pages"]


def _queue_lost(connection: sqlite3.Connection, urls: Iterable[str]) -> set[int]:
    queued = set()
    for url in urls:
        for (number,) in connection.execute("SELECT id FROM candidates WHERE url = ?", (url,)).fetchall():
            connection.execute(_QUEUE, (number,))
            connection.execute(_FORGET, (number,))
            queued.add(number)
    return queued


def _queue_damaged(connection: sqlite3.Connection, rows: Iterable[int]) -> set[int]:
    queued = set()
    for seq in rows:
        (number,) = connection.execute("SELECT candidate FROM pages WHERE seq = ?", (seq,)).fetchone()
        connection.execute("DELETE FROM pages WHERE seq = ?", (seq,))
        for table in ("texts", "links"):
            connection.execute(f"DELETE FROM {table} WHERE candidate = ?", (number,))
        if connection.execute(_QUEUE, (number,)).rowcount:
            queued.add(number)
    return queued


def _begin_new_file(connection: sqlite3.Connection, pages: Path) -> None:
    archive = Archive(pages, connection)
    faults = archive.faults()
    for name in faults:
        size = (pages / name).stat().st_size if (pages / name).exists() else 0
        connection.execute("UPDATE warcs SET length = ? WHERE name = ?", (size, name))
    if faults and (last := archive.last()) is not None:
        connection.execute("INSERT INTO warcs (name, length) VALUES (?, 0)", (next_file(pages, last[0]),))
