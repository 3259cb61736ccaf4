"""A crawl's directory: what lies where in it, who may write to it, and when it is refused.

farms/
  clew.db          state, pages, hosts, trace (SQLite; `-wal` and `-shm` beside it while open)
  clew.lock        held by the process that is crawling
  clew.learned     a checkpoint of what was learned; may be deleted
  pages/           clew-00000.warc.gz, …: the replies
  search.db        full-text index, made by the first search; may be deleted
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import re
import stat
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from clew.errors import StoreBusy, StoreForeign
from clew.store import schema
from clew.store.faults import mapped

_MAGIC = b"SQLite format 3\0"
_CHECKED = 64 << 20
"""Databases up to this size are checked page by page when a crawl is resumed."""
_OURS = "clew."
"""How the names begin of what may lie where a crawl is yet to begin: settings, what a crash left."""

ARCHIVE_NAME = re.compile(r"clew-([0-9]{5,9})\.warc\.gz", re.ASCII)
"""How the archive's files are called. No other name is ever joined to a path, wherever it comes from."""
_WRITTEN = ("clew.db", "clew.lock", "clew.log", "clew.learned", "clew.learned.new", "search.db")
_BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite opens beside a database, by name alone."""
_SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""How a rollback journal ends that names a second file, which SQLite deletes when it rolls back."""

#: Directories this process holds. The lock below is the process's, so it cannot tell two owners in one.
_held: set[tuple[int, int]] = set()


def database(directory: Path) -> Path:
    return directory / "clew.db"


def archive(directory: Path) -> Path:
    return directory / "pages"


def archive_file(directory: Path, name: object) -> Path:
    """The path of a file of the archive; a name that clew does not give is refused.

    >>> archive_file(Path("farms"), "clew-00000.warc.gz").as_posix()
    'farms/pages/clew-00000.warc.gz'
    """
    if not isinstance(name, str) or ARCHIVE_NAME.fullmatch(name) is None:
        shown = repr(name)[:80]
        raise StoreForeign(
            f"{database(directory)} names an archive file {shown}, which clew did not make: "
            "do not use this directory; nothing was changed"
        )
    return archive(directory) / name


def path_of(place: str) -> Path:
    """The directory of a place, given with its scheme or without.

    >>> path_of("sqlite:farms").as_posix()
    'farms'
    """
    return Path(place.removeprefix("sqlite:"))


