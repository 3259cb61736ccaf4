"""What passes between the engine and a driver: tasks out, outcomes in, effects out.

All of it is frozen plain data. A driver fetches each `Task` and hands its `Outcome` to
`Crawl.settle`, which returns the `Effect`s to save. The effects of one settle are saved together
or not at all; that is what makes a crash exact.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clew.errors import Reason
from clew.page import Page

if TYPE_CHECKING:
    from clew.predicate.verdict import Verdict


class TaskKind(StrEnum):
    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    RESOLVE = "resolve"
    """Look a host's name up, so that hosts on one address are paced together. Not a request."""


class State(IntEnum):
    """What has become of a candidate. Only QUEUED ones can be leased."""

    QUEUED = 0
    LEASED = 1
    FETCHED = 2
    FAILED = 3
    DROPPED = 4
    """Left out on purpose: robots, a redirect to a known page, …"""
    REDIRECTED = 5


class Via(StrEnum):
    """How a candidate came to be known."""

    SEED = "seed"
    LINK = "link"
    REDIRECT = "redirect"
    REFRESH = "refresh"
    CANONICAL = "canonical"
    SITEMAP = "sitemap"
    VISITS = "visits"
    """People visited it."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to fetch. `id` counts leases from 1 and never repeats within a run."""

    id: int
    kind: TaskKind
    url: str
    host: str
    candidate: int = -1
    """The candidate's number; -1 for robots.txt."""
    depth: int = 0
    attempt: int = 0
    score: float = 0.0
    terms: tuple[float, ...] = ()
    """The score's contributions, in the order of the strategy's `parts`; they sum to it."""


