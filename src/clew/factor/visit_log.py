"""`VisitLog`: who visited which pages in which order, as arrays; the trace of the 2002 paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from clew.learn.rows import SparseRows
from clew.url.index import KeyIndex

Ids = NDArray[np.int64]


class VisitLog:
    """Visits of people to pages. It knows people as numbers, and never more of them.

    Parameters: canonical `urls` of the pages and their `keys`; `aliases`, the page that other keys (signed)
    redirect to; how many `people` there are; and of each visit, ordered by person and time, the `person`, the
    `page` and the `session`; `k`, the fewest people any page was visited by; a `digest` that names it all.

    >>> log = VisitLog(
    ...     urls=("http://a.example/", "http://b.example/"), keys=np.array([7, 9], np.uint64), people=2,
    ...     person=np.array([0, 0, 1]), page=np.array([0, 1, 0]), session=np.array([0, 0, 1]),
    ... )
    >>> log.people_of.row(0).tolist(), log.find(np.array([9, 8], np.uint64)).tolist()
    ([0, 1], [1, -1])
    """

    def __init__(
        self,
        *,
        urls: Sequence[str],
        keys: NDArray[np.uint64],
        people: int,
        person: Ids,
        page: Ids,
        session: Ids,
        aliases: Mapping[int, int] | None = None,
        k: int = 1,
        digest: str = "",
    ) -> None:
        self.urls = tuple(urls)
        self.keys = keys
        self.people = people
        self.person = person
        self.page = page
        self.session = session
        self.k = k
        self.digest = digest
        self.people_of = _distinct(page, person, len(urls))
        """Rows of people, ascending, by page."""
        self.pages_of = _distinct(person, page, people)
        """Rows of pages, ascending, by person."""
        self.visits_of = _grouped(page, len(urls))
        """Rows of visits, ascending, by page."""
        self._index = KeyIndex(max(16, 2 * len(urls)))
        if len(keys):
            self._index.insert(keys, np.arange(len(keys)))
        if aliases:
            others = np.array(list(aliases), np.int64).view(np.uint64)
            self._index.insert(others, np.array(list(aliases.values()), np.int64))

    def __repr__(self) -> str:
        return f"VisitLog({len(self.person)} visits of {self.people} people to {len(self.urls)} pages)"

    def find(self, keys: NDArray[np.uint64]) -> Ids:
        """The page of each key; -1 for those that the log does not know."""
        return self._index.find(keys)

    def neighbours(self, page: int, reach: int) -> Ids:
        """Pages visited up to `reach` visits before or after a visit to `page`, by the same person in one
        session, without those visits themselves (TLR of section 2.4); ascending."""
        visits = self.visits_of.row(page).astype(np.int64)
        steps = np.concatenate([np.arange(-reach, 0), np.arange(1, reach + 1)])
        near = visits[:, None] + steps
        inside = (near >= 0) & (near < len(self.page))
        near = np.where(inside, near, 0)
        inside &= self.session[near] == self.session[visits][:, None]
        return np.unique(self.page[near[inside]])


def _distinct(rows: Ids, items: Ids, count: int) -> SparseRows:
    """The distinct items of each row, ascending."""
    width = int(items.max()) + 1 if len(items) else 1
    pairs = np.unique(rows * width + items)
    found = SparseRows()
    found.extend(np.bincount(pairs // width, minlength=count), pairs % width)
    return found


def _grouped(rows: Ids, count: int) -> SparseRows:
    """Where in `rows` each row stands, ascending."""
    found = SparseRows()
    found.extend(np.bincount(rows, minlength=count), np.argsort(rows, kind="stable"))
    return found
