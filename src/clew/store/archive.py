"""The archive's files as the writer sees them: which are registered, and how much of each is committed.

The order is what makes a crash exact. A file is registered, with length 0, before it is created;
bytes are on disk before the transaction that counts them; so whatever lies beyond the committed
length is a torn tail of ours, and may be cut. Unless the file is another than we left: so it is looked at
before it is cut or written to.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from clew.errors import StoreForeign
from clew.store.directory import require_archive, sync
from clew.store.record_check import check_records
from clew.store.warc import Piece


class Archive:
    """Appends to the files under `pages/`.

    Parameters: the directory, and the writing connection, on which registration is committed.
    """

    def __init__(self, directory: Path, connection: sqlite3.Connection) -> None:
        self.directory = directory
        self._db = connection
        self.numbers: dict[str, int] = {}
        self.lengths: dict[str, int] = {}
        for number, name, length in connection.execute("SELECT id, name, length FROM warcs ORDER BY id"):
            self.numbers[name], self.lengths[name] = number, length
        require_archive(directory.parent, self.lengths)
        if not all(isinstance(length, int) and length >= 0 for length in self.lengths.values()):
            raise StoreForeign(f"{directory} has a file of an impossible length: restore clew.db from a copy")
        self._handle = -1
        self._open = ""
        self._written: dict[str, int] = {}

    def last(self) -> tuple[str, int] | None:
        """The file to go on in, and its committed length."""
        return next(reversed(self.lengths.items()), None)

    def cut(self) -> None:
        """Cut torn tails, once every file was found to be what it was."""
        for path, length in self.torn():
            handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                os.ftruncate(handle, length)
                os.fsync(handle)
            finally:
                os.close(handle)

    def torn(self) -> list[tuple[Path, int]]:
        """Files that are longer than what was committed, and that length; touches nothing.

        Refuses an archive of which a file that would be cut or written to is not what it was, or has lost
        bytes.
        """
        found = self.faults()
        for name, fault in found.items():
            raise StoreForeign(
                f"{self.directory / name} is not as clew left it ({fault}); nothing was changed: restore it "
                f"from a copy, or let `clew doctor {self.directory.parent} --repair` go on without it"
            )
        sizes = {name: self._size(name) for name in self.lengths}
        return [
            (self.directory / name, self.lengths[name]) for name in sizes if sizes[name] > self.lengths[name]
        ]

    def faults(self) -> dict[str, str]:
        """What is wrong, by name, with files that lost bytes, would be cut, or would be written to.

        A file is known by its first record, which has its name, and by what lies between the last reply that
        the database names and the committed length: whole records that end there.
        """
        last = self.last()
        found = {}
        for name, length in self.lengths.items():
            size = self._size(name)
            if size < length:
                found[name] = f"it had {length} bytes, has {size}"
            elif size > length or (last is not None and last[0] == name):
                try:
                    self._require_ours(name, length, size)
                except (ValueError, OSError) as error:
                    found[name] = str(error)
        return found

    def _size(self, name: str) -> int:
        path = self.directory / name
        return path.stat().st_size if path.exists() else 0

    def _require_ours(self, name: str, length: int, size: int) -> None:
        """Read the beginning and the end of a file; `ValueError` says why it is not what was written."""
        if not size:
            return
        with (self.directory / name).open("rb") as stream:
            if not length:
                # Nothing was committed: what a crash left of the first record, if it is that.
                if stream.read(2).strip(b"\0") not in (b"", b"\x1f", b"\x1f\x8b"):
                    raise ValueError("it was not begun by clew")
                return
            check_records(stream, length, file=name, first_alone=True)
            (start,) = self._db.execute(
                "SELECT coalesce(max(offset), 0) FROM pages WHERE warc = ? AND typeof(offset) = 'integer'",
                (self.numbers[name],),
            ).fetchone()
            if not 0 <= start < length:
                raise ValueError(f"a reply should be at {start}, and {length} bytes are committed")
            stream.seek(start)
            check_records(stream, length - start)

    def register(self, pieces: Iterable[Piece]) -> None:
        """Commit the names of files not seen before, then create them. Call outside a transaction."""
        fresh = list(dict.fromkeys(piece.file for piece in pieces if piece.file not in self.numbers))
        for name in fresh:
            cursor = self._db.execute("INSERT INTO warcs (name, length) VALUES (?, 0)", (name,))
            assert cursor.lastrowid is not None
            self.numbers[name], self.lengths[name] = cursor.lastrowid, 0
        for name in fresh:
            os.close(os.open(self.directory / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        if fresh:
            sync(self.directory)

    def write(self, pieces: Iterable[Piece]) -> None:
        """Put bytes on disk, and the new lengths into the running transaction."""
        for name, same in groupby(pieces, key=lambda piece: piece.file):
            self._switch(name)
            data = b"".join(piece.data for piece in same)
            view = memoryview(data)
            while view:
                view = view[os.write(self._handle, view) :]
            os.fdatasync(self._handle)
            self._written[name] = self._written.get(name, self.lengths[name]) + len(data)
        rows = [(length, self.numbers[name]) for name, length in self._written.items()]
        self._db.executemany("UPDATE warcs SET length = ? WHERE id = ?", rows)

    def committed(self) -> None:
        """The transaction that counted the bytes is durable."""
        self.lengths.update(self._written)
        self._written.clear()

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle, self._open = -1, ""

    def _switch(self, name: str) -> None:
        if self._open != name:
            self.close()
            # A file that was registered and never created is created here.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._handle = os.open(self.directory / name, flags, 0o644)
            self._open = name
