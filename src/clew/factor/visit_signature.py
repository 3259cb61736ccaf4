"""`visit_signature`: what the finds of a person have in common (Aggarwal 2002, section 2.3, eq. 4 to 8)."""

from __future__ import annotations

import numpy as np

from clew import native
from clew.factor.base import FactorSpec, FetchOutcome, LearningState
from clew.factor.link_graph import Floats, Ids
from clew.factor.visit_frequency import VisitorFactor
from clew.learn.rows import grown
from clew.url.index import KeyIndex

#: What so many people visited is no signature of any of them.
_MOST_PEOPLE = 500
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
#: k_max: the topics of a page that count, and the degree from which on it is about one.
_MOST_TOPICS, _ABOUT = 5, 0.5
#: Topics are numbered above all words.
_FIRST_TOPIC = 1 << 31


class VisitSignature(VisitorFactor):
    """The product, over the people who visited a page, of SF_i = E_j[P(V_i|L_ij) / P(V_i)]: how much more
    likely a find was for person i where a feature j was, on average over the features of their pages. Used
    are people whose SF_i is at least t standard deviations from the mean of all.

    Section 3 of the paper estimates SF_i without the denominator P(V_i); `visit_signature=printed` does so
    too. Features are words (the mean over all of them is estimated on a sample, `signature_share` of them,
    drawn by hash), or the topics of a taxonomy that a page is most closely related to, up to k_max = 5
    (2.3.1), or both: `signature_features`."""

    spec = FactorSpec(
        name="visit_signature", prior=0.25, defaults=frozenset({"visits"}), after=("visit_frequency",)
    )

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        people = self.counts.log.people
        self._index = KeyIndex()
        self._seen: Floats = np.zeros(1024)
        self._hits: Floats = np.zeros(1024)
        self._total: Floats = np.zeros(people)
        """By person: the sum of r^u_ij / r_ij over features j."""
        self._count: Floats = np.zeros(people)
        """By person: how many features."""
        self.values: Floats = np.ones(people)
        """SF_i."""

    def learn(self, outcome: FetchOutcome) -> None:
        """Count the features of a page for everyone who visited it."""
        if self.counts.last < 0:
            return
        people = self.counts.log.people_of.row(self.counts.last).astype(np.int64)
        features = self._features(outcome)
        if not len(features) or not 0 < len(people) <= _MOST_PEOPLE:
            return
        who = np.repeat(people, len(features))
        keys = ((people.astype(np.uint64) << np.uint64(32))[:, None] | features.astype(np.uint64)).ravel()
        at = self._index.find(keys)
        new = at < 0
        if new.any():
            at[new] = len(self._index) + np.arange(np.count_nonzero(new))
            self._index.insert(keys[new], at[new])
            self._count += np.bincount(who[new], minlength=len(self._count))
            self._seen = grown(self._seen, len(self._index))
            self._hits = grown(self._hits, len(self._index))
        before = np.where(new, 0.0, self._hits[at] / np.maximum(self._seen[at], 1.0))
        self._seen[at] += 1.0
        self._hits[at] += outcome.satisfied
        self._total += np.bincount(who, self._hits[at] / self._seen[at] - before, len(self._total))

    def _features(self, outcome: FetchOutcome) -> Ids:
        """Numbers of the features of a page: a sample of its words, the topics it is about."""
        how, scorers = self.state.how, self.state.topics
        found = []
        if how.signature_features != "topics":
            drawn = outcome.words.astype(np.uint64) * _SPREAD >> np.uint64(32)
            found.append(outcome.words[drawn < np.uint64(how.signature_share * 2.0**32)])
        if how.signature_features != "words" and scorers is not None and outcome.page is not None:
            found.append(dominant_topics(scorers.page(outcome.page).degrees) + _FIRST_TOPIC)
        return np.concatenate([np.zeros(0, np.int64), *found])

    def estimate_people(self, people: Ids) -> None:
        if self.state.rate > 0.0:
            self.values[people] = self._values(people)
            self.weights[people] = self._significant(self.values[people])

    def _weigh(self, people: Ids | slice) -> Floats:
        self.values = self._values(slice(None))
        return self._significant(self.values)

    def _values(self, people: Ids | slice) -> Floats:
        """SF_i; 1 for people of whom too little is known."""
        seen, hits = self.counts.seen[people], self.counts.hits[people]
        how, rate = self.state.how, self.state.rate
        mean = self._total[people] / np.maximum(self._count[people], 1.0)
        more = how.smoothing * rate
        above = seen * mean + more
        below = seen + how.smoothing if how.visit_signature == "printed" else hits + more
        known = (self._count[people] > 0.0) & (below > 0.0)
        return np.where(known, above / np.where(known, below, 1.0), 1.0)

    def _significant(self, values: Floats) -> Floats:
        """log SF_i of those that differ from the mean by t standard deviations (eq. 6 to 8)."""
        mean, deviation = self.spread()
        strong = (np.abs(values - mean) >= self.state.how.visit_threshold * deviation) & (deviation > 0.0)
        found = np.zeros(len(values))
        with np.errstate(divide="ignore"):
            found[strong] = native.log(values[strong])
        return found

    def spread(self) -> tuple[float, float]:
        """The mean of SF_i over people of whom it is known, and its standard deviation (eq. 6, 7)."""
        known = self._count > 0.0
        if self.state.how.smoothing == 0.0 and self.state.how.visit_signature == "definition":
            known &= self.counts.hits > 0.0
        values = self.values[known]
        if not len(values):
            return 1.0, 0.0
        # One after the other: a plain sum of many adds up in another order on another processor.
        mean = float(np.cumsum(values)[-1]) / len(values)
        return mean, float(np.sqrt(np.cumsum((values - mean) ** 2)[-1] / len(values)))


def dominant_topics(degrees: Floats) -> Ids:
    """The numbers of the topics a page is most closely related to, by its degrees: at most k_max of those it
    is about, the closest first; of equals the first.

    >>> dominant_topics(np.array([0.6, 0.2, 0.9, 0.6, 0.7, 0.8, 0.5])).tolist()
    [2, 5, 4, 0, 3]
    """
    closest = np.argsort(-degrees, kind="stable")[:_MOST_TOPICS]
    return np.asarray(closest[degrees[closest] >= _ABOUT], np.int64)
