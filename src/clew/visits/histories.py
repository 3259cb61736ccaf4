"""What browsers keep: HAR recordings, and the history databases of Chrome and Firefox.

Their rows come out as requests in the fields of `clew.visits.formats`. The databases are read as they lie,
without a lock and without their code: only tables of the known names are asked.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

from clew.errors import UsageError
from clew.visits.formats import Row, iso_clock
from clew.visits.log_file import LogFile

_LARGEST_HAR = 512 << 20
#: Chrome counts microseconds from 1601.
_SINCE_1601 = 11_644_473_600_000_000
#: Chrome's transitions: the kind in the lowest byte, and the last visit of a chain of redirects.
_SUBFRAMES = frozenset({3, 4})
_CHAIN_END = 0x20000000
#: Firefox's visit types: embedded, a frame's; permanent and temporary redirects; downloads.
_FRAMED = frozenset({4, 8})
_DOWNLOAD = 7
_EMBEDDED = b"image/*"


def recognise(beginning: bytes) -> str | None:
    """`sqlite` or `har`, by the first bytes of a file; None for a text log."""
    if beginning.startswith(b"SQLite format 3\0"):
        return "sqlite"
    return "har" if beginning.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"{" and b'"log"' in beginning else None


def read(log: LogFile, kind: str, person: str) -> tuple[str, Iterable[Row]]:
    """The name of what it is, and its requests in order of time; all are one `person`'s."""
    if kind == "har":
        return "har", _of_har(log, person.encode())
    path = log.path
    if log.packed:
        raise UsageError(f"{path} is a packed database: unpack it first")
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            database.execute("PRAGMA trusted_schema=OFF")
            named = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = {name for (name,) in named}
            if {"urls", "visits"} <= tables:
                return "chrome", list(_of_chrome(database, person.encode()))
            if {"moz_places", "moz_historyvisits"} <= tables:
                return "firefox", list(_of_firefox(database, person.encode()))
    except sqlite3.Error as error:
        raise UsageError(f"{path} cannot be read as a browser's history: {error}") from None
    raise UsageError(
        f"{path} is a database, but no history: Chrome's is the file History, Firefox's places.sqlite"
    )


def _of_chrome(database: sqlite3.Connection, person: bytes) -> Iterator[Row]:
    rows = database.execute(
        "SELECT v.visit_time, v.transition, u.url FROM visits v JOIN urls u ON u.id = v.url "
        "ORDER BY v.visit_time, v.id"
    )
    for at, transition, url in rows:
        ends = _whole(transition) & _CHAIN_END
        kind = _EMBEDDED if _whole(transition) & 0xFF in _SUBFRAMES else None
        yield _row(person, (_whole(at) - _SINCE_1601) // 1000, url, b"200" if ends else b"302", kind)


def _of_firefox(database: sqlite3.Connection, person: bytes) -> Iterator[Row]:
    asked = "SELECT from_visit FROM moz_historyvisits WHERE visit_type IN (5, 6)"
    led_on = {source for (source,) in database.execute(asked)}
    rows = database.execute(
        "SELECT h.id, h.visit_date, h.visit_type, p.url FROM moz_historyvisits h "
        "JOIN moz_places p ON p.id = h.place_id ORDER BY h.visit_date, h.id"
    )
    for number, at, visit_type, url in rows:
        kind = _EMBEDDED if visit_type in _FRAMED or visit_type == _DOWNLOAD else None
        yield _row(person, _whole(at) // 1000, url, b"302" if number in led_on else b"200", kind)


def _of_har(log: LogFile, person: bytes) -> Iterator[Row]:
    path, content = log.path, log.read(_LARGEST_HAR + 1)
    if len(content) > _LARGEST_HAR:
        raise UsageError(f"{path} is larger than {_LARGEST_HAR >> 20} MB: record less at once")
    try:
        entries = json.loads(content.decode("utf-8-sig", "replace"))["log"]["entries"]
        found = [_object(entry) for entry in entries]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise UsageError(f"{path} looks like a HAR recording and is none: its log has no entries") from None
    for entry in sorted(found, key=lambda entry: str(entry.get("startedDateTime"))):
        request, response = _object(entry.get("request")), _object(entry.get("response"))
        kind = str(_object(response.get("content")).get("mimeType") or "").encode() or None
        if entry.get("_resourceType") not in (None, "document"):
            kind = _EMBEDDED
        try:
            at = iso_clock(str(entry.get("startedDateTime")).encode())
        except (ValueError, OverflowError):
            at = None
        status = str(response.get("status", "")).encode()
        yield _row(person, at, request.get("url"), status, kind, str(request.get("method", "GET")).encode())


def _row(
    person: bytes, at: int | None, url: object, status: bytes, kind: bytes | None, method: bytes = b"GET"
) -> Row:
    address = url if isinstance(url, str) else ""
    # Milliseconds, with as many digits as tell them from seconds.
    when = b"" if at is None or at < 10**11 else str(at).encode()
    return (person, None, when, method, address.encode("utf-8", "replace"), status, kind, None, None)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
