"""`SqliteStore`: a crawl directory open for crawling."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import StoreError
from clew.fetch.base import Response
from clew.messages import Blob, Decision, Effect, Journal, SaveHost
from clew.store import directory as layout
from clew.store import repairs, schema
from clew.store.apply import Applier
from clew.store.archive import Archive
from clew.store.base import (
    CandidateRow,
    Counts,
    FoundLink,
    Hit,
    PageRow,
    Progress,
    Replies,
    Snapshot,
    Store,
    StoreBackend,
)
from clew.store.faults import decoding, mapped
from clew.store.read import CrawlReader, read_directory
from clew.store.warc import ROTATE_AT, Piece, Shelf
from clew.store.writer import WINDOW, Batch, Writer, new_urls

_RECENT = 4096
"""URLs of committed candidates that are kept at hand: what was found lately is often leased soon."""


class SqliteStore(Store):
    """A `Store` in a directory: `clew.db` and `pages/*.warc.gz`.

    Opening it takes exclusive hold of the directory, cuts what a crash left half written, and brings
    an older format up to date. `kill -9` at any instant loses no flushed batch, tears no batch, and
    archives no reply twice.

    Parameters: the directory; whether it may be made; `window`, the seconds a batch may wait to be
    committed with others; `software`, how the archive names its maker.

    >>> import tempfile
    >>> store = SqliteStore(Path(tempfile.mkdtemp()) / "farms")
    >>> store.set_meta(match='"wind farm"'); store.meta()
    {'match': '"wind farm"'}
    >>> store.close()
    """

    def __init__(
        self,
        path: Path | str,
        *,
        create: bool = True,
        window: float = WINDOW,
        software: str = "clew",
        rotate_at: int = ROTATE_AT,
    ) -> None:
        self.path = Path(path)
        self.on_durable: Callable[[], None] | None = None
        """Called from the writer's thread when batches became durable, or never will."""
        self._lock = layout.prepare(self.path, create=create)
        try:
            with decoding(layout.database(self.path)):
                self._open(window, software, rotate_at)
        except BaseException:
            self._lock.release()
            raise
        self._closed = False
        self._pending: dict[int, str] = {}
        self._recent: OrderedDict[int, str] = OrderedDict()
        self._unsaved: list[Piece] = []

    def _open(self, window: float, software: str, rotate_at: int) -> None:
        database = layout.database(self.path)
        layout.verify(self.path)
        with closing(schema.connect_reader(database, current=False)) as reading:
            # Before anything is opened for writing: a directory that is refused stays as it is.
            Archive(layout.archive(self.path), reading).torn()
        self._db = schema.connect_writer(database)
        try:
            archive = Archive(layout.archive(self.path), self._db)
            archive.cut()
            (session,) = self._db.execute("SELECT coalesce(max(session), 0) + 1 FROM trace").fetchone()
            applier = Applier(self._db, archive.numbers, session)
            self._archive = archive
            self._shelf = Shelf(archive.directory, archive.last(), software, rotate_at)
            self._reader = CrawlReader(self.path, schema.connect_reader(database))
        except BaseException:
            self._db.close()
            raise
        self._writer = Writer(self.path, self._db, archive, applier, self._committed, window, self._moved)

    @property
    def backlog(self) -> int:
        """Replies saved and not yet durable: what a crash at this instant would make clew fetch again.

        Raises what made writing impossible, if something did.
        """
        self._writer.check()
        return self._writer.backlog

    def hurry(self) -> None:
        """Have what was saved committed without waiting for more; returns at once."""
        self._writer.hurry()

    def url(self, candidate: int) -> str:
        """The URL of a candidate saved before, committed or not."""
        url = self._pending.get(candidate) or self._recent.get(candidate)
        if url is None:
            url = self._reader.url(candidate)
        return url

    def urls(self, candidates: NDArray[np.int64]) -> Sequence[str]:
        """The URLs of many candidates, committed or not."""
        self.flush()
        return self._reader.urls(candidates)

    def link_texts(self, candidates: NDArray[np.int64]) -> tuple[Sequence[str], Sequence[str]]:
        """The URLs and link texts of many candidates; once they are committed."""
        return self._reader.link_texts(candidates)

    def append(self, response: Response, fetched_at: float) -> Blob:
        """Archive a reply: its bytes go to disk with the next batch saved."""
        self._writer.check()
        blob, pieces = self._shelf.place(response, fetched_at)
        self._unsaved.extend(pieces)
        return blob

    def save(self, effects: Sequence[Effect]) -> None:
        """Take one batch. Returns at once, unless the disk is far behind."""
        self._submit(Batch(self._take_unsaved(), effects))

    def flush(self) -> None:
        """Return when all that was saved is durable."""
        self._ensure_open()
        self._writer.flush()

    def load(self) -> Snapshot | None:
        """State to resume from; None for a new crawl."""
        self.flush()
        return self._reader.snapshot()

    def meta(self) -> dict[str, Any]:
        """Plain data about the crawl."""
        return self._reader.meta()

    def set_meta(self, **values: Any) -> None:
        """Merge into `meta`; durable on return."""
        self._submit(Batch(meta=values))
        self.flush()

    def close(self) -> None:
        """Make all durable, fold the log back and let the directory go."""
        if self._closed:
            return
        self._closed = True
        try:
            failure = self._writer.close()
            self._reader.close()
            with mapped(self.path):
                self._archive.close()
                if failure is None:
                    schema.disconnect_writer(self._db)
                self._db.close()
                layout.sync(self.path)
        finally:
            self._lock.release()
        if failure is not None:
            raise failure

    def pages(self, *, matched: bool = False, text: bool = True) -> Iterator[PageRow]:
        """Fetched pages in the order fetched, streamed."""
        return self._reader.pages(matched=matched, text=text)

    def page(self, url: str) -> PageRow | None:
        """The page stored under a canonical URL."""
        return self._reader.page(url)

    def candidate(self, url: str) -> CandidateRow | None:
        """What is known of a canonical URL."""
        return self._reader.candidate(url)

    def links_numbered(self, candidates: Sequence[int]) -> dict[int, FoundLink]:
        """Some candidates as links, by number."""
        return self._reader.links_numbered(candidates)

    def outlinks(self, candidate: int) -> NDArray[np.int64]:
        """Numbers of the candidates a fetched page links to."""
        return self._reader.outlinks(candidate)

    def hosts(self) -> Iterator[SaveHost]:
        """Every host that was asked for something, in the order first met."""
        return self._reader.hosts()

    def decisions(self, after: int = -1) -> Iterator[Decision]:
        """The trace, in order."""
        return self._reader.decisions(after)

    def journal(self) -> Iterator[Journal]:
        """What came into the crawl besides replies, in order."""
        return self._reader.journal()

    def trace_of(self, url: str) -> list[Decision]:
        """Every decision about one URL, in order."""
        return self._reader.trace_of(url)

    def counts(self) -> Counts:
        """The figures of `clew status`."""
        return self._reader.counts()

    def snapshot(self) -> Snapshot | None:
        """The state of the crawl as of its last commit."""
        return self._reader.snapshot()

    def learned(self) -> str:
        """The strategy's learned state, as text."""
        return self._reader.learned()

    def checkpoint(self) -> memoryview | None:
        """The checkpoint of what was learned that was saved last."""
        return self._reader.checkpoint()

    def save_checkpoint(self, pieces: Iterable[bytes | memoryview]) -> None:
        """Keep a checkpoint in the place of the last one; it is never ahead of what is durable."""
        self.flush()
        layout.write_checkpoint(self.path, pieces)

    def replies(self) -> Replies | None:
        """The archived replies, as far as they are committed."""
        return self._reader.replies()

    def record(self, page: PageRow) -> bytes | None:
        """The WARC records of a page's reply, as they lie in the archive."""
        return self._reader.record(page)

    def search(
        self, query: str, *, limit: int = 20, matched: bool = False, progress: Progress | None = None
    ) -> list[Hit]:
        """Pages by their words, best first."""
        return self._reader.search(query, limit=limit, matched=matched, progress=progress)

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Rows left out so far because they could not be read."""
        return self._reader.unreadable

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.path)!r}, backlog={self._writer.backlog})"

    def _submit(self, batch: Batch) -> None:
        self._ensure_open()
        # Known before it is queued: the writer may commit and forget it before this returns.
        self._pending.update(new_urls(batch))
        self._writer.submit(batch)

    def _committed(self, batch: Batch) -> None:
        """Called by the writer thread: readers can see the batch now."""
        for candidate, url in new_urls(batch).items():
            # First here, then away there: a look at any moment finds it in one of the two.
            self._recent[candidate] = url
            self._pending.pop(candidate, None)
        while len(self._recent) > _RECENT:
            self._recent.popitem(last=False)

    def _moved(self) -> None:
        """Called by the writer thread: the backlog is smaller now, or will stay as it is."""
        if (told := self.on_durable) is not None:
            told()

    def _take_unsaved(self) -> list[Piece]:
        pieces, self._unsaved = self._unsaved, []
        return pieces

    def _ensure_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} is closed: open it again to save to it")


BACKEND = StoreBackend(
    open=lambda place: SqliteStore(layout.path_of(place)),
    read=lambda place: read_directory(layout.path_of(place)),
    exists=lambda place: layout.database(layout.path_of(place)).is_file(),
    folder=lambda place: layout.path_of(place),
    check=lambda place: repairs.check(layout.path_of(place)),
    repair=lambda place, urls: repairs.repair(layout.path_of(place), urls),
)
