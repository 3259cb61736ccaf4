"""`Graph`: the links of a recorded web as arrays, for questions that need all of it at once.

Only the lab asks them: what can be reached, and which pages every way to a page leads through. No strategy
ever sees a graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Graph:
    """Who links to whom: the successors of node `v` are `tails[starts[v] : starts[v + 1]]`.

    >>> graph = Graph.of(3, [(0, 1), (1, 2)])
    >>> graph.reach([0]).tolist(), graph.flipped().reach([0]).tolist()
    ([True, True, True], [True, False, False])
    """

    starts: Nodes
    tails: Nodes

    @classmethod
    def of(cls, size: int, edges: Iterable[tuple[int, int]]) -> Graph:
        """A graph from pairs; repetitions and self-loops are left out."""
        pairs = np.array(sorted({(a, b) for a, b in edges if a != b}), np.int64).reshape(-1, 2)
        return cls._sorted(size, pairs[:, 0], pairs[:, 1])

    @classmethod
    def _sorted(cls, size: int, heads: Nodes, tails: Nodes) -> Graph:
        starts = np.zeros(size + 1, np.int64)
        np.cumsum(np.bincount(heads, minlength=size), out=starts[1:])
        return cls(starts, tails)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return f"Graph({len(self)} pages, {len(self.tails)} links)"

    def heads(self) -> Nodes:
        """The source of each edge, in the order of `tails`."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.starts))

    def flipped(self) -> Graph:
        """The reversed graph: every link from its target to its source."""
        order = np.argsort(self.tails, kind="stable")
        return self._sorted(len(self), self.tails[order], self.heads()[order])

    def after(self, nodes: Nodes) -> Nodes:
        """The successors of many nodes, one after the other, repetitions kept."""
        counts = self.starts[nodes + 1] - self.starts[nodes]
        ends = np.cumsum(counts)
        shift = np.repeat(self.starts[nodes] - (ends - counts), counts)
        return self.tails[shift + np.arange(len(shift))]

    def reach(self, seeds: Sequence[int]) -> Mask:
        """Which nodes can be reached from the seeds, the seeds included."""
        return self.distances(np.array(seeds, np.int64)) >= 0

    def distances(self, sources: Nodes, until: Mask | None = None) -> NDArray[np.int32]:
        """Links from the nearest source to each node; -1 for those out of reach.

        With `until`, it stops at the first distance at which one of those nodes is met.
        """
        far = np.full(len(self), -1, np.int32)
        level = np.unique(sources)
        far[level] = 0
        distance = 0
        while len(level) and (until is None or not until[level].any()):
            distance += 1
            found = self.after(level)
            level = np.unique(found[far[found] < 0])
            far[level] = distance
        return far


def dominators(graph: Graph, seeds: Sequence[int]) -> NDArray[np.int64]:
    """The immediate dominator of each node: the last page, before it, that every way from the seeds takes.

    -1 where there is none but the start itself (seeds, and pages with ways that share nothing), -2 for nodes
    out of reach.

    >>> dominators(Graph.of(5, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]), [0]).tolist()
    [-1, 0, 0, 0, 3]
    """
    order = _reverse_postorder(graph, seeds)
    number = {node: i + 1 for i, node in enumerate(order)}  # 0 is the start, before all seeds
    back = graph.flipped()
    first = set(seeds)
    before = [[0] if node in first else [] for node in order]
    for i, node in enumerate(order):
        found = back.tails[back.starts[node] : back.starts[node + 1]].tolist()
        before[i] += [number[other] for other in found if other in number]
    idom = _solve(before)
    result = np.full(len(graph), -2, np.int64)
    for i, node in enumerate(order):
        above = idom[i + 1]
        result[node] = order[above - 1] if above > 0 else -1
    return result


def _solve(before: Sequence[Sequence[int]]) -> list[int]:
    """Cooper, Harvey and Kennedy's iteration over nodes numbered in reverse postorder, 0 the root."""
    idom = [0] + [-1] * len(before)
    changed = True
    while changed:
        changed = False
        for i, sources in enumerate(before, start=1):
            best = -1
            for source in sources:
                if idom[source] < 0:
                    continue
                if best < 0:
                    best = source
                while best != source:
                    if best > source:
                        best = idom[best]
                    else:
                        source = idom[source]
                if best == 0:
                    break
            if idom[i] != best:
                idom[i] = best
                changed = True
    return idom


def _reverse_postorder(graph: Graph, seeds: Sequence[int]) -> list[int]:
    starts, tails = graph.starts.tolist(), graph.tails.tolist()
    seen: set[int] = set()
    done: list[int] = []
    for seed in reversed(seeds):
        if seed in seen:
            continue
        seen.add(seed)
        stack = [(seed, starts[seed])]
        while stack:
            node, at = stack.pop()
            while at < starts[node + 1] and tails[at] in seen:
                at += 1
            if at == starts[node + 1]:
                done.append(node)
                continue
            stack.append((node, at + 1))
            seen.add(tails[at])
            stack.append((tails[at], starts[tails[at]]))
    return done[::-1]
