"""`visit_frequency`: who visited finds visits finds (Aggarwal 2002, section 2.2, eq. 1 to 3)."""

from __future__ import annotations

import numpy as np

from clew import native
from clew import url as urls
from clew.factor.base import Discovery, EvidenceTerm, Factor, FactorSpec, FetchOutcome, LearningState
from clew.factor.interest import log_ratio, significance
from clew.factor.link_graph import Floats, Ids
from clew.factor.visit_counts import VisitCounts
from clew.factor.visit_log import VisitLog

#: A log that knows nothing, where there is none.
NO_LOG = VisitLog(
    urls=(),
    keys=np.zeros(0, np.uint64),
    people=0,
    person=np.zeros(0, np.int64),
    page=np.zeros(0, np.int64),
    session=np.zeros(0, np.int64),
)
#: Ratios from which on an interest is strong, for an explanation.
_STRONG = native.log_of(2.0)


class VisitorFactor(Factor):
    """A factor that weighs people: the evidence for a page is the sum over those who visited it.

    Subclasses give `_weigh`: log ratios of people, 0 for those that are not significant.
    """

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self.counts = counts_of(state)
        self.weights: Floats = np.zeros(self.counts.log.people)
        """Log interest ratios of people; 0 for those that are not significant."""

    def _weigh(self, people: Ids | slice) -> Floats:
        raise NotImplementedError

    def estimate(self) -> None:
        if self.state.rate > 0.0:
            self.weights = self._weigh(slice(None))

    def estimate_people(self, people: Ids) -> None:
        """Read the ratios of some people anew: the lazy update of section 3."""
        if self.state.rate > 0.0:
            self.weights[people] = self._weigh(people)

    def evidence(self, ids: Ids) -> Floats:
        return self.counts.sums(ids, self.weights)

    def page_evidence(self, pages: Ids) -> Floats:
        """`evidence` of pages of the log."""
        return self.counts.sums_of(pages, self.weights)

    def support(self, ids: Ids) -> Floats:
        """How many people speak for or against it; none where they are fewer than k."""
        found = self.counts.sums(ids, (self.weights != 0.0).astype(np.float64))
        return np.where(found >= self.counts.log.k, found, 0.0)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        """How many people speak for it, and how many against; never who, and never of fewer than k. A group
        of fewer is counted with the next one: what is left of all would tell of it else."""
        page = int(self.counts.pages(np.array([candidate]))[0])
        if page < 0:
            return []
        weights = self.weights[self.counts.log.people_of.row(page)]
        groups = [
            ("a strong", weights[weights >= _STRONG]),
            ("some", weights[(weights > 0.0) & (weights < _STRONG)]),
            ("little", weights[weights < 0.0]),
        ]
        k = self.counts.log.k
        shown: list[tuple[str, Floats]] = []
        for kind, found in groups:
            if shown and len(found) and min(len(shown[-1][1]), len(found)) < k:
                before, others = shown.pop()
                kind, found = f"{before} or {kind}", np.concatenate([others, found])
            if len(found):
                shown.append((kind, found))
        return [
            EvidenceTerm(f"{people(len(found))} with {kind} interest", float(np.cumsum(found)[-1]))
            for kind, found in shown
            if len(found) >= k
        ]


def people(count: int) -> str:
    """So many people, in words.

    >>> people(1), people(7)
    ('1 person', '7 people')
    """
    return f"{count} {'person' if count == 1 else 'people'}"


def counts_of(state: LearningState) -> VisitCounts:
    """The counts that the factors of the log share."""
    if state.visits is None:
        state.visits = VisitCounts(NO_LOG)
    return state.visits


class VisitFrequency(VisitorFactor):
    """The product, over the people who visited a page, of I(U|R_i) = P(U|R_i) / P(U), of those whose share of
    finds is at least t standard deviations from P(U).

    The deviation is printed over N, all crawled pages (eq. 3); `visit_deviation` takes the person's own pages
    (`own`) or the finds (`satisfying`) instead.
    """

    spec = FactorSpec(name="visit_frequency", defaults=frozenset({"visits"}))

    def meet(self, found: Discovery) -> None:
        """Look up which new candidates the log knows."""
        fresh = np.flatnonzero(found.fresh)
        if len(fresh) and len(self.counts.log.urls):
            targets = found.links.targets
            keys = (
                urls.keys([targets[i] for i in fresh.tolist()]) if found.keys is None else found.keys[fresh]
            )
            self.counts.meet(found.ids[fresh], keys)

    def learn(self, outcome: FetchOutcome) -> None:
        self.counts.learn(outcome.candidate, outcome.url, outcome.satisfied)

    def _weigh(self, people: Ids | slice) -> Floats:
        seen, hits = self.counts.seen[people], self.counts.hits[people]
        how, found = self.state.how, np.zeros(len(seen))
        # Most people of a log visited nothing that was crawled yet.
        known = np.flatnonzero(seen)
        known = known[deviations(seen[known], hits[known], self.state) >= how.visit_threshold]
        found[known] = log_ratio(seen[known], hits[known], self.state.rate, how.smoothing)
        return found


def deviations(seen: Floats, hits: Floats, state: LearningState) -> Floats:
    """T(U, R_i): by how many standard deviations shares of finds differ from P(U) (eq. 3)."""
    known, over = state.known, state.how.visit_deviation
    if over == "own":
        return significance(seen, hits, state.rate, 1.0) * np.sqrt(seen)
    return significance(seen, hits, state.rate, known.satisfied if over == "satisfying" else known.pages)