def write_checkpoint(directory: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """Put a checkpoint of what was learned in the place of the last one, whole or not at all."""
    path = directory / "clew.learned"
    building = path.with_name(path.name + ".new")
    with mapped(path):
        building.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(building, flags, 0o644), "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        building.replace(path)
        sync(directory)


def read_checkpoint(directory: Path) -> memoryview | None:
    """The checkpoint of what was learned; None where there is none. Only what is looked at is read."""
    path = directory / "clew.learned"
    # An empty file cannot be mapped.
    with mapped(path), contextlib.suppress(FileNotFoundError, ValueError):
        require_own_file(path, sole=False)
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return None


def owner_of(directory: Path) -> int | None:
    """The process that has a crawl directory for writing; None when none has. Takes nothing itself."""
    with contextlib.suppress(FileNotFoundError):
        where = directory.stat()
        # To close a file that this process has locked would let go of the lock.
        if (where.st_dev, where.st_ino) in _held:
            return os.getpid()
        handle = os.open(directory / "clew.lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            layout = "@hhqqi0q" if sys.platform == "linux" else "@qqihh"
            wanted = (fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            order = wanted if sys.platform == "linux" else (0, 0, 0, fcntl.F_WRLCK, os.SEEK_SET)
            found = struct.unpack(layout, fcntl.fcntl(handle, fcntl.F_GETLK, struct.pack(layout, *order)))
        finally:
            os.close(handle)
        kind, owner = (found[0], found[4]) if sys.platform == "linux" else (found[3], found[2])
        return None if kind == fcntl.F_UNLCK else int(owner)
    return None


class Lock:
    """Exclusive right to write to a crawl directory, given back by the system when the process dies.

    A record lock, not `flock`: worker processes forked from the crawler would inherit the latter
    and keep it alive after the crawler was killed.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / "clew.lock"
        where = directory.stat()
        self._identity = (where.st_dev, where.st_ino)
        if self._identity in _held:
            raise StoreBusy(f"{directory} is already open in this process ({os.getpid()}): close it first")
        # Emptied below, so it must be here: a link in a directory that came from elsewhere is not followed.
        require_own_file(self.path)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.pread(self._file, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._file)
            raise StoreBusy(
                f"{directory} is in use by process {owner}: wait for it to end, stop it first, or change "
                "it as it runs with clew steer"
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        _held.add(self._identity)

    def release(self) -> None:
        """Let another process have the directory; calling it again does nothing."""
        if self._identity in _held:
            _held.discard(self._identity)
            os.close(self._file)


#: Where `struct flock` has the kind of lock and the process: of Linux, or of BSD and macOS.
_FLOCK = "hhlli" if sys.platform.startswith("linux") else "llihh"
_KIND, _OWNER = (0, 4) if sys.platform.startswith("linux") else (3, 2)


def holder(directory: Path) -> int | None:
    """The process that is crawling into a directory, by its number; None when there is none.

    Asked of the system, so that a number left behind by a process that died means nothing, and without taking
    the lock, so that nobody who wants it meanwhile is refused.
    """
    with mapped(directory):
        where = directory.stat()
    if (where.st_dev, where.st_ino) in _held:
        # Opening and closing the file once more would let go of the lock.
        return os.getpid()
    try:
        file = os.open(directory / "clew.lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:  # never crawled into, or not ours to look at
        return None
    try:
        asked = [0] * 5
        asked[_KIND] = fcntl.F_WRLCK
        told = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(_FLOCK, *asked)))
    finally:
        os.close(file)
    return None if told[_KIND] == fcntl.F_UNLCK else int(told[_OWNER])


def prepare(directory: Path, *, create: bool) -> Lock:
    """Make or check a crawl directory and take hold of it. Nothing that is not clew's is touched."""
    path = database(directory)
    with mapped(directory):
        if not create or path.exists():
            inspect(directory)
        else:
            _refuse_strangers(directory)
            directory.mkdir(parents=True, exist_ok=True)
        require_own_files(directory)
        lock = Lock(directory)
        try:
            if not path.exists():
                schema.create(path)
            archive(directory).mkdir(exist_ok=True)
            sync(directory)
        except BaseException:
            lock.release()
            raise
    return lock


def inspect(directory: Path) -> None:
    """Say clearly what is wrong with a directory that cannot be a crawl."""
    path = database(directory)
    if not directory.exists():
        raise StoreForeign(f"{directory} does not exist: give the directory of a crawl")
    if not directory.is_dir():
        raise StoreForeign(f"{directory} is not a directory: give the directory of a crawl")
    if not path.is_symlink() and not path.is_file():
        raise StoreForeign(f"{directory} is not a crawl directory (no clew.db in it): give that of a crawl")
    require_own_database(path)
    with path.open("rb") as stream:
        head = stream.read(100)
    if len(head) < 100 or not head.startswith(_MAGIC):
        raise StoreForeign(f"{path} is not an SQLite database, or is damaged: restore it from a copy")


def require_own_file(path: Path, *, sole: bool = True) -> None:
    """Refuse a name that leads out of a crawl directory; a name that does not exist is fine.

    A directory may come from a stranger: a symbolic link in it, a device or a pipe, or a second name of a
    file that lies elsewhere (a hard link) would have clew write to what the stranger chose.

    Parameters: the path; `sole`, whether a second name is refused too, as it must be for what is written.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise StoreForeign(
            f"{path} is a link: clew does not follow links in a crawl directory; put the file itself there"
        )
    if not stat.S_ISREG(found.st_mode):
        raise StoreForeign(f"{path} is not an ordinary file: move it away, or choose another directory")
    if sole and found.st_nlink > 1:
        raise StoreForeign(
            f"{path} is also known by another name (a hard link), and writing here would change it there: "
            "put a copy in its place"
        )


def require_own_database(path: Path) -> None:
    """Refuse a database that lies elsewhere, or has a file beside it by which SQLite reaches elsewhere."""
    require_own_file(path, sole=False)
    for ending in _BESIDE:
        beside = Path(f"{path}{ending}")
        require_own_file(beside)
        if ending == "-journal" and beside.exists() and _ends_with(beside, _SUPER_JOURNAL):
            raise StoreForeign(f"{beside} names another file to be deleted, and clew writes no such journal")


def require_own_files(directory: Path) -> None:
    """Refuse a directory in which anything that is written to while crawling leads out of it."""
    pages = archive(directory)
    if pages.is_symlink():
        raise StoreForeign(
            f"{pages} is a link: clew does not follow links in a crawl directory; put the folder itself there"
        )
    for name in _WRITTEN:
        require_own_file(directory / name)
    for name in ("clew.db", "search.db"):
        require_own_database(directory / name)


def require_archive(directory: Path, names: Iterable[object]) -> None:
    """Refuse an archive of which a file has a name that is not clew's, or leads out of the directory."""
    for name in names:
        require_own_file(archive_file(directory, name))


def _ends_with(path: Path, ending: bytes) -> bool:
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - len(ending)))
        return stream.read() == ending


def verify(directory: Path) -> None:
    """Before a crawl is resumed: look for damage, so that nothing is written on top of it."""
    path = database(directory)
    if path.stat().st_size > _CHECKED:
        return
    connection = schema.connect_reader(path, current=False)
    with contextlib.closing(connection):
        (finding,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if finding != "ok":
        raise StoreForeign(
            f"{path} is damaged ({finding}): restore it from a copy; nothing was changed in it"
        )


def _refuse_strangers(directory: Path) -> None:
    if not directory.exists():
        return
    if not directory.is_dir():
        raise StoreForeign(f"{directory} is a file: give a new or empty directory for the crawl")
    for entry in sorted(directory.iterdir()):
        if entry.name == "pages" and not entry.is_symlink() and entry.is_dir() and not any(entry.iterdir()):
            continue
        if not entry.name.startswith(_OURS):
            raise StoreForeign(
                f"{directory} is not empty and not a crawl directory ({entry.name} is in it): "
                "give a new or empty directory"
            )


def sync(directory: Path) -> None:
    """Make the names in a directory durable."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
