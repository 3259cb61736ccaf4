"""Candidates in runs: what the frontier keeps its hosts' queues in.

A run is sorted by host; the candidates of a host are a slice of it, which is sorted by score when it is
first asked for its best, the oldest first among equals: most hosts are never asked before everything is
sorted anew. There is one big run, and what changes goes into a *buffer*, unsorted. A full buffer becomes a
run, and runs of a size are made one, so there are never more than a few of them, and a change costs a few
array operations for a whole page's links together.

An entry holds as long as its candidate is queued with the score it was entered with: one that was fetched
or scored anew is passed over when it surfaces.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.messages import State

Numbers = NDArray[np.int64]
Scores = NDArray[np.float64]
States = NDArray[np.uint8]

_QUEUED = int(State.QUEUED)
#: Entries of the buffer, which is searched from one end to the other: so many numbers are compared sooner
#: than a few are sorted.
BUFFER_SIZE = 4096
#: A run is joined with the one before it unless that has more than so many times its entries.
_RATIO = 4


class SortedRun:
    """Entries sorted by host once, and the slice of a host by score when it is asked for.

    >>> run = SortedRun(np.array([4, 5, 6]), np.array([1, 0, 1]), np.array([0.5, 0.1, 2.0]))
    >>> run.head(1, np.zeros(9, np.uint8), np.array([0, 0, 0, 0, 0.5, 0.1, 2.0]))
    6
    """

    __slots__ = ("_end", "_sorted", "_start", "hosts", "numbers", "scores")

    def __init__(self, numbers: Numbers, hosts: NDArray[np.int32], scores: Scores) -> None:
        # Numbers of two bytes are sorted by their digits, without comparing any.
        small = hosts.astype(np.uint16) if len(hosts) and hosts.max() < 1 << 16 else hosts
        order = np.argsort(small, kind="stable")
        self.numbers: NDArray[np.int32] = numbers[order].astype(np.int32)
        self.scores = scores[order]
        self.hosts = hosts[order]
        starts = np.diff(self.hosts, prepend=-1).nonzero()[0]
        ends = np.append(starts[1:], len(order)) if len(starts) else starts
        names = self.hosts[starts].tolist()
        self._start: dict[int, int] = dict(zip(names, starts.tolist(), strict=True))
        self._end: dict[int, int] = dict(zip(names, ends.tolist(), strict=True))
        self._sorted: set[int] = set()

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        return f"SortedRun({len(self)} entries of {len(self._start)} hosts)"

    def head(self, host: int, states: States, scores: Scores) -> int:
        """The best entry of a host that holds; -1 for none. Those before it are never looked at again."""
        at = self._start.get(host)
        if at is None:
            return -1
        end = self._end[host]
        if host not in self._sorted:
            self._sorted.add(host)
            self._sort(at, end)
        while at < end:
            number = int(self.numbers[at])
            if states[number] == _QUEUED and scores[number] == self.scores[at]:
                self._start[host] = at
                return number
            at += 1
        del self._start[host]
        return -1

    def first(self) -> tuple[Numbers, Numbers]:
        """The hosts, and the best entry of each; of a run from which nothing was taken, whose entries came in
        the order of their numbers."""
        starts = np.fromiter(self._start.values(), np.int64, len(self._start))
        if not len(starts):
            return starts, starts
        best = np.maximum.reduceat(self.scores, starts)
        owners = np.arange(len(starts)).repeat(np.diff(starts, append=len(self)))
        places = (self.scores == best[owners]).nonzero()[0]
        heads = np.empty(len(starts), np.int64)
        # Written backwards, the oldest of equals comes last and stays.
        heads[owners[places[::-1]]] = self.numbers[places[::-1]]
        return self.hosts[starts].astype(np.int64), heads

    def _sort(self, at: int, end: int) -> None:
        """Sort the slice of a host: the best first, the oldest among equals."""
        if end - at > 1:
            order = np.lexsort((self.numbers[at:end], -self.scores[at:end]))
            self.numbers[at:end] = self.numbers[at:end][order]
            self.scores[at:end] = self.scores[at:end][order]


class SortedRuns:
    """One big run, smaller ones, and the buffer."""

    def __init__(self, big: SortedRun | None = None) -> None:
        none: Numbers = np.zeros(0, np.int64)
        self.big = big if big is not None else SortedRun(none, none.astype(np.int32), none.astype(np.float64))
        self.loose = 0
        """Entries outside the big run."""
        self._small: list[SortedRun] = []
        self._numbers: Numbers = np.zeros(BUFFER_SIZE, np.int64)
        self._hosts: NDArray[np.int32] = np.full(BUFFER_SIZE, -1, np.int32)
        self._scores: Scores = np.zeros(BUFFER_SIZE)
        self._used = 0

    def __repr__(self) -> str:
        return f"SortedRuns({len(self.big)} sorted, {self.loose} in {len(self._small)} runs and a buffer)"

    def push(self, numbers: Numbers, hosts: NDArray[np.int32], scores: Scores) -> None:
        """Enter candidates with their present scores."""
        self.loose += len(numbers)
        if self._used + len(numbers) > BUFFER_SIZE:
            self._flush(numbers, hosts, scores)
            return
        rows = slice(self._used, self._used + len(numbers))
        self._numbers[rows], self._hosts[rows], self._scores[rows] = numbers, hosts, scores
        self._used += len(numbers)

    def heads(self, host: int, states: States, scores: Scores) -> Iterator[int]:
        """Of each run that has a candidate of this host its best; the best of all is among them."""
        for run in (self.big, *self._small):
            number = run.head(host, states, scores)
            if number >= 0:
                yield number
        buffer = (self._hosts, self._numbers, self._scores)
        number = native.best(host, self._used, *buffer, states, scores)
        if number >= 0:
            yield number

    def _flush(self, numbers: Numbers, hosts: NDArray[np.int32], scores: Scores) -> None:
        """Make a run of the buffer and these, joined with those before that are not much larger."""
        used = self._used
        pieces = [(self._numbers[:used], self._hosts[:used], self._scores[:used]), (numbers, hosts, scores)]
        size = used + len(numbers)
        while self._small and len(self._small[-1]) <= _RATIO * size:
            run = self._small.pop()
            pieces.append((run.numbers.astype(np.int64), run.hosts, run.scores))
            size += len(run)
        self._small.append(SortedRun(*(np.concatenate(column) for column in zip(*pieces, strict=True))))
        self._used = 0
