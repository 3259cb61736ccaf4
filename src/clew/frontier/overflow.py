"""`Overflow`: bounds the candidates that are scored and looked at, Figure 2's `max-size`.

What is worth least falls off its end: it stays queued in the store, where its URL rests anyway, is
neither scored anew nor looked at, and comes back, the best first, when the list runs low. What fell off and
what came back is told in the journal, so that a crawl that is taken up again has the same at hand.

What is bounded is the work of scoring, not memory: the rows of what fell off stay in the frontier's arrays.
"""

from __future__ import annotations

import json
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clew.errors import StoreForeign
from clew.frontier.hosts import Hosts
from clew.frontier.queue import Frontier
from clew.messages import State
from clew.strategy.base import Strategy, finite

#: How an entry of the journal begins that tells of a move.
_PREFIX = '{"overflow":'


class _Learner(Protocol):
    """Who has the strategy of the moment: a command may put another in its place."""

    @property
    def strategy(self) -> Strategy: ...


class Overflow:
    """Keeps the list between half of `limit` and a quarter more than it."""

    def __init__(self, frontier: Frontier, hosts: Hosts, learner: _Learner, limit: int | None) -> None:
        self.frontier = frontier
        self.hosts = hosts
        self._learner = learner
        self.limit = limit
        self.told: list[str] = []
        """What fell off or came back since somebody last looked, as entries of the journal."""
        self._untold: set[int] = set()
        """On resume, what is not at hand and the strategy was not told of."""

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
            fallen = self._ranked(overflowed=False)[self.limit :]
            self._tell("aside", fallen)
            self._set_aside(fallen)
        elif at_hand < self.limit // 2 and self.frontier.overflow_count:
            wanted = self._ranked(overflowed=True)[: self.limit - at_hand]
            self._tell("back", wanted)
            return self._take_back(wanted)
        return []

    def release(self) -> bool:
        """Return every overflowed candidate to the queue and lift the limit; True if anything came back.

        Called when nothing in memory can be leased.
        """
        if self.limit is None or not self.frontier.overflow_count:
            return False
        # What fills the list belongs to hosts that are done with, so that no room would come of waiting.
        self.limit = None
        wanted = self._ranked(overflowed=True)
        self._tell("released", wanted)
        self._take_back(wanted)
        return True

    def repeat(self, entry: str, *, taught: bool = True) -> bool:
        """Have happen again, on resume, what an entry of the journal tells; False for one of another kind.

        `taught` is whether the strategy is to be told: it need not be where it was when it learned.
        """
        if not entry.startswith(_PREFIX):
            return False
        move, ids = _read(entry, self.frontier.count)
        if self.limit is None:
            return True  # there is none any more
        if not taught:
            (self._untold.update if move == "aside" else self._untold.difference_update)(ids.tolist())
        elif self.strategy.capabilities.sheds:
            if move == "aside":
                self.strategy.set_aside(ids)
            else:
                moved = self.strategy.take_back(np.sort(ids))
                self.frontier.rescore(moved.ids, finite(moved.terms))
        # What was fetched since is in no list.
        ids = ids[self.frontier.states[ids] == State.QUEUED]
        self.frontier.set_overflowed(ids[self.frontier.overflowed[ids] != (move == "aside")], move == "aside")
        self.hosts.touch_all(np.unique(self.frontier.hosts[ids]))
        if move == "released":
            self.limit = None
        return True

    def tell_aside(self) -> None:
        """On resume: tell the strategy, which came into its place now, what is not at hand."""
        if self._untold and self.strategy.capabilities.sheds:
            self.strategy.set_aside(np.array(sorted(self._untold), np.int64))

    def _tell(self, move: str, ids: NDArray[np.int64]) -> None:
        self.told.append(json.dumps({"overflow": move, "ids": ids.tolist()}, separators=(",", ":")))

    def _ranked(self, *, overflowed: bool) -> NDArray[np.int64]:
        """Queued candidates, the best first, the oldest among equals."""
        frontier, count = self.frontier, self.frontier.count
        queued = frontier.states[:count] == State.QUEUED
        ids: NDArray[np.int64] = (queued & (frontier.overflowed[:count] == overflowed)).nonzero()[0]
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


def _read(entry: str, count: int) -> tuple[str, NDArray[np.int64]]:
    """The move that an entry tells of, and the candidates it was about."""
    try:
        found = json.loads(entry)
        move, ids = found["overflow"], np.array(found["ids"], np.int64).reshape(-1)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise StoreForeign(f"the journal is damaged ({error}): restore the directory from a copy") from error
    if move not in ("aside", "back", "released") or (len(ids) and not 0 <= ids.min() <= ids.max() < count):
        raise StoreForeign("the journal tells of candidates that there are not: restore it from a copy")
    return move, ids
