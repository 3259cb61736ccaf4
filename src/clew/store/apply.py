"""Effects into rows: what one batch changes in `clew.db`. Runs inside the writer's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from clew.errors import StoreError
from clew.messages import (
    Close,
    Decision,
    Effect,
    Forward,
    Learned,
    Record,
    Rescore,
    SaveCandidates,
    SaveHost,
    SavePage,
)
from clew.store.rows import clean, clean_all, dumps, pack, signed, stored
from clew.store.schema import CHUNK

_CANDIDATE = (
    "INSERT INTO candidates (id, key, host, depth, source, via, url, anchor) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_CLOSE = "UPDATE candidates SET state = ?, reason = ?, attempts = ? WHERE id = ?"
_HOST = (
    "UPDATE hosts SET next_at = ?, delay = ?, failures = ?, requests = ?, pages = ?, matches = ? WHERE id = ?"
)
_PAGE_COLUMNS = (
    *(
        "candidate",
        "status",
        "type",
        "title",
        "lang",
        "score",
        "satisfied",
        "matched",
        "duplicate_of",
        "near",
    ),
    *("digest", "simhash", "source", "depth", "fetched_at", "wire", "warc", "offset", "length", "reasons"),
)
_PAGE = (
    f"INSERT INTO pages ({', '.join(_PAGE_COLUMNS)}) VALUES ({', '.join('?' * len(_PAGE_COLUMNS))}) "
    f"ON CONFLICT (candidate) DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in _PAGE_COLUMNS[1:])}"
)
_TRACE = f"INSERT INTO trace VALUES ({', '.join('?' * 17)})"


class Applier:
    """Knows the little that must be remembered between batches: hosts' numbers and the next candidate's.

    Parameters: the writing connection, the numbers of the archive's files by name (kept up by their
    owner), and the number of this session.
    """

    def __init__(self, connection: sqlite3.Connection, warcs: dict[str, int], session: int) -> None:
        self._db = connection
        self._warcs = warcs
        self._session = session
        self._hosts: dict[str, int] = dict(connection.execute("SELECT name, id FROM hosts"))
        (self._next,) = connection.execute("SELECT coalesce(max(id) + 1, 0) FROM candidates").fetchone()
        self._zstd = zstandard.ZstdCompressor(level=1)

    def apply(self, effects: Sequence[Effect]) -> None:
        """Write one batch's effects, in order."""
        for effect in effects:
            match effect:
                case SaveCandidates():
                    self._candidates(effect)
                case Close():
                    self._close(effect)
                case Record():
                    self._db.execute(_TRACE, _trace_row(effect.decision, self._session))
                case SavePage():
                    self._page(effect)
                case SaveHost():
                    self._host(effect)
                case Rescore():
                    self._rescore(effect)
                case Learned():
                    self._db.execute("REPLACE INTO learned VALUES (0, ?)", (clean(effect.state),))
                case Forward():
                    pass  # leaves this crawl: the shard that owns the slot stores it

    def meta(self, values: dict[str, Any]) -> None:
        """Merge into the plain data about the crawl."""
        rows = [(key, dumps(value)) for key, value in values.items()]
        self._db.executemany("REPLACE INTO meta VALUES (?, ?)", rows)

    def _candidates(self, effect: SaveCandidates) -> None:
        if effect.first != self._next:
            raise StoreError(
                f"candidate {self._next} was expected next, not {effect.first}: numbers have no gaps"
            )
        self._next += len(effect.urls)
        rows = zip(
            range(effect.first, self._next),
            effect.keys.astype(np.uint64).view(np.int64).tolist(),
            list(map(self._host_number, effect.hosts)),
            effect.depths,
            repeat(effect.source),
            repeat(effect.via.value),
            clean_all(effect.urls),
            clean_all(effect.anchors),
        )
        self._db.executemany(_CANDIDATE, rows)
        self._put_parts(np.arange(effect.first, self._next), effect.parts)

    def _host_number(self, name: str) -> int:
        number = self._hosts.get(name)
        if number is None:
            number = self._hosts[name] = len(self._hosts)
            self._db.execute("INSERT INTO hosts (id, name) VALUES (?, ?)", (number, name))
        return number

    def _close(self, effect: Close) -> None:
        row = (stored(effect.state).value, effect.reason, effect.attempts, effect.candidate)
        if self._db.execute(_CLOSE, row).rowcount != 1:
            raise StoreError(f"candidate {effect.candidate} cannot be closed: it was never saved")

    def _host(self, effect: SaveHost) -> None:
        number = self._host_number(effect.host)
        row = (effect.next_at, effect.delay, effect.failures, effect.requests, effect.pages, effect.matches)
        self._db.execute(_HOST, (*row, number))
        if effect.memory is not None:
            self._db.execute("UPDATE hosts SET memory = ? WHERE id = ?", (effect.memory, number))
        if effect.robots is None:
            return
        self._db.execute("DELETE FROM robots WHERE host = ?", (number,))
        rows = [(number, i, *robots) for i, robots in enumerate(effect.robots)]
        self._db.executemany("INSERT INTO robots VALUES (?, ?, ?, ?, ?, ?)", rows)

    def _page(self, effect: SavePage) -> None:
        page, verdict, blob = effect.page, effect.verdict, effect.blob
        if blob is not None and blob.file not in self._warcs:
            raise StoreError(
                f"{blob.file} is not a file of this crawl: archive the reply in the store it is saved in"
            )
        place = (self._warcs[blob.file], blob.offset, blob.length) if blob else (None, None, None)
        row = (
            *(effect.candidate, page.status, clean(page.type), clean(page.title), clean(page.language)),
            *(verdict.score, verdict.satisfied, effect.matched, effect.duplicate_of, effect.near),
            *(signed(page.digest), signed(page.simhash), effect.source, effect.depth, effect.fetched_at),
            *(effect.wire, *place, dumps([clean(reason) for reason in verdict.reasons])),
        )
        self._db.execute(_PAGE, row)
        text = self._zstd.compress(page.text.encode("utf-8", "replace"))
        self._db.execute("REPLACE INTO texts VALUES (?, ?)", (effect.candidate, text))
        targets = np.asarray(effect.links, "<u4").tobytes()
        self._db.execute("REPLACE INTO links VALUES (?, ?)", (effect.candidate, targets))

    def _rescore(self, effect: Rescore) -> None:
        if len(effect.ids) and not 0 <= int(effect.ids.min()) <= int(effect.ids.max()) < self._next:
            raise StoreError(
                f"only candidates 0 to {self._next - 1} can be rescored: others were never saved"
            )
        order = np.argsort(effect.ids, kind="stable")
        self._put_parts(effect.ids[order], effect.parts[order])

    def _put_parts(self, ids: NDArray[np.int64], parts: NDArray[np.float64]) -> None:
        """Set the contributions of candidates given in ascending order."""
        if not len(ids):
            return
        chunks = ids // CHUNK
        starts = np.flatnonzero(np.diff(chunks, prepend=-1))
        ends = [*starts[1:].tolist(), len(ids)]
        for start, end in zip(starts.tolist(), ends, strict=True):
            chunk = int(chunks[start])
            within = ids[start:end] - chunk * CHUNK
            block = self._chunk(chunk, int(within[-1]) + 1, parts.shape[1])
            block[within] = 0.0
            block[within, : parts.shape[1]] = parts[start:end]
            row = (chunk, block.shape[1], block.astype("<f8", copy=False).tobytes())
            self._db.execute("REPLACE INTO parts VALUES (?, ?, ?)", row)

    def _chunk(self, chunk: int, rows: int, width: int) -> NDArray[np.float64]:
        """A chunk as it is, made large enough for `rows` and `width`."""
        found = self._db.execute("SELECT width, data FROM parts WHERE chunk = ?", (chunk,)).fetchone()
        if found is None or not found[0]:
            return np.zeros((rows, width))
        old = np.frombuffer(found[1], "<f8").reshape(-1, found[0])
        block = np.zeros((max(rows, len(old)), max(width, found[0])))
        block[: len(old), : found[0]] = old
        return block


def _trace_row(decision: Decision, session: int) -> tuple[object, ...]:
    return (
        *(decision.seq, session, decision.at, decision.kind, clean(decision.url), decision.candidate),
        *(
            decision.attempt,
            decision.score,
            decision.queue,
            decision.status,
            decision.result,
            decision.verdict,
        ),
        *(decision.new, decision.known, pack(decision)),
        *(dumps([clean(reason) for reason in decision.reasons]), dumps(decision.dropped)),
    )
