"""`Overflow`: bounds the candidates that are scored and looked at, Figure 2's `max-size`.

What is worth least falls off its end: it stays queued in the store, where its URL rests anyway, is
neither scored anew nor looked at, and comes back, the best first, when the list runs low. Nothing is lost: a
crawl that is taken up again begins with everything that is queued, and lets fall off what does not fit.

What is bounded is the work of scoring, not memory: the rows of what fell off stay in the frontier's arrays.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clew.frontier.hosts import Hosts
from clew.frontier.queue import Frontier
from clew.messages import State
from clew.strategy.base import Strategy, finite


class _Learner(Protocol):
    """Who has the strategy of the moment: a command may put another in its place."""

    strategy: Strategy


class Overflow:
    """Keeps the list between half of `limit` and a quarter more than it."""

    def __init__(self, frontier: Frontier, hosts: Hosts, learner: _Learner, limit: int | None) -> None:
        self.frontier = frontier
        self.hosts = hosts
        self._learner = learner
        self.limit = limit

    @property
    def strategy(self) -> Strategy:
        """The strategy of the moment."""
        return self._learner.strategy

    def __repr__(self) -> str:
        return f"Overflow({self.frontier.overflow_count} aside, at most {self.limit} at hand)"

    def balance(self) -> list[int]:
        """Let the worst fall off a list that is too long; take the best back into one that runs low.

        Gives the hosts of what came back.
        """
        if self.limit is None:
            return []
        at_hand = self.frontier.queued - self.frontier.overflow_count
        if at_hand > self.limit + self.limit // 4:
            self._set_aside(self._ranked(overflowed=False)[self.limit :])
        elif at_hand < self.limit // 2 and self.frontier.overflow_count:
            return self._take_back(self._ranked(overflowed=True)[: self.limit - at_hand])
        return []

    def release(self) -> bool:
        """Return every overflowed candidate to the queue and lift the limit; True if anything came back.

        Called when nothing in memory can be leased.
        """
        if self.limit is None or not self.frontier.overflow_count:
            return False
        # What fills the list belongs to hosts that are done with, so that no room would come of waiting.
        self.limit = None
        self._take_back(self._ranked(overflowed=True))
        return True

    def _ranked(self, *, overflowed: bool) -> NDArray[np.int64]:
        """Queued candidates, the best first, the oldest among equals."""
        frontier, count = self.frontier, self.frontier.count
        queued = frontier.states[:count] == State.QUEUED
        ids = np.flatnonzero(queued & (frontier.overflowed[:count] == overflowed))
        return ids[np.argsort(-frontier.scores[ids], kind="stable")]

    def _set_aside(self, ids: NDArray[np.int64]) -> None:
        self.frontier.set_overflowed(ids, True)
        if self.strategy.capabilities.sheds:
            self.strategy.set_aside(ids)
        self.hosts.touch_all(np.unique(self.frontier.hosts[ids]))

    def _take_back(self, ids: NDArray[np.int64]) -> list[int]:
        ids = np.sort(ids)
        self.frontier.set_overflowed(ids, False)
        if self.strategy.capabilities.sheds:
            moved = self.strategy.take_back(ids)
            self.frontier.rescore(moved.ids, finite(moved.terms))
        hosts: list[int] = np.unique(self.frontier.hosts[ids]).tolist()
        self.hosts.touch_all(np.array(hosts, np.int64))
        return hosts
