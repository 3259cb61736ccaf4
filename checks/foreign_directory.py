"""Edit a crawl directory in every way a stranger could, and run every command on it.

Any cell of the database, any value within its JSON, any byte of any file, any record of the archive, and
names that lead elsewhere. Each edit is made to a fresh copy of a crawl; every reading command is run on
it, then the crawl is resumed. A command must end in a sentence, and nothing outside the directory may
change: what lies around it is compared before and after, and every file that Python opens for writing
and every program it starts is looked at as it happens.

    python checks/foreign_directory.py [--edits N] [--seed S] [--first N] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from verdict import ended

PAGES = 12
CHUNK = 250
"""Edits to a process: what one leaves behind in it cannot be blamed on edits without end."""
PATIENCE = 60
"""Seconds after which a command hangs."""
ROOM = 2 << 30
"""Bytes of address space beyond what the process has when it begins."""


# the web that is crawled


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        number = self.path.strip("/")
        found = number.isdigit() and int(number) < PAGES
        body = page(int(number)) if found else b"User-agent: *\nAllow: /\n"
        self.send_response(200 if found or self.path == "/robots.txt" else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8" if found else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the library's name
        pass


def page(number: int) -> bytes:
    """A page of the web: a word of its own, some of everyone's, links in a tree and across it."""
    dice = random.Random(number)
    words = " ".join(dice.choices(("wind", "farm", "turbine", "sea", "oil", "größe", "coast"), k=60))
    targets = [2 * number + 1, 2 * number + 2, dice.randrange(PAGES)]
    links = " ".join(
        f'<a href="/{target}">to {dice.choice(words.split())} {target}</a>' for target in targets
    )
    return (
        f"<!doctype html><html lang=en><title>Page {number}</title><p>w{number} {words}</p>{links}".encode()
    )


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """The web on loopback; gives its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


# running commands


class Hung(BaseException):
    """A command took too long."""


def _hung(*_: object) -> None:
    raise Hung


@functools.cache
def parsed(*words: str) -> tuple[Callable[..., Any], Any]:
    """A command line taken apart: once, since the lines are the same for every edit."""
    from clew.cli.app import build

    call, bound, _ = build().parse_args(words)
    return call, bound


def command(*words: object) -> tuple[int, str, str]:
    """Run `clew` in this process, as its entry point does; gives exit code, output and complaints."""
    from clew.cli.exits import code_of

    call, bound = parsed(*map(str, words))
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    signal.alarm(PATIENCE)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                result = call(*bound.args, **bound.kwargs)
                code = result if isinstance(result, int) else 0
            except Hung:
                raise
            except BaseException as error:
                code = code_of(error)
    finally:
        signal.alarm(0)
    for stream in (out, err):
        stream.flush()
    said = [stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err)]  # type: ignore[attr-defined]
    return code, said[0], said[1]


def manners() -> list[str]:
    """Options for a web on this machine."""
    line = ["--delay", "0", "--own", "127.0.0.1", "--allow-private", "127.0.0.1", "--parse-workers", "0"]
    return [*line, "--timeout", "2s", "--sitemaps", "off"]


def make(directory: Path, port: int) -> None:
    """The crawl that is edited: half of the web, with report and search index."""
    start = ("crawl", f"http://127.0.0.1:{port}/0", "-m", "wind AND coast", "-d", directory)
    code, _, said = command(*start, "--pages", PAGES // 2, *manners())
    assert code in (0, 3), said
    assert command("search", directory, "wind")[0] == 0
    assert command("report", directory)[0] == 0


def commands(directory: Path, port: int, out: Path) -> list[tuple[object, ...]]:
    """Every command that takes a crawl directory; the last one writes."""
    url = f"http://127.0.0.1:{port}/"
    read: list[tuple[object, ...]] = [
        ("status", directory),
        ("status", directory, "--json"),
        ("export", directory, "-f", "jsonl"),
        ("export", directory, "-f", "csv", "-o", out / "pages.csv"),
        ("export", directory, "-f", "warc", "-o", out / "pages.warc.gz"),
        ("search", directory, "wind"),
        ("explain", directory, f"{url}0"),
        ("explain", directory, f"{url}{PAGES - 1}"),
        ("explain", directory, f"{url}nowhere"),
        ("trace", directory),
        ("trace", directory, "--json"),
        ("report", directory),
        ("knowledge", "show", directory),
    ]
    again = ("crawl", "-d", directory, "--pages", PAGES // 2 + 2, "--time", "2s", *manners())
    return [*read, again]


# edits

INTS = (-1, 0, 1, 2, 255, 256, 2**31 - 1, 2**31, -(2**31) - 1, 2**32, 2**53, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, 1e308, -1e308, float("inf"), float("-inf"), 5e-324, 1e18, float("nan"))
FRAMES = (
    bytes.fromhex("28b52ffde0") + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00",
    bytes.fromhex("28b52ffd"),
    bytes.fromhex("28b52ffd00ff010000"),
)


def texts(victims: Path) -> list[str]:
    """Texts that are not what they should be."""
    return [
        *("", "\0", "\x1b[2J\x1b]0;gone\x07", "x" * 1_000_000, "é\ud7ff\U0010ffff\u202e", "\r\n\r\n", "nan"),
        *("[]", "{}", "null", "{", "[" * 100_000, "1e999", '"\\ud800"', "[[]]", '[["a"]]', '{"a":[1,2]}'),
        *("../../victim.txt", str(victims / "victim.txt"), f"file://{victims}/victim.txt", "/dev/zero", "~"),
        *(
            "clew-00001.warc.gz",
            "../clew-00000.warc.gz",
            "-o",
            "$(touch x)",
            "%s%n",
            "http://[::1",
            "http://",
        ),
        *("http://127.0.0.1:1/", "javascript:alert(1)", "http://a.example/" + "a/" * 5000, "9" * 5000),
    ]


Edit = Callable[[Path, random.Random, Path], str]


def tables(db: sqlite3.Connection) -> list[str]:
    return [
        name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    ]


def hostile(dice: random.Random, victims: Path, old: object) -> object:
    """A value in place of another."""
    kind = dice.randrange(7)
    if kind == 0:
        return dice.choice(INTS)
    if kind == 1:
        return dice.choice(FLOATS)
    if kind == 2:
        return dice.choice(texts(victims))
    if kind == 3:
        return dice.choice((*FRAMES, b"", dice.randbytes(dice.randrange(1, 200)), bytes(100_000)))
    if kind == 4:
        return None
    if isinstance(old, str | bytes) and old:
        raw = bytearray(old.encode("utf-8", "replace") if isinstance(old, str) else old)
        for _ in range(dice.choice((1, 1, 1, 5))):
            raw[dice.randrange(len(raw))] = dice.randrange(256)
        return bytes(raw) if isinstance(old, bytes) else bytes(raw).decode("utf-8", "replace")
    if isinstance(old, int | float):
        return dice.choice((old + 1, old - 1, -old, old * 2))
    return dice.choice(INTS)


def database(directory: Path) -> sqlite3.Connection:
    return sqlite3.connect(directory / "clew.db", isolation_level=None)


def cell(directory: Path, dice: random.Random, victims: Path) -> str:
    """One cell of the database, or one column of all rows."""
    with contextlib.closing(database(directory)) as db:
        table = dice.choice(tables(db))
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        column = dice.choice(columns)
        rows = db.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
        if not rows:
            return ""
        row = dice.choice(rows)
        value = hostile(dice, victims, row[columns.index(column)])
        where = "" if dice.random() < 0.2 else f"WHERE {columns[0]} IS ?"
        if dice.random() < 0.1:
            expression, given = "CAST(X'66c328ff' AS TEXT)", []
        else:
            expression, given = "?", [value]
        try:
            values = [*given, *([row[0]] if where else [])]
            db.execute(f"UPDATE {table} SET {column} = {expression} {where}", values)
        except (sqlite3.Error, OverflowError):
            return ""
        return f"{table}.{column} = {value!r:.60} {where and repr(row[0])}"


def warcs(directory: Path, dice: random.Random, victims: Path) -> str:
    """The names and lengths of the archive's files."""
    name = dice.choice(("../../victim.txt", "../clew.db", *texts(victims)))
    length = dice.choice((0, 20, *INTS))
    with contextlib.closing(database(directory)) as db:
        if dice.random() < 0.5:
            with contextlib.suppress(sqlite3.Error):
                db.execute("INSERT INTO warcs (name, length) VALUES (?, ?)", (name, length))
        elif dice.random() < 0.5:
            db.execute("UPDATE warcs SET name = ?, length = ?", (name, length))
        else:
            db.execute("UPDATE warcs SET length = ?", (length,))
            name = ""
    return f"warcs {name!r:.60} {length}"


