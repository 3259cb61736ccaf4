"""The reading side of a crawl directory: never writes, works beside a running crawl and after a crash.

Long answers are read page by page of a few hundred rows, each a short transaction of its own, so
that a slow reader never keeps the crawl's write-ahead log from being folded back.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from clew.errors import StoreForeign
from clew.messages import Blob, Decision, Journal, SaveHost, State
from clew.store import directory as layout
from clew.store import schema, snapshot
from clew.store.base import CandidateRow, Counts, FoundLink, Hit, PageRow, Progress, Reader, Replies, Snapshot
from clew.store.faults import ReadGuard, decoding, mapped, no_text
from clew.store.record_check import check_records
from clew.store.rows import CLOSED, address, in_parts, iso, total, typed, unpack

_STEP = 500
_STRETCH = 20_000
_FEW = 256
"""Candidates whose URLs are looked up one by one."""
_TEXT_LIMIT = 64 << 20
"""Bytes of a page's text at most: far more than a parser takes."""

_PAGE = """
SELECT p.seq, p.candidate, c.url, p.status, p.title, p.score, p.matched, p.satisfied, d.url, p.near, p.depth,
       s.url, p.fetched_at, p.lang, p.type, p.reasons, w.name, p.offset, p.length, c.via, p.rendered,
       p.feedback, p.interests, {text}
FROM pages p JOIN candidates c ON c.id = p.candidate
LEFT JOIN candidates s ON s.id = p.source LEFT JOIN candidates d ON d.id = p.duplicate_of
LEFT JOIN warcs w ON w.id = p.warc LEFT JOIN texts t ON t.candidate = p.candidate
"""
WITH_TEXT = _PAGE.format(text="t.text")
WITHOUT_TEXT = _PAGE.format(text="NULL")
_CANDIDATE = """
SELECT c.id, c.url, h.name, c.depth, s.url, c.anchor, c.via, c.state, c.reason
FROM candidates c JOIN hosts h ON h.id = c.host LEFT JOIN candidates s ON s.id = c.source WHERE c.url = ?
"""
TRACE = (
    "SELECT seq, at, kind, url, candidate, attempt, queue, status, result, new, known, exact, reasons, "
    "dropped, joined FROM trace"
)


_PAGE_KINDS = (int, int, str, int, str, float, int, int, str | None, int, int, str | None)
_CANDIDATE_KINDS = (int, str, str, int, str | None, str, str, int, str)
_FOREIGN_FLAGS = " OR ".join(
    f"typeof({column}) <> 'integer'" for column in ("matched", "duplicate_of", "rendered")
)
_TRACE_KINDS = (int, float, str, str, int, int, int, int, str, int, int)


