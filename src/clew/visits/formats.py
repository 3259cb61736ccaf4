"""Log formats: lines of a text log as the fields of requests.

Every format is a pattern whose groups are named after the fields of a request, so that one loop reads them
all. Which format a file has is told from its first lines.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from clew.errors import UsageError

#: The fields of a request, in the order in which a format gives them.
FIELDS = ("client", "user", "time", "method", "url", "status", "type", "referrer", "agent")

Row = Sequence[bytes | None]
"""The fields of a request as written, in the order of `FIELDS`; None for those that the format has not."""
Split = Callable[[bytes], Row | None]
"""Gives the fields of a line; None for one that is not of the format."""
Clock = Callable[[bytes], int]
"""Milliseconds since 1970 of a time as written; ValueError for what is none."""

_MONTHS = {
    name: number for number, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Lines looked at to tell a format, and the share of them that must be of it.
LOOKED_AT = 200
_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A format that a text log may have.

    Parameters: its name; what gives the fields of a line; what reads a time; whether URLs are paths of a site
    that the log does not name; lines at the beginning that are no requests; what gives the format that holds
    after a directive within the log.
    """

    name: str
    split: Split
    clock: Clock
    relative: bool = False
    header: int = 0
    directed: Callable[[bytes], LogFormat | None] | None = None

    def after(self, line: bytes) -> LogFormat:
        """The format that holds after a directive."""
        return (self.directed(line) if self.directed else None) or self


def _pattern(text: str) -> Split:
    """What gives the fields of a line by a pattern with groups named after them."""
    pattern = re.compile(text.encode(), re.VERBOSE)
    have = pattern.groupindex
    # The loop over lines takes the groups as they are: every field is one, in the order of `FIELDS`.
    order = [have.get(name, 0) for name in FIELDS]
    match = pattern.fullmatch
    if order == list(range(1, len(FIELDS) + 1)):

        def split(line: bytes) -> Row | None:
            found = match(line)
            return None if found is None else found.groups()

        return split

    def pick(line: bytes) -> Row | None:
        found = match(line)
        return None if found is None else [found[at] if at else None for at in order]

    return pick


def epoch_clock(text: bytes) -> int:
    """Seconds since 1970, with a fraction or without; milli- and microseconds by their size.

    >>> epoch_clock(b"1576177221.686"), epoch_clock(b"1576177221686")
    (1576177221686, 1576177221686)
    """
    if len(text) == 14 and text[10:11] == b".":
        return int(text[:10] + text[11:])
    whole, _, part = text.partition(b".")
    number = int(whole)
    if number > 10**14:
        return number // 1000
    if number > 10**11:
        return number
    return number * 1000 + int(part[:3].ljust(3, b"0") if part else 0)


def clf_clock(text: bytes) -> int:
    """The time of the common log format.

    >>> clf_clock(b"17/May/2015:10:05:03 +0200")
    1431849903000
    """
    zone = text[21:]
    minutes = int(zone[1:3]) * 60 + int(zone[3:5])
    offset = timezone(timedelta(minutes=-minutes if zone[:1] == b"-" else minutes))
    at = datetime(
        int(text[7:11]), _MONTHS.get(text[3:6], 0), int(text[:2]), int(text[12:14]), int(text[15:17]),
        int(text[18:20]), tzinfo=offset,
    )  # fmt: skip
    return round((at - _EPOCH) / timedelta(milliseconds=1))


def iso_clock(text: bytes) -> int:
    """A time in ISO 8601, UTC where it names no zone, or seconds since 1970.

    >>> iso_clock(b"2015-05-17 10:05:03"), iso_clock(b"2015-05-17T12:05:03+02:00")
    (1431857103000, 1431857103000)
    """
    plain = text.strip().decode("ascii", "replace")
    if plain.replace(".", "", 1).isdigit():
        return epoch_clock(plain.encode())
    at = datetime.fromisoformat(plain.replace("Z", "+00:00"))
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return round((at - _EPOCH) / timedelta(milliseconds=1))


