"""`parent_relevance`: how many of the pages that link to a candidate are finds.

Not in the paper, whose link ratio is a share of all links there are: it speaks against the links of the first
find until some were followed.
"""

from __future__ import annotations

import numpy as np

from clew.factor.base import EvidenceTerm, FactorSpec, Tallied
from clew.factor.interest import log_ratio
from clew.factor.link_graph import Floats, Ids


class ParentRelevance(Tallied):
    """The share of finds among the linking pages, over their share among all: like links to like."""

    spec = FactorSpec(name="parent_relevance", prior=1.0, defaults=frozenset({"learned"}), aliases=("kin",))
    KEPT = ("_rate",)

    def evidence(self, ids: Ids) -> Floats:
        if self._rate <= 0.0:
            return np.zeros(len(ids))
        graph = self.state.graph
        links, good = graph.view(ids).links.astype(np.float64), graph.good_inlinks[ids].astype(np.float64)
        # Smoothed even when nothing else is: most candidates have one linking page, and it is no sure sign.
        return log_ratio(links, good, self._rate, max(self.state.how.smoothing, 1.0))

    def support(self, ids: Ids) -> Floats:
        return self.state.graph.inlinks[ids].astype(np.float64)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        graph = self.state.graph
        links, good = float(graph.inlinks[candidate]), float(graph.good_inlinks[candidate])
        if not links:
            return []
        value = float(self.evidence(np.array([candidate]))[0])
        return [EvidenceTerm(f"{good:g} of {links:g} linking pages satisfy", value, links, good, 0.0)]
