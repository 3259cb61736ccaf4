"""What could have been found: a crawl that knows everything, and a bound that no crawl can beat.

`achievable` crawls the recorded web with full sight: a target on the frontier first, else one step along a
shortest way to the nearest target that is not in sight. It is greedy, so it is a real crawl but not always
the best one. Of several copies the first it fetches is a find, as in a crawl, and the others are not.

`bound` gives, for every number of requests, a number of finds that no crawl can exceed. A page can only be
fetched after all pages that every way to it leads through, so the pages of any crawl form a subtree of the
dominator tree that contains its root; the best subtree of each size is found exactly, by dynamic programming.
The bound is not always reached: alternative ways to a page cost a crawl requests that the tree does not know,
and it counts every copy.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.lab.graph import Graph, Mask, Nodes, dominators


@dataclass(slots=True)
class _Walk:
    """The state of a crawl that knows everything."""

    graph: Graph
    targets: Mask
    seeds: Nodes
    origins: NDArray[np.int32] | None
    """The origin of each node where a robots.txt is asked for before its first page; None where none is."""
    originals: Nodes
    """What each node is a copy of; most are copies of themselves."""
    seen: Mask = field(init=False)
    fetched: Mask = field(init=False)
    requests: int = 0
    finds: list[int] = field(default_factory=list)
    known: set[int] = field(default_factory=set)
    ready: list[tuple[int, int]] = field(default_factory=list)
    promise: Nodes = field(init=False)

    def __post_init__(self) -> None:
        self.seen = np.zeros(len(self.graph), np.bool_)
        self.fetched = np.zeros(len(self.graph), np.bool_)
        hits = self.targets[self.graph.tails]
        self.promise = np.bincount(self.graph.heads()[hits], minlength=len(self.graph))
        self.discover(self.seeds)

    def discover(self, nodes: Nodes) -> None:
        new = nodes[~self.seen[nodes]]
        self.seen[new] = True
        for node in new[self.targets[new]].tolist():
            heapq.heappush(self.ready, (-int(self.promise[node]), node))

    def fetch(self, node: int) -> None:
        if self.origins is not None and int(self.origins[node]) not in self.known:
            self.known.add(int(self.origins[node]))
            self.requests += 1
        self.requests += 1
        self.fetched[node] = True
        if self.targets[node]:
            self.finds.append(self.requests)
            self.targets[self.originals == self.originals[node]] = False
        self.discover(self.graph.after(np.array([node], np.int64)))


def achievable(
    graph: Graph,
    targets: Mask,
    seeds: Sequence[int],
    budget: int,
    *,
    origins: NDArray[np.int32] | None = None,
    originals: Nodes | None = None,
) -> tuple[int, ...]:
    """The request numbers (from 1) of the finds of the crawl that knows everything.

    Parameters: `origins`, where a robots.txt costs a request; `originals`, what each page is a copy of.

    >>> graph = Graph.of(4, [(0, 1), (0, 2), (2, 3)])
    >>> achievable(graph, np.array([False, False, False, True]), [0], 10)
    (3,)
    """
    targets = targets & graph.reach(seeds)
    originals = np.arange(len(graph)) if originals is None else originals
    most = distinct(targets, originals)
    walk = _Walk(graph, targets, np.array(seeds, np.int64), origins, originals)
    into = targets[graph.tails]
    sources, goals = graph.heads()[into], graph.tails[into]
    back = graph.flipped()
    while walk.requests < budget and len(walk.finds) < most:
        if not walk.ready:
            walk.fetch(_step(walk, sources, goals, back))
        elif walk.targets[node := heapq.heappop(walk.ready)[1]]:
            walk.fetch(node)
    return tuple(at for at in walk.finds if at <= budget)


def distinct(targets: Mask, originals: Nodes) -> int:
    """The number of targets of which none is a copy of another."""
    return len(np.unique(originals[targets]))


def _step(walk: _Walk, sources: Nodes, goals: Nodes, back: Graph) -> int:
    """The frontier page to fetch when no target is in sight: of the nearest, the one with most to show."""
    frontier = walk.seen & ~walk.fetched
    hidden = walk.targets[goals] & ~walk.seen[goals]
    leads = sources[hidden & frontier[sources]]
    if len(leads):
        return int(np.bincount(leads).argmax())
    lost = np.flatnonzero(walk.targets & ~walk.seen)
    far = back.distances(lost, until=frontier)
    near = np.flatnonzero(frontier & (far >= 0))
    return int(near[np.argmin(far[near])])


def bound(
    graph: Graph, targets: Mask, seeds: Sequence[int], budget: int, *, robots: bool = False
) -> tuple[int, ...]:
    """The most finds that any crawl can have after 1, 2, … `budget` requests.

    With `robots`, one request at least goes to a robots.txt before the first page.

    >>> graph = Graph.of(4, [(0, 1), (0, 2), (2, 3)])
    >>> bound(graph, np.array([False, False, False, True]), [0], 4)
    (0, 0, 1, 1)
    """
    above = dominators(graph, seeds)
    parents, worth = _pruned(above, targets)
    best = _best_subtrees(parents, worth, budget)
    best = best[:-1] if robots else best[1:]
    return tuple(best.tolist())


def _pruned(above: Nodes, targets: Mask) -> tuple[list[int], list[int]]:
    """The dominator tree without branches that hold no target, in preorder: parents (-1: root) and worths."""
    kept: set[int] = set()
    for node in np.flatnonzero(targets & (above > -2)).tolist():
        while node >= 0 and node not in kept:
            kept.add(node)
            node = int(above[node])
    children: dict[int, list[int]] = {}
    for node in sorted(kept, reverse=True):
        children.setdefault(int(above[node]), []).append(node)
    parents: list[int] = []
    worth: list[int] = []
    stack = [(node, -1) for node in children.get(-1, ())]
    while stack:
        node, parent = stack.pop()
        stack.extend((child, len(parents)) for child in children.get(node, ()))
        parents.append(parent)
        worth.append(int(targets[node]))
    return parents, worth


def _best_subtrees(parents: Sequence[int], worth: Sequence[int], budget: int) -> NDArray[np.int32]:
    """The most worth in a subtree of 0, 1, … `budget` nodes that holds the parent of each of its nodes.

    In preorder, a node is either taken, and the next in line is considered, or left out with all below it.
    """
    size = [1] * len(parents)
    for i in range(len(parents) - 1, -1, -1):
        if parents[i] >= 0:
            size[parents[i]] += size[i]
    rows = np.zeros((len(parents) + 1, budget + 1), np.int32)
    for i in range(len(parents) - 1, -1, -1):
        rows[i] = rows[i + size[i]]
        np.maximum(rows[i, 1:], rows[i + 1, :-1] + worth[i], out=rows[i, 1:])
    first: NDArray[np.int32] = rows[0]
    return first
