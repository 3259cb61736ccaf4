"""Effects into rows: what a group of batches changes in `clew.db`. Runs inside the writer's transaction.

Rows are gathered while the batches are gone through, and written by table at the end, many to a statement.
The writer is a thread beside the crawl, and every statement makes the two wait for each other, so few
statements are worth more than short ones. Within one transaction nobody can tell the difference.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, groupby, repeat
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
    Journal,
    Learned,
    Record,
    Redimension,
    Rejudge,
    Rescore,
    SaveCandidates,
    SaveHost,
    SavePage,
)
from clew.store.rows import clean, clean_all, dumps, pack, signed, stored
from clew.store.schema import CHUNK

Row = tuple[Any, ...]

_CANDIDATE = "INSERT INTO candidates (id, key, host, depth, source, via, url, anchor) VALUES {}", 8
_CLOSE = (
    "UPDATE candidates SET state = new.column2, reason = new.column3, attempts = new.column4 "
    "FROM (VALUES {}) AS new WHERE candidates.id = new.column1",
    4,
)
_HOST = (
    "UPDATE hosts SET next_at = new.column2, delay = new.column3, failures = new.column4, "
    "requests = new.column5, pages = new.column6, matches = new.column7, wire = new.column8 "
    "FROM (VALUES {}) AS new WHERE hosts.id = new.column1",
    8,
)
_PAGE_COLUMNS = (
    *("candidate", "status", "type", "title", "lang", "score", "satisfied", "matched", "duplicate_of"),
    *("near", "digest", "sketch", "source", "depth", "fetched_at", "wire", "warc", "offset", "length"),
    *("reasons", "rendered", "said", "interests"),
)
_PAGE = (
    f"INSERT INTO pages ({', '.join(_PAGE_COLUMNS)}) VALUES {{}} "
    f"ON CONFLICT (candidate) DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in _PAGE_COLUMNS[1:])}",
    len(_PAGE_COLUMNS),
)
_REJUDGED = (
    "UPDATE pages SET score = new.column2, satisfied = new.column3, matched = new.column4, "
    "reasons = new.column5, feedback = new.column6, interests = new.column7 FROM (VALUES {}) AS new "
    "WHERE pages.candidate = new.column1",
    7,
)
_TEXT = "REPLACE INTO texts VALUES {}", 2
_LINKS = "REPLACE INTO links VALUES {}", 2
_PARTS = "REPLACE INTO parts VALUES {}", 3
_TRACE = "INSERT INTO trace VALUES {}", 18
_JOURNAL = "INSERT INTO journal (after, entry) VALUES {}", 2
_NEW_HOST = "INSERT INTO hosts (id, name) VALUES {}", 2

_MOST = 64
"""Rows to a statement; smaller powers of two take the rest, so that few different statements are needed."""
_NATIVE = sys.byteorder == "little"


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
        self._begin()

    def _begin(self) -> None:
        self._new_hosts: list[Row] = []
        self._candidates: list[Row] = []
        self._closes: dict[int, Row] = {}
        self._pages: dict[int, Row] = {}
        self._rejudged: dict[int, Row] = {}
        self._redimensioned = False
        self._texts: dict[int, bytes] = {}
        self._links: dict[int, bytes] = {}
        self._host_rows: dict[int, Row] = {}
        self._host_extras: list[tuple[int, SaveHost]] = []
        self._chunks: dict[int, NDArray[np.float64]] = {}
        self._scored: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self._trace: list[Row] = []
        self._journal: list[Row] = []
        self._learned: str | None = None

    def apply(self, effects: Sequence[Effect]) -> None:
        """Take in one batch's effects, in order."""
        for effect in effects:
            match effect:
                case SaveCandidates():
                    self._new(effect)
                case Close():
                    self._close(effect)
                case Record():
                    self._trace.append(_trace_row(effect.decision, self._session))
                case Journal(after, entry):
                    self._journal.append((after, clean(entry)))
                case SavePage():
                    self._page(effect)
                case Rejudge():
                    self._rejudge(effect)
                case Redimension():
                    self._scored.clear()
                    self._redimensioned = True
                case SaveHost():
                    self._host(effect)
                case Rescore():
                    self._rescore(effect)
                case Learned():
                    self._learned = clean(effect.text)
                case Forward():
                    pass  # leaves this crawl: the shard that owns the slot stores it

    def finish(self) -> None:
        """Write what was taken in."""
        self._write(_NEW_HOST, self._new_hosts)
        self._write(_CANDIDATE, self._candidates)
        self._write(_CLOSE, self._closes.values())
        self._write(_PAGE, self._pages.values())
        self._write(_REJUDGED, self._rejudged.values())
        self._write(_TEXT, zip(self._texts, self._packed(), strict=True))
        self._write(_LINKS, self._links.items())
        self._write(_HOST, self._host_rows.values())
        for number, effect in self._host_extras:
            self._host_extra(number, effect)
        if self._redimensioned:
            self._db.execute("DELETE FROM parts")
        self._put_all()
        self._write(_PARTS, [(n, block.shape[1], _plain(block)) for n, block in self._chunks.items()])
        self._write(_TRACE, self._trace)
        self._write(_JOURNAL, self._journal)
        if self._learned is not None:
            self._db.execute("REPLACE INTO learned VALUES (0, ?)", (self._learned,))
        self._begin()

    def _packed(self) -> list[bytes]:
        """The texts, compressed; all in one call."""
        texts: list[bytes | bytearray | memoryview[int]] = list(self._texts.values())
        if not any(texts):
            # The library refuses a list of nothing but nothing.
            return [self._zstd.compress(text) for text in texts]
        packed = self._zstd.multi_compress_to_buffer(texts)
        return [packed[i].tobytes() for i in range(len(packed))]

    def meta(self, values: dict[str, Any]) -> None:
        """Merge into the plain data about the crawl."""
        rows = [(key, dumps(value)) for key, value in values.items()]
        self._db.executemany("REPLACE INTO meta VALUES (?, ?)", rows)

    def _write(self, statement: tuple[str, int], rows: Iterable[Row]) -> None:
        text, width = statement
        waiting = list(rows)
        at, size = 0, _MOST
        while at < len(waiting):
            while size > len(waiting) - at:
                size //= 2
            values = tuple(chain.from_iterable(waiting[at : at + size]))
            self._db.execute(_statement(text, width, size), values)
            at += size

    def _new(self, effect: SaveCandidates) -> None:
        if effect.first != self._next:
            raise StoreError(
                f"candidate {self._next} was expected next, not {effect.first}: numbers have no gaps"
            )
        self._next += len(effect.urls)
        self._candidates += zip(
            range(effect.first, self._next),
            effect.keys.astype(np.uint64).view(np.int64).tolist(),
            list(map(self._host_number, effect.hosts)),
            effect.depths,
            repeat(effect.source),
            repeat(effect.via.value),
            clean_all(effect.urls),
            clean_all(effect.anchors),
        )
        self._scored.append((np.arange(effect.first, self._next), effect.terms))

    def _host_number(self, name: str) -> int:
        number = self._hosts.get(name)
        if number is None:
            number = self._hosts[name] = len(self._hosts)
            self._new_hosts.append((number, name))
        return number

    def _close(self, effect: Close) -> None:
        if not 0 <= effect.candidate < self._next:
            raise StoreError(f"candidate {effect.candidate} cannot be closed: it was never saved")
        state = stored(effect.state).value
        self._closes[effect.candidate] = (effect.candidate, state, effect.reason, effect.attempts)

    def _host(self, effect: SaveHost) -> None:
        number = self._host_number(effect.host)
        pace = (effect.next_at, effect.delay, effect.failures)
        self._host_rows[number] = (
            *(number, *pace),
            *(effect.requests, effect.pages, effect.matches, effect.wire),
        )
        if effect.memory is not None or effect.robots is not None:
            self._host_extras.append((number, effect))

    def _host_extra(self, number: int, effect: SaveHost) -> None:
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
        self._pages[effect.candidate] = (
            *(effect.candidate, page.status, clean(page.type), clean(page.title), clean(page.language)),
            *(verdict.score, verdict.satisfied, effect.matched, effect.duplicate_of, effect.near),
            *(signed(page.digest), page.sketch, effect.source, effect.depth, effect.fetched_at),
            *(effect.wire, *place, dumps([clean(reason) for reason in verdict.reasons]), page.rendered),
            *(signed(effect.said), " ".join(verdict.interests)),
        )
        self._texts[effect.candidate] = page.text.encode("utf-8", "replace")
        self._links[effect.candidate] = _numbers(effect.links)

    def _rejudge(self, effect: Rejudge) -> None:
        verdict = effect.verdict
        said = None if effect.feedback is None else int(effect.feedback)
        self._rejudged[effect.candidate] = (
            *(effect.candidate, verdict.score, verdict.satisfied, effect.matched),
            *(dumps([clean(reason) for reason in verdict.reasons]), said, " ".join(verdict.interests)),
        )

    def _rescore(self, effect: Rescore) -> None:
        if len(effect.ids) and not 0 <= int(effect.ids.min()) <= int(effect.ids.max()) < self._next:
            raise StoreError(
                f"only candidates 0 to {self._next - 1} can be rescored: others were never saved"
            )
        self._scored.append((effect.ids, effect.terms))

    def _put_all(self) -> None:
        """Set the contributions that the batches brought; of a candidate's the last ones hold."""
        for _, same in groupby(self._scored, key=lambda scored: scored[1].shape[1]):
            ids, parts = (np.concatenate(column) for column in zip(*same, strict=True))
            order = np.argsort(ids, kind="stable")
            last = order[np.diff(ids[order], append=-1) != 0]
            self._put_parts(ids[last], parts[last])

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

    def _chunk(self, chunk: int, rows: int, width: int) -> NDArray[np.float64]:
        """A chunk as it will be, made large enough for `rows` and `width`."""
        old = self._chunks.get(chunk)
        if old is None:
            found = self._db.execute("SELECT width, data FROM parts WHERE chunk = ?", (chunk,)).fetchone()
            stored = found is not None and found[0]
            old = np.frombuffer(found[1], "<f8").reshape(-1, found[0]) if stored else np.zeros((0, 0))
        elif len(old) >= rows and old.shape[1] >= width:
            return old
        block = np.zeros((max(rows, len(old)), max(width, old.shape[1])))
        block[: len(old), : old.shape[1]] = old
        self._chunks[chunk] = block
        return block


@cache
def _statement(text: str, width: int, rows: int) -> str:
    """A statement for so many rows of so many values."""
    row = f"({', '.join('?' * width)})"
    return text.format(", ".join([row] * rows))


def _plain(block: NDArray[np.float64]) -> bytes:
    return block.astype("<f8", copy=False).tobytes()


def _numbers(values: Any) -> bytes:
    """Unsigned 32-bit numbers, little end first."""
    if _NATIVE and getattr(values, "itemsize", 0) == 4:
        return bytes(values.tobytes())
    return np.asarray(values, "<u4").tobytes()


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
        *(dumps([clean(reason) for reason in decision.reasons]), dumps(decision.dropped), decision.joined),
    )
