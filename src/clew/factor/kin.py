"""Kin: how many of the pages that link to a candidate are finds. Not in the paper, whose link ratio is a
share of all links there are: it speaks against the links of the first find until some were followed."""

from __future__ import annotations

import numpy as np

from clew.factor.base import Tallied, Term
from clew.factor.interest import log_ratio
from clew.factor.memory import Floats, Ids


class Kin(Tallied):
    """The share of finds among the linking pages, over their share among all: like links to like."""

    name = "kin"

    def evidence(self, ids: Ids) -> Floats:
        if self._rate <= 0.0:
            return np.zeros(len(ids))
        memory = self.sources.memory
        links, good = memory.view(ids).links.astype(np.float64), memory.good_inlinks[ids].astype(np.float64)
        # Smoothed even when nothing else is: most candidates have one linking page, and it is no sure sign.
        return log_ratio(links, good, self._rate, max(self.sources.how.smoothing, 1.0))

    def support(self, ids: Ids) -> Floats:
        return self.sources.memory.inlinks[ids].astype(np.float64)

    def terms(self, candidate: int) -> list[Term]:
        memory = self.sources.memory
        links, good = float(memory.inlinks[candidate]), float(memory.good_inlinks[candidate])
        if not links:
            return []
        value = float(self.evidence(np.array([candidate]))[0])
        return [Term(f"{good:g} of {links:g} linking pages satisfy", value, links, good, 0.0)]
