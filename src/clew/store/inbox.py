"""`Inbox`: requests to a crawl, left in its directory by other processes, and what came of them.

A request is a file of a name that nobody else has, written beside its place and moved there, so that whoever
looks sees it whole or not at all; so is the answer. A request stays until it was answered, and an answer
until it was read or is old. What a request says is not known here.

The directory may come from a stranger: nothing in it is followed that leads out of it, names are taken only
as clew makes them, and no more is read of a file than a request may have.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from clew.errors import StoreError, StoreForeign
from clew.store.faults import mapped

FOLDER = "clew.steer"
#: Bytes of a request or an answer, and requests that may wait, at most.
LARGEST, MOST = 1 << 20, 200
#: Seconds that an answer is kept for somebody who does not come.
KEPT = 3600.0

_ID = re.compile(r"[0-9]{20}-[0-9a-f]{16}", re.ASCII)
_REQUEST, _ANSWER, _PART = ".request", ".answer", ".part"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_OLD = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Inbox:
    """The requests in the folder of a crawl.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     inbox = Inbox(Path(folder))
    ...     request = inbox.post('{"pages": 10}')
    ...     inbox.waiting() == [request], inbox.read(request)
    (True, '{"pages": 10}')
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FOLDER

    def __repr__(self) -> str:
        return f"Inbox({str(self.path)!r}, {len(self.waiting())} waiting)"

    def post(self, text: str) -> str:
        """Leave a request; gives its name, by which the answer is asked for."""
        if len(data := text.encode()) > LARGEST:
            raise StoreError(
                f"a request has at most {LARGEST:,} bytes, this one has {len(data):,}: send several"
            )
        with mapped(self.path), self._opened(create=True) as place:
            if sum(name.endswith(_REQUEST) for name in os.listdir(place)) >= MOST:
                raise StoreError(
                    f"{MOST} requests wait in {self.path} already: let the crawl take them in first, or "
                    "remove that folder"
                )
            request = f"{time.time_ns():020d}-{secrets.token_hex(8)}"
            _write(place, request + _REQUEST, data)
        return request

    def waiting(self) -> list[str]:
        """The requests that were not answered yet, the oldest first."""
        return self._names(_REQUEST)

    def read(self, request: str) -> str | None:
        """What a request says; None when it is not there (any more), or cannot be one."""
        return self._read(request + _REQUEST)

    def answer(self, request: str, text: str, *, done: bool = True) -> None:
        """Say what came of a request, in the place of what was said before; `done` is whether that is all,
        and the request can go."""
        with mapped(self.path), self._opened(create=True) as place:
            _write(place, request + _ANSWER, text.encode())
            if done:
                _remove(place, request + _REQUEST)

    def answered(self, request: str) -> str | None:
        """What came of a request; None while nothing has."""
        return self._read(request + _ANSWER)

    def forget(self, request: str) -> None:
        """The answer was read."""
        with mapped(self.path), contextlib.suppress(FileNotFoundError), self._opened() as place:
            _remove(place, request + _ANSWER)

    def withdraw(self, request: str) -> bool:
        """Take back a request; False when it is not there (any more)."""
        with mapped(self.path), contextlib.suppress(FileNotFoundError), self._opened() as place:
            return _remove(place, request + _REQUEST)
        return False

    def sweep(self) -> None:
        """Remove answers that nobody came for, and what a crash left half written."""
        with mapped(self.path), contextlib.suppress(FileNotFoundError), self._opened() as place:
            for name in os.listdir(place):
                stem, dot, ending = name.partition(".")
                if _ID.fullmatch(stem) is None or f"{dot}{ending}" == _REQUEST:
                    continue
                with contextlib.suppress(FileNotFoundError):
                    age = time.time() - os.stat(name, dir_fd=place, follow_symlinks=False).st_mtime
                    if age > KEPT:
                        _remove(place, name)

    def _names(self, ending: str) -> list[str]:
        names: list[str] = []
        with mapped(self.path), contextlib.suppress(FileNotFoundError), self._opened() as place:
            names = os.listdir(place)
        stems = (name.removesuffix(ending) for name in names if name.endswith(ending))
        return sorted(stem for stem in stems if _ID.fullmatch(stem))

    def _read(self, name: str) -> str | None:
        handle = -1
        with mapped(self.path), contextlib.suppress(FileNotFoundError), self._opened() as place:  # noqa: SIM117
            # A link is none of ours.
            with contextlib.suppress(OSError):
                handle = os.open(name, _OLD, dir_fd=place)
        if handle < 0:
            return None
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            data = file.read(LARGEST + 1)
        return data.decode("utf-8", "replace") if len(data) <= LARGEST else None

    @contextlib.contextmanager
    def _opened(self, *, create: bool = False) -> Iterator[int]:
        """The folder itself, whatever its name leads to later."""
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self.path, 0o755)
        try:
            place = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            raise StoreForeign(
                f"{self.path} is a link or a file: clew does not follow links in a crawl directory; remove it"
            ) from None
        try:
            yield place
        finally:
            os.close(place)


def _write(place: int, name: str, data: bytes) -> None:
    """Put a file in its place, whole or not at all."""
    building = name + _PART
    _remove(place, building)
    with os.fdopen(os.open(building, _NEW, 0o644, dir_fd=place), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(building, name, src_dir_fd=place, dst_dir_fd=place)
    os.fsync(place)


def _remove(place: int, name: str) -> bool:
    try:
        os.unlink(name, dir_fd=place)
    except FileNotFoundError:
        return False
    return True
