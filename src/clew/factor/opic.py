"""`opic`: how much a candidate counts by the links that lead to it, from where the crawl began and from
finds.

Not in the paper, whose order before the first find is random. What sets lucky crawls apart from unlucky
ones of the same case is a list that both had in their frontier within a few requests, on the site they
began at, and that the unlucky one never fetched: it went on into ever smaller corners (`tools/luck.py`).
Such a list is linked from pages near the start that have few links, or from many pages.
"""

from __future__ import annotations

import numpy as np

from clew import native
from clew.factor.base import EvidenceTerm, FactorSpec
from clew.factor.link_graph import Floats, Ids
from clew.factor.url_depth import Bold

#: How far below and above the mean a candidate may be, in logarithms: a corner is to be left, but a page that
#: everybody links to is no better than one that many do.
_LEAST, _MOST = -2.0, 0.7


class Opic(Bold):
    """log of a candidate's cash over the mean of those that pages led to, within bounds, times the boldness.

    Abiteboul, Preda and Cobena, "Adaptive on-line page importance computation", 2003: every starting point
    has cash of 1, and a page that is fetched hands all it has to the pages it links to, in equal shares.
    Here a find has 1 more to give, so that much comes to a page to which many finds link. During a harvest
    it is silent.
    """

    spec = FactorSpec(
        name="opic",
        prior=1.0,
        defaults=frozenset({"learned"}),
        early=1.0,
        early_by_formula=True,
        explores=True,
    )
    KEPT = ("recent", "_bold", "_mean")

    _mean = 0.0

    def estimate(self) -> None:
        super().estimate()
        graph = self.state.graph
        # Of those that pages led to: what sitemaps and visitors tell of may come to be known at another time.
        cash = graph.cash[: graph.size]
        cash = cash[graph.open[: graph.size] & (cash > 0.0)]
        self._mean = float(cash.sum()) / max(1, len(cash))

    def evidence(self, ids: Ids) -> Floats:
        if self._mean <= 0.0:
            return np.zeros(len(ids))
        share = native.log(np.maximum(self.state.graph.cash[ids] / self._mean, 1e-3))
        return np.asarray(self._bold * np.minimum(np.maximum(share, _LEAST), _MOST), np.float64)

    def support(self, ids: Ids) -> Floats:
        return self.state.graph.inlinks[ids].astype(np.float64)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        links = float(self.state.graph.inlinks[candidate])
        value = float(self.evidence(np.array([candidate]))[0])
        return [EvidenceTerm("how much it counts by the links to it", value, links)] if value else []