_SQUID = r"""
    (?:[^\n]{0,80}?squid[^ :]*:[ ]+)?
    (?P<time>\d{9,11}\.\d{1,6}) [ ]+ -?\d+ [ ]+ (?P<client>\S+) [ ]+
    [A-Za-z_:]+/(?P<status>\d{3}) [ ]+ \S+ [ ]+ (?P<method>\S+) [ ]+ (?P<url>\S+) [ ]+
    (?P<user>\S+) [ ]+ \S+ [ ]+ (?P<type>\S+)
"""
#: Squid's own format, with the agent and the referrer some add to it, or anything else.
_SQUID_NATIVE = _pattern(
    _SQUID + r'(?: [ ]+ "(?P<referrer>[^"]*)" [ ]+ "(?P<agent>[^"]*)" | [ ]+ \[.* | [ ]+ \S+ | [ ]* )'
)


def _squid(line: bytes) -> Row | None:
    """A line of Squid's own format; one that has nothing added need not be matched."""
    cells = line.split()
    if len(cells) != 10:
        return _SQUID_NATIVE(line)
    time, _, client, result, _, method, url, user, _, kind = cells
    if result[-4:-3] != b"/" or time[10:11] != b".":
        return _SQUID_NATIVE(line)
    return (client, user, time, method, url, result[-3:], kind, None, None)


_QUOTED = r'(?:[^"\\]|\\.)*'
_CLF = rf"""
    (?P<client>\S+) [ ] \S+ [ ] (?P<user>"{_QUOTED}"|\S+) [ ] \[(?P<time>[^\]]{{26}})\] [ ]
    "(?P<method>[A-Z]+) [ ] (?P<url>[^ "]+)(?: [ ] [^"]*)?" [ ] (?P<status>\d{{3}}) [ ] (?:\d+|-)
"""
_COMBINED = _pattern(_CLF + rf'[ ] "(?P<referrer>{_QUOTED})" [ ] "(?P<agent>{_QUOTED})" (?:[ ].*)?')
_COMMON = _pattern(_CLF + r"(?:[ ][^\"]*)?")
_VHOST = _pattern(
    r"\S+:\d+ [ ] " + _CLF + rf'[ ] "(?P<referrer>{_QUOTED})" [ ] "(?P<agent>{_QUOTED})" (?:[ ].*)?'
)
_REFERER = _pattern(
    r"(?P<time>\d{9,11}\.\d{1,6}) [ ]+ (?P<client>\S+) [ ]+ (?P<referrer>\S+) [ ]+ (?P<url>[a-z]+://\S+) [ ]*"
)


def _on_virtual_hosts(line: bytes) -> Row | None:
    """A line of Apache's `vhost_combined`: its path becomes a URL of the host that is named first."""
    row = _VHOST(line)
    if row is None:
        return None
    host, _, port = line.partition(b" ")[0].rpartition(b":")
    fields = list(row)
    scheme = b"https" if port == b"443" else b"http"
    if (fields[4] or b"").startswith(b"/"):
        fields[4] = (
            scheme + b"://" + host + (b"" if port in (b"80", b"443") else b":" + port) + (fields[4] or b"")
        )
    return fields


_TEXT = (
    LogFormat("squid", _squid, epoch_clock),
    LogFormat("vhost-combined", _on_virtual_hosts, clf_clock),
    LogFormat("combined", _COMBINED, clf_clock),
    LogFormat("common", _COMMON, clf_clock),
    LogFormat("squid-referer", _REFERER, epoch_clock),
)
#: What the W3C calls the fields.
_W3C = {
    "c-ip": "client", "cs-username": "user", "cs-method": "method", "sc-status": "status", "cs-uri": "url",
    "cs(user-agent)": "agent", "cs(referer)": "referrer", "cs(referrer)": "referrer",
    "rs(content-type)": "type", "sc(content-type)": "type",
}  # fmt: skip


