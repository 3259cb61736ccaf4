"""Foreign errors of SQLite and the file system, mapped to clew's own tree where they enter."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

import zstandard

from clew.errors import StorageFull, StoreBusy, StoreError, StoreForeign

#: What reading a value raises that clew never wrote: no number, no JSON, no text, out of range.
UNDECODABLE = (
    *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError),
    *(zstandard.ZstdError, struct.error),
)
_Given = ParamSpec("_Given")
_Read = TypeVar("_Read")
_NO_TEXT = "decode to UTF-8"
"""How SQLite's module says that a text is none."""
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
    code = sqlite_code(error)
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _no_room(path)):
        return StorageFull(f"{path}: {_FULL_ADVICE}")
    if code in _DAMAGED or no_text(error):
        return StoreForeign(f"{path} is damaged ({error}): restore it from a copy; nothing was changed in it")
    if code in _BUSY:
        return StoreBusy(f"{path} is in use by another process ({error}): try again when it has finished")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StoreForeign(f"{path} cannot be opened as a database ({error}): check that it may be read")
    return StoreError(f"{path}: {error}")


def sqlite_code(error: sqlite3.Error) -> int:
    """SQLite's primary code of an error; errors of Python's module itself have none of their own."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


def no_text(error: sqlite3.Error) -> bool:
    """Whether reading failed at a text that is not UTF-8."""
    return _NO_TEXT in str(error)


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


class ReadGuard:
    """The one guard of all readers: what is damaged is skipped, counted and named, and ends nothing.

    >>> guard = ReadGuard()
    >>> guard.read("trace 7", int, "no number"), guard.read("trace 8", int, "8"), guard.names
    (None, 8, ('trace 7',))
    """

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def read(
        self, name: str, decode: Callable[_Given, _Read], *given: _Given.args, **named: _Given.kwargs
    ) -> _Read | None:
        """What `decode` makes of a value; None when it cannot be made."""
        try:
            return decode(*given, **named)
        except (*UNDECODABLE, OSError):
            self.skip(name)
            return None

    def skip(self, name: str) -> None:
        """Count what somebody else found damaged."""
        self._names[name] = None

    @property
    def names(self) -> tuple[str, ...]:
        """What was skipped, each once, in the order met."""
        return tuple(self._names)
