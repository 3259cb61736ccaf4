"""`visit_temporal`: what people visited right before and after a find (Aggarwal 2002, 2.4, eq. 9 to 11)."""

from __future__ import annotations

import numpy as np

from clew.factor.base import EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState
from clew.factor.interest import log_ratio
from clew.factor.link_graph import Floats, Ids
from clew.factor.visit_frequency import counts_of, deviations, people


class VisitTemporal(Factor):
    """f_1 / P(U) for pages of the temporal locality of the finds, f_2 / P(U) for other pages of the log,
    where f_1 and f_2 are the shares of finds among such pages that were crawled.

    The locality is what people visited up to `visit_reach` visits before or after a find, in one session.
    """

    spec = FactorSpec(name="visit_temporal", defaults=frozenset({"visits"}), after=("visit_frequency",))

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self.counts = counts_of(state)
        pages = len(self.counts.log.urls)
        self.local = np.zeros(pages, np.bool_)
        """TL(U), by page."""
        self._inside = np.zeros(pages, np.bool_)
        """TL(U) as of the last estimate."""
        self.seen: Floats = np.zeros(2)
        """Crawled pages outside TL(U), and within: s_2, s_1."""
        self.hits: Floats = np.zeros(2)
        """Finds outside, and within."""
        self.ratios: Floats = np.zeros(2)
        """log f_2 / P(U), log f_1 / P(U)."""

    def learn(self, outcome: FetchOutcome) -> None:
        counts = self.counts
        page = counts.last
        if page < 0:
            return
        side = int(self.local[page])
        self.seen[side] += 1.0
        self.hits[side] += outcome.satisfied
        if outcome.satisfied:
            near = counts.log.neighbours(page, self.state.how.visit_reach)
            near = near[~self.local[near]]
            self.local[near] = True
            # Pages crawled before, which are within from now on.
            moved = near[counts.fetched[near]]
            change = np.array([-1.0, 1.0])
            self.seen += change * len(moved)
            self.hits += change * np.count_nonzero(counts.found[moved])

    def estimate(self) -> None:
        rate, how = self.state.rate, self.state.how
        if rate > 0.0:
            self.ratios = np.where(self.seen > 0, log_ratio(self.seen, self.hits, rate, how.smoothing), 0.0)
        self._inside = self.local.copy()

    def estimate_people(self, people: Ids) -> None:
        """Read the two ratios anew; they are everybody's."""
        self.estimate()

    def evidence(self, ids: Ids) -> Floats:
        pages = self.counts.pages(ids)
        known = pages >= 0
        found = np.zeros(len(ids))
        found[known] = self.page_evidence(pages[known])
        return found

    def page_evidence(self, pages: Ids) -> Floats:
        """`evidence` of pages of the log."""
        return np.asarray(self.ratios[self._inside[pages].astype(np.int64)], np.float64)

    def support(self, ids: Ids) -> Floats:
        pages = self.counts.pages(ids)
        found = np.zeros(len(ids))
        found[pages >= 0] = self.seen[self._inside[pages[pages >= 0]].astype(np.int64)]
        return found

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        """How many people came there right before or after a find, if they are at least k."""
        counts, log = self.counts, self.counts.log
        page = int(counts.pages(np.array([candidate]))[0])
        if page < 0:
            return []
        side = int(self._inside[page])
        strength = float(deviations(self.seen, self.hits, self.state)[side]) if self.state.rate else 0.0
        text = "visited right before or after a find" if side else "not visited next to a find"
        near = self._neighbours_of_finds(page)
        if side and near >= max(1, log.k):
            text = f"{people(near)} came here right before or after a find"
        ratio = float(self.ratios[side])
        return [EvidenceTerm(text, ratio, float(self.seen[side]), float(self.hits[side]), strength)]

    def _neighbours_of_finds(self, page: int) -> int:
        """How many people visited a page close to a find."""
        log, reach = self.counts.log, self.state.how.visit_reach
        found = set()
        for visit in log.visits_of.row(page).tolist():
            near = np.arange(max(0, visit - reach), min(len(log.page), visit + reach + 1))
            near = near[(near != visit) & (log.session[near] == log.session[visit])]
            if self.counts.found[log.page[near]].any():
                found.add(int(log.person[visit]))
        return len(found)
