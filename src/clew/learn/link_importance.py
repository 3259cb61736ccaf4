"""Link importance: how much a page of a growing graph counts by the pages that link to it.

Three measures of the same shape. A graph becomes known page by page: `link` takes a page with all it links
to, and gives the pages whose importance moved by it; `importance` is between 0 and 1. What one page costs
depends on how much it moves, not on how many pages are known (`Hits` works everything out anew when the graph
has grown by a tenth, which comes to the same on average). Sums are added in the order in which pages were
linked, so the same graph, known in the same order, gives the same numbers to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from clew.learn.checkpoint import KeptAttributes, require, within
from clew.learn.rows import SparseRows, distinct, grown

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

#: In-links at which a page counts half, by in-degree.
_HALF = 3.0
_NONE: Ids = np.zeros(0, np.int64)


class LinkImportance(Protocol):
    """A measure of link importance over a graph that becomes known page by page."""

    def link(self, source: int, targets: Ids) -> Ids:
        """The pages that a page links to, each once; gives those whose importance moved, ascending. A page
        that was linked before is left as it is."""
        ...

    def importance(self, pages: Ids) -> Floats:
        """How important pages are, from 0 to 1; pages that nothing is known of are not."""
        ...


class OutLinks(KeptAttributes):
    """Which pages a page links to, for the pages whose links are known.

    >>> links = OutLinks()
    >>> links.add(7, np.array([1, 2])), links.add(3, np.array([7])), links.add(7, np.array([5]))
    (True, True, False)
    >>> links.degrees(np.array([3, 7, 9])).tolist()
    [1, 2, 0]
    """

    KEPT: ClassVar[tuple[str, ...]] = ("slots", "rows")

    def __init__(self) -> None:
        self.slots: NDArray[np.int32] = np.zeros(0, np.int32)
        """By page, 1 + the row of its links; 0 while they are not known."""
        self.rows = SparseRows()

    def __len__(self) -> int:
        return len(self.slots)

    def __repr__(self) -> str:
        return f"OutLinks({self.rows.rows} pages, {self.rows.size} links)"

    def add(self, source: int, targets: Ids) -> bool:
        """Note what a page links to; False if that was known."""
        self.reserve(max(source, int(targets.max(initial=0))) + 1)
        if self.slots[source]:
            return False
        self.slots[source] = self.rows.append(targets) + 1
        return True

    def reserve(self, size: int) -> None:
        """Make room for pages of lower numbers."""
        self.slots = grown(self.slots, size)

    def degrees(self, pages: Ids) -> Ids:
        """How many links pages have, as far as is known."""
        found = np.zeros(len(pages), np.int64)
        mine = np.flatnonzero(pages < len(self.slots))
        mine = mine[self.slots[pages[mine]] > 0]
        rows = self.slots[pages[mine]].astype(np.int64) - 1
        found[mine] = self.rows.gather(rows[:, None])[0]
        return found

    def of(self, pages: Ids) -> tuple[Ids, Ids]:
        """How many links each of some pages has, which all are known, and where they lead, one page after the
        other."""
        lengths, items = self.rows.gather((self.slots[pages].astype(np.int64) - 1)[:, None])
        return lengths, items.astype(np.int64)


class InDegree(KeptAttributes):
    """The number of pages that link to a page, n, as n / (n + 3).

    >>> measure = InDegree()
    >>> measure.link(0, np.array([1, 2])).tolist(), measure.link(1, np.array([2])).tolist()
    ([1, 2], [2])
    >>> measure.importance(np.array([0, 1, 2])).tolist()
    [0.0, 0.25, 0.4]
    """

    KEPT: ClassVar[tuple[str, ...]] = ("counts", "linked")

    def __init__(self) -> None:
        self.counts: Ids = np.zeros(0, np.int64)
        self.linked: NDArray[np.bool_] = np.zeros(0, np.bool_)
        """Whose links were counted."""

    def __repr__(self) -> str:
        return f"InDegree({np.count_nonzero(self.linked)} pages)"

    def link(self, source: int, targets: Ids) -> Ids:
        size = max(source, int(targets.max(initial=0))) + 1
        self.counts, self.linked = grown(self.counts, size), grown(self.linked, size)
        if self.linked[source]:
            return _NONE
        self.linked[source] = True
        moved: Ids = distinct(targets[targets != source])
        self.counts[moved] += 1
        return moved

    def importance(self, pages: Ids) -> Floats:
        counts = _known(self.counts, pages)
        return counts / (counts + _HALF)


class PageRank(KeptAttributes):
    """PageRank as it was first written down: r(v) = (1 - d) + d · Σ r(u) / links of u, over the pages u that
    link to v. A page's importance is the share of its rank that came by links, 1 - (1 - d) / r.

    It is kept up to date as links become known. A page that is new, or whose rank rises, hands on d times
    the rise; what it has not handed on yet is its residue. Residues below `tolerance` for each link of a page
    stay where they are, so that a rank is too small by less than d × `tolerance` for each in-link, and what
    one page sets going comes to an end soon. (Brin and Page 1998, section 2.1; Cho et al. 1998;
    kept up by residues as in Ohsaka, Maehara and Kawarabayashi 2015.)

    Parameters: the damping d; the tolerance.

    >>> measure = PageRank(0.5)
    >>> measure.link(0, np.array([1, 2])).tolist(), measure.link(1, np.array([2])).tolist()
    ([1, 2], [2])
    >>> measure.ranks(np.array([0, 1, 2])).tolist()  # 0.5, 0.5 + 0.25 / 2, and that plus half of 0.625
    [0.5, 0.625, 0.9375]
    """

    KEPT: ClassVar[tuple[str, ...]] = ("links", "received", "residues")

    def __init__(self, damping: float = 0.85, tolerance: float = 1e-4) -> None:
        self.damping = damping
        self.tolerance = tolerance
        self.links = OutLinks()
        self.received: Floats = np.zeros(0)
        """What a page was handed by those that link to it: its rank without its own 1 - d."""
        self.residues: Floats = np.zeros(0)
        """What of its rank a page whose links are known has not handed on."""

    def __repr__(self) -> str:
        return f"PageRank({self.damping:g}, {self.links!r})"

    def link(self, source: int, targets: Ids) -> Ids:
        targets = distinct(targets[targets != source]).astype(np.int64)
        if not self.links.add(source, targets):
            return _NONE
        size = len(self.links)
        self.received, self.residues = grown(self.received, size), grown(self.residues, size)
        if not len(targets):
            return _NONE
        self.residues[source] = (1.0 - self.damping) + self.received[source]
        moved = [targets]
        giving = np.array([source])
        while len(giving):
            degrees, links = self.links.of(giving)
            handed = self.damping * self.residues[giving] / degrees
            self.residues[giving] = 0.0
            shares = np.repeat(handed, degrees)
            np.add.at(self.received, links, shares)
            known = self.links.slots[links] > 0
            onward = links[known]
            np.add.at(self.residues, onward, shares[known])
            moved.append(links)
            onward = distinct(onward)
            due = self.links.degrees(onward)
            giving = onward[(due > 0) & (self.residues[onward] > self.tolerance * due)]
        return distinct(np.concatenate(moved))  # type: ignore[no-any-return]

    def ranks(self, pages: Ids) -> Floats:
        """r, by page."""
        return (1.0 - self.damping) + _known(self.received, pages)

    def importance(self, pages: Ids) -> Floats:
        received = _known(self.received, pages)
        return received / ((1.0 - self.damping) + received)

    def recall(self, found: Mapping[str, Any]) -> None:
        super().recall(found)
        _check(self.links, len(self.received), len(self.residues))


class Hits(KeptAttributes):
    """Authority by HITS: a page is an authority as good hubs link to it, and a hub as it links to
    authorities. Importance is the authority, the greatest being 1.

    A page that comes in is a hub by the authorities of the moment. When the graph has grown by a tenth, hubs
    and authorities are worked out of each other anew, `rounds` times, from where they were. (Kleinberg 1999.)

    >>> measure = Hits()
    >>> measure.link(0, np.array([2, 3])).tolist(), measure.link(1, np.array([2])).tolist()
    ([2, 3], [2, 3])
    >>> measure.importance(np.array([0, 2, 3])).round(2).tolist()
    [0.0, 1.0, 0.62]
    """

    KEPT: ClassVar[tuple[str, ...]] = ("links", "hubs", "authorities", "top_hub", "top_authority", "due")

    def __init__(self, rounds: int = 5) -> None:
        self.rounds = rounds
        self.links = OutLinks()
        self.hubs: Floats = np.zeros(0)
        """By row of links."""
        self.authorities: Floats = np.zeros(0)
        """By page."""
        self.top_hub = 1.0
        """The greatest sum of authorities of a hub, before it became 1."""
        self.top_authority = 1.0
        self.due = 1
        """The number of links at which all is worked out anew."""

    def __repr__(self) -> str:
        return f"Hits({self.links!r})"

    def link(self, source: int, targets: Ids) -> Ids:
        targets = distinct(targets[targets != source]).astype(np.int64)
        if not self.links.add(source, targets):
            return _NONE
        rows = self.links.rows
        self.hubs = grown(self.hubs, rows.rows)
        self.authorities = grown(self.authorities, len(self.links))
        row = rows.rows - 1
        self.hubs[row] = min(1.0, float(rows.sums(np.array([row]), self.authorities)[0]) / self.top_hub)
        self.authorities[targets] += self.hubs[row] / self.top_authority
        if rows.size < self.due:
            return targets
        self.due = rows.size + rows.size // 10 + 1
        before = self.authorities.copy()
        self.work_out(self.rounds)
        return np.flatnonzero(before != self.authorities)

    def work_out(self, rounds: int) -> None:
        """Hubs of authorities and authorities of hubs, so many times."""
        rows = self.links.rows
        if not rows.size:
            return
        everyone = np.arange(rows.rows)
        lengths, items = rows.gather(everyone[:, None])
        # What was not connected with the rest so far has a part too, or it could never rise.
        hubs = self.hubs[: rows.rows] + 0.1
        for _ in range(rounds):
            found = np.bincount(items, np.repeat(hubs, lengths), len(self.authorities))
            self.top_authority = float(found.max())
            self.authorities = found / self.top_authority
            hubs = rows.sums(everyone, self.authorities)
            self.top_hub = float(hubs.max())
            hubs = hubs / self.top_hub
        self.hubs = grown(hubs, len(self.hubs))

    def importance(self, pages: Ids) -> Floats:
        return np.minimum(1.0, _known(self.authorities, pages))

    def recall(self, found: Mapping[str, Any]) -> None:
        super().recall(found)
        _check(self.links, len(self.authorities), len(self.hubs), rows=self.links.rows.rows)
        require(self.top_hub > 0.0 and self.top_authority > 0.0, "hubs and authorities")


def _known(values: NDArray[np.float64] | Ids, pages: Ids) -> Floats:
    """The values of pages; 0 for those beyond all that are known, and for a page of another shard (-1)."""
    found = np.zeros(len(pages))
    mine = (pages >= 0) & (pages < len(values))
    found[mine] = values[pages[mine]]
    return found


def _check(links: OutLinks, pages: int, others: int, rows: int | None = None) -> None:
    """That arrays taken from a checkpoint belong together."""
    require(pages >= len(links) and others >= (pages if rows is None else rows), "pages of the graph")
    require(within(links.slots, 0, links.rows.rows + 1), "pages by row")
    require(within(links.rows.items, 0, pages), "links of the graph")


#: The measures there are, by name.
MEASURES = ("pagerank", "indegree", "hits")


def measure(name: str, damping: float = 0.85) -> InDegree | PageRank | Hits:
    """A measure that knows no page yet."""
    if name == "pagerank":
        return PageRank(damping)
    return InDegree() if name == "indegree" else Hits()
