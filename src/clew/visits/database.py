"""`VisitsDatabase`: visits at rest, in one SQLite file.

Visits are ordered by time, so that a log is appended and what is old is removed as one range. What is deleted
is overwritten.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from clew.errors import StoreForeign, UsageError
from clew.store.faults import translate
from clew.visits.privacy import Secret

VERSION = 2
_APPLICATION = 0x636C7676  # "clvv"
_FILE = b"SQLite format 3\0"
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- time in milliseconds since 1970 (UTC); person, a keyed hash; page, the key of its URL
CREATE TABLE visits (
  time INTEGER, person INTEGER, page INTEGER, PRIMARY KEY (time, person, page)
) WITHOUT ROWID;
CREATE TABLE pages (page INTEGER PRIMARY KEY, url TEXT NOT NULL);
-- a page that led a person on to another by a redirect
CREATE TABLE redirects (
  time INTEGER, person INTEGER, page INTEGER, target INTEGER NOT NULL, PRIMARY KEY (time, person, page)
) WITHOUT ROWID;
-- people that asked for robots.txt
CREATE TABLE robots (person INTEGER PRIMARY KEY);
-- logs that were taken in: keyed digests of their first bytes and of all bytes up to `offset`
CREATE TABLE logs (
  number INTEGER PRIMARY KEY, head BLOB NOT NULL, head_length INTEGER NOT NULL, format TEXT NOT NULL,
  offset INTEGER NOT NULL, digest BLOB NOT NULL, finished INTEGER NOT NULL, counts TEXT NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class LogRow:
    """How far a log was taken in."""

    number: int
    format: str
    offset: int
    digest: bytes
    finished: bool
    counts: Mapping[str, Any]


class VisitsDatabase:
    """A database of visits, open.

    Parameters: the file; the secret that people are hashed with, needed to add visits; whether to make it;
    whether visits may be removed, for which nobody need know who they are of.
    """

    def __init__(
        self, path: Path, secret: Secret | None = None, *, create: bool = False, forgets: bool = False
    ) -> None:
        self.path = path
        with self._mapped():
            if not path.exists() and not create:
                raise UsageError(f"there is no {path}: clew visits import LOG… -o {path} makes one")
            if path.is_dir() or not path.parent.is_dir():
                where = f"{path} is a folder" if path.is_dir() else f"there is no folder {path.parent}"
                raise UsageError(f"{where}: name a file for the visits in a folder that is there")
            new = not path.exists() or path.stat().st_size == 0
            if not new:
                with path.open("rb") as file:
                    if file.read(len(_FILE)) != _FILE:
                        raise StoreForeign(f"{path} is no database of visits: clew visits import makes one")
            mode = "rwc" if create else "rw" if secret is not None or forgets else "ro"
            self._db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None
            )
            try:
                self._begin(new and create, secret)
            except BaseException:
                self._db.close()
                raise

    def _begin(self, new: bool, secret: Secret | None) -> None:
        self._db.execute("PRAGMA trusted_schema=OFF")
        self._db.execute("PRAGMA secure_delete=ON")
        self._db.execute("PRAGMA cache_size=-65536")
        if new and secret is not None:
            self.path.chmod(0o600)
            self._db.executescript(
                f"BEGIN; PRAGMA application_id={_APPLICATION}; PRAGMA user_version={VERSION};{_SCHEMA}COMMIT"
            )
            self.set_meta("key", secret.fingerprint)
        if self._db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            raise StoreForeign(f"{self.path} is no database of visits: clew visits import makes one")
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise StoreForeign(f"{self.path} was written by a newer clew (version {version}): update clew")
        if version < VERSION:
            raise StoreForeign(f"{self.path} was made by an older clew: remove it, and import the logs again")
        if secret is not None and self.meta("key") != secret.fingerprint:
            raise StoreForeign(
                f"{self.path} was made with another secret ({self.meta('key')}): people would be counted "
                "twice. Name the one it was made with by --key, or begin another file"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._db.close()

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        """Errors of SQLite and of the file system as clew's own."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise translate(error, self.path) or error from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing."""
        with self._mapped():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, sql: str, values: Iterable[object] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query."""
        with self._mapped():
            yield from self._db.execute(sql, tuple(values))

    def one(self, sql: str, values: Iterable[object] = ()) -> Any:
        """The only value of a query; None if there is no row."""
        row = next(self.rows(sql, values), None)
        return None if row is None else row[0]

    # writing

    def set_meta(self, name: str, value: str) -> None:
        """Keep a text under a name."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def meta(self, name: str) -> str:
        """The text kept under a name, or nothing."""
        return str(self.one("SELECT value FROM meta WHERE name = ?", (name,)) or "")

    def add_visits(self, visits: Iterable[tuple[int, int, int]]) -> int:
        """Take in visits (time, person, page); gives how many were new."""
        before = self._db.total_changes
        self._db.executemany("INSERT OR IGNORE INTO visits VALUES (?, ?, ?)", visits)
        return self._db.total_changes - before

    def add_pages(self, pages: Iterable[tuple[int, str]]) -> None:
        """Take in the URLs of pages (page, url)."""
        self._db.executemany("INSERT OR IGNORE INTO pages VALUES (?, ?)", pages)

    def add_redirects(self, redirects: Iterable[tuple[int, int, int, int]]) -> None:
        """Take in where pages led people on to (time, person, page, target)."""
        self._db.executemany("INSERT OR REPLACE INTO redirects VALUES (?, ?, ?, ?)", redirects)

    def add_robots(self, people: Iterable[int]) -> None:
        """Take in who asked for robots.txt."""
        self._db.executemany("INSERT OR IGNORE INTO robots VALUES (?)", [(person,) for person in people])

    def logs(self, heads: Mapping[int, bytes]) -> list[LogRow]:
        """The logs that begin with the same bytes: their digest, by how many bytes were looked at."""
        found = self.rows(
            "SELECT head_length, head, number, format, offset, digest, finished, counts FROM logs"
        )
        return [
            LogRow(number, name, offset, digest, bool(finished), json.loads(counts))
            for length, head, number, name, offset, digest, finished, counts in found
            if heads.get(length) == head
        ]

    def head_lengths(self) -> list[int]:
        """How many first bytes of logs were looked at."""
        return [length for (length,) in self.rows("SELECT DISTINCT head_length FROM logs")]

    def add_log(self, head_length: int, head: bytes, name: str) -> int:
        """A log that is new; gives its number."""
        cursor = self._db.execute(
            "INSERT INTO logs VALUES (NULL, ?, ?, ?, 0, x'', 0, '{}')", (head, head_length, name)
        )
        return int(cursor.lastrowid or 0)

    def set_log(
        self, number: int, offset: int, digest: bytes, finished: bool, counts: Mapping[str, Any]
    ) -> None:
        """How far a log was taken in by now."""
        self._db.execute(
            "UPDATE logs SET offset = ?, digest = ?, finished = ?, counts = ? WHERE number = ?",
            (offset, digest, finished, json.dumps(counts), number),
        )

    # forgetting

    def forget(self, *, person: int | None = None, before: int | None = None) -> int:
        """Remove the visits of a person, or those before a time, and all that was derived of them; gives how
        many visits there were."""
        with self.transaction():
            known = self._db.total_changes
            if person is not None:
                self._db.execute("DELETE FROM visits WHERE person = ?", (person,))
            if before is not None:
                self._db.execute("DELETE FROM visits WHERE time < ?", (before,))
            removed = self._db.total_changes - known
            if person is not None:
                self._db.execute("DELETE FROM redirects WHERE person = ?", (person,))
                self._db.execute("DELETE FROM robots WHERE person = ?", (person,))
            if before is not None:
                self._db.execute("DELETE FROM redirects WHERE time < ?", (before,))
            self._db.execute("DELETE FROM robots WHERE person NOT IN (SELECT person FROM visits)")
            # A page is kept as long as somebody's visit is: its own, or one that it led them on to.
            self._db.execute("DELETE FROM redirects WHERE target NOT IN (SELECT page FROM visits)")
            self._db.execute(
                "DELETE FROM pages WHERE page NOT IN (SELECT page FROM visits) "
                "AND page NOT IN (SELECT page FROM redirects)"
            )
        with self._mapped():
            self._db.execute("VACUUM")
        return removed
