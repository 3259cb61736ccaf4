"""`crawl_depth`: pages a few links from where the crawl began are looked at before those far away.

Not in the paper. A crawl that gives every page's links their turn (`sibling`, before the first find) goes
wherever the newest page leads, since nothing of that was tried yet: a walk into ever smaller corners. This
holds it back, so that the lists near the start get their turns first (docs/lab.md).
"""

from __future__ import annotations

import numpy as np

from clew import native
from clew.factor.base import EvidenceTerm, FactorSpec
from clew.factor.link_graph import Floats, Ids
from clew.factor.url_depth import Bold


class CrawlDepth(Bold):
    """Minus log(1 + links from a starting point to the candidate), until the first find.

    The links are counted along the way on which the candidate was first met. From the first find on it is
    silent: finds may lie far from the start, and there is better to go by.
    """

    spec = FactorSpec(
        name="crawl_depth", prior=1.0, defaults=frozenset({"learned"}), early=1.0, explores=True
    )
    KEPT = ("recent", "_bold")

    def estimate(self) -> None:
        self._bold = 0.0 if self.state.knowledge.satisfied else 1.0

    def evidence(self, ids: Ids) -> Floats:
        if not self._bold:
            return np.zeros(len(ids))
        return -native.log1p(self.state.graph.distances[ids].astype(np.float64))

    def support(self, ids: Ids) -> Floats:
        return np.ones(len(ids))

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        links = int(self.state.graph.distances[candidate])
        value = float(self.evidence(np.array([candidate]))[0])
        far = f"{links} link{'' if links == 1 else 's'} from where the crawl began"
        return [EvidenceTerm(far, value)] if value else []
