"""The `Strategy` protocol: how much is each link worth, and what was learned from the last page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clew.messages import Rescore
from clew.page import Links, Page
from clew.predicate.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Expansion:
    """A judged page and those of its links that are in scope, one row per distinct target.

    `ids[i]` is the candidate number of `links[i]`'s target (-1 when another shard owns it); those in
    `fresh` were not known before. A fetch that gave nothing (404, a host that is gone) is an expansion
    too: of an empty page, judged 0, without links.
    """

    source: int
    page: Page
    verdict: Verdict
    depth: int
    links: Links
    keys: NDArray[np.uint64]
    ids: NDArray[np.int64]
    fresh: NDArray[np.bool_]


def totals(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores that rows of contributions sum to: from left to right, one number for one row of numbers,
    however many others are asked for and however they lie in memory.

    >>> totals(np.array([[0.5, 2.0], [1.0, 0.0]])).tolist()
    [2.5, 1.0]
    """
    found = np.zeros(len(parts))
    for column in range(parts.shape[1]):
        found += parts[:, column]
    return found


class Strategy(Protocol):
    """Which reasons to like a link, and how they combine.

    A score is the sum of its contributions, one column of `parts` each, so that an explanation
    cannot disagree with the decision. `score` must not change learned state; only `learn` may.
    """

    name: str
    parts: tuple[str, ...]
    """Names of the contributions, in column order."""

    def seeds(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Contributions of the starting points, one row each."""
        ...

    def score(self, expansion: Expansion) -> NDArray[np.float64]:
        """Contributions of the links of a page just judged, one row each."""
        ...

    def learn(self, expansion: Expansion) -> Rescore | None:
        """Take in the outcome of one page; give the queued candidates whose worth moved, if any."""
        ...

    def state(self) -> str:
        """Learned state as JSON text; empty when nothing is learned."""
        ...

    def restore(self, state: str) -> None:
        """The opposite of `state`."""
        ...


@runtime_checkable
class Meets(Protocol):
    """A strategy that wants to know of candidates that no judged page led to."""

    @property
    def met(self) -> int:
        """It knows candidates below this number, if it is to know them at all."""
        ...

    def meet(self, expansion: Expansion) -> NDArray[np.float64] | None:
        """New candidates: of a sitemap or another shard (`source` is -1), or what a redirect, a refresh or a
        canonical link of `source` leads to. Gives their contributions; None to leave them as they are."""
        ...


@runtime_checkable
class Lasting(Protocol):
    """A strategy that learns so much that putting it into words takes a while."""

    def snapshot(self) -> Callable[[], str]:
        """What gives `state` as it is now, whenever it is called and in whatever thread."""
        ...


@runtime_checkable
class Reads(Protocol):
    """A strategy that looks at columns of links which are not found out unless somebody asks."""

    reads: frozenset[str]
    """`contexts`, `paths`, or both. They can be had anyway; named here, a page is not read twice for them."""


@runtime_checkable
class Forgetful(Protocol):
    """A strategy that need not keep the worth of all candidates up to date."""

    def set_aside(self, ids: NDArray[np.int64]) -> None:
        """These candidates are not at hand for now."""
        ...

    def take_back(self, ids: NDArray[np.int64]) -> Rescore:
        """These are again; gives their worth as of now, of those it can tell it of."""
        ...


@runtime_checkable
class Watched(Protocol):
    """A strategy that can be asked what it thinks of candidates now, whatever it said before."""

    audit: float
    """The share of choices to check."""

    def audits(self, candidate: int) -> bool:
        """Whether the choice of this candidate is to be checked."""
        ...

    def review(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores worked out anew; not a number for candidates it has no opinion of."""
        ...

    def interest(self, parts: tuple[float, ...]) -> float:
        """How many times as likely as chance a candidate with these contributions is to be a find."""
        ...


class Resumable:
    """A strategy whose `state` has everything, also what it remembers of candidates: once restored, it must
    not be taught again what it saw before."""


class Unlearned(Resumable):
    """The half of a strategy that learns nothing."""

    def learn(self, expansion: Expansion) -> Rescore | None:
        return None

    def state(self) -> str:
        return ""

    def restore(self, state: str) -> None:
        return None
