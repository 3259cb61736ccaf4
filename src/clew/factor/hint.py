"""Hint: what the predicate itself makes of a candidate's anchor and URL. Not in the paper, whose predicates
judge fetched pages only; silent for predicates that cannot be applied to a link."""

from __future__ import annotations

import numpy as np

from clew.factor.base import Seen, Sources, Term
from clew.factor.memory import Floats, Ids

#: A link that promises all is taken for ten times as likely as chance until the weights are learned.
_FULL = 9.0


class Hint:
    """log(1 + 9 d) for a link on whose anchor and URL the predicate has degree d; the best of its links."""

    name = "hint"

    def __init__(self, sources: Sources) -> None:
        self.sources = sources

    def learn(self, seen: Seen) -> None:
        """Nothing to count: the predicate knows."""

    def estimate(self) -> None:
        """Nothing to estimate."""

    def evidence(self, ids: Ids) -> Floats:
        return np.log1p(_FULL * self.sources.memory.hints[ids].astype(np.float64))

    def support(self, ids: Ids) -> Floats:
        return (self.sources.memory.hints[ids] > 0).astype(np.float64)

    def terms(self, candidate: int) -> list[Term]:
        degree = float(self.sources.memory.hints[candidate])
        if not degree:
            return []
        return [Term("the formula on its anchor and URL", float(np.log1p(_FULL * degree)), 1.0, degree, 0.0)]
