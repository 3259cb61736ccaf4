"""`import_log`: one log in, visits out, every line accounted for.

A log is read in pieces of a fixed size. What a piece gave and how far it reached are one transaction, so an
import that was interrupted goes on at the next piece, a log that grew is read on from its old end, and one
that was taken in before is recognised by its content and counts once, whatever its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from clew import url as urls
from clew.errors import UsageError
from clew.url import canonical
from clew.visits import formats, histories
from clew.visits.database import LogRow, VisitsDatabase
from clew.visits.formats import LogFormat, Remembered, Row
from clew.visits.log_file import PIECE, UNREADABLE, LogFile
from clew.visits.privacy import Secret, is_personal, public_url

#: Bytes of a line that is still read.
_LONGEST = 64 << 10
#: First bytes that a log is known again by.
_HEAD = 64 << 10
#: Texts whose meaning is remembered while a log is read, of each kind.
_MEMORY = 400_000
#: The request that a redirect leads to follows within so many milliseconds.
_FOLLOWS = 5000
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DIRECTIVE = re.compile(rb"^#(?:Fields|Date):.*", re.M | re.I)
#: Times that a log can be of: from 1990 to 2200.
_FIRST, _LAST = 631_152_000_000, 7_258_118_400_000
_EXAMPLE = 100
#: Where the counts of a log say what they were before its last line, if that had no end.
_OPEN = "open line"

#: Why a line is no visit.
MALFORMED = ("too long", "control characters", "not in the format", "no such time", "no such status")
LEFT_OUT = (
    "CONNECT", "not GET", "error", "redirect", "embedded", "robot", "no web address", "personal address",
    "robots.txt", "directive", "already known",
)  # fmt: skip
_EMBEDDED_TYPES = (
    b"image/",
    b"font/",
    b"audio/",
    b"video/",
    b"text/css",
    b"text/javascript",
    b"application/font",
)
_SCRIPTS = re.compile(
    rb"application/(?:x-)?(?:javascript|ecmascript|json|woff|vnd\.ms-fontobject|wasm)", re.I
)
_EMBEDDED = re.compile(
    r"\.(?:css|js|mjs|map|png|jpe?g|gif|webp|avif|svg|ico|bmp|cur|woff2?|ttf|otf|eot|mp[34]|m4[av]|web[mp]|og[gv]"
    r"|wav|avi|mov|swf|wasm)(?:\?|$)",
    re.I,
)
_ROBOTS = re.compile(
    rb"bot\b|bot[/;_-]|crawl|spider|slurp|curl/|wget/|python-|java/|okhttp|go-http|libwww|httpclient|scrapy|feed"
    rb"|monitor|preview|archiver|scan|check_http|pingdom|uptime|headless|facebookexternalhit|axios/|node-fetch",
    re.I,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSettings:
    """How logs are to be read.

    Parameters: `site`, what paths are relative to in a log that names no host; `columns`, field -> column of
    a table; `by_agent`, whether people behind one address are told apart by their browsers; `person`, whose a
    browser's history is.
    """

    site: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    by_agent: bool = False
    person: str = "me"


@dataclass(slots=True)
class ImportCounts:
    """What became of the lines of a log: `lines` is the sum of all the others.

    >>> ImportCounts(lines=2, visits=1, left_out=Counter({"error": 1})).balanced
    True
    """

    lines: int = 0
    visits: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    malformed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    """Of each way to be malformed, the beginning of one such line. Shown, never stored."""

    @property
    def balanced(self) -> bool:
        """Whether every line is accounted for."""
        return self.lines == self.visits + self.left_out.total() + self.malformed.total()

    def stored(self) -> dict[str, object]:
        """What the database keeps of them."""
        return {
            "lines": self.lines,
            "visits": self.visits,
            "left_out": dict(self.left_out),
            "malformed": dict(self.malformed),
        }

    @classmethod
    def from_stored(cls, plain: Mapping[str, object]) -> ImportCounts:
        """The opposite of `stored`."""
        counts = cls(int(cast(int, plain.get("lines", 0))), int(cast(int, plain.get("visits", 0))))
        counts.left_out.update(cast("dict[str, int]", plain.get("left_out", {})))
        counts.malformed.update(cast("dict[str, int]", plain.get("malformed", {})))
        return counts


@dataclass(frozen=True, slots=True)
class Imported:
    """How the import of one log went."""

    format: str
    counts: ImportCounts
    known: bool
    """All of it was taken in before."""
    resumed: bool
    """Some of it was."""


class Gathering:
    """Requests become visits: what is no visit is counted by reason, the rest gathered for the database.

    Parameters: the secret; how to read the log; the counts to add to.
    """

    def __init__(self, secret: Secret, settings: ImportSettings, counts: ImportCounts) -> None:
        self.counts = counts
        self._visits: list[tuple[int, int, int]] = []
        self._unsaved: dict[int, str] = {}
        self._redirects: list[tuple[int, int, int, int]] = []
        self._robots: set[int] = set()
        self._site = settings.site or None
        self._by_agent = settings.by_agent
        self._person = Remembered(secret.person, _MEMORY)
        self._page = Remembered(self._page_of, _MEMORY)
        self._robot = Remembered(lambda agent: _ROBOTS.search(agent) is not None, 50_000)
        self._embedded = Remembered(_is_embedded, 1000)
        self._leading: dict[int, tuple[int, int]] = {}

    def take(self, lines: Sequence[bytes], layout: LogFormat, *, suspicious: bool = True) -> None:
        """Read lines; `suspicious` ones may have control characters."""
        split, malformed, clock = layout.split, self._malformed, _clock(layout)
        left_out: list[str] = []
        for line in lines:
            if len(line) > _LONGEST:
                malformed("too long", line)
            elif suspicious and _CONTROL.search(line):
                malformed("control characters", line)
            elif (row := split(line)) is not None:
                why = self._request(row, clock)
                if why is None:
                    continue
                if why in MALFORMED:
                    malformed(why, line)
                else:
                    left_out.append(why)
            elif line[:1] == b"#":
                left_out.append("directive")
            else:
                malformed("not in the format", line)
        self.counts.left_out.update(left_out)
        self.counts.lines += len(lines)

    def take_rows(self, rows: Iterable[Row]) -> None:
        """Read requests that a browser kept."""
        for row in rows:
            self.counts.lines += 1
            if (why := self._request(row, formats.epoch_clock)) is not None:
                (self.counts.malformed if why in MALFORMED else self.counts.left_out)[why] += 1

    def _request(self, row: Row, clock: formats.Clock) -> str | None:
        """Take one request in; gives why it is no visit."""
        client, user, when, method, text, status, kind, _, agent = row
        if method != b"GET" and method is not None:
            return "CONNECT" if method == b"CONNECT" else "not GET"
        try:
            time = clock(when or b"")
        except (ValueError, OverflowError):
            return "no such time"
        if not _FIRST <= time < _LAST:
            return "no such time"
        page = self._page[text]
        if page.__class__ is str:
            if page == "robots.txt":
                self._robots.add(self._identity(client, user, agent))
            return str(page)
        if agent is not None and self._robot[agent]:
            return "robot"
        if status is not None and status != b"200":
            if status[:1] == b"3" and status != b"304":
                self._leading[self._identity(client, user, agent)] = (page, time)
                return "redirect"
            if not (status[:1] == b"2" or status == b"304"):
                return "error" if status.isdigit() and len(status) == 3 else "no such status"
        if kind is not None and self._embedded[kind]:
            return "embedded"
        person = self._identity(client, user, agent)
        if self._leading and person in self._leading:
            source, since = self._leading.pop(person)
            if source != page and 0 <= time - since <= _FOLLOWS:
                self._redirects.append((since, person, source, page))
        self._visits.append((time, person, page))
        return None

    def _identity(self, client: bytes | None, user: bytes | None, agent: bytes | None) -> int:
        """Who asks: the user's name where there is one, else the address; told apart by browser if wanted."""
        who = client if user is None or user == b"-" or user == b'""' else b"user " + user
        if self._by_agent and agent is not None:
            who = (who or b"") + b"\n" + agent
        found: int = self._person[who or b""]
        return found

    def _page_of(self, text: bytes | None) -> int | str:
        """The key of a page, or why it is none."""
        address = (text or b"").decode("utf-8", "replace")
        url = public_url(address, self._site if address.startswith("/") else None)
        if url is None:
            return "no web address"
        if url.endswith("/robots.txt"):
            return "robots.txt"
        if _EMBEDDED.search(url):
            return "embedded"
        if is_personal(url):
            return "personal address"
        key = signed(urls.key(url))
        if len(self._unsaved) >= _MEMORY:
            # Addresses that were asked for and never given: they come again if they are visited.
            self._unsaved.clear()
            self._page.clear()
        self._unsaved[key] = url
        return key

    def _malformed(self, why: str, line: bytes) -> None:
        self.counts.malformed[why] += 1
        self.counts.examples.setdefault(why, line[:_EXAMPLE].decode("utf-8", "replace"))

    def giant(self) -> None:
        """Count a line that was never held whole."""
        self.counts.lines += 1
        self.counts.malformed["too long"] += 1

    def save(self, database: VisitsDatabase) -> None:
        """Hand over what was gathered; within a transaction."""
        new = database.add_visits(self._visits)
        self.counts.visits += new
        if new < len(self._visits):
            self.counts.left_out["already known"] += len(self._visits) - new
        unsaved = self._unsaved
        seen = {page for _, _, page in self._visits}.union([page for _, _, page, _ in self._redirects])
        database.add_pages([(page, unsaved.pop(page)) for page in sorted(seen.intersection(unsaved))])
        database.add_redirects(self._redirects)
        database.add_robots(sorted(self._robots))
        self._visits.clear()
        self._redirects.clear()
        self._robots.clear()
        # Where a piece ends must not matter to who reads on from there.
        self._leading.clear()