@dataclass(frozen=True, slots=True)
class Blob:
    """Where a reply's bytes rest: a WARC file (name within the crawl), offset and length of the record."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap lists: pages, by column, and further sitemaps. Canonical absolute URLs, each once.

    >>> Sitemap("http://a.example/sitemap.xml", ("http://a.example/1",), ("One",)).children
    ()
    """

    url: str
    urls: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    """What the sitemap calls each page; mostly empty."""
    children: tuple[str, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a task: a reply (`status` > 0) or an error."""

    task: Task
    status: int = 0
    page: Page | None = None
    """The parsed body, for pages."""
    location: str = ""
    """Where a redirect points, as sent (not resolved)."""
    body: bytes = b""
    """Raw body, for robots.txt and sitemaps only."""
    error: Reason | None = None
    detail: str = ""
    wire: int = 0
    """Bytes received."""
    elapsed: float = 0.0
    retry_after: float | None = None
    """Seconds the server asked us to wait."""
    blob: Blob | None = None
    cached: bool = False
    """Came from the page cache: no request was made."""
    sitemap: Sitemap | None = None
    """The parsed body, for sitemaps."""
    subrequests: int = 0
    """Requests made beyond the one for the page itself, for what a browser needed to render it."""
    addresses: tuple[str, ...] = ()
    """Where the host is: all its addresses for a look-up, the one that answered for a reply."""


@dataclass(frozen=True, slots=True)
class SaveCandidates:
    """New candidates, by column; their numbers are `first`, `first + 1`, …"""

    first: int
    keys: NDArray[np.uint64]
    urls: tuple[str, ...]
    hosts: tuple[str, ...]
    depths: tuple[int, ...]
    source: int
    """The candidate number of the page they were found on; -1 for seeds."""
    anchors: tuple[str, ...]
    via: Via
    terms: NDArray[np.float64]
    """One row a candidate, one column a contribution."""


@dataclass(frozen=True, slots=True)
class Rescore:
    """Queued candidates whose contributions changed.

    Those of a strategy that learns are not saved: what it learned gives them again.
    """

    ids: NDArray[np.int64]
    terms: NDArray[np.float64]
    saved: bool = True


@dataclass(frozen=True, slots=True)
class Close:
    """A candidate's state changed, with the reason in a word or two (`robots`, `http-404`, …)."""

    candidate: int
    state: State
    reason: str
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SavePage:
    """A fetched page, judged."""

    candidate: int
    page: Page
    verdict: Verdict
    matched: bool
    """Satisfied the predicate and is not a duplicate: a find."""
    duplicate_of: int
    """Candidate number of the page it repeats; -1 when it is new."""
    near: bool
    """The repetition is a near one, not an exact one."""
    source: int
    depth: int
    fetched_at: float
    wire: int
    blob: Blob | None
    links: array[int]
    """Candidate numbers of its out-links, in page order, out-of-scope ones left out."""
    said: int = 0
    """A hash of the few words it says, by which empty pages are told; 0 for a page with much to say."""


@dataclass(frozen=True, slots=True)
class Rejudge:
    """A page that was fetched before is judged otherwise: by another formula, or by a person."""

    candidate: int
    verdict: Verdict
    matched: bool
    feedback: bool | None = None
    """What a person said of it; None when nobody said anything."""


@dataclass(frozen=True, slots=True)
class Redimension:
    """Scores are made of other contributions from now on: those saved before mean nothing any more."""

    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveHost:
    """What must be remembered about a host across a restart."""

    host: str
    next_at: float
    """No request before this time."""
    delay: float
    failures: int
    requests: int
    pages: int
    matches: int
    robots: tuple[tuple[str, int, float, bytes], ...] | None = None
    """(origin, status, fetched at, body) for each origin whose robots.txt is known; status 0 = unreachable.
    None means unchanged since it was last saved: bodies are not written again with every page."""
    wire: int = 0
    """Bytes received from it: pages, robots.txt, sitemaps, redirects."""
    memory: str | None = None
    """What else must be remembered, as JSON text: addresses, exclusion, sitemaps read, traps met.
    None means unchanged since it was last saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One line of the trace: what was chosen, why, and what came of it.

    Everything but `at` is a function of the seed, the configuration and the web, so two runs can be
    compared line by line with `line()`.
    """

    seq: int
    at: float
    kind: str
    """`page`, `robots`, `sitemap`, `drop` (left out at the moment of leasing), `command` or `stop`."""
    url: str
    candidate: int
    attempt: int
    score: float
    terms: tuple[float, ...]
    queue: int
    """Candidates queued when it was settled."""
    status: int
    result: str
    """`match`, `miss`, `duplicate`, `redirect`, `retry`, `failed`, `ok`, or a drop reason."""
    verdict: float
    reasons: tuple[str, ...]
    new: int
    known: int
    dropped: tuple[tuple[str, int], ...]
    """Links left out, by reason."""
    joined: bool = False
    """Settled in one batch with the decision before it: learned from together."""

    def line(self) -> str:
        """The decision as one canonical line, without the time.

        Floats are written by `repr`, so equal lines mean equal decisions to the last bit.
        """
        terms = ",".join(map(repr, self.terms))
        dropped = ",".join(f"{reason}={count}" for reason, count in self.dropped)
        return (
            f"{self.seq} {self.kind} {self.url} #{self.candidate}.{self.attempt} {self.score!r}=[{terms}] "
            f"{self.status} {self.result} {self.verdict!r} "
            f"+{self.new}/{self.known} -[{dropped}] q{self.queue}{' &' if self.joined else ''}"
        )


@dataclass(frozen=True, slots=True)
class Record:
    """A line for the trace."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class Journal:
    """An input of the crawl that is no reply, such as a command, at its place among the decisions.

    On resume it is taken in again at that place (`clew.engine.commands`).
    """

    after: int
    """Decisions made before it."""
    entry: str
    """Plain data, as JSON text."""


@dataclass(frozen=True, slots=True)
class Forward:
    """Links to hosts of a slot that another shard owns."""

    slot: int
    urls: tuple[str, ...]
    anchors: tuple[str, ...]
    depth: int
    source: str
    terms: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Learned:
    """The strategy's learned state, as plain data (JSON-able); replaces what was saved before.

    A large one may be given as what puts it into words: who stores it asks for them, in a thread of its own.
    """

    state: str | Callable[[], str]

    @property
    def text(self) -> str:
        """The state in words."""
        return self.state if isinstance(self.state, str) else self.state()


Effect = (
    SaveCandidates
    | Rescore
    | Redimension
    | Close
    | SavePage
    | Rejudge
    | SaveHost
    | Record
    | Journal
    | Forward
    | Learned
)
