"""`Memory`: what is remembered of each candidate and each fetched page, as arrays.

A candidate keeps how many fetched pages link to it and how many of those satisfy the predicate, how
many of its siblings were fetched and how many satisfied, which pages link to it, and the tokens of its
URL. A fetched page keeps its words, its links and its verdict. Factors read these arrays for thousands
of candidates at once; nothing here is a Python object per candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Pages linking to a candidate that are looked at one by one; all of them count in the totals.
WIDTH = 6


class Ragged:
    """Rows of different lengths, appended in order of row number, in two flat arrays.

    >>> rows = Ragged()
    >>> rows.append(1, np.array([5, 6])); rows.append(3, np.array([7]))
    >>> rows.sums(np.arange(4), np.arange(10.0)).tolist()
    [0.0, 11.0, 0.0, 7.0]
    """

    def __init__(self) -> None:
        self._starts: NDArray[np.int64] = np.zeros(1024, np.int64)
        self._items: NDArray[np.int32] = np.zeros(8192, np.int32)
        self.rows = 0
        self.size = 0

    def append(self, row: int, items: NDArray[np.int64] | NDArray[np.int32]) -> None:
        """Fill a row beyond all rows so far; rows passed over are empty."""
        self._starts = _grown(self._starts, row + 2)
        self._items = _grown(self._items, self.size + len(items))
        self._starts[self.rows : row + 1] = self.size
        self._items[self.size : self.size + len(items)] = items
        self.size += len(items)
        self.rows = row + 1
        self._starts[self.rows] = self.size

    def extend(self, first: int, lengths: Sequence[int], items: NDArray[np.int64]) -> None:
        """Fill consecutive rows beyond all rows so far, the items of all of them in one array."""
        n = len(lengths)
        self._starts = _grown(self._starts, first + n + 1)
        self._items = _grown(self._items, self.size + len(items))
        self._starts[self.rows : first + 1] = self.size
        self._items[self.size : self.size + len(items)] = items
        self._starts[first + 1 : first + n + 1] = self.size + np.cumsum(np.asarray(lengths, np.int64))
        self.size += len(items)
        self.rows = first + n

    def row(self, row: int) -> NDArray[np.int32]:
        """The items of a row."""
        if row >= self.rows:
            return self._items[:0]
        return self._items[self._starts[row] : self._starts[row + 1]]

    def sums(self, rows: Ids, weights: Floats) -> Floats:
        """Of each row, the sum of the weights of its items."""
        known = rows < self.rows
        starts = self._starts[np.where(known, rows, 0)]
        ends = np.where(known, self._starts[np.where(known, rows + 1, 0)], starts)
        lengths = ends - starts
        total = int(lengths.sum())
        if not total:
            return np.zeros(len(rows))
        owner = np.repeat(np.arange(len(rows)), lengths)
        offsets = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        picked = weights[self._items[np.repeat(starts, lengths) + offsets]]
        return np.bincount(owner, picked, minlength=len(rows)).astype(np.float64, copy=False)


@dataclass(slots=True)
class Fetched:
    """A page that was fetched."""

    candidate: int
    satisfied: bool
    words: NDArray[np.int64]
    """Numbers of its distinct words."""
    children: Ids
    """Candidate numbers of its links, in page order."""
    columns: NDArray[np.int8]
    """For each child, which of the child's `parents` columns this page is; -1 for none."""
    visited: list[int]
    """Places (in `children`) of those that were fetched."""


