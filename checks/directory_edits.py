"""Edits that a stranger could make to a crawl directory, each a function of dice that says what it did.

Any cell of the database, any value within its JSON, any byte of any file, any record of the archive,
and names that lead elsewhere. `foreign_directory.py` makes them, one to a fresh copy, and runs every command
on it.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sqlite3
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
