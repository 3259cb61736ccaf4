"""A crawl's state read back in columns: a million candidates pass through, few Python objects stay."""

from __future__ import annotations

import sqlite3

import numpy as np
from numpy.typing import NDArray

from clew.messages import SaveHost
from clew.store.base import Snapshot
from clew.store.rows import REQUESTS, elapsed, unsigned
from clew.store.schema import CHUNK

_STEP = 20_000


def load(connection: sqlite3.Connection) -> Snapshot | None:
    """The state to resume from; None when no candidate was ever saved."""
    (count,) = connection.execute("SELECT coalesce(max(id) + 1, 0) FROM candidates").fetchone()
    if not count:
        return None
    columns = _candidates(connection, count)
    digests, simhashes, matched, scores = _pages(connection)
    (decisions,) = connection.execute("SELECT count(*) FROM trace").fetchone()
    asked = ", ".join("?" * len(REQUESTS))
    (tasks,) = connection.execute(f"SELECT count(*) FROM trace WHERE kind IN ({asked})", REQUESTS).fetchone()
    spans = connection.execute("SELECT min(at), max(at) FROM trace GROUP BY session")
    requests, wire = connection.execute(
        "SELECT coalesce(sum(requests), 0), coalesce(sum(wire), 0) FROM hosts"
    ).fetchone()
    learned = connection.execute("SELECT state FROM learned").fetchone()
    return Snapshot(
        keys=columns[0].view(np.uint64),
        hosts=columns[1].astype(np.int32),
        host_names=tuple(name for (name,) in connection.execute("SELECT name FROM hosts ORDER BY id")),
        depths=columns[2].astype(np.int32),
        sources=columns[3].astype(np.int32),
        states=columns[4].astype(np.uint8),
        attempts=np.minimum(columns[5], 255).astype(np.uint8),
        parts=parts(connection, count),
        host_states=tuple(hosts(connection)),
        digests=digests,
        simhashes=simhashes,
        matched=matched,
        scores=scores,
        decisions=decisions,
        tasks=tasks,
        pages=len(scores),
        requests=requests,
        wire=wire,
        elapsed=elapsed(spans),
        learned=learned[0] if learned else "",
    )


def _candidates(connection: sqlite3.Connection, count: int) -> list[NDArray[np.int64]]:
    """Key, host, depth, source, state and attempts of every candidate, by number."""
    columns = [np.zeros(count, np.int64) for _ in range(6)]
    cursor = connection.execute(
        "SELECT key, host, depth, source, state, attempts FROM candidates ORDER BY id"
    )
    at = 0
    while rows := cursor.fetchmany(_STEP):
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column[at : at + len(rows)] = values
        at += len(rows)
    return columns


def parts(connection: sqlite3.Connection, count: int) -> NDArray[np.float64]:
    """Contributions, one row a candidate; narrower rows of an earlier strategy are filled with zeros."""
    (width,) = connection.execute("SELECT coalesce(max(width), 0) FROM parts").fetchone()
    table = np.zeros((count, width))
    for chunk, columns, data in connection.execute("SELECT chunk, width, data FROM parts WHERE width > 0"):
        block = np.frombuffer(data, "<f8").reshape(-1, columns)
        table[chunk * CHUNK : chunk * CHUNK + len(block), :columns] = block
    return table


def hosts(connection: sqlite3.Connection) -> list[SaveHost]:
    """What is remembered about each host that was asked for something."""
    robots: dict[int, list[tuple[str, int, float, bytes]]] = {}
    for number, *entry in connection.execute(
        "SELECT host, origin, status, fetched_at, body FROM robots ORDER BY host, position"
    ):
        robots.setdefault(number, []).append((entry[0], entry[1], entry[2], bytes(entry[3])))
    rows = connection.execute(
        "SELECT id, name, next_at, delay, failures, requests, pages, matches, wire, memory FROM hosts "
        "WHERE next_at IS NOT NULL ORDER BY id"
    )
    return [
        SaveHost(
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
        for number, name, next_at, delay, failures, requests, pages, matches, wire, memory in rows
    ]


def _pages(
    connection: sqlite3.Connection,
) -> tuple[dict[int, int], dict[int, int], frozenset[int], dict[int, float]]:
    digests: dict[int, int] = {}
    simhashes: dict[int, int] = {}
    matched: set[int] = set()
    scores: dict[int, float] = {}
    for candidate, digest, simhash, repeats, found, score in connection.execute(
        "SELECT candidate, digest, simhash, duplicate_of, matched, score FROM pages ORDER BY seq"
    ):
        scores[candidate] = score
        if digest:
            digests.setdefault(unsigned(digest), candidate)
        if simhash and repeats < 0:
            simhashes[candidate] = unsigned(simhash)
        if found:
            matched.add(candidate)
    return digests, simhashes, frozenset(matched), scores