class Memory:
    """Candidates by number, fetched pages by slot (0 for the first fetched, 1 for the next, …)."""

    def __init__(self) -> None:
        self.size = 0
        self.inlinks: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.good_inlinks: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.siblings: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.good_siblings: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.parents: NDArray[np.int32] = np.full((1024, WIDTH), -1, np.int32)
        self.near: NDArray[np.float32] = np.zeros((1024, WIDTH), np.float32)
        self.near_good: NDArray[np.float32] = np.zeros((1024, WIDTH), np.float32)
        self.hints: NDArray[np.float32] = np.zeros(1024, np.float32)
        self.open: NDArray[np.bool_] = np.zeros(1024, np.bool_)
        self.tokens = Ragged()
        self.anchors = Ragged()
        self.pages: list[Fetched] = []
        self.slots: dict[int, int] = {}
        self.child_seen: Floats = np.zeros(256)
        self.child_good: Floats = np.zeros(256)
        self._more: dict[int, list[int]] = {}

    def __repr__(self) -> str:
        return f"Memory({self.size} candidates, {len(self.pages)} pages)"

    def reserve(self, size: int) -> None:
        """Make room for candidate numbers below `size`."""
        self.size = max(self.size, size)
        if size <= len(self.inlinks):
            return
        for name in (
            "inlinks",
            "good_inlinks",
            "siblings",
            "good_siblings",
            "near",
            "near_good",
            "hints",
            "open",
        ):
            setattr(self, name, _grown(getattr(self, name), size))
        old = len(self.parents)
        self.parents = _grown(self.parents, size)
        self.parents[old:] = -1

    def parents_of(self, candidate: int) -> list[int]:
        """Slots of all fetched pages that link to a candidate, in the order fetched."""
        if candidate >= self.size:
            return []
        kept = self.parents[candidate]
        return [*kept[kept >= 0].tolist(), *self._more.get(candidate, ())]

    def fetch(self, candidate: int, satisfied: bool, parents: Sequence[int], reach: float) -> None:
        """A candidate was fetched: its siblings learn of it. Call before `link`."""
        self.reserve(candidate + 1)
        self.open[candidate] = False
        if not parents:
            return
        families = [self.pages[p].children for p in parents]
        touched = np.unique(np.concatenate(families)) if len(families) > 1 else families[0]
        touched = touched[touched != candidate]
        self.siblings[touched] += 1
        self.good_siblings[touched] += satisfied
        for slot in parents:
            page = self.pages[slot]
            place = int(np.flatnonzero(page.children == candidate)[0])
            page.visited.append(place)
            self.child_seen[slot] += 1
            self.child_good[slot] += satisfied
            self._spread(page, place, satisfied, reach)

    def link(
        self, candidate: int, satisfied: bool, words: NDArray[np.int64], children: Ids, reach: float
    ) -> None:
        """The fetched page's own links: candidates learn of a new parent."""
        slot = len(self.pages)
        self.slots[candidate] = slot
        if len(children):
            self.reserve(int(children.max()) + 1)
        before = [self.parents_of(int(c)) for c in children.tolist()]
        columns = np.array([len(b) if len(b) < WIDTH else -1 for b in before], np.int8)
        visited = [i for i, c in enumerate(children.tolist()) if c in self.slots and c != candidate]
        page = Fetched(candidate, satisfied, words, children, columns, visited)
        self.pages.append(page)
        self.child_seen = _grown(self.child_seen, slot + 1)
        self.child_good = _grown(self.child_good, slot + 1)
        for c, column in zip(children.tolist(), columns.tolist(), strict=True):
            if column >= 0:
                self.parents[c, column] = slot
            else:
                self._more.setdefault(c, []).append(slot)
        self.inlinks[children] += 1
        self.good_inlinks[children] += satisfied
        self._adopt(page, slot, before, reach)

    def _adopt(self, page: Fetched, slot: int, before: list[list[int]], reach: float) -> None:
        """Children that were fetched already become siblings of the others, each counted once."""
        ids = page.children.tolist()
        fetched = [(place, ids[place]) for place in page.visited]
        self.child_seen[slot] = len(fetched)
        for place, c in fetched:
            good = self.pages[self.slots[c]].satisfied
            self.child_good[slot] += good
            self._spread(page, place, good, reach)
            families = set(self.parents_of(c)) - {slot}
            for other, known in zip(ids, before, strict=True):
                if other != c and (not known or families.isdisjoint(known)):
                    self.siblings[other] += 1
                    self.good_siblings[other] += good

    def _spread(self, page: Fetched, place: int, good: bool, reach: float) -> None:
        """What one link turned out to be, told to the links around it, less the farther away they stand."""
        if reach <= 0:
            return
        span = round(6 * reach)
        low, high = max(0, place - span), min(len(page.children), place + span + 1)
        columns = page.columns[low:high]
        kept = columns >= 0
        weight = np.exp(-np.abs(np.arange(low, high) - place) / reach)[kept].astype(np.float32)
        where = (page.children[low:high][kept], columns[kept])
        self.near[where] += weight
        if good:
            self.near_good[where] += weight


def _grown(array: Any, size: int) -> Any:
    """The array, with room for `size` rows; new ones are zero."""
    if size <= len(array):
        return array
    new = np.zeros((max(size, len(array) + len(array) // 2), *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new
