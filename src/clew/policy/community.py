"""`Community`: whether the finds contain a set more closely linked within than without.

Flake, Lawrence and Giles, *Efficient Identification of Web Communities* (2000): a community is a set of pages
each of which has at least as many links to or from its members as to or from other pages. Their max-flow
looks for a community around given pages in a web that is not all known. The question here is narrower (Ester,
Groß and Kriegel, section 3.4): do the finds *contain* one? The union of two communities is a community, so
there is a largest one among the finds, and taking away, again and again, each page with more links outside
than inside leaves just that: exact, and in time proportional to the links.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_EVERY = 50
"""Pages between two looks."""


class Community:
    """The link graph around the finds, and the largest community among them.

    >>> graph = Community()
    >>> for page, targets in {0: [1, 2], 1: [0, 2], 2: [0, 1, 9], 3: [7, 8, 2]}.items():
    ...     graph.add(page, np.array(targets), find=True)
    >>> sorted(graph.members().tolist())
    [0, 1, 2]
    """

    def __init__(self) -> None:
        self._sources: list[NDArray[np.int64]] = []
        self._targets: list[NDArray[np.int64]] = []
        self._finds: list[int] = []
        self._pages = 0
        self._size = 0
        self._looked_at = 0

    def __repr__(self) -> str:
        return f"Community({len(self._finds)} finds of {self._pages} pages, largest {self._size})"

    def add(self, page: int, targets: NDArray[np.int64], *, find: bool) -> None:
        """A fetched page, by number, and what it links to."""
        targets = np.unique(targets[targets != page])
        self._sources.append(np.full(len(targets), page, np.int64))
        self._targets.append(targets.astype(np.int64))
        self._pages += 1
        if find:
            self._finds.append(page)

    def size(self) -> int:
        """Finds in the largest community, as of the last look; a look is taken every 50 pages."""
        at = self._pages // _EVERY
        if at > self._looked_at:
            self._looked_at = at
            self._size = len(self.members())
        return self._size

    def members(self) -> NDArray[np.int64]:
        """The finds in the largest community among them."""
        finds = np.array(sorted(self._finds), np.int64)
        if not len(finds):
            return finds
        source = np.concatenate([np.zeros(0, np.int64), *self._sources])
        target = np.concatenate([np.zeros(0, np.int64), *self._targets])
        # A link both ways is one neighbour.
        pairs = np.unique(np.stack([np.minimum(source, target), np.maximum(source, target)]), axis=1)
        ends = np.concatenate([pairs, pairs[::-1]], axis=1)
        ends = ends[:, np.isin(ends[0], finds)]
        mine = np.searchsorted(finds, ends[0])
        degree = np.bincount(mine, minlength=len(finds))
        kept = degree > 0
        while True:
            other = np.searchsorted(finds, ends[1]).clip(max=len(finds) - 1)
            inside = (finds[other] == ends[1]) & kept[other]
            within = np.bincount(mine[inside], minlength=len(finds))
            stay = kept & (2 * within >= degree)
            if (stay == kept).all():
                return finds[kept]
            kept = stay
