"""A crawl's state read back in columns: a million candidates pass through, few Python objects stay."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.messages import SaveHost, State
from clew.store.base import Snapshot
from clew.store.rows import REQUESTS, elapsed, stored, typed, unsigned
from clew.store.schema import CHUNK

_STEP = 20_000
MOST_TERMS = 256
"""Terms of a score at most; a table is made of this width times the candidates."""


Execute = Callable[..., sqlite3.Cursor]


def load(connection: sqlite3.Connection) -> Snapshot | None:
    """The state to resume from; None when no candidate was ever saved."""
    with ExitStack() as cursors:

        def execute(query: str, values: Sequence[str] = ()) -> sqlite3.Cursor:
            # Closed with the rest whatever is found: one that an error leaves open keeps the database locked.
            return cursors.enter_context(closing(connection.execute(query, values)))

        return _load(execute)


def _load(execute: Execute) -> Snapshot | None:
    count = _numbered_from_zero(execute, "candidates")
    hosts_known = _numbered_from_zero(execute, "hosts")
    if not count:
        return None
    columns = _candidates(execute, count)
    _require_range("hosts of candidates", columns[1], 0, hosts_known)
    _require_range("depths", columns[2], 0, 1 << 31)
    _require_range("sources", columns[3], -1, count)
    if not np.isin(columns[4], [state.value for state in State if stored(state) is state]).all():
        raise ValueError("a candidate has an impossible state")
    _require_range("attempts", columns[5], 0, 1 << 31)
    pages = _pages(execute, count)
    (decisions,) = execute("SELECT count(*) FROM trace").fetchone()
    asked = ", ".join("?" * len(REQUESTS))
    (tasks,) = execute(f"SELECT count(*) FROM trace WHERE kind IN ({asked})", REQUESTS).fetchone()
    spans = execute("SELECT min(at), max(at) FROM trace GROUP BY session")
    requests, wire = execute(
        "SELECT coalesce(sum(requests), 0), coalesce(sum(wire), 0) FROM hosts"
    ).fetchone()
    learned = execute("SELECT state FROM learned").fetchone()
    typed((requests, wire), (int, int))
    return Snapshot(
        keys=columns[0].view(np.uint64),
        hosts=columns[1].astype(np.int32),
        host_names=tuple(typed(row, (str,))[0] for row in execute("SELECT name FROM hosts ORDER BY id")),
        depths=columns[2].astype(np.int32),
        sources=columns[3].astype(np.int32),
        states=columns[4].astype(np.uint8),
        attempts=np.minimum(columns[5], 255).astype(np.uint8),
        terms=parts(execute, count),
        host_states=tuple(hosts(execute)),
        digests=pages.digests,
        sketches=pages.sketches,
        copies=pages.copies,
        said=pages.said if len(pages.said) == len(pages.scores) else None,
        matched=frozenset(pages.matched),
        scores=pages.scores,
        interests=pages.interests,
        decisions=decisions,
        tasks=tasks,
        pages=len(pages.scores),
        requests=requests,
        wire=wire,
        elapsed=elapsed(spans),
        learned=typed(learned, (str,))[0] if learned else "",
    )


def _numbered_from_zero(execute: Execute, table: str) -> int:
    """How many rows a table has, whose numbers have no gaps: arrays are as long as that, not as the last."""
    count, first, last = execute(
        f"SELECT count(*), coalesce(min(id), 0), coalesce(max(id), -1) FROM {table}"
    ).fetchone()
    if first != 0 or last != count - 1:
        raise ValueError(f"the numbers of {table} have gaps")
    return int(count)


def _candidates(execute: Execute, count: int) -> list[NDArray[np.int64]]:
    """Key, host, depth, source, state and attempts of every candidate, by number."""
    columns = [np.zeros(count, np.int64) for _ in range(6)]
    cursor = execute("SELECT key, host, depth, source, state, attempts FROM candidates ORDER BY id")
    at = 0
    while rows := cursor.fetchmany(_STEP):
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column[at : at + len(rows)] = values
        at += len(rows)
    return columns


def _require_range(what: str, column: NDArray[np.int64], least: int, end: int) -> None:
    if len(column) and not least <= int(column.min()) <= int(column.max()) < end:
        raise ValueError(f"the {what} are out of range")


def parts(execute: Execute, count: int) -> NDArray[np.float64]:
    """Contributions, one row a candidate; narrower rows of an earlier strategy are filled with zeros."""
    (width,) = execute("SELECT coalesce(max(width), 0) FROM parts").fetchone()
    if not isinstance(width, int) or not 0 <= width <= MOST_TERMS:
        raise ValueError(f"a score has {width!r} terms")
    table = np.zeros((count, width))
    for chunk, columns, data in execute("SELECT chunk, width, data FROM parts WHERE width > 0"):
        block = np.frombuffer(data, "<f8").reshape(-1, columns)
        table[chunk * CHUNK : chunk * CHUNK + len(block), :columns] = block
    return table


ROBOTS = "SELECT host, origin, status, fetched_at, body FROM robots ORDER BY host, position"
HOSTS = (
    "SELECT id, name, next_at, delay, failures, requests, pages, matches, wire, memory FROM hosts "
    "WHERE next_at IS NOT NULL ORDER BY id"
)
_HOST_KINDS = (int, str, float, float, int, int, int, int, int, str)
RobotsEntry = tuple[str, int, float, bytes]


def robots_entry(row: tuple[Any, ...]) -> tuple[int, RobotsEntry]:
    """The number of a host, and a robots.txt of it."""
    number, origin, status, at, body = typed(row, (int, str, int, float, bytes))
    return number, (origin, status, at, body)


def host_row(row: tuple[Any, ...], robots: Mapping[int, Sequence[RobotsEntry]]) -> SaveHost:
    """What is remembered of one host."""
    number, name, next_at, delay, failures, requests, pages, matches, wire, memory = typed(row, _HOST_KINDS)
    return SaveHost(
        host=name,
        next_at=next_at,
        delay=delay,
        failures=failures,
        requests=requests,
        pages=pages,
        matches=matches,
        wire=wire,
        robots=tuple(robots.get(number, ())),
        memory=memory,
    )


def hosts(execute: Execute) -> list[SaveHost]:
    """What is remembered about each host that was asked for something."""
    robots: dict[int, list[RobotsEntry]] = {}
    for number, entry in map(robots_entry, execute(ROBOTS)):
        robots.setdefault(number, []).append(entry)
    return [host_row(row, robots) for row in execute(HOSTS)]


@dataclass(slots=True)
class _Pages:
    """What is kept of pages, by candidate."""

    digests: dict[int, int] = field(default_factory=dict)
    sketches: dict[int, bytes] = field(default_factory=dict)
    copies: dict[int, tuple[int, bool]] = field(default_factory=dict)
    said: dict[int, int] = field(default_factory=dict)
    matched: set[int] = field(default_factory=set)
    scores: dict[int, float] = field(default_factory=dict)
    interests: dict[int, tuple[str, ...]] = field(default_factory=dict)


def _pages(execute: Execute, count: int) -> _Pages:
    pages = _Pages()
    for candidate, digest, sketch, repeats, near, found, score, said, names in execute(
        "SELECT candidate, digest, sketch, duplicate_of, near, matched, score, said, interests FROM pages "
        "ORDER BY seq"
    ):
        typed((candidate, digest, sketch, repeats, score, near), (int, int, bytes, int, float, int))
        typed((names,), (str,))
        if not 0 <= candidate < count or repeats >= count:
            raise ValueError(f"a page belongs to candidate {candidate}, or to {repeats}, which there is not")
        pages.scores[candidate] = score
        if digest and repeats < 0:
            pages.digests.setdefault(unsigned(digest), candidate)
        if repeats < 0 and sketch and isinstance(sketch, bytes):
            pages.sketches[candidate] = sketch
        if repeats >= 0:
            pages.copies[candidate] = (repeats, bool(near))
        if isinstance(said, int):
            pages.said[candidate] = unsigned(said)
        if found:
            pages.matched.add(candidate)
            if names:
                pages.interests[candidate] = tuple(names.split())
    return pages