def rows(directory: Path, dice: random.Random, victims: Path) -> str:
    """Rows taken away, or put in again under another number."""
    with contextlib.closing(database(directory)) as db:
        table = dice.choice(tables(db))
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        found = db.execute(f"SELECT * FROM {table}").fetchall()
        if not found:
            return ""
        row = list(dice.choice(found))
        if dice.random() < 0.5:
            every = dice.random() < 0.3
            where = "" if every else f" WHERE {columns[0]} IS ?"
            db.execute(f"DELETE FROM {table}{where}", () if every else row[:1])
            return f"delete from {table}"
        row[dice.randrange(len(row))] = hostile(dice, victims, None)
        try:
            db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        except (sqlite3.Error, OverflowError):
            return ""
        return f"insert into {table}"


def within(value: Any, dice: random.Random, victims: Path) -> Any:
    """JSON with one value in it changed."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(sorted(value))
        if dice.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: within(value[key], dice, victims)}
    if isinstance(value, list) and value and dice.random() < 0.9:
        at = dice.randrange(len(value))
        return [*value[:at], within(value[at], dice, victims), *value[at + 1 :]]
    new = hostile(dice, victims, value)
    if isinstance(new, bytes):
        return dice.choice(([], {}, True, [[1, 2], [3]], {"a": None}))
    return new


def inside_json(directory: Path, dice: random.Random, victims: Path) -> str:
    """One value within the settings, what was learned, a host's memory, or a line of the trace."""
    table, column, key = dice.choice(
        [
            *[("meta", "value", "key")] * 4,
            *[("learned", "state", "id")] * 3,
            *(("hosts", "memory", "id"), ("trace", "reasons", "seq"), ("trace", "dropped", "seq")),
            ("pages", "reasons", "seq"),
        ]
    )
    with contextlib.closing(database(directory)) as db:
        found = db.execute(f"SELECT {key}, {column} FROM {table}").fetchall()
        if table == "meta" and dice.random() < 0.7:
            found = [row for row in found if row[0] == "config"]
        if not found:
            return ""
        number, text = dice.choice(found)
        try:
            changed = json.dumps(within(json.loads(text), dice, victims))
        except ValueError:
            return ""
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (changed, number))
        return f"{table}.{column} {number!r}: {len(text)} -> {changed if table == 'meta' else ''!s:.200}"


