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

from clew.factor.pieces import spans

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Pages linking to a candidate that are looked at one by one; all of them count in the totals.
WIDTH = 6
#: Rows from which on it pays to see whether they lie close together.
_DENSE = 512
_ONE: Ids = np.zeros(1, np.int64)
_NO: Ids = np.zeros(0, np.int64)


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
        self._last: tuple[Ids | None, int, _Layout] = (None, 0, _Layout(0, _NO, _NO, _NO, None))

    def append(self, row: int, items: NDArray[np.int64] | NDArray[np.int32]) -> None:
        """Fill a row beyond all rows so far; rows passed over are empty."""
        self._starts = _grown(self._starts, row + 2)
        self._items = _grown(self._items, self.size + len(items))
        self._starts[self.rows : row + 1] = self.size
        self._items[self.size : self.size + len(items)] = items
        self.size += len(items)
        self.rows = row + 1
        self._starts[self.rows] = self.size

    def extend(self, first: int, lengths: Ids, items: NDArray[np.int64] | NDArray[np.int32]) -> None:
        """Fill consecutive rows beyond all rows so far, the items of all of them in one array."""
        n = len(lengths)
        self._starts = _grown(self._starts, first + n + 1)
        self._items = _grown(self._items, self.size + len(items))
        self._starts[self.rows : first + 1] = self.size
        self._items[self.size : self.size + len(items)] = items
        self._starts[first + 1 : first + n + 1] = self.size + np.cumsum(lengths)
        self.size += len(items)
        self.rows = first + n

    def row(self, row: int) -> NDArray[np.int32]:
        """The items of a row."""
        if row >= self.rows:
            return self._items[:0]
        return self._items[self._starts[row] : self._starts[row + 1]]

    def sums(self, rows: Ids, weights: Floats) -> Floats:
        """Of each row, the sum of the weights of its items; the same number whatever else is asked for."""
        if len(rows) == 1:
            row = self.row(int(rows[0]))
            return np.add.reduceat(weights[row], _ONE) if len(row) else np.zeros(1)
        laid = self._layout(rows)
        if not len(laid.begins):
            return np.zeros(len(rows))
        found: Floats = np.add.reduceat(weights.take(laid.items), laid.begins)
        if len(laid.begins) < laid.height:
            some, found = found, np.zeros(laid.height)
            found[laid.full] = some
        return found if laid.picked is None else found[laid.picked]

    def _layout(self, rows: Ids) -> _Layout:
        """Where the items of rows are. Two factors may weigh the same rows one after the other: the last
        answer is kept for the second."""
        asked, known, laid = self._last
        if asked is rows and known == self.rows:
            return laid
        high = int(rows.max(initial=-1)) + 1
        if len(rows) > _DENSE and high - (low := int(rows.min())) < 2 * len(rows):
            laid = self._dense(rows, low, high)
        else:
            # Rows beyond the last are empty, as are those passed over.
            inside = rows if high <= self.rows else np.minimum(rows, self.rows)
            after = inside + 1 if high <= self.rows else np.minimum(inside + 1, self.rows)
            starts = self._starts[inside]
            lengths = self._starts[after] - starts
            full = np.flatnonzero(lengths)
            if len(full) < len(rows):
                starts, lengths = starts[full], lengths[full]
            items = self._items[spans(starts, lengths)].astype(np.int64)
            laid = _Layout(len(rows), full, np.cumsum(lengths) - lengths, items, None)
        self._last = (rows, self.rows, laid)
        return laid

    def _dense(self, rows: Ids, low: int, high: int) -> _Layout:
        """Most of what stands between the first and the last is wanted: no need to pick the items."""
        starts = self._starts[low : min(high, self.rows) + 1]
        if len(starts) < 2:
            return _Layout(high - low, rows[:0], rows[:0], rows[:0], rows - low)
        full = np.flatnonzero(starts[1:] > starts[:-1])
        items = self._items[starts[0] : starts[-1]].astype(np.int64)
        picked = None if len(rows) == high - low and (rows[1:] > rows[:-1]).all() else rows - low
        return _Layout(high - low, full, starts[full] - starts[0], items, picked)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Rows of a `Ragged`: how many, which have items, where those of each begin, and the items of all; and,
    when there are more rows than were asked for, which were."""

    height: int
    full: Ids
    begins: Ids
    items: Ids
    picked: Ids | None


@dataclass(frozen=True, slots=True)
class View:
    """Some candidates and the pages that link to them.

    Most candidates have one parent, so that a look at all columns of all would mostly see nothing: of each
    column of `parents`, there are the places (among the candidates) of those that fill it, their numbers,
    and the slots of those pages.
    """

    links: NDArray[np.int32]
    """How many pages link to each."""
    columns: list[tuple[NDArray[np.intp] | slice, Ids, NDArray[np.int32]]]


@dataclass(slots=True)
class Fetched:
    """A page that was fetched."""

    candidate: int
    satisfied: bool
    slot: int
    """0 for the first page fetched, 1 for the next, …"""
    children: NDArray[np.int32]
    """Candidate numbers of its links, in page order."""
    columns: NDArray[np.int8]
    """For each child, which of the child's `parents` columns this page is; -1 for none."""
    visited: list[int]
    """Places (in `children`) of those that were fetched."""
    shelf: Ragged
    """The words of all pages."""

    @property
    def words(self) -> NDArray[np.int32]:
        """Numbers of its distinct words."""
        return self.shelf.row(self.slot)


