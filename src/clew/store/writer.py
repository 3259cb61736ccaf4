"""The writer thread: the only one that writes to a crawl directory.

Batches come in through a bounded queue and are committed in groups, each batch whole. A group is
what came in during a short window; a flush ends the window at once. When something fails, the
thread rolls back and gives the reason to every later call; the directory can be resumed from there.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.errors import StoreError
from clew.messages import Effect, Record, SaveCandidates
from clew.store.apply import Applier
from clew.store.archive import Archive
from clew.store.faults import translate
from clew.store.rows import REQUESTS
from clew.store.warc import Piece

WINDOW = 0.05
"""Seconds that a batch may wait for others to be committed with it."""
GROUP = 200
_QUEUE = 400
_QUEUE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Batch:
    """What is stored together or not at all."""

    pieces: Sequence[Piece] = ()
    effects: Sequence[Effect] = ()
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(len(piece.data) for piece in self.pieces)

    @property
    def replies(self) -> int:
        """How many replies it settles, which would be asked for again if it were lost; at least one."""
        kinds = [effect.decision.kind for effect in self.effects if isinstance(effect, Record)]
        return max(1, sum(kind in REQUESTS for kind in kinds))


class Writer:
    """Commits batches in the order submitted.

    Parameters: the crawl directory; the connection, archive and applier, which are the thread's from
    now on; a function told of each batch that was committed; the window in seconds; and a function called
    when the backlog has moved, or never will again.
    """

    def __init__(
        self,
        directory: Path,
        connection: sqlite3.Connection,
        archive: Archive,
        applier: Applier,
        done: Callable[[Batch], None],
        window: float = WINDOW,
        moved: Callable[[], None] = lambda: None,
    ) -> None:
        self.directory = directory
        self.window = window
        self._moved = moved
        self._db, self._archive, self._applier, self._done = connection, archive, applier, done
        self._queue: deque[Batch] = deque()
        self._bytes = 0
        self._submitted = self._committed = self._urgent = 0
        self._failure: StoreError | None = None
        self._told = False
        self._closing = False
        lock = threading.Lock()
        self._work = threading.Condition(lock)
        self._progress = threading.Condition(lock)
        self._thread = threading.Thread(target=self._run, name="clew-writer", daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """Replies in batches that were submitted and are not yet durable."""
        return self._submitted - self._committed

    def check(self) -> None:
        """Raise what made writing impossible, if something did."""
        if self._failure is not None:
            self._told = True
            # A fresh one each time: an exception that is raised twice grows two tracebacks.
            raise type(self._failure)(*self._failure.args) from self._failure

    def submit(self, batch: Batch) -> None:
        """Queue a batch; waits only when far more is queued than the disk keeps up with."""
        with self._work:
            while (len(self._queue) >= _QUEUE or self._bytes >= _QUEUE_BYTES) and self._failure is None:
                self._progress.wait()
            self.check()
            self._queue.append(batch)
            self._bytes += batch.size
            self._submitted += batch.replies
            if len(self._queue) == 1 or self._pressing():
                self._work.notify()

    def hurry(self) -> None:
        """Commit what was submitted without waiting for more; returns at once."""
        with self._work:
            self._urgent = self._submitted
            self._work.notify()

    def flush(self) -> None:
        """Wait until all that was submitted is durable."""
        with self._work:
            self._urgent = self._submitted
            self._work.notify()
            while self._committed < self._urgent and self._failure is None:
                self._progress.wait()
            self.check()

    def close(self) -> StoreError | None:
        """Commit what is queued and end the thread; gives a failure nobody was told of."""
        with self._work:
            self._closing = True
            self._work.notify()
        self._thread.join()
        return None if self._told else self._failure

    def _pressing(self) -> bool:
        return (
            self._closing
            or self._urgent > self._committed
            or len(self._queue) >= GROUP
            or self._bytes >= _QUEUE_BYTES // 4
        )

    def _run(self) -> None:
        while (group := self._take()) is not None:
            try:
                self._commit(group)
            except Exception as error:
                self._fail(error)
                return
            for batch in group:
                self._done(batch)
            with self._work:
                self._committed += sum(batch.replies for batch in group)
                self._progress.notify_all()
            self._moved()

    def _take(self) -> list[Batch] | None:
        with self._work:
            while not self._queue:
                if self._closing:
                    return None
                self._work.wait()
            self._work.wait_for(self._pressing, self.window)
            group = list(self._queue)
            self._queue.clear()
            self._bytes = 0
            self._progress.notify_all()
            return group

    def _commit(self, group: list[Batch]) -> None:
        pieces = [piece for batch in group for piece in batch.pieces]
        self._archive.register(pieces)
        self._db.execute("BEGIN IMMEDIATE")
        for batch in group:
            self._applier.apply(batch.effects)
            if batch.meta:
                self._applier.meta(batch.meta)
        self._applier.finish()
        self._archive.write(pieces)
        self._db.execute("COMMIT")
        self._archive.committed()

    def _fail(self, error: Exception) -> None:
        known = translate(error, self.directory)
        if known is None:
            known = StoreError(f"{self.directory}: a batch could not be stored: {error!r}")
        # The archive is not cut here: a COMMIT that failed late may still turn out to have been made.
        # The next resume asks the database and cuts to what it says.
        with contextlib.suppress(sqlite3.Error, OSError):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._archive.close()
        known.__cause__ = error
        with self._work:
            self._failure = known
            self._queue.clear()
            self._progress.notify_all()
        self._moved()


def new_urls(batch: Batch) -> dict[int, str]:
    """The candidates that a batch brings, by number."""
    urls: dict[int, str] = {}
    for effect in batch.effects:
        if isinstance(effect, SaveCandidates):
            urls.update(enumerate(effect.urls, effect.first))
    return urls