def signed(key: int) -> int:
    """A 64-bit key as SQLite keeps it.

    >>> signed(2**64 - 1)
    -1
    """
    return key - (1 << 64) if key >= 1 << 63 else key


def import_log(
    database: VisitsDatabase,
    secret: Secret,
    log: Path,
    settings: ImportSettings,
    *,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Imported:
    """Take one log in.

    Parameters: where to; the secret that hashes people; the file; how to read it; `tell`, told now and then
    how many of how many bytes of the file were read.
    """
    if settings.site and canonical(settings.site) is None:
        raise UsageError(f"{settings.site!r} is no web address: give the site as http://host/")
    began = False

    def told(at: int) -> None:
        nonlocal began
        began = True
        tell(at, total)

    try:
        total = log.stat().st_size
        with ExitStack() as stack:
            text = LogFile(log, stack)
            head = text.read(_HEAD)
            text.rewind()
            if (kind := histories.recognise(head)) is not None:
                return _import_history(database, secret, text, kind, settings)
            return _import_text(database, secret, text, head, settings, told)
    except UNREADABLE as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        how = "cannot be read to its end" if began else "cannot be read"
        more = "; what came before is kept, and a whole file is read on from there" if began else ""
        raise UsageError(f"{log} {how}: {why}{more}") from None


def _import_text(
    database: VisitsDatabase,
    secret: Secret,
    text: LogFile,
    head: bytes,
    settings: ImportSettings,
    tell: Callable[[int], None],
) -> Imported:
    if not head:
        return Imported("empty", ImportCounts(), known=False, resumed=False)
    layout = _layout(head, settings, text.path)
    known, digest = None, blake2b(digest_size=16, key=secret.key)
    lengths = [length for length in database.head_lengths() if length <= len(head)]
    for row in database.logs({length: secret.digest(head[:length]) for length in lengths}):
        if (same := _passed_over(text, row, digest, layout)) is not None:
            known, layout = row, same
            break
        # Another log with the same beginning.
        text.rewind()
        digest = blake2b(digest_size=16, key=secret.key)
    # A last line without an end may have been under way: what is counted goes on without it.
    line = cast("Mapping[str, Any]", known.counts.get(_OPEN, {}) if known else {})
    counts = ImportCounts.from_stored(line.get("before", known.counts) if known else {})
    before = counts.lines
    gathering = Gathering(secret, settings, counts)
    number, offset = (known.number, known.offset) if known else (-1, 0)
    rest = b""
    for piece, whole in text.pieces(PIECE):
        if whole == "open":
            rest = piece
            continue
        digest.update(piece)
        offset += len(piece)
        if not whole:
            continue
        if whole == "giant":
            gathering.giant()
        else:
            layout = _take(gathering, piece, layout, first=offset == len(piece))
        with database.transaction():
            if number < 0:
                number = database.add_log(len(head), secret.digest(head), layout.name)
            gathering.save(database)
            database.set_log(number, offset, digest.digest(), False, counts.stored())
        tell(text.at)
    mark = secret.digest(rest).hex() if rest else ""
    if known and known.finished and counts.lines == before and mark == line.get("mark", ""):
        return Imported(layout.name, ImportCounts.from_stored(known.counts), known=True, resumed=False)
    unended = {_OPEN: {"mark": mark, "before": counts.stored()}} if rest else {}
    if rest:
        layout = _take(gathering, rest, layout, first=offset == 0)
    with database.transaction():
        if number < 0:
            number = database.add_log(len(head), secret.digest(head), layout.name)
        gathering.save(database)
        database.set_log(number, offset, digest.digest(), True, counts.stored() | unended)
    return Imported(layout.name, counts, known=False, resumed=known is not None)


def _layout(head: bytes, settings: ImportSettings, log: Path) -> LogFormat:
    lines = head.split(b"\n")
    if settings.columns:
        return formats.csv_format(lines[0], settings.columns)
    layout = formats.recognise([line.rstrip(b"\r") for line in lines[: formats.LOOKED_AT + 1]])
    if layout is None:
        raise UsageError(
            f"{log} has no known format: {', '.join(formats.names()[:-1])}, HAR, Chrome's and Firefox's "
            "history are recognised; for a table with a header line name its columns: "
            "--columns person=…,time=…,url=…"
        )
    if layout.relative and not settings.site:
        raise UsageError(f"{log} ({layout.name}) names no host: say whose it is with --site http://host/")
    return layout


def _passed_over(text: LogFile, known: LogRow, digest: blake2b, layout: LogFormat) -> LogFormat | None:
    """Read over what was taken in before; gives the format from there on, None if it is another log."""
    left, rest = known.offset, b""
    while left:
        piece = text.read(min(left, PIECE))
        if not piece:
            return None
        digest.update(piece)
        left -= len(piece)
        if layout.name == "w3c":
            # A directive may lie across the end of a piece.
            whole, _, rest = (rest + piece).rpartition(b"\n")
            for line in _DIRECTIVE.findall(whole):
                layout = layout.after(line)
    return layout if digest.digest() == known.digest else None


def _take(gathering: Gathering, piece: bytes, layout: LogFormat, *, first: bool) -> LogFormat:
    """Read a piece of whole lines; gives the format it ended with."""
    lines = piece.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    suspicious = _CONTROL.search(piece) is not None
    if layout.header and first:
        gathering.counts.lines += layout.header
        gathering.counts.left_out["directive"] += layout.header
        lines = lines[layout.header :]
    if layout.name != "w3c":
        gathering.take(lines, layout, suspicious=suspicious)
        return layout
    start = 0
    for at, line in enumerate(lines):
        if _DIRECTIVE.match(line):
            gathering.take(lines[start:at], layout, suspicious=suspicious)
            layout, start = layout.after(line), at
    gathering.take(lines[start:], layout, suspicious=suspicious)
    return layout


def _clock(layout: LogFormat) -> formats.Clock:
    """How times are read: those of whole seconds come again and again, and are remembered."""
    return (
        layout.clock if layout.clock is formats.epoch_clock else Remembered(layout.clock, 10_000).__getitem__
    )


def _is_embedded(kind: bytes) -> bool:
    plain = kind.lower()
    return plain.startswith(_EMBEDDED_TYPES) or _SCRIPTS.match(plain) is not None


def _import_history(
    database: VisitsDatabase, secret: Secret, log: LogFile, kind: str, settings: ImportSettings
) -> Imported:
    """Take in what a browser kept. It is read whole each time: what is known counts once by its visits."""
    name, rows = histories.read(log, kind, settings.person)
    counts = ImportCounts()
    gathering = Gathering(secret, settings, counts)
    gathering.take_rows(rows)
    head = secret.digest(f"{name} {settings.person}".encode())
    with database.transaction():
        known = next(iter(database.logs({-1: head})), None)
        number = database.add_log(-1, head, name) if known is None else known.number
        gathering.save(database)
        # Of a history that is taken in again and again, the counts of the last time stand.
        database.set_log(number, 0, b"", True, counts.stored())
    return Imported(name, counts, known is not None and counts.visits == 0, False)
