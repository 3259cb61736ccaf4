"""The `Strategy` protocol: how much is each link worth, and what was learned from the last page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

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
