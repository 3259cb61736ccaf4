"""`Frontier`: the candidates, filed by host, the best of each host always at hand.

Everything about a candidate that decides when it is fetched is a row of flat arrays; its URL rests
with the store. What waits is kept in *runs*, each sorted by host (`clew.frontier.sorted_runs`): the big
one of everything that was there at the last full sort, and smaller ones of what was added or re-scored
since. When those hold a quarter as much as the big one, everything is sorted again in one vectorised step,
so the cost of a candidate stays flat and a re-score of the whole frontier needs no Python loop.

Invariant: `head(host)` is the queued candidate of that host with the highest score, the oldest
among equals. Stale entries (fetched since, or re-scored since) are skipped when they surface.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.frontier.sorted_runs import SortedRun, SortedRuns
from clew.messages import State
from clew.policy.confidence import DEMOTION
from clew.strategy.base import totals
from clew.url.index import KeyIndex

_QUEUED = int(State.QUEUED)
_FLOOR = 4096
_COLUMNS = ("keys", "scores", "terms", "hosts", "depths", "sources", "states", "attempts", "overflowed")


class Frontier:
    """Candidates by number: keys, scores and their contributions, hosts, depths, states.

    >>> frontier = Frontier(terms=1)
    >>> keys = np.array([11, 12], np.uint64)
    >>> frontier.add(keys, np.array([0, 0]), np.zeros(2), -1, np.array([[0.5], [2.0]]))
    array([0, 1])
    >>> frontier.head(0)
    1
    """

    def __init__(self, terms: int) -> None:
        self.width = terms
        self.index = KeyIndex()
        self.count = 0
        self.queued = 0
        self.keys: NDArray[np.uint64] = np.zeros(_FLOOR, np.uint64)
        self.scores: NDArray[np.float64] = np.zeros(_FLOOR, np.float64)
        self.terms: NDArray[np.float64] = np.zeros((_FLOOR, terms), np.float64, order="F")
        self.hosts: NDArray[np.int32] = np.zeros(_FLOOR, np.int32)
        self.depths: NDArray[np.uint16] = np.zeros(_FLOOR, np.uint16)
        self.sources: NDArray[np.int32] = np.full(_FLOOR, -1, np.int32)
        self.states: NDArray[np.uint8] = np.zeros(_FLOOR, np.uint8)
        self.attempts: NDArray[np.uint8] = np.zeros(_FLOOR, np.uint8)
        self.overflowed: NDArray[np.bool_] = np.zeros(_FLOOR, np.bool_)
        """Queued, but not in the list at hand (see `clew.frontier.overflow`)."""
        self.overflow_count = 0
        """How many are."""
        self.boosts: NDArray[np.float64] | None = None
        """What each candidate's score has beyond its terms (`clew.frontier.boosts`); None while none has."""
        self.suspended: NDArray[np.bool_] | None = None
        """Which candidates wait behind all others (`clew.policy.confidence`); None where none ever do."""
        self._runs = SortedRuns()
        self._fresh = False

    def __len__(self) -> int:
        return self.queued

    def __repr__(self) -> str:
        return f"Frontier({self.queued} queued of {self.count} known)"

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Candidate numbers of URL keys; -1 for those never seen."""
        return self.index.find(keys)

    def state_of(self, url: str) -> State | None:
        """What has become of a URL; None for one that is no candidate."""
        known = int(self.find(urls.keys((url,)))[0])
        return State(int(self.states[known])) if known >= 0 else None

    def add(
        self,
        keys: NDArray[np.uint64],
        hosts: NDArray[np.int64],
        depths: NDArray[np.float64] | NDArray[np.int64],
        source: int | NDArray[np.int32],
        terms: NDArray[np.float64],
        states: NDArray[np.uint8] | None = None,
        attempts: NDArray[np.uint8] | None = None,
        boosts: NDArray[np.float64] | None = None,
        suspended: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.int64]:
        """File new candidates (keys distinct and unknown); gives their numbers."""
        n = len(keys)
        ids: NDArray[np.int64] = np.arange(self.count, self.count + n, dtype=np.int64)
        self._reserve(self.count + n)
        rows = slice(self.count, self.count + n)
        self.keys[rows] = keys
        self.terms[rows] = terms
        if self.boosts is not None and boosts is not None:
            self.boosts[rows] = boosts
        if self.suspended is not None and suspended is not None:
            self.suspended[rows] = suspended
        self.scores[rows] = self._scored(rows, terms)
        self.hosts[rows] = hosts
        self.depths[rows] = np.minimum(depths, 65535)
        self.sources[rows] = source
        self.states[rows] = _QUEUED if states is None else states
        self.attempts[rows] = 0 if attempts is None else attempts
        self.count += n
        self.index.insert(keys, ids)
        waiting = ids if states is None else ids[states == _QUEUED]
        self.queued += len(waiting)
        if len(waiting) > _FLOOR:
            self.sort()
        else:
            self._push(waiting)
        return ids

    def rescore(self, ids: NDArray[np.int64], terms: NDArray[np.float64]) -> None:
        """Give candidates new contributions. Those not queued keep their place in history."""
        live = self.states[ids] == _QUEUED
        if not live.all():
            ids, terms = ids[live], terms[live]
        self.put(ids, terms)
        if len(ids) > max(_FLOOR, self.queued // 4):
            self.sort()
        else:
            self._push(ids)

    def put(self, ids: NDArray[np.int64], terms: NDArray[np.float64]) -> None:
        """Write contributions and scores of candidates that are in no queue; others need `rescore`."""
        for column in range(self.width):
            self.terms[:, column][ids] = terms[:, column]
        self.scores[ids] = self._scored(ids, terms)

    def worth(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """What candidates are worth by their terms alone."""
        plain = self.boosts is None and self.suspended is None
        return self.scores[ids] if plain else totals(self.terms[ids])

    def suspend(self, ids: NDArray[np.int64], suspended: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Have candidates that wait, or are under way, wait behind all others, or not; gives those that are
        moved by it."""
        if self.suspended is None:
            self.suspended = np.zeros(len(self.keys), np.bool_)
        moved: NDArray[np.int64] = ids[self.suspended[ids] != suspended]
        if len(moved):
            self.suspended[moved] = ~self.suspended[moved]
            self.scores[moved] = self._scored(moved, self.terms[moved])
            waiting = moved[self.states[moved] == _QUEUED]
            if len(waiting) > max(_FLOOR, self.queued // 4):
                self.sort()
            else:
                self._push(waiting)
        return moved

    def boost(self, ids: NDArray[np.int64], boosts: NDArray[np.float64] | None) -> None:
        """Give candidates that wait, or are under way, this beyond their terms, and the others nothing; None
        is that no candidate has anything, nor will have."""
        self.boosts = None
        if boosts is not None:
            self.boosts = np.zeros(len(self.keys))
            self.boosts[ids] = boosts
        self.scores[ids] = self._scored(ids, self.terms[ids])
        self.sort()

    def redimension(self, width: int) -> None:
        """Scores are made of other contributions from now on: until they are put, nothing is worth
        anything."""
        self.width = width
        self.terms = np.zeros((len(self.keys), width), np.float64, order="F")
        rows = slice(self.count)
        self.scores[rows] = self._scored(rows, self.terms[rows])
        self.sort()

    def _scored(self, ids: NDArray[np.int64] | slice, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = totals(terms)
        if self.boosts is not None:
            scores = scores + self.boosts[ids]
        return scores if self.suspended is None else np.where(self.suspended[ids], scores - DEMOTION, scores)

    def close(self, candidate: int, state: State) -> None:
        """Take a candidate out of its queue, or, with QUEUED, put it back."""
        self._fresh = False
        if self.overflowed[candidate]:
            self.overflowed[candidate] = False
            self.overflow_count -= 1
        was = self.states[candidate] == _QUEUED
        self.states[candidate] = state
        if was and state is not State.QUEUED:
            self.queued -= 1
        elif not was and state is State.QUEUED:
            self.queued += 1
            self._push(np.array([candidate], np.int64))

    def reopen(self, ids: NDArray[np.int64]) -> None:
        """Put leased candidates back into their queues: `close` with QUEUED, for many at once."""
        self.states[ids] = _QUEUED
        self.queued += len(ids)
        self._push(ids)

    def head(self, host: int) -> int:
        """The best queued candidate of a host; -1 when it has none."""
        best, highest = -1, -np.inf
        for number in self._runs.heads(host, self.states, self.scores):
            score = self.scores[number]
            if best < 0 or score > highest or (score == highest and number < best):
                best, highest = number, score
        return best

    @property
    def sorted(self) -> bool:
        """Whether nothing changed since everything was sorted."""
        return self._fresh

    def run_heads(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Hosts that have candidates, and the best candidate of each; right after `sort` only."""
        return self._runs.big.first()

    def sort(self) -> None:
        """Sort all queued candidates into one fresh run: one vectorised step."""
        live = ((self.states[: self.count] == _QUEUED) & ~self.overflowed[: self.count]).nonzero()[0]
        self._runs = SortedRuns(SortedRun(live, self.hosts[live], self.scores[live]))
        self._fresh = True

    def set_overflowed(self, ids: NDArray[np.int64], aside: bool) -> None:
        """Take queued candidates out of the list at hand, or put them back into it."""
        self.overflowed[ids] = aside
        self.overflow_count += len(ids) if aside else -len(ids)
        self.sort()

    def _push(self, ids: NDArray[np.int64]) -> None:
        self._fresh = False
        if self.overflow_count:
            ids = ids[~self.overflowed[ids]]
        if self._runs.loose + len(ids) > max(_FLOOR, len(self._runs.big) // 4):
            self.sort()
        else:
            self._runs.push(ids, self.hosts[ids], self.scores[ids])

    def _reserve(self, wanted: int) -> None:
        size = len(self.keys)
        if wanted <= size:
            return
        # Growing by half keeps the peak (old and new side by side) low.
        size = max(wanted, size + size // 2)
        for name in (*_COLUMNS, "boosts", "suspended"):
            old = getattr(self, name)
            if old is None:
                continue
            new = np.zeros((size, *old.shape[1:]), old.dtype, order="F")
            new[: self.count] = old[: self.count]
            setattr(self, name, new)
