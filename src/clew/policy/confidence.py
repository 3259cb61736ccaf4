"""`Confidence`: when a direction has gone further than finds usually are away (Hu and Wong, paper 001).

A *direction* is a path of pages since the last find on it, or since the start page it came from. A crawl
counts how often finds and other pages lead to finds (P1 to P4), how many new links pages have, and at which
depth of a direction finds came. From these it knows within how many pages the next find is to be expected, at
a level that the user chooses. A candidate that lies deeper in its direction is *suspended*: it waits behind
all that are not, and is no longer suspended when a find links to it, when finds turn out to lie deeper, or
fetched anyway when nothing else is left.

All of it is one fold over the judged pages in their order, with nothing else in it: a crawl that is taken up
again folds its stored decisions once more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.learn.search_depth import OutDegrees, SearchDepth
from clew.learn.share import Share

Ids = NDArray[np.int64]

#: What a suspended candidate loses: more than any two scores are apart (`clew.strategy.base.LARGEST`), and a
#: power of two, so that the order among suspended candidates stays what it was, to a millionth.
DEMOTION = 2.0**32
#: What that part of a score is called.
SUSPENDED = "suspended"
#: New links of a page beyond which more are not told apart.
_MOST_LINKS = 255
#: Pages in a direction beyond which more are not told apart.
DEEPEST = 1000
#: Pages between two looks at the limits, at least; in a large crawl one for so many candidates.
_BETWEEN, _CANDIDATES_EACH = 8, 1000


class Confidence:
    """The directions of a crawl, how far each has gone, and how far is too far.

    Parameters: the level, such as 0.9: the share of finds that the limit leaves within reach; the page that a
    candidate was found on, by number, -1 for none.

    >>> sources = [-1, 0, 0, 1]
    >>> one = Confidence(0.9, sources.__getitem__)
    >>> one.record(0, find=False, targets=np.array([1, 2]), fresh=np.array([True, True]))
    >>> one.record(1, find=True, targets=np.array([3]), fresh=np.array([True]))
    >>> one.depth(2), one.depth(3), one.p(3).as_dict()["hits"]
    (1, 1, 1)
    """

    def __init__(self, level: float, source_of: Callable[[int], int]) -> None:
        self.level = level
        self._source_of = source_of
        self.forget()

    def __repr__(self) -> str:
        return f"Confidence({self.level:g}, {self.pages} pages, limits {self.limits})"

    def forget(self) -> None:
        """Begin anew, with nothing counted."""
        self.pages = 0
        self.counts = [[0, 0], [0, 0]]
        """Pages by what led to them and what they were: no find, find."""
        self.out_links = [0] * (_MOST_LINKS + 1)
        """Pages by how many new links they had."""
        self.depths = [0] * (DEEPEST + 1)
        """Finds by how deep in their direction they were."""
        self.limits: tuple[int | None, int | None] = (None, None)
        """How deep a direction goes before it is suspended: one that began at a start page, one that began at
        a find; None while that cannot be said."""
        self._depths: NDArray[np.int16] = np.full(4096, -1, np.int16)
        self._after_find: NDArray[np.bool_] = np.zeros(4096, np.bool_)
        self._closed: NDArray[np.bool_] = np.zeros(4096, np.bool_)
        self._met = 0
        self._due = _BETWEEN
        self._moved: list[Ids] | None = None
        """Candidates whose direction changed since somebody asked; None for all, as the limits did."""

    # the fold

    def record(self, candidate: int, *, find: bool, targets: Ids, fresh: NDArray[np.bool_]) -> None:
        """A page was judged; `targets` are the candidates it links to, and which of them are new."""
        depth, after_find = self._direction(candidate)
        self._closed[candidate] = True
        self.pages += 1
        self.out_links[min(int(np.count_nonzero(fresh)), _MOST_LINKS)] += 1
        if depth:
            self.counts[after_find and depth == 1][find] += 1
            self.depths[depth] += find
        if len(targets):
            below = (1, True) if find else (min(depth + 1, DEEPEST), after_find)
            self._lead_to(targets, fresh, *below)
        if self.pages >= self._due:
            self._due = self.pages + max(_BETWEEN, self._met // _CANDIDATES_EACH)
            before, self.limits = self.limits, self._limits()
            if self.limits != before:
                self._moved = None

    def moved(self, count: int) -> Ids:
        """Of so many candidates, those that may be suspended, or not any more, since this was last asked."""
        some, self._moved = self._moved, []
        if some is None:
            return np.arange(count)
        return np.concatenate(some) if some else np.zeros(0, np.int64)

    def close(self, candidate: int) -> None:
        """A candidate turned out to lead elsewhere: what it leads to is as deep as it was."""
        self._direction(candidate)
        self._closed[candidate] = True

    def meet(self, ids: Ids, source: int) -> None:
        """Candidates came that no link led to: they are in the direction of `source`, if there is one."""
        self._reserve(int(ids.max(initial=-1)) + 1)
        unknown = ids[self._depths[ids] < 0]
        if len(unknown):
            self._depths[unknown], self._after_find[unknown] = self._direction(source)

    def _lead_to(self, targets: Ids, fresh: NDArray[np.bool_], depth: int, after_find: bool) -> None:
        self._met = max(self._met, int(targets.max()) + 1)
        self._reserve(self._met)
        for number in targets[~fresh & (self._depths[targets] < 0)].tolist():
            self._direction(number)
        known = self._depths[targets]
        nearer = fresh | (known > depth) | ((known == depth) & after_find)
        nearer &= ~self._closed[targets]
        self._depths[targets[nearer]] = depth
        self._after_find[targets[nearer]] = after_find
        if self._moved is not None:
            self._moved.append(targets[nearer & ~fresh])

    def _direction(self, candidate: int) -> tuple[int, bool]:
        """How deep a candidate is in its direction, and whether that began at a find."""
        self._reserve(candidate + 1)
        way = []
        while candidate >= 0 and self._depths[candidate] < 0:
            way.append(candidate)
            candidate = self._source_of(candidate)
        found = (
            (int(self._depths[candidate]), bool(self._after_find[candidate]))
            if candidate >= 0
            else (0, False)
        )
        for number in way:
            self._depths[number], self._after_find[number] = found
        return found

    def _reserve(self, wanted: int) -> None:
        size = len(self._depths)
        if wanted <= size:
            return
        more = max(wanted - size, size // 2)
        self._depths = np.concatenate([self._depths, np.full(more, -1, np.int16)])
        self._after_find = np.concatenate([self._after_find, np.zeros(more, np.bool_)])
        self._closed = np.concatenate([self._closed, np.zeros(more, np.bool_)])

    # the model

    def p(self, number: int) -> Share:
        """P1 to P4 of the paper: a find leads to a find, a find to none, none to a find, none to none."""
        row = self.counts[number <= 2]
        return Share(row[number % 2], row[0] + row[1])

    def within(self, depth: int) -> Share:
        """The share of the finds that came within so many pages of the last one, or of a start page."""
        return Share(sum(self.depths[: depth + 1]), sum(self.depths))

    def expected(self, *, after_find: bool) -> SearchDepth:
        """The distribution of the depth of the next find; P2 and P4 are at the upper ends of their intervals,
        so that little evidence makes nobody turn round."""
        return SearchDepth(
            p4=self.p(4).interval[1],
            out_links=OutDegrees(self.out_links),
            p2=self.p(2).interval[1] if after_find else None,
        )

    def _limits(self) -> tuple[int | None, int | None]:
        observed = self._observed()
        if observed is None:
            return None, None
        limits = []
        for after_find in (False, True):
            modelled = self.expected(after_find=after_find).quantile(self.level)
            limits.append(None if modelled is None else max(modelled, observed))
        return limits[0], limits[1]

    def _observed(self) -> int | None:
        """The depth of the deepest find, once there were so many finds that the next lies within it with the
        probability `level` (the rule of succession, (n + 1) / (n + 2)); None while there were fewer."""
        total = sum(self.depths)
        if not total or total + 1 < self.level * (total + 2):
            return None
        return max(depth for depth, count in enumerate(self.depths) if count)

    # directions

    def depth(self, candidate: int) -> int:
        """How many pages a candidate is from the last find on its path, or from the start page."""
        return self._direction(candidate)[0]

    def suspends(self, ids: Ids) -> NDArray[np.bool_]:
        """Which of some candidates are suspended."""
        self._reserve(int(ids.max(initial=-1)) + 1)
        for number in ids[self._depths[ids] < 0].tolist():
            self._direction(number)
        limits = np.array([DEEPEST + 1 if limit is None else limit for limit in self.limits])
        return np.asarray(self._depths[ids] > limits[self._after_find[ids].astype(np.int64)])

    def why(self, candidate: int) -> str:
        """Why a candidate is suspended, as a clause; empty when it is not."""
        depth, after_find = self._direction(candidate)
        limit = self.limits[after_find]
        if limit is None or depth <= limit:
            return ""
        since = "the last find" if after_find else "the start, without a find"
        share = self.within(limit).value
        return f"{SUSPENDED}: {depth} pages since {since}, {share:.0%} of finds came within {limit}"

    def as_dict(self) -> dict[str, Any]:
        """What was counted and what follows from it, for programs."""
        start, find = self.limits
        return {
            "level": self.level,
            "limit": find,
            "limit_from_start": start,
            **{f"p{number}": self.p(number).as_dict() for number in (1, 2, 3, 4)},
            "new_links": OutDegrees(self.out_links).mean,
            "depths": {depth: count for depth, count in enumerate(self.depths) if count},
        }
