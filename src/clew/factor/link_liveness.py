"""`LinkLiveness`: how likely there is a page behind a link at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.factor.link_features import WIDTH, LinkFeatures
from clew.learn.checkpoint import KeptAttributes
from clew.learn.logistic import LogisticRegression
from clew.learn.rows import Floats, Ids, grown


class LinkLiveness(KeptAttributes):
    """The chance that a link is alive, by its features and by its host.

    A regression over the features of links tells what dead ones look like. Of a host that gave no page yet
    it knows little; what counts there beside it is how often such hosts gave one when they were tried.
    Where links to other sites are dead that soon keeps a crawl at home; where they are alive it says
    nothing.
    """

    KEPT = ("model", "_reached", "_known", "_tried", "_there", "_strange")

    def __init__(self, features: LinkFeatures) -> None:
        self._features = features
        self.model = LogisticRegression(WIDTH)
        self._reached: NDArray[np.bool_] = np.zeros(64, np.bool_)
        """Hosts that gave a page, by number."""
        self._known = self._reached
        """Hosts that had given one at the last estimate, by number."""
        self._tried = 0
        """Links followed to hosts that had given no page."""
        self._there = 0
        """Those that gave one."""
        self._strange = 0.0
        """What being on a strange host adds to the logarithm of the chance."""
        self._last: tuple[Ids | None, int, Floats] = (None, 0, np.zeros(0))

    def learn(self, candidate: int, url: str, alive: bool) -> None:
        """There was a page behind a candidate, or not."""
        host = self._features.host_number(url)
        self._reached = grown(self._reached, host + 1)
        if self._reached[host]:
            return
        # A starting point is where somebody knew that there is a page.
        if len(self._features.rows.row(candidate)):
            self._tried += 1
            self._there += alive
        self._reached[host] = alive

    def estimate(self) -> None:
        """Take in what was learned."""
        examples = self._features.examples
        alive = examples.labels["alive"]
        if alive and (all(alive) or not any(alive)):
            # Nothing to tell links apart by: one more of the other kind is about to come.
            self.model.bias = native.log_of(len(alive) + 1.0) * (1.0 if alive[0] else -1.0)
        self.model.step(examples, alive)
        self._strange = native.log_of((self._there + 1.0) / (self._tried + 1.0))
        self._known = self._reached.copy()
        self.forget()

    def forget(self) -> None:
        """Drop what was worked out on the way."""
        self._last = (None, 0, self._last[2])

    def log_chances(self, ids: Ids) -> Floats:
        """The logarithm of each candidate's chance. Factors ask for the same candidates one after the
        other: the last answer is kept for the next."""
        asked, rows, found = self._last
        if asked is ids and rows == self._features.rows.rows:
            return found
        odds = self._features.rows.sums(ids, self.model.weights) + self.model.bias
        found = -native.logaddexp(np.zeros(len(odds)), -odds)
        if self._strange < 0.0:
            hosts = self._features.hosts_of(ids)
            strange = np.ones(len(ids), np.bool_)
            met = hosts < len(self._known)
            strange[met] = ~self._known[hosts[met]]
            found[strange] += self._strange
        self._last = (ids, self._features.rows.rows, found)
        return found