class CrawlReader(Reader):
    """All that `clew status`, `export`, `search` and `explain` ask of a crawl directory.

    Parameters: the directory and a read-only connection to its `clew.db`; `read_directory` gives both.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection
        self._zstd = zstandard.ZstdDecompressor()
        self._guard = ReadGuard()

    @property
    def identity(self) -> str:
        """A name that no other crawl has."""
        return str(self._one("SELECT id FROM crawl")[0])

    def snapshot(self) -> Snapshot | None:
        """The state of the crawl as of its last commit; None when it never began."""
        with decoding(layout.database(self.path)):
            return snapshot.load(self.connection)

    def learned(self) -> str:
        """The strategy's learned state, as text; empty when there is none."""
        rows = self._all("SELECT state FROM learned")
        with decoding(layout.database(self.path)):
            return "".join(typed(row, (str,))[0] for row in rows)

    def meta(self) -> dict[str, Any]:
        """Plain data about the crawl, as `set_meta` left it."""
        rows = self._all("SELECT key, value FROM meta ORDER BY key")
        found = [self._guard.read(f"meta {key}", _meta_entry, (key, value)) for key, value in rows]
        return dict(entry for entry in found if entry is not None)

    def pages(self, *, matched: bool = False, text: bool = True) -> Iterator[PageRow]:
        """Fetched pages in the order fetched."""
        return (page for _, page in self.numbered(matched=matched, text=text))

    def numbered(
        self, *, matched: bool = False, text: bool = True, after: int = 0
    ) -> Iterator[tuple[int, PageRow]]:
        """Fetched pages with their place in the order fetched, from the one after `after` on."""
        wanted = "AND p.matched " if matched else ""
        query = f"{WITH_TEXT if text else WITHOUT_TEXT} WHERE p.seq > ? {wanted}ORDER BY p.seq LIMIT {_STEP}"
        while rows := self._all(query, (after,)):
            for row in rows:
                if (page := self._page(row)) is not None:
                    yield row[0], page
            after = _further(after, rows[-1][0])

    def page(self, url: str) -> PageRow | None:
        """The page stored under a canonical URL. Looks through all URLs: they are not indexed."""
        rows = self._all(f"{WITH_TEXT} WHERE c.id = (SELECT id FROM candidates WHERE url = ?)", (url,))
        return self._page(rows[0]) if rows else None

    def fetched(self) -> int:
        """How many pages there are."""
        return int(self._one("SELECT count(*) FROM pages")[0])

    def page_at(self, seq: int) -> PageRow | None:
        """The page fetched as number `seq`, counted from 1."""
        rows = self._all(f"{WITH_TEXT} WHERE p.seq = ?", (seq,))
        return self._page(rows[0]) if rows else None

    def candidate(self, url: str) -> CandidateRow | None:
        """What is known of a canonical URL, fetched or not."""
        rows = self._all(_CANDIDATE, (url,))
        if not rows:
            return None
        with decoding(layout.database(self.path)):
            return self._candidate_row(rows[0])

    def _candidate_row(self, row: tuple[Any, ...]) -> CandidateRow:
        number, found, host, depth, source, anchor, via, state, reason = typed(row, _CANDIDATE_KINDS)
        parts = self._parts(number)
        return CandidateRow(
            id=number,
            url=found,
            host=host,
            depth=depth,
            source=source,
            anchor=anchor,
            via=via,
            state=State(state),
            reason=reason,
            terms=tuple(parts.tolist()),
            score=total(parts),
        )

    def url(self, candidate: int) -> str:
        """The URL of a candidate."""
        rows = self._all("SELECT url FROM candidates WHERE id = ?", (candidate,))
        if not rows:
            raise KeyError(candidate)
        with decoding(layout.database(self.path)):
            return address(rows[0][0])

    def urls(self, candidates: NDArray[np.int64]) -> Sequence[str]:
        """The URLs of many candidates: stretches of the table are read at once."""
        return super().urls(candidates) if len(candidates) < _FEW else self.link_texts(candidates)[0]

    def link_texts(self, candidates: NDArray[np.int64]) -> tuple[Sequence[str], Sequence[str]]:
        """The URLs of many candidates, and the texts of the links that they were found by."""
        order = np.argsort(candidates, kind="stable")
        ascending, urls, texts = candidates[order], [""] * len(candidates), [""] * len(candidates)
        at = 0
        while at < len(order):
            first = int(ascending[at])
            end = int(np.searchsorted(ascending, first + _STRETCH))
            rows = self._all(
                "SELECT id, url, anchor FROM candidates WHERE id BETWEEN ? AND ?",
                (first, int(ascending[end - 1])),
            )
            known = {number: (url, text) for number, url, text in rows}
            with decoding(layout.database(self.path)):
                for place, number in zip(order[at:end].tolist(), ascending[at:end].tolist(), strict=True):
                    url, text = known[number]
                    urls[place], texts[place] = address(url), str(text)
            at = end
        return urls, texts

    def hosts(self) -> Iterator[SaveHost]:
        """Every host that was asked for something, in the order first met."""
        robots: dict[int, list[snapshot.RobotsEntry]] = {}
        for row in self._all(snapshot.ROBOTS):
            known = self._guard.read(f"robots of host {row[0]}", snapshot.robots_entry, row)
            if known is not None:
                robots.setdefault(known[0], []).append(known[1])
        for row in self._all(snapshot.HOSTS):
            found = self._guard.read(f"hosts {row[0]}", snapshot.host_row, row, robots)
            if found is not None:
                yield found

    def decisions(self, after: int = -1) -> Iterator[Decision]:
        """The trace, in order."""
        while rows := self._all(f"{TRACE} WHERE seq > ? ORDER BY seq LIMIT {_STEP}", (after,)):
            for row in rows:
                if (decision := self._guard.read(f"trace {row[0]}", decision_of, row)) is not None:
                    yield decision
            after = _further(after, rows[-1][0])

    def journal(self) -> Iterator[Journal]:
        """What came into the crawl besides replies, in order."""
        for row in self._all("SELECT id, after, entry FROM journal ORDER BY id"):
            if (entry := self._guard.read(f"journal {row[0]}", journal_entry, row)) is not None:
                yield entry

    def trace_of(self, url: str) -> list[Decision]:
        """Every decision about one URL, in order."""
        rows = self._all(f"{TRACE} WHERE url = ? ORDER BY seq", (url,))
        found = [self._guard.read(f"trace {row[0]}", decision_of, row) for row in rows]
        return [decision for decision in found if decision is not None]

    def inlinks(self, url: str, limit: int = 20) -> list[str]:
        """Pages that link to a URL, in the order fetched."""
        known = self._all("SELECT id FROM candidates WHERE url = ?", (url,))
        if not known:
            return []
        found: list[str] = []
        number = known[0][0]
        query = (
            "SELECT p.seq, p.candidate, l.targets FROM pages p JOIN links l ON l.candidate = p.candidate "
            f"WHERE p.seq > ? ORDER BY p.seq LIMIT {_STEP}"
        )
        after = 0
        while len(found) < limit and (rows := self._all(query, (after,))):
            found.extend(self.url(row[1]) for row in rows if (self._targets(row[1], row[2]) == number).any())
            after = _further(after, rows[-1][0])
        return found[:limit]

    def links_numbered(self, candidates: Sequence[int]) -> dict[int, FoundLink]:
        """Some candidates as links, by number."""
        found: dict[int, FoundLink] = {}
        for part, marks in in_parts(candidates):
            query = f"SELECT id, url, source, depth, anchor, state FROM candidates WHERE id IN ({marks})"
            for row in self._all(query, part):
                link = self._guard.read(f"candidates {row[0]}", _found_link, row)
                if link is not None:
                    found[link.id] = link
        return found

    def outlinks(self, candidate: int) -> NDArray[np.int64]:
        """Numbers of the candidates a fetched page links to, in page order."""
        rows = self._all("SELECT targets FROM links WHERE candidate = ?", (candidate,))
        return self._targets(candidate, rows[0][0] if rows else b"")

    def _targets(self, candidate: int, data: bytes) -> NDArray[np.int64]:
        found = self._guard.read(f"links {candidate}", np.frombuffer, data, "<u4")
        return np.zeros(0, np.int64) if found is None else found.astype(np.int64)

    def links(self, url: str) -> list[str]:
        """The targets of a page's links, in page order, out-of-scope ones left out."""
        rows = self._all("SELECT id FROM candidates WHERE url = ?", (url,))
        return [self.url(number) for number in self.outlinks(rows[0][0]).tolist()] if rows else []

    def counts(self) -> Counts:
        """The figures of `clew status`."""
        states: Counter[object] = Counter(
            dict(self._all("SELECT state, count(*) FROM candidates GROUP BY state"))
        )
        closed = ", ".join(str(state.value) for state in sorted(CLOSED))
        reasons: Counter[str] = Counter()
        for reason, count in self._all(
            f"SELECT reason, count(*) FROM candidates WHERE state IN ({closed}) GROUP BY reason"
        ):
            if self._guard.read("reasons of candidates", typed, (reason,), (str,)) is not None:
                reasons[reason] += count
        for seq, dropped in self._all("SELECT seq, dropped FROM trace WHERE dropped <> '[]'"):
            for reason, count in self._guard.read(f"trace {seq}", _dropped, dropped) or ():
                reasons[reason] += count
        pages, matched, duplicates, rendered, feedback = self._one(
            "SELECT count(*), coalesce(sum(matched <> 0), 0), coalesce(sum(duplicate_of >= 0), 0), "
            "coalesce(sum(rendered <> 0), 0), count(feedback) FROM pages"
        )
        for (seq,) in self._all(f"SELECT seq FROM pages WHERE {_FOREIGN_FLAGS}"):
            self._guard.skip(f"pages {seq}")
        finds: Counter[str] = Counter()
        for names, count in self._all(
            "SELECT interests, count(*) FROM pages WHERE matched <> 0 AND interests <> '' GROUP BY interests"
        ):
            if self._guard.read("interests of pages", typed, (names,), (str,)) is not None:
                finds.update(dict.fromkeys(names.split(), count))
        hosts, requests, wire = 0, 0, 0
        for number, *figures in self._all("SELECT id, coalesce(requests, 0), coalesce(wire, 0) FROM hosts"):
            hosts += 1
            if self._guard.read(f"hosts {number}", typed, tuple(figures), (int, int)) is not None:
                requests, wire = requests + figures[0], wire + figures[1]
        return Counts(
            pages=pages,
            matched=matched,
            duplicates=duplicates,
            queued=states[State.QUEUED],
            failed=states[State.FAILED],
            dropped=states[State.DROPPED],
            redirected=states[State.REDIRECTED],
            hosts=hosts,
            requests=requests,
            wire=wire,
            rendered=rendered,
            feedback=feedback,
            by_reason=dict(sorted(reasons.items())),
            by_interest=dict(sorted(finds.items())),
        )

    def archives(self) -> list[tuple[Path, int]]:
        """The archive's files and how many bytes of each are committed and there."""
        found = []
        for name, length in self._all("SELECT name, length FROM warcs ORDER BY id"):
            path = layout.archive_file(self.path, name)
            layout.require_own_file(path, sole=False)
            size = path.stat().st_size if path.exists() else 0
            if not isinstance(length, int) or not 0 <= length <= size:
                self._guard.skip(f"the end of pages/{name}" if size else f"pages/{name}")
                length = size
            found.append((path, length))
        return found

    def reply_offsets(self, name: str) -> list[int]:
        """Where replies of pages begin in a file of the archive, in order."""
        query = "SELECT offset FROM pages WHERE warc = (SELECT id FROM warcs WHERE name = ?) ORDER BY offset"
        return [offset for (offset,) in self._all(query, (name,)) if isinstance(offset, int)]

    def record(self, page: PageRow) -> bytes | None:
        """The WARC records of a page's reply, as they lie in the archive, once found to be sound."""
        if page.blob is None:
            return None
        path = layout.archive_file(self.path, page.blob.file)
        layout.require_own_file(path, sole=False)
        return self._guard.read(f"reply of {page.url}", _record, path, page.blob, page.url)

    def checkpoint(self) -> memoryview | None:
        """The checkpoint of what was learned that was saved last."""
        return layout.read_checkpoint(self.path)

    def replies(self) -> Replies | None:
        """The archived replies, as far as they are committed; None where none can be read."""
        from clew.store.recorded import CrawlWeb

        self.archives()  # a name that is not clew's is refused, not passed over
        try:
            web = CrawlWeb(self)
        except StoreForeign as error:
            self._guard.skip(str(error))
            return None
        for problem in web.problems:
            self._guard.skip(problem)
        return web

    def search(
        self, query: str, *, limit: int = 20, matched: bool = False, progress: Progress | None = None
    ) -> list[Hit]:
        """Pages by their words, best first, by an index that lies beside the crawl."""
        from clew.store.fulltext import search_directory

        return search_directory(self, query, limit=limit, matched=matched, progress=progress)

    def close(self) -> None:
        self.connection.close()

    def __repr__(self) -> str:
        return f"CrawlReader({str(self.path)!r})"

    @property
    def unreadable(self) -> tuple[str, ...]:
        """What was left out because it could not be read: rows by table and number, replies, files."""
        return self._guard.names

    def _page(self, row: tuple[Any, ...]) -> PageRow | None:
        return self._guard.read(f"pages {row[0]}", self._page_row, row)

    def _all(self, query: str, values: tuple[object, ...] = ()) -> list[Any]:
        with mapped(layout.database(self.path)):
            try:
                return self.connection.execute(query, values).fetchall()
            except sqlite3.OperationalError as error:
                if not no_text(error):
                    raise
                # One text that is none must not hide all others: from here on such a one comes as bytes,
                # which no row takes for a text.
                self.connection.text_factory = _text_or_bytes
                return self.connection.execute(query, values).fetchall()

    def _one(self, query: str) -> Any:
        return self._all(query)[0]

    def _parts(self, candidate: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        chunk, row = divmod(candidate, schema.CHUNK)
        rows = self._all(
            "SELECT width, data, (SELECT max(width) FROM parts) FROM parts WHERE chunk = ?", (chunk,)
        )
        width, data, widest = rows[0] if rows else (0, b"", 0)
        if not isinstance(widest, int) or not 0 <= width <= widest <= snapshot.MOST_TERMS:
            raise ValueError(f"a score has {widest!r} terms")
        parts = np.zeros(widest)
        if width:
            parts[:width] = np.frombuffer(data, "<f8").reshape(-1, width)[row]
        return parts

    def _page_row(self, row: tuple[Any, ...]) -> PageRow:
        typed(row[:12], _PAGE_KINDS)
        (_, number, url, status, title, score, matched, satisfied, repeats, near, depth, source) = row[:12]
        (fetched_at, lang, kind, reasons, file, offset, length, via, rendered, said, names, text) = row[12:]
        typed((fetched_at, lang, kind, via, names), (float, str, str, str, str))
        address(url)
        return PageRow(
            id=number,
            url=url,
            status=status,
            title=title,
            score=score,
            matched=bool(matched),
            satisfied=bool(satisfied),
            duplicate_of=repeats,
            near=bool(near),
            depth=depth,
            source=source,
            fetched_at=iso(fetched_at),
            lang=lang,
            type=kind,
            text=self._text(text),
            reasons=_texts(reasons),
            blob=None if file is None else Blob(*typed((file, offset, length), (str, int, int))),
            via=via,
            rendered=bool(rendered),
            feedback=None if said is None else bool(said),
            interests=tuple(names.split()),
        )

    def _text(self, data: bytes | None) -> str:
        if not data:
            return ""
        # The library takes a frame's word for its size, and would make room for it.
        if not 0 <= zstandard.frame_content_size(data) <= _TEXT_LIMIT:
            raise ValueError("a text has an impossible size")
        return self._zstd.decompress(data, max_output_size=_TEXT_LIMIT).decode()


def _text_or_bytes(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _found_link(row: tuple[Any, ...]) -> FoundLink:
    number, url, source, depth, anchor, state = typed(row, (int, str, int, int, str, int))
    return FoundLink(id=number, url=address(url), source=source, depth=depth, anchor=anchor, state=state)


def _record(path: Path, blob: Blob, url: str) -> bytes:
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if not 0 <= blob.offset < blob.offset + blob.length <= size:
            raise ValueError("it lies beyond the end of its file")
        stream.seek(blob.offset)
        data = stream.read(blob.length)
    check_records(io.BytesIO(data), len(data), url=url)
    return data


def _meta_entry(row: tuple[Any, ...]) -> tuple[str, Any]:
    key, value = typed(row, (str, str))
    return key, json.loads(value, parse_float=_finite, parse_constant=_finite)


def _finite(text: str) -> float:
    return float(typed((float(text),), (float,))[0])


def journal_entry(row: tuple[Any, ...]) -> Journal:
    """An entry of the journal from its row: number, place, text."""
    _, after, entry = typed(row, (int, int, str))
    return Journal(after, entry)


def _texts(data: str) -> tuple[str, ...]:
    found = tuple(json.loads(data))
    return typed(found, (str,) * len(found))


def _further(after: int, last: object) -> int:
    """Where to read on; a damaged index may give rows again that were given, without end."""
    if not isinstance(last, int) or last <= after:
        raise StoreForeign("the database is damaged, its rows are out of order: restore it from a copy")
    return last


def _dropped(data: str) -> tuple[tuple[str, int], ...]:
    found = tuple((reason, count) for reason, count in json.loads(data))
    for pair in found:
        typed(pair, (str, int))
    return found


def decision_of(row: tuple[Any, ...]) -> Decision:
    """A line of the trace from its row, as `TRACE` asks for it."""
    typed(row[:11], _TRACE_KINDS)
    seq, at, kind, url, candidate, attempt, queue, status, result, new, known, *rest, joined = row
    exact, reasons, dropped = rest
    score, verdict, parts = unpack(exact)
    if url or kind != "command":
        address(url)  # a command need not be about a page
    return Decision(
        seq=seq,
        at=at,
        kind=kind,
        url=url,
        candidate=candidate,
        attempt=attempt,
        score=score,
        terms=parts,
        queue=queue,
        status=status,
        result=result,
        verdict=verdict,
        reasons=_texts(reasons),
        new=new,
        known=known,
        dropped=_dropped(dropped),
        joined=bool(joined),
    )


def read_directory(path: Path | str) -> CrawlReader:
    """Read a crawl directory, whether or not a crawl is running in it.

    Raises `StoreForeign` with the reason when it is not one, is damaged, or needs another clew.
    """
    directory = Path(path)
    layout.inspect(directory)
    # `decoding`: what SQLite complains of a damaged schema may itself be no text.
    with decoding(layout.database(directory)):
        return CrawlReader(directory, schema.connect_reader(layout.database(directory)))
