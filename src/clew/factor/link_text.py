"""`link_text`: what the predicate itself makes of a candidate's anchor and URL.

Not in the paper, whose predicates judge fetched pages only; silent for predicates that cannot be applied to a
link.
"""

from __future__ import annotations

import numpy as np

from clew import native
from clew.factor.base import Discovery, EvidenceTerm, Factor, FactorSpec
from clew.factor.link_graph import Floats, Ids

#: A link that promises all is taken for ten times as likely as chance until the weights are learned.
_FULL = 9.0


class LinkText(Factor):
    """log(1 + 9 d) for a link on whose anchor and URL the predicate has degree d; the best of its links."""

    spec = FactorSpec(
        name="link_text",
        defaults=frozenset({"learned"}),
        early=3.0,
        foreknown=True,
        sums_words=True,
        aliases=("hint",),
    )
    KEPT = ()

    def meet(self, found: Discovery) -> None:
        predicate, graph = self.state.predicate, self.state.graph
        known = found.ids >= 0
        if predicate is not None and known.any():
            graph.reserve(int(found.ids.max()) + 1)
            degrees = np.asarray(predicate.estimate_links(found.links), np.float32)
            np.maximum.at(graph.link_degrees, found.ids[known], degrees[known])

    def evidence(self, ids: Ids) -> Floats:
        return native.log1p(_FULL * self.state.graph.link_degrees[ids].astype(np.float64))

    def support(self, ids: Ids) -> Floats:
        return (self.state.graph.link_degrees[ids] > 0).astype(np.float64)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        degree = float(self.state.graph.link_degrees[candidate])
        if not degree:
            return []
        return [
            EvidenceTerm(
                "the formula on its anchor and URL", native.log1p_of(_FULL * degree), 1.0, degree, 0.0
            )
        ]
