"""The protocols of a store, and the value by which a package brings one.

A `Store` is where effects come to rest; its reading half, `Reader`, is all that status, explain, exports,
search, reports and resuming ask of a crawl. A class that inherits from them gets search and `with` by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from clew.fetch.base import Response
from clew.messages import Blob, Decision, Effect, Journal, SaveHost, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All an engine needs to go on where it stopped. Arrays are by candidate number."""

    keys: NDArray[np.uint64]
    hosts: NDArray[np.int32]
    """Index into `host_names`."""
    host_names: tuple[str, ...]
    depths: NDArray[np.int32]
    sources: NDArray[np.int32]
    states: NDArray[np.uint8]
    attempts: NDArray[np.uint8]
    terms: NDArray[np.float64]
    host_states: tuple[SaveHost, ...]
    digests: dict[int, int]
    """Page digest -> candidate number of the first page with it."""
    sketches: dict[int, bytes]
    """Candidate number -> similarity sketch, for pages that are not copies and have one."""
    copies: dict[int, tuple[int, bool]]
    """Candidate number of a copy -> that of the page it repeats, and whether nearly."""
    said: dict[int, int] | None
    """Candidate number -> hash of the few words a page says (0: it says more); None if some are not known."""
    matched: frozenset[int]
    """Candidate numbers of the finds."""
    scores: dict[int, float]
    """Candidate number of each fetched page -> its verdict's score."""
    interests: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Candidate number of a find -> the names of the interests it satisfies, where there are several."""
    decisions: int
    """Trace lines so far."""
    tasks: int
    """Leases so far (highest task id)."""
    pages: int
    requests: int
    wire: int
    elapsed: float
    """Seconds of crawling so far, over all sessions."""
    learned: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """One stored page, as exports and readers see it."""

    id: int
    url: str
    status: int
    title: str
    score: float
    matched: bool
    satisfied: bool
    duplicate_of: str | None
    near: bool
    depth: int
    source: str | None
    fetched_at: str
    """ISO 8601, UTC."""
    lang: str
    type: str
    text: str
    reasons: tuple[str, ...] = ()
    blob: Blob | None = None
    via: str = "link"
    rendered: bool = False
    feedback: bool | None = None
    """What a person said of it; None when nobody said anything."""
    interests: tuple[str, ...] = ()
    """The interests that it satisfies, by name, where the crawl has several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """One known URL, fetched or not."""

    id: int
    url: str
    host: str
    depth: int
    source: str | None
    anchor: str
    via: str
    state: State
    reason: str
    terms: tuple[float, ...]
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLink:
    """A candidate as a link: where it leads, from where, and how far from a seed."""

    id: int
    url: str
    source: int
    """The candidate number of the page it was found on; -1 for seeds."""
    depth: int
    anchor: str
    state: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The figures of `clew status`."""

    pages: int = 0
    matched: int = 0
    duplicates: int = 0
    queued: int = 0
    failed: int = 0
    dropped: int = 0
    redirected: int = 0
    hosts: int = 0
    requests: int = 0
    wire: int = 0
    rendered: int = 0
    feedback: int = 0
    """Pages that a person said something of."""
    by_reason: dict[str, int] = field(default_factory=dict)
    """Links left out and candidates closed, by reason."""
    by_interest: dict[str, int] = field(default_factory=dict)
    """Finds by the names of the interests that they satisfy; empty where there is one without a name."""


Progress = Callable[[int, int], None]
"""Told how much is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One page found by a search."""

    url: str
    title: str
    snippet: str
    """A stretch of its text, the words looked for in square brackets."""
    rank: float
    """Higher is better; comparable within one search only."""
    score: float
    """The predicate's verdict on the page."""
    matched: bool
    interests: tuple[str, ...] = ()
    """The interests that it satisfies, by name."""


