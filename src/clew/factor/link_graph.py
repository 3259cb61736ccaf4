"""`LinkGraph`: who links to whom, and what is remembered of each candidate and each fetched page, as arrays.

A candidate keeps how many fetched pages link to it and how many of those satisfy the predicate, how
many of its siblings were fetched and how many satisfied, which pages link to it, and the tokens of its
URL. A fetched page keeps its words, its links and its verdict. Factors read these arrays for thousands
of candidates at once; nothing here is a Python object per candidate.

A page that a thousand others link to is no sibling of all their links: the first `FAMILIES` pages that link
to a candidate are its parents, and the links of a page that are its children are its *family*. So what one
fetch changes does not grow with the crawl, however densely a web is woven.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.learn.checkpoint import require, within
from clew.learn.rows import SparseRows, distinct, grown, spans

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Pages linking to a candidate whose words and neighbourhood are looked at one by one.
WIDTH = 6
#: Pages linking to a candidate that make siblings of their links; all of them count in the totals.
FAMILIES = 32
#: As many links as there are bits in a word are compared at once.
_WORD = 64


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


class LinkGraph:
    """Candidates by number, fetched pages by slot (0 for the first fetched, 1 for the next, …)."""

    def __init__(self) -> None:
        self.size = 0
        self.inlinks: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.good_inlinks: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.siblings: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.good_siblings: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.parents: NDArray[np.int32] = np.full((1024, WIDTH), -1, np.int32, order="F")
        self.neighbours: NDArray[np.float32] = np.zeros((1024, WIDTH), np.float32, order="F")
        self.good_neighbours: NDArray[np.float32] = np.zeros((1024, WIDTH), np.float32, order="F")
        self.link_degrees: NDArray[np.float32] = np.zeros(1024, np.float32)
        self.cash: Floats = np.zeros(1024)
        """What came to a candidate from the pages that link to it (`opic`)."""
        self.distances: NDArray[np.int32] = np.zeros(1024, np.int32)
        """Links from a starting point to a candidate, on the way it was first met."""
        self.open: NDArray[np.bool_] = np.zeros(1024, np.bool_)
        self.slot_of: NDArray[np.int32] = np.full(1024, -1, np.int32)
        """The slot of a candidate that was fetched; -1 for others."""
        self.words = SparseRows()
        self.tokens = SparseRows()
        self.anchors = SparseRows()
        self.fetched = 0
        """How many pages were fetched: the next one's slot."""
        self._children = SparseRows()
        """Candidate numbers of each page's links, in page order."""
        self._columns: NDArray[np.int8] = np.zeros(8192, np.int8)
        """For each of these, which of the child's parents the page is; -1 for one too many."""
        self._late: dict[int, list[int]] = {}
        """Links of pages that became known later."""
        self.child_seen: Floats = np.zeros(256)
        self.child_good: Floats = np.zeros(256)
        self.satisfied: NDArray[np.bool_] = np.zeros(256, np.bool_)
        """By slot, as `child_seen` (links that were fetched) and `child_good` (those that were finds)."""
        self._crowds: NDArray[np.int32] = np.full((64, FAMILIES - WIDTH), -1, np.int32)
        self._crowd_of: NDArray[np.int32] = np.zeros(1024, np.int32)
        self._crowded = 1
        self._bits: NDArray[np.uint64] = np.zeros(257, np.uint64)
        self._kernel: tuple[float, NDArray[np.float32]] = (0.0, np.zeros(0, np.float32))
        self._view: tuple[Ids | None, View] = (None, View(self.inlinks[:0], []))

    def __repr__(self) -> str:
        return f"LinkGraph({self.size} candidates, {self.fetched} pages)"

    def reserve(self, size: int) -> None:
        """Make room for candidate numbers below `size`."""
        self.size = max(self.size, size)
        old = len(self.inlinks)
        if size <= old:
            return
        for name in _COLUMNS:
            setattr(self, name, grown(getattr(self, name), size))
        self.parents[old:] = -1
        self.slot_of[old:] = -1

    def kept(self) -> dict[str, Any]:
        late = [(slot, child) for slot, children in self._late.items() for child in children]
        return {
            **{name: getattr(self, name)[: self.size] for name in _COLUMNS},
            **{name: getattr(self, name)[: self.fetched] for name in _BY_SLOT},
            "children": self._children,
            "columns": self._columns[: self._children.size],
            "late": np.array(late, np.int32).reshape(-1, 2),
            "crowds": self._crowds[: self._crowded],
            "words": self.words,
            "tokens": self.tokens,
            "anchors": self.anchors,
        }

    def recall(self, found: Mapping[str, Any]) -> None:
        size, count = len(found["inlinks"]), self._children.rows
        require(all(len(found[name]) == size for name in _COLUMNS), "candidates")
        require(all(len(found[name]) == count for name in _BY_SLOT), "pages")
        require(self._children.size == len(found["columns"]), "links")
        require(within(self._children.items, 0, size) and within(found["late"][:, 1], 0, size), "links' ends")
        require(within(found["late"][:, 0], 0, count), "links that came late")
        require(within(found["columns"], -1, FAMILIES) and within(found["inlinks"], 0, 1 << 31), "in-links")
        slots = [found[name] for name in ("parents", "crowds", "slot_of")]
        require(all(within(array, -1, count) for array in slots), "parents")
        require(len(found["crowds"]) and within(found["_crowd_of"], 0, len(found["crowds"])), "many parents")
        require(self.words.rows <= count, "words of pages")
        self.size = size
        for name in (*_COLUMNS, *_BY_SLOT):
            setattr(self, name, found[name])
        self._bits = np.zeros(count + 2, np.uint64)
        self._crowds, self._crowded = found["crowds"], len(found["crowds"])
        self.fetched, self._columns = count, found["columns"]
        self._late = {}
        for slot, child in found["late"].tolist():
            self._late.setdefault(slot, []).append(child)

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
            more = (rest > column).nonzero()[0]
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
        """Slots of the first pages fetched that link to a candidate, in the order fetched."""
        if candidate >= self.size:
            return []
        links = int(self.inlinks[candidate])
        kept: list[int] = self.parents[candidate, :links].tolist()
        if links > WIDTH:
            kept += self._crowds[self._crowd_of[candidate], : links - WIDTH].tolist()
        return kept

    def children_of(self, slot: int) -> NDArray[np.int32]:
        """Candidate numbers of a fetched page's links, in page order."""
        found, late = self._children.row(slot), self._late.get(slot)
        return found if late is None else np.append(found, np.array(late, np.int32))

    def columns_of(self, slot: int) -> NDArray[np.int8]:
        """For each link of a page, which of the target's parents the page is; -1 for one beyond the first
        `FAMILIES`."""
        found, late = self._columns[self._children.span(slot)], self._late.get(slot)
        return found if late is None else np.append(found, np.zeros(len(late), np.int8))

    def family(self, slot: int) -> NDArray[np.int32]:
        """The links of a page that are siblings of each other by it."""
        children, kept = self.children_of(slot), self.columns_of(slot) >= 0
        return children if kept.all() else children[kept]

    def fetch(self, candidate: int, satisfied: bool, parents: Sequence[int], reach: float) -> None:
        """A candidate was fetched: its siblings learn of it. Call before `link`."""
        self.reserve(candidate + 1)
        self.open[candidate] = False
        if not parents:
            return
        families = [self.children_of(slot) for slot in parents]
        columns = np.concatenate([self.columns_of(slot) for slot in parents])
        flat = np.concatenate(families)
        touched = distinct(flat[columns >= 0])
        touched = touched[touched != candidate]
        self.siblings[touched] += 1
        self.good_siblings[touched] += satisfied
        self.child_seen[parents] += 1
        self.child_good[parents] += satisfied
        # A page links to a candidate once, so there is one place in each family.
        places = (flat == candidate).nonzero()[0]
        ends = np.cumsum([len(family) for family in families])
        self._spread(
            flat, columns, places, np.append(0, ends[:-1]), ends, np.full(len(places), satisfied), reach
        )

    def link(
        self, candidate: int, satisfied: bool, words: Ids, children: Ids, reach: float
    ) -> tuple[int, int]:
        """The fetched page's own links: candidates learn of a new parent. Gives how many of them were fetched
        before, and how many of those were finds."""
        slot = self.fetched
        self._view = (None, self._view[1])
        if len(children):
            self.reserve(int(children.max()) + 1)
        # What was fetched before is known by now, the page itself is not: it is no child of its own.
        slots = self.slot_of[children]
        visited = (slots >= 0).nonzero()[0]
        self.slot_of[candidate] = slot
        if len(children):
            # What came to it, and 1 for a find and for a starting point, to which nothing links.
            own = float(self.cash[candidate]) + satisfied + (not self.inlinks[candidate])
            self.cash[children] += own / len(children)
        before = self.inlinks[children]
        columns = np.where(before < FAMILIES, before, -1).astype(np.int8)
        self.words.append(words, slot)
        self._children.append(children, slot)
        self._columns = grown(self._columns, self._children.size)
        self._columns[self._children.span(slot)] = columns
        self.fetched += 1
        for name in (*_BY_SLOT, "_bits"):
            setattr(self, name, grown(getattr(self, name), slot + 2))
        self.satisfied[slot] = satisfied
        self._descend(children, before, slot)
        self.inlinks[children] += 1
        self.good_inlinks[children] += satisfied
        return self._adopt(slot, visited, self.satisfied[slots[visited]], reach) if len(visited) else (0, 0)

    def _descend(self, children: Ids, before: NDArray[np.int32], slot: int) -> None:
        """Note a page as a parent of its links, to which so many linked before."""
        few = before < WIDTH
        self.parents[children[few], before[few]] = slot
        crowd = children[before == WIDTH]
        if len(crowd):
            top = self._crowded + len(crowd)
            if top > len(self._crowds):
                more = np.full((top + len(self._crowds) // 2, FAMILIES - WIDTH), -1, np.int32)
                self._crowds = np.concatenate([self._crowds, more])
            self._crowd_of[crowd] = np.arange(self._crowded, top)
            self._crowded = top
        some = (before >= WIDTH) & (before < FAMILIES)
        self._crowds[self._crowd_of[children[some]], before[some] - WIDTH] = slot

    def more(self, slot: int, child: int) -> None:
        """One more link of a fetched page, to a candidate never seen before."""
        self._view = (None, self._view[1])
        self.reserve(child + 1)
        self._late.setdefault(slot, []).append(child)
        self.parents[child, 0] = slot
        self.inlinks[child], self.good_inlinks[child] = 1, self.satisfied[slot]
        self.siblings[child] = self.child_seen[slot]
        self.good_siblings[child] = self.child_good[slot]

    def succeed(self, old: int, new: int) -> None:
        """A candidate turned out to be another, never seen before: it takes the place of the first."""
        self._view = (None, self._view[1])
        self.reserve(new + 1)
        for slot in self.parents_of(old):
            children = self._children.row(slot)
            children[children == old] = new
            if slot in self._late:
                self._late[slot] = [new if child == old else child for child in self._late[slot]]
        for name in _COLUMNS:
            column = getattr(self, name)
            column[new] = column[old]
        self._crowd_of[old] = 0
        self.inlinks[old] = self.good_inlinks[old] = 0
        self.parents[old] = -1
        self.open[old] = False

    def _adopt(
        self, slot: int, visited: NDArray[np.intp], good: NDArray[np.bool_], reach: float
    ) -> tuple[int, int]:
        """Children that were fetched already become siblings of the others, each counted once."""
        children, columns = self.children_of(slot), self.columns_of(slot)
        finds = int(good.sum())
        self.child_seen[slot] = len(visited)
        self.child_good[slot] = finds
        none, all_ = np.zeros(len(visited), np.int64), np.full(len(visited), len(children))
        self._spread(children, columns, visited, none, all_, good, reach)
        if columns.min() < 0:
            # Who is a parent too many makes no siblings.
            inside = columns >= 0
            near = inside[visited]
            visited, good = (inside.cumsum() - 1)[visited[near]], good[near]
            children = children[inside]
        parents = self._parents(children)
        for at in range(0, len(visited), _WORD):
            self._meet(slot, children, parents, visited[at : at + _WORD], good[at : at + _WORD])
        return len(all_), finds

    def _meet(
        self,
        slot: int,
        children: NDArray[np.int32],
        parents: NDArray[np.int32],
        visited: NDArray[np.intp],
        good: NDArray[np.bool_],
    ) -> None:
        """Some of a page's children, one bit each, become siblings of all that have no other parent in common
        with them."""
        own = np.uint64(1) << np.arange(len(visited), dtype=np.uint64)
        theirs = parents[visited]
        np.bitwise_or.at(self._bits, theirs.ravel(), own.repeat(theirs.shape[1]))
        # A parent that is not there says -1, the last.
        self._bits[[slot, -1]] = 0
        shared = np.bitwise_or.reduce(self._bits[parents], axis=1)
        shared[visited] |= own
        self._bits[theirs] = 0
        new = ~shared & np.bitwise_or.reduce(own)
        self.siblings[children] += np.bitwise_count(new)
        self.good_siblings[children] += np.bitwise_count(new & np.bitwise_or.reduce(own[good], initial=0))

    def _parents(self, children: NDArray[np.int32]) -> NDArray[np.int32]:
        """Slots of the parents of candidates, one row each; -1 for none."""
        most = int(self.inlinks[children].max(initial=0))
        first = self.parents[children, : min(most, WIDTH)]
        if most <= WIDTH:
            return first
        return np.concatenate([first, self._crowds[self._crowd_of[children], : most - WIDTH]], axis=1)

    def _spread(
        self,
        children: NDArray[np.int32],
        columns: NDArray[np.int8],
        places: NDArray[np.intp],
        begins: Ids,
        ends: Ids,
        good: NDArray[np.bool_],
        reach: float,
    ) -> None:
        """What links turned out to be, told to those around them on the same page, less the farther away they
        stand. Of each there is where it stands, where the links of its page begin, and where they end."""
        if reach <= 0:
            return
        if self._kernel[0] != reach:
            around = np.abs(np.arange(-round(6 * reach), round(6 * reach) + 1))
            self._kernel = (reach, native.exp(-around / reach).astype(np.float32))
        kernel = self._kernel[1]
        span = len(kernel) // 2
        low = np.maximum(begins, places - span)
        lengths = np.minimum(ends, places + span + 1) - low
        where = spans(low, lengths)
        column = columns[where]
        # Without its sign, -1 is more than any column there is.
        kept = (column.view(np.uint8) < WIDTH).nonzero()[0]
        where, column = where[kept], column[kept]
        weight = kernel[spans(low - places + span, lengths)[kept]]
        # Links that stand close together are told of several at once: add one after the other.
        at = column.astype(np.int64) * len(self.neighbours) + children[where]
        np.add.at(self.neighbours.reshape(-1, order="F"), at, weight)
        if good.any():
            well = good.repeat(lengths)[kept]
            np.add.at(self.good_neighbours.reshape(-1, order="F"), at[well], weight[well])


#: What is kept for each candidate.
_COLUMNS = (
    "inlinks",
    "good_inlinks",
    "siblings",
    "good_siblings",
    "parents",
    "neighbours",
    "good_neighbours",
    "link_degrees",
    "cash",
    "distances",
    "open",
    "slot_of",
    "_crowd_of",
)
#: What is kept for each page.
_BY_SLOT = ("child_seen", "child_good", "satisfied")
