"""`VisitCounts`: what a crawl learned of the people in a log (the set K of the 2002 paper, section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.factor.visit_log import VisitLog
from clew.learn.rows import grown

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class PageEvidence(Protocol):
    """A factor of the log."""

    def page_evidence(self, pages: Ids) -> Floats:
        """Log interest ratios of pages of the log."""
        ...


class VisitCounts:
    """Which candidates are pages of the log, and how the pages each person visited turned out.

    The factor `visit_frequency` keeps it up to date; the others of the log come after that one and read it.
    """

    def __init__(self, log: VisitLog) -> None:
        self.log = log
        self.seen: Floats = np.zeros(log.people)
        """q_i: crawled pages that person i visited."""
        self.hits: Floats = np.zeros(log.people)
        """Those of them that satisfy the predicate."""
        self.fetched: Mask = np.zeros(len(log.urls), np.bool_)
        """By page."""
        self.found: Mask = np.zeros(len(log.urls), np.bool_)
        """By page: fetched, and a find."""
        self.candidate: Ids = np.full(len(log.urls), -1, np.int64)
        """By page: its number among candidates; -1 while it is none."""
        self._page: Ids = np.zeros(1024, np.int64)
        self._asked: tuple[Ids, Ids, Ids] | None = None
        self.last = -1
        """The page that was learned from last, if the log knows it."""

    def meet(self, ids: Ids, keys: NDArray[np.uint64]) -> None:
        """These are new candidates with these keys."""
        if not len(ids):
            return
        pages = self.log.find(keys)
        self._asked = None
        self._page = grown(self._page, int(ids.max()) + 1)
        # Kept one higher, so that what was never met is no page.
        self._page[ids] = pages + 1
        known = pages >= 0
        self.candidate[pages[known]] = ids[known]

    def pages(self, ids: Ids) -> Ids:
        """The pages of candidates; -1 for those that the log does not know."""
        return self._found(ids)[0]

    def _found(self, ids: Ids) -> tuple[Ids, Ids]:
        """The pages of candidates; the same with a row that is nobody's instead of -1. The factors of the log
        ask one after the other for the same candidates."""
        if self._asked is None or self._asked[0] is not ids:
            self._page = grown(self._page, int(ids.max()) + 1 if len(ids) else 0)
            pages = self._page[ids] - 1
            self._asked = ids, pages, np.where(pages >= 0, pages, len(self.log.urls))
        return self._asked[1], self._asked[2]

    def learn(self, candidate: int, url: str, satisfied: bool) -> None:
        """A candidate turned out to be a find, or not."""
        page = int(self.pages(np.array([candidate]))[0])
        if page < 0:
            # A seed is met by nobody.
            self.meet(np.array([candidate]), urls.keys((url,)))
            page = int(self.pages(np.array([candidate]))[0])
        self.last = -1
        if page < 0 or self.fetched[page]:
            return
        self.last = page
        self.fetched[page] = True
        self.found[page] = satisfied
        people = self.log.people_of.row(page)
        self.seen[people] += 1.0
        self.hits[people] += satisfied

    def sums(self, ids: Ids, weights: Floats) -> Floats:
        """Of each candidate the sum of its visitors' weights; 0 for those that the log does not know."""
        return self.sums_of(self._found(ids)[1], weights)

    def promising(self, pages: Ids, factors: Iterable[PageEvidence], above: float) -> list[str]:
        """URLs of those of some pages that are no candidates yet and whose log composite ratio (eq. 12) is
        `above` this, the best first."""
        new = pages[(self.candidate[pages] < 0) & ~self.fetched[pages]]
        worth = np.zeros(len(new))
        for factor in factors:
            worth += factor.page_evidence(new)
        best = np.argsort(-worth, kind="stable").tolist()
        return [self.log.urls[new[i]] for i in best if worth[i] > above]

    def sampled(self, order: Ids) -> Iterator[str]:
        """URLs of pages that are no candidates yet, in an order."""
        for page in order.tolist():
            if self.candidate[page] < 0 and not self.fetched[page]:
                yield self.log.urls[page]

    def sums_of(self, pages: Ids, weights: Floats) -> Floats:
        """Of each page the sum of its visitors' weights."""
        return self.log.people_of.sums(pages, weights)