def w3c_format(directive: bytes, date: bytes = b"") -> LogFormat | None:
    """The W3C extended format with the fields of a `#Fields:` directive, on the day of a `#Date:` where lines
    name none; None if they do not suffice."""
    names = directive.decode("ascii", "replace").partition(":")[2].split()
    at = {name.lower(): place for place, name in enumerate(names)}
    place = {_W3C[name]: at[name] for name in at if name in _W3C}
    count, stem, query, host = len(names), at.get("cs-uri-stem"), at.get("cs-uri-query"), at.get("cs-host")
    host = at.get("cs(host)") if host is None else host
    if "client" not in place or "time" not in at or ("url" not in place and stem is None):
        return None

    def split(line: bytes) -> Row | None:
        cells: list[bytes] = line.split()
        if len(cells) != count or line[:1] == b"#":
            return None
        fields: dict[str, bytes] = {name: cells[column] for name, column in place.items()}
        day = cells[at["date"]] if "date" in at else date
        fields["time"] = day + b" " + cells[at["time"]]
        if "url" not in fields and stem is not None:
            asked = b"?" + cells[query] if query is not None and cells[query] != b"-" else b""
            named = b"http://" + cells[host] if host is not None and cells[host] != b"-" else b""
            fields["url"] = named + cells[stem] + asked
        if "agent" in fields:
            fields["agent"] = fields["agent"].replace(b"+", b" ")
        return [fields.get(name) for name in FIELDS]

    def directed(line: bytes) -> LogFormat | None:
        return (
            w3c_format(directive, day_of(line)) if line[:6].lower() == b"#date:" else w3c_format(line, date)
        )

    return LogFormat("w3c", split, iso_clock, relative="url" not in place and host is None, directed=directed)


def day_of(directive: bytes) -> bytes:
    """The day that a `#Date:` directive of a W3C log names.

    >>> day_of(b"#Date: 2015-05-17 10:05:03")
    b'2015-05-17'
    """
    return directive.partition(b":")[2].strip().partition(b" ")[0]


def csv_format(head: bytes, columns: Mapping[str, str]) -> LogFormat:
    """A table with a header line, its columns named by the user: field -> column."""
    text = head.decode("utf-8", "replace").strip("\ufeff\r\n")
    delimiter = max(",;\t|", key=text.count)
    names = [name.strip() for name in next(csv.reader([text], delimiter=delimiter), [])]
    given = {("client" if field == "person" else field): column for field, column in columns.items()}
    if unknown := [field for field in given if field not in FIELDS]:
        raise UsageError(f"a visit has no {unknown[0]!r}: name columns for person, {', '.join(FIELDS[2:])}")
    if missing := [field for field in ("client", "time", "url") if field not in given]:
        asked = "person" if missing[0] == "client" else missing[0]
        raise UsageError(f"say which column has the {asked}: --columns person=…,time=…,url=…")
    if absent := [column for column in given.values() if column not in names]:
        raise UsageError(f"the table has no column {absent[0]!r}: it has {', '.join(names)}")
    at = {field: names.index(column) for field, column in given.items()}
    order = [at.get(field) for field in FIELDS]

    def split(line: bytes) -> Row | None:
        try:
            cells = next(csv.reader([line.decode("utf-8", "replace")], delimiter=delimiter), [])
        except csv.Error:
            return None
        if len(cells) != len(names):
            return None
        return [None if column is None else cells[column].encode() for column in order]

    return LogFormat("csv", split, iso_clock, header=1)


def recognise(lines: Iterable[bytes]) -> LogFormat | None:
    """The format that a text log has, by its first lines; None if it has none that is known.

    >>> recognise([b'1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 12 "-" "curl"']).name
    'combined'
    """
    shown = [line for line in lines if line.strip()][:LOOKED_AT]
    date = b""
    for line in shown:
        if line[:6].lower() == b"#date:":
            date = day_of(line)
        if line[:8].lower() == b"#fields:" and (found := w3c_format(line, date)) is not None:
            return found
    plain = [line for line in shown if not line.startswith(b"#")]
    for known in _TEXT:
        rows = [row for row in map(known.split, plain) if row is not None]
        if rows and len(rows) >= _SHARE * len(plain):
            paths = sum((row[4] or b"").startswith(b"/") for row in rows)
            return LogFormat(known.name, known.split, known.clock, relative=paths * 2 > len(rows))
    return None


def names() -> tuple[str, ...]:
    """The formats of text logs that are recognised."""
    return (*[known.name for known in _TEXT], "w3c", "csv")


class Remembered(dict[Any, Any]):
    """A function with a memory of its answers, emptied when it is full: logs repeat themselves.

    >>> lengths = Remembered(len, 100)
    >>> lengths[b"abc"], lengths[b"abc"]
    (3, 3)
    """

    __slots__ = ("_bound", "_function")

    def __init__(self, function: Callable[[Any], Any], bound: int) -> None:
        super().__init__()
        self._function = function
        self._bound = bound

    def __missing__(self, text: Any) -> Any:
        if len(self) >= self._bound:
            self.clear()
        found = self[text] = self._function(text)
        return found