class Memory:
    """Candidates by number, fetched pages by slot (0 for the first fetched, 1 for the next, …)."""

    def __init__(self) -> None:
        self.size = 0
        self.inlinks: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.good_inlinks: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.siblings: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.good_siblings: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.parents: NDArray[np.int32] = np.full((1024, WIDTH), -1, np.int32, order="F")
        self.near: NDArray[np.float32] = np.zeros((1024, WIDTH), np.float32, order="F")
        self.near_good: NDArray[np.float32] = np.zeros((1024, WIDTH), np.float32, order="F")
        self.hints: NDArray[np.float32] = np.zeros(1024, np.float32)
        self.open: NDArray[np.bool_] = np.zeros(1024, np.bool_)
        self.slot_of: NDArray[np.int32] = np.full(1024, -1, np.int32)
        """The slot of a candidate that was fetched; -1 for others."""
        self.words = Ragged()
        self.tokens = Ragged()
        self.anchors = Ragged()
        self.pages: list[Fetched] = []
        self.child_seen: Floats = np.zeros(256)
        self.child_good: Floats = np.zeros(256)
        self._more: dict[int, list[int]] = {}
        self._marks: NDArray[np.bool_] = np.zeros(257, np.bool_)
        self._kernel: tuple[float, NDArray[np.float32]] = (0.0, np.zeros(0, np.float32))
        self._view: tuple[Ids | None, View] = (None, View(self.inlinks[:0], []))

    def __repr__(self) -> str:
        return f"Memory({self.size} candidates, {len(self.pages)} pages)"

    def reserve(self, size: int) -> None:
        """Make room for candidate numbers below `size`."""
        self.size = max(self.size, size)
        old = len(self.inlinks)
        if size <= old:
            return
        for name in _COLUMNS:
            setattr(self, name, _grown(getattr(self, name), size))
        self.parents[old:] = -1
        self.slot_of[old:] = -1

    def view(self, ids: Ids) -> View:
        """Candidates with the pages that link to them. Factors ask for the same ones one after the other: the
        last answer is kept for the next."""
        asked, view = self._view
        if asked is ids:
            return view
        links = rest = self.inlinks[ids]
        rows, columns = ids, []
        places: NDArray[np.intp] | slice = slice(None)
        for column in range(WIDTH):
            more = np.flatnonzero(rest > column)
            if not len(more):
                break
            if len(more) < len(rows):
                places = more if isinstance(places, slice) else places[more]
                rest, rows = rest[more], rows[more]
            columns.append((places, rows, self.parents[:, column][rows]))
        view = View(links, columns)
        self._view = (ids, view)
        return view

    def parents_of(self, candidate: int) -> list[int]:
        """Slots of all fetched pages that link to a candidate, in the order fetched."""
        if candidate >= self.size:
            return []
        kept: list[int] = self.parents[candidate, : self.inlinks[candidate]].tolist()
        return [*kept, *self._more.get(candidate, ())] if len(kept) == WIDTH else kept

    def fetch(self, candidate: int, satisfied: bool, parents: Sequence[int], reach: float) -> None:
        """A candidate was fetched: its siblings learn of it. Call before `link`."""
        self.reserve(candidate + 1)
        self.open[candidate] = False
        if not parents:
            return
        families = [self.pages[p].children for p in parents]
        flat = np.concatenate(families) if len(families) > 1 else families[0]
        touched = distinct(flat) if len(families) > 1 else flat
        touched = touched[touched != candidate]
        self.siblings[touched] += 1
        self.good_siblings[touched] += satisfied
        ends = np.cumsum([len(family) for family in families])
        # A page links to a candidate once, so there is one place in each family.
        places = np.flatnonzero(flat == candidate) - np.append(0, ends[:-1])
        self.child_seen[parents] += 1
        self.child_good[parents] += satisfied
        for slot, place in zip(parents, places.tolist(), strict=True):
            self.pages[slot].visited.append(place)
            self._spread(self.pages[slot], place, satisfied, reach)

    def link(self, candidate: int, satisfied: bool, words: Ids, children: Ids, reach: float) -> None:
        """The fetched page's own links: candidates learn of a new parent."""
        slot = len(self.pages)
        self._view = (None, self._view[1])
        if len(children):
            self.reserve(int(children.max()) + 1)
        # What was fetched before is known by now, the page itself is not: it is no child of its own.
        visited = np.flatnonzero(self.slot_of[children] >= 0).tolist()
        self.slot_of[candidate] = slot
        before = self.inlinks[children]
        columns = np.where(before < WIDTH, before, -1).astype(np.int8)
        self.words.append(slot, words)
        page = Fetched(candidate, satisfied, slot, children.astype(np.int32), columns, visited, self.words)
        self.pages.append(page)
        self.child_seen = _grown(self.child_seen, slot + 1)
        self.child_good = _grown(self.child_good, slot + 1)
        self._marks = _grown(self._marks, slot + 2)
        kept = columns >= 0
        self.parents[children[kept], columns[kept]] = slot
        for c in children[~kept].tolist():
            self._more.setdefault(c, []).append(slot)
        self.inlinks[children] += 1
        self.good_inlinks[children] += satisfied
        self._adopt(page, reach)

    def more(self, slot: int, child: int) -> None:
        """One more link of a fetched page, to a candidate never seen before."""
        self._view = (None, self._view[1])
        self.reserve(child + 1)
        page = self.pages[slot]
        page.children = np.append(page.children, np.int32(child))
        page.columns = np.append(page.columns, np.int8(0))
        self.parents[child, 0] = slot
        self.inlinks[child], self.good_inlinks[child] = 1, page.satisfied
        self.siblings[child] = self.child_seen[slot]
        self.good_siblings[child] = self.child_good[slot]

    def succeed(self, old: int, new: int) -> None:
        """A candidate turned out to be another, never seen before: it takes the place of the first."""
        self._view = (None, self._view[1])
        self.reserve(new + 1)
        for slot in self.parents_of(old):
            children = self.pages[slot].children
            children[children == old] = new
        for name in _COLUMNS:
            column = getattr(self, name)
            column[new] = column[old]
        if old in self._more:
            self._more[new] = self._more.pop(old)
        self.inlinks[old] = self.good_inlinks[old] = 0
        self.parents[old] = -1
        self.open[old] = False

    def _adopt(self, page: Fetched, reach: float) -> None:
        """Children that were fetched already become siblings of the others, each counted once."""
        if not page.visited:
            return
        children = page.children
        outcomes = [self.pages[self.slot_of[children[place]]].satisfied for place in page.visited]
        self.child_seen[page.slot] = len(outcomes)
        self.child_good[page.slot] = sum(outcomes)
        # A column that is not filled says -1, the last mark, which is never set.
        families = self.parents[children]
        crowded: list[int] = np.flatnonzero(self.inlinks[children] > WIDTH).tolist()
        for place, good in zip(page.visited, outcomes, strict=True):
            self._spread(page, place, good, reach)
            others = [slot for slot in self.parents_of(int(children[place])) if slot != page.slot]
            self._marks[others] = True
            new: NDArray[np.bool_] = np.logical_not(self._marks[families].any(axis=1))
            for i in crowded:
                new[i] = new[i] and not self._marks[self._more[int(children[i])]].any()
            self._marks[others] = False
            new[place] = False
            self.siblings[children[new]] += 1
            self.good_siblings[children[new]] += good

    def _spread(self, page: Fetched, place: int, good: bool, reach: float) -> None:
        """What one link turned out to be, told to the links around it, less the farther away they stand."""
        if reach <= 0:
            return
        if self._kernel[0] != reach:
            around = np.abs(np.arange(-round(6 * reach), round(6 * reach) + 1))
            self._kernel = (reach, np.exp(-around / reach).astype(np.float32))
        kernel = self._kernel[1]
        span = len(kernel) // 2
        low, high = max(0, place - span), min(len(page.children), place + span + 1)
        columns, weight = page.columns[low:high], kernel[low - place + span : high - place + span]
        where = (page.children[low:high], columns)
        if columns.min() < 0:
            kept = columns >= 0
            where, weight = (where[0][kept], columns[kept]), weight[kept]
        self.near[where] += weight
        if good:
            self.near_good[where] += weight


#: What is kept for each candidate.
_COLUMNS = (
    "inlinks",
    "good_inlinks",
    "siblings",
    "good_siblings",
    "parents",
    "near",
    "near_good",
    "hints",
    "open",
    "slot_of",
)


def distinct(values: Any) -> Any:
    """The different numbers among some, ascending: `np.unique`, without its detours."""
    if len(values) < 2:
        return values
    values = np.sort(values)
    return values[np.concatenate(([True], values[1:] != values[:-1]))]


def _grown(array: Any, size: int) -> Any:
    """The array, with room for `size` rows; new ones are zero."""
    if size <= len(array):
        return array
    shape = (max(size, len(array) + len(array) // 2), *array.shape[1:])
    # Columns are read one at a time.
    new = np.zeros(shape, array.dtype, order="F")
    new[: len(array)] = array
    return new