def some_bytes(directory: Path, dice: random.Random, victims: Path) -> str:
    """Bytes of any file flipped, overwritten, cut off or added."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    weights = [4 if path.suffix in (".db", ".gz") else 1 for path in files]
    path = dice.choices(files, weights)[0]
    data = bytearray(path.read_bytes())
    kind = dice.choice(("flip", "flip", "flips", "range", "cut", "add", "empty", "random"))
    if kind in ("flip", "flips", "range") and not data:
        return ""
    if kind == "flip":
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    elif kind == "flips":
        for _ in range(dice.randrange(2, 50)):
            data[dice.randrange(len(data))] = dice.randrange(256)
    elif kind == "range":
        at = dice.randrange(len(data))
        length = dice.choice((4, 16, 200, 4096))
        data[at : at + length] = dice.choice((bytes(length), b"\xff" * length, dice.randbytes(length)))
    elif kind == "cut":
        del data[dice.randrange(len(data) + 1) :]
    elif kind == "add":
        data += dice.choice((bytes(5000), dice.randbytes(300), data[: len(data) // 2]))
    else:
        data = bytearray(dice.randbytes(300) if kind == "random" else b"")
    path.write_bytes(data)
    return f"{kind} {path.name}"


def header_bytes(directory: Path, dice: random.Random, victims: Path) -> str:
    """Bytes at the beginning of the database: its page size, format, counters, and the root of its schema."""
    path = directory / "clew.db"
    data = bytearray(path.read_bytes())
    at = dice.randrange(16, dice.choice((100, 300)))
    data[at] = dice.randrange(256)
    path.write_bytes(data)
    return f"clew.db[{at}] = {data[at]}"


def record(directory: Path, dice: random.Random, victims: Path) -> str:
    """A record of the archive changed and packed again, so that it is sound but for what it says."""
    path = min((directory / "pages").glob("*.warc.gz"))
    data, members = path.read_bytes(), []
    while data:
        inflate = zlib.decompressobj(31)
        members.append(inflate.decompress(data))
        data = inflate.unused_data
    at = dice.randrange(len(members))
    lines = members[at].split(b"\r\n")
    spot = dice.randrange(min(len(lines), 20))
    name = lines[spot].partition(b":")[0]
    new = hostile(dice, victims, lines[spot])
    value = new if isinstance(new, bytes) else str(new).encode("utf-8", "replace")
    lines[spot] = dice.choice((value, name + b": " + value, b"", bytes(3_000_000)))
    members[at] = b"\r\n".join(lines)
    if dice.random() < 0.1:
        members[at] = bytes(200 << 20)
    packed = []
    for member in members:
        deflate = zlib.compressobj(1, zlib.DEFLATED, 31)
        packed.append(deflate.compress(member) + deflate.flush())
    path.write_bytes(b"".join(packed))
    ends = [sum(map(len, packed[: i + 1])) for i in range(len(packed))]
    with contextlib.closing(database(directory)) as db:
        db.execute("UPDATE warcs SET length = ?", (ends[-1],))
    return f"record {at} of {path.name}, line {spot} {name[:30]!r}"


NAMES = ("clew.db", "clew.db-wal", "clew.db-shm", "clew.db-journal", "clew.lock", "clew.log", "clew.log.1")
NAMES += ("search.db", "search.db-wal", "search.db-shm", "search.db-journal", "report.html", "pages")
NAMES += ("pages/clew-00000.warc.gz", "pages/clew-00001.warc.gz", "clew.db.new", "clew.toml")


def name(directory: Path, dice: random.Random, victims: Path) -> str:
    """A name in the directory that leads elsewhere, or is no file."""
    path = directory / dice.choice(NAMES)
    kind = dice.choice(("link", "link", "dangling", "hard", "pipe", "folder", "journal", "garbage", "moved"))
    target = victims / dice.choice(("victim.txt", "victim.db", "folder"))
    if kind == "moved" and path.exists():
        # What was there, elsewhere, and a link to it: all is as it was but where it is.
        target = victims / "moved"
        path.rename(target)
        path.symlink_to(target)
        return f"{path.name} moved away and linked"
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "hard":
        path.hardlink_to(victims / "victim.txt")
    elif kind == "journal":
        (directory / "clew.db-journal").write_bytes(journal(victims / "victim.txt", directory / "clew.db"))
    elif kind == "garbage":
        path.write_bytes(dice.randbytes(5000))
    else:
        path.symlink_to(target if kind == "link" else victims / "not-there")
    return f"{path.name}: {kind} {target.name}"


def journal(victim: Path, of: Path) -> bytes:
    """A journal after which SQLite deletes a file."""
    named, magic = str(victim).encode(), bytes.fromhex("d9d505f920a163d7")
    size = of.stat().st_size // 4096 if of.exists() else 1
    head = magic + struct.pack(">iIIII", 0, 0, size, 512, 4096)
    tail = struct.pack(">I", 262145) + named + struct.pack(">II", len(named), sum(named)) + magic
    return head.ljust(512, b"\0") + tail


STATEMENTS = (
    "CREATE TRIGGER t AFTER INSERT ON {0} BEGIN DELETE FROM pages; END",
    "CREATE TRIGGER t AFTER UPDATE ON {0} BEGIN INSERT INTO meta VALUES ('x', hex(zeroblob(900000000))); END",
    "CREATE VIEW v AS SELECT * FROM {0}",
    "CREATE INDEX i ON {0} (hex(zeroblob(100000)))",
    "CREATE VIRTUAL TABLE v USING fts5(a)",
    "CREATE TABLE more (a)",
    "DROP TABLE {0}",
    "ALTER TABLE {0} RENAME TO other",
    "ALTER TABLE {0} ADD COLUMN more TEXT",
    "ALTER TABLE {0} ADD COLUMN more AS (hex(zeroblob(100000000)))",
    "PRAGMA user_version = {1}",
    "PRAGMA application_id = {1}",
    "PRAGMA auto_vacuum = FULL",
    "PRAGMA journal_mode = WAL",
    "ANALYZE",
    "VACUUM",
)


def schema(directory: Path, dice: random.Random, victims: Path) -> str:
    """What the database declares."""
    path = directory / dice.choice(("clew.db", "clew.db", "search.db"))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        statement = dice.choice(STATEMENTS).format(dice.choice(tables(db)), dice.choice((-1, 0, 1, 2, 99)))
        try:
            db.execute(statement)
        except sqlite3.Error:
            return ""
        if dice.random() < 0.2:
            db.execute("PRAGMA writable_schema = ON")
            with contextlib.suppress(sqlite3.Error):
                db.execute(
                    "UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', 'NOT NULL DEFAULT (1/0)')"
                )
    return f"{path.name}: {statement}"


EDITS: tuple[tuple[Edit, int], ...] = (
    (cell, 8), (inside_json, 5), (rows, 2), (warcs, 2), (some_bytes, 5), (header_bytes, 1), (record, 3),
    (name, 4), (schema, 2),
)  # fmt: skip


# watching


class Watch:
    """What Python opens for writing, removes, renames or starts, outside a directory."""

    def __init__(self) -> None:
        self.inside: tuple[str, ...] | None = None
        self.escapes: list[str] = []
        sys.addaudithook(self._heard)

    @contextlib.contextmanager
    def confined(self, *inside: Path) -> Iterator[None]:
        self.escapes = []
        self.inside = tuple(os.path.realpath(path) for path in inside)
        try:
            yield
        finally:
            self.inside = None

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.inside is None:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
                self._look(event, path)
        elif event in (
            "os.remove",
            "os.rename",
            "os.mkdir",
            "os.rmdir",
            "os.truncate",
            "os.link",
            "os.symlink",
        ):
            self._look(event, arguments[0])
            if event == "os.rename":
                self._look(event, arguments[1])
        elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork"):
            self.escapes.append(f"{event} {arguments!r:.100}")

    def _look(self, event: str, path: object) -> None:
        if isinstance(path, int) or path == os.devnull:
            return
        inside, self.inside = self.inside, None
        try:
            # the folder it is in: what is renamed or removed is the name, not what it leads to
            text = os.fsdecode(path)  # type: ignore[arg-type]
            parent = os.path.realpath(os.path.dirname(os.path.abspath(text)))
            real = os.path.realpath(text) if event in ("open", "os.truncate") else parent
            if not any(place == real or real.startswith(place + os.sep) for place in inside or ()):
                self.escapes.append(f"{event} {text}")
        finally:
            self.inside = inside


def state(*places: Path) -> str:
    """What is in some folders, names and bytes."""
    digest = hashlib.sha256()
    for place in places:
        for path in sorted(place.rglob("*")):
            digest.update(f"{path} {path.is_symlink()}\n".encode())
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def judged(code: int, said: str) -> str:
    """What is wrong with how a command ended; empty when it ended in a sentence."""
    for bad in ("Traceback", "unexpected", "Exception", "out of memory", "Error:"):
        if bad in said:
            return f"said {bad!r}"
    if code not in (0, 1, 2, 3, 4, 5):
        return f"exit code {code}"
    if code in (1, 2, 5) and "clew: " not in said:
        return f"exit code {code} without a word"
    return ""


def one(number: int, seed: int, base: Path, work: Path, port: int, watch: Watch) -> dict[str, Any]:
    """Make one edit, run every command; gives what was done and what went wrong."""
    dice = random.Random(f"{seed}:{number}")
    spot = work / "spot"
    shutil.rmtree(spot, ignore_errors=True)
    directory, victims, out = spot / "a" / "crawl", spot, spot / "out"
    made = ""
    while not made:
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(base, directory)
        for place in (spot / "cwd", spot / "folder", out):
            place.mkdir(exist_ok=True)
        (spot / "victim.txt").write_text(
            "the only copy of something precious, longer than twenty bytes\n" * 9
        )
        shutil.copy(base / "clew.db", spot / "victim.db")
        (edit,) = dice.choices([edit for edit, _ in EDITS], [weight for _, weight in EDITS])
        made = edit(directory, dice, victims)
    os.chdir(spot / "cwd")
    around = [path for path in spot.iterdir() if path.name not in ("a", "out")]
    everything = [place for place in around if place.is_dir()]
    failures: list[dict[str, Any]] = []
    for line in commands(directory, port, out):
        before = state(*everything), {path: path.read_bytes() for path in around if path.is_file()}
        began = time.monotonic()
        with watch.confined(directory, out):
            try:
                code, _, said = command(*line)
                wrong = judged(code, said)
            except Hung:
                code, said, wrong = -1, "", f"hung after {time.monotonic() - began:.0f} s"
            except BaseException as error:
                code, said, wrong = -1, repr(error), "escaped as an exception"
        after = state(*everything), {path: path.read_bytes() for path in around if path.is_file()}
        escapes = [*watch.escapes, *(["something outside changed"] if before != after else [])]
        if wrong or escapes:
            shown = [str(word).replace(str(directory), "DIR") for word in line[:3]]
            failures.append(
                {"command": " ".join(shown), "wrong": wrong, "escapes": escapes, "said": said[-400:]}
            )
    return {"number": number, "kind": edit.__name__, "edit": made, "failures": failures}


def chunk(first: int, count: int, seed: int, base: Path, work: Path, port: int) -> None:
    """Some edits, a line of JSON for each; run as a process of its own."""
    signal.signal(signal.SIGALRM, _hung)
    watch = Watch()
    command("status", base)  # what is loaded once is no escape later
    command("explain", base, f"http://127.0.0.1:{port}/0")
    with open("/proc/self/statm") as stream:
        used = int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
    for number in range(first, first + count):
        print(json.dumps(one(number, seed, base, work, port, watch)), flush=True)


def run(
    edits: int, seed: int, first: int = 0, tell: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """Try so many edits; gives the figures."""
    kinds: Counter[str] = Counter()
    failed: list[dict[str, Any]] = []
    done = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place, serving() as port:
        work = Path(place)
        base = work / "base"
        signal.signal(signal.SIGALRM, _hung)
        make(base, port)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("CLEW_")}
        environment |= {"HOME": str(work / "home"), "TMPDIR": str(work / "tmp"), "PYTHONHASHSEED": "0"}
        (work / "home").mkdir()
        (work / "tmp").mkdir()
        at, end = first, first + edits
        while at < end:
            count = min(CHUNK, end - at)
            line = [
                sys.executable,
                __file__,
                "--chunk",
                f"{at}:{count}",
                "--seed",
                str(seed),
                "--work",
                place,
            ]
            child = subprocess.Popen(
                [*line, "--port", str(port)], stdout=subprocess.PIPE, text=True, env=environment, cwd=place
            )
            assert child.stdout is not None
            reached = at
            for text in child.stdout:
                result = json.loads(text)
                kinds[result["kind"]] += 1
                done, reached = done + 1, result["number"] + 1
                if result["failures"]:
                    failed.append(result)
                    tell(json.dumps(result, indent=1))
            if child.wait() and reached < at + count:
                died = [{"wrong": f"the process died: {child.returncode}"}]
                failed.append({"number": reached, "kind": "?", "edit": "?", "failures": died})
                tell(json.dumps(failed[-1]))
                done, reached = done + 1, reached + 1
            at = reached if reached > at else at + count
    escapes = sum(1 for result in failed for failure in result["failures"] if failure.get("escapes"))
    return {
        "edits": done,
        "commands": len(commands(Path(), 0, Path())),
        "failed": len(failed),
        "escapes": escapes,
        "kinds": dict(sorted(kinds.items())),
        "seconds": round(time.monotonic() - began, 1),
        "failures": failed,
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--edits", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first edit, to do one again")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--chunk", help=argparse.SUPPRESS)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.chunk:
        first, count = map(int, given.chunk.split(":"))
        work = Path(given.work)
        chunk(first, count, given.seed, work / "base", work, given.port)
        return 0
    found = run(
        given.edits, given.seed, given.first, lambda text: None if given.json else print(text, flush=True)
    )
    if given.json:
        print(json.dumps(found))
        return 1 if found["failed"] else 0
    print(f"{found['edits']} edits, {found['commands']} commands on each: {found['kinds']}")
    print(f"  changes outside the directory: {found['escapes']}; {found['seconds']} s")
    wrong = [f"edit {result['number']} ({result['kind']}): {result['edit']}" for result in found["failures"]]
    return ended("foreign_directory", found["edits"], wrong)


if __name__ == "__main__":
    sys.exit(main())
