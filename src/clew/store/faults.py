"""Foreign errors of SQLite and the file system, mapped to clew's own tree where they enter."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard

from clew.errors import StorageFull, StoreBusy, StoreError, StoreForeign

#: What reading a value raises that clew never wrote: no number, no JSON, no text, out of range.
UNDECODABLE = (
    *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError),
    *(zstandard.ZstdError, struct.error),
)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_NEARLY = 64 << 10
_FULL_ADVICE = "no room left: free some space and start clew again, it goes on from the last saved page"


def translate(error: BaseException, path: Path) -> StoreError | None:
    """The clew error for a foreign one that concerns `path`; None when it is not about storage.

    >>> print(translate(OSError(errno.ENOSPC, "No space left on device"), Path("farms")))
    farms: no room left: free some space and start clew again, it goes on from the last saved page
    """
    if isinstance(error, StoreError):
        return error
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(error, path)
    if isinstance(error, OSError):
        if error.errno in _FULL:
            return StorageFull(f"{path}: {_FULL_ADVICE}")
        return StoreError(f"{path}: {error.strerror or error}")
    return None


def _of_sqlite(error: sqlite3.Error, path: Path) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _no_room(path)):
        return StorageFull(f"{path}: {_FULL_ADVICE}")
    if code in _DAMAGED:
        return StoreForeign(f"{path} is damaged ({error}): restore it from a copy; nothing was changed in it")
    if code in _BUSY:
        return StoreBusy(f"{path} is in use by another process ({error}): try again when it has finished")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StoreForeign(f"{path} cannot be opened as a database ({error}): check that it may be read")
    return StoreError(f"{path}: {error}")


def _no_room(path: Path) -> bool:
    """Whether an unspecific failure is likely a want of room.

    SQLite says so only of a full disk, and only for some of its files; a quota that is used up and a limit
    on the size of files are to it mere failures to write.
    """
    directory = path if path.is_dir() else path.parent
    try:
        if shutil.disk_usage(directory).free < 1 << 20:
            return True
        longest = max((entry.stat().st_size for entry in directory.glob("*.db*")), default=0)
        if 0 <= resource.getrlimit(resource.RLIMIT_FSIZE)[0] <= longest + _NEARLY:
            return True
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(bytes(_NEARLY))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return error.errno in _FULL
    return False


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Raise clew's error in place of SQLite's or the file system's."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        known = translate(error, path)
        assert known is not None
        raise known from error


@contextmanager
def decoding(path: Path) -> Iterator[None]:
    """Raise `StoreForeign` in place of what a value raises that clew never wrote, and as `mapped` does."""
    try:
        with mapped(path):
            yield
    except UNDECODABLE as error:
        raise damaged(path, error) from error


def damaged(path: Path, error: object) -> StoreForeign:
    """The error for a sound database with values in it that are not clew's."""
    return StoreForeign(f"{path} is damaged ({str(error)[:200]}): restore it from a copy")