class Replies(Protocol):
    """Archived replies by canonical URL."""

    def get(self, url: str) -> Response | None:
        """The last reply archived for a URL; None when there is none."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...


class Reader(Protocol):
    """The reading side of a crawl: what status, explain, exports, search, reports and resuming need.

    What cannot be read because it is damaged is left out, and told in `unreadable`; it ends no reading of the
    rest. Where there is no rest, as with a single candidate, `StoreForeign` says so.
    """

    def meta(self) -> dict[str, Any]:
        """Plain data about the crawl: configuration, formula, times, sessions, stop reason."""
        ...

    def pages(self, *, matched: bool = False, text: bool = True) -> Iterator[PageRow]:
        """Fetched pages in the order fetched, streamed; without their text when `text` is false."""
        ...

    def page(self, url: str) -> PageRow | None:
        """The page stored under a canonical URL."""
        ...

    def candidate(self, url: str) -> CandidateRow | None:
        """What is known of a canonical URL."""
        ...

    def links_numbered(self, candidates: Sequence[int]) -> dict[int, FoundLink]:
        """Some candidates as links, by number; those never saved are left out."""
        ...

    def outlinks(self, candidate: int) -> NDArray[np.int64]:
        """Numbers of the candidates a fetched page links to, in page order; none for what was not fetched."""
        ...

    def hosts(self) -> Iterator[SaveHost]:
        """Every host that was asked for something, in the order first met."""
        ...

    def decisions(self, after: int = -1) -> Iterator[Decision]:
        """The trace, in order, from the decision that follows `after` on."""
        ...

    def journal(self) -> Iterator[Journal]:
        """What came into the crawl besides replies, in order."""
        ...

    def trace_of(self, url: str) -> Sequence[Decision]:
        """Every decision about one canonical URL, in order."""
        ...

    def counts(self) -> Counts:
        """The figures of `clew status`."""
        ...

    def url(self, candidate: int) -> str:
        """The URL of a candidate saved before; `KeyError` for any other number."""
        ...

    def urls(self, candidates: NDArray[np.int64]) -> Sequence[str]:
        """The URLs of many candidates; a store that has a quicker way than one by one overrides it."""
        return [self.url(candidate) for candidate in candidates.tolist()]

    def link_texts(self, candidates: NDArray[np.int64]) -> tuple[Sequence[str], Sequence[str]]:
        """The URLs of many candidates saved before, and the texts of the links that they were found by; a
        store that has a quicker way than one by one overrides it."""
        urls = self.urls(candidates)
        rows = map(self.candidate, urls)
        return urls, ["" if row is None else row.anchor for row in rows]

    def snapshot(self) -> Snapshot | None:
        """The state of the crawl as of its last commit; None when it never began."""
        ...

    def learned(self) -> str:
        """The strategy's learned state, as text; empty when there is none."""
        ...

    def checkpoint(self) -> memoryview | None:
        """The checkpoint of what was learned that was saved last, as it is; None when there is none."""
        ...

    def replies(self) -> Replies | None:
        """The archived replies, by URL; None where this store keeps no bytes, or none can be read."""
        ...

    def record(self, page: PageRow) -> bytes | None:
        """The WARC records of a page's reply, as archived; None where there are none, or they are damaged."""
        ...

    def search(
        self, query: str, *, limit: int = 20, matched: bool = False, progress: Progress | None = None
    ) -> Sequence[Hit]:
        """Pages by their words, best first; the language is that of `clew search`.

        A store without an index of its own inherits this: one that is made in memory for the search.
        """
        from clew.store.fulltext import search_pages

        return search_pages(self.pages(), query, limit=limit, matched=matched, progress=progress)

    @property
    def unreadable(self) -> Sequence[str]:
        """What was left out so far because it could not be read, each named: table and number, or file."""
        return ()

    def close(self) -> None:
        """Let go; calling it again does nothing."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Store(Reader, Protocol):
    """Saves effects in order; whole batches only.

    `save` may buffer: what it was given is visible to `url` at once and to every reader after
    `flush`, and durable after `flush`. All methods are called from one thread.
    """

    def append(self, response: Response, fetched_at: float) -> Blob | None:
        """Archive a reply; None where this store keeps no bytes.

        Call it right before the `save` whose effects name it: the bytes become durable together
        with that batch, and bytes whose batch never came are cut away when the crawl is resumed.
        """
        ...

    def save(self, effects: Sequence[Effect]) -> None:
        """Take one batch: all of it will be stored, or none."""
        ...

    def save_checkpoint(self, pieces: Iterable[bytes | memoryview]) -> None:
        """Keep a checkpoint of what was learned in the place of the last one, whole or not at all, once what
        was saved before is durable. With a store that keeps none, every resume learns from the beginning."""
        ...

    def flush(self) -> None:
        """Return when all that was saved is durable."""
        ...

    def load(self) -> Snapshot | None:
        """State to resume from; None for a new crawl."""
        ...

    def set_meta(self, **values: Any) -> None:
        """Merge into `meta`; durable on return."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreBackend:
    """What a package offers under the name of a scheme, by an entry point of the group `clew.stores`.

    Each function is given the place as it was typed, scheme and all.
    """

    open: Callable[[str], Store]
    """Begin a crawl, or take one up again; `StoreBusy` when another process has it."""
    read: Callable[[str], Reader]
    """Read a crawl, which may be under way; `StoreForeign` when there is none."""
    exists: Callable[[str], bool]
    """Whether there is a crawl to resume or read."""
    folder: Callable[[str], Path | None] = lambda place: None
    """Where log and report of a crawl go; None for nowhere, unless the user says where."""
    check: Callable[[str], Sequence[str]] = lambda place: ()
    """What is wrong with what holds the rows: its files, its indexes. Each a sentence."""
    repair: Callable[[str, Sequence[str]], int] | None = None
    """Queue again the pages of these canonical URLs, and those whose rows are damaged; gives how many.

    Whatever else keeps the crawl from going on is set right too, as far as it can be.
    """
