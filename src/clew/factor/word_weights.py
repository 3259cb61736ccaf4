"""Ratios of a whole table of words or tokens: what content, URL and anchor factors share."""

from __future__ import annotations

import numpy as np

from clew.factor.base import EvidenceTerm, LearningState, strongest
from clew.factor.interest import significance, significant
from clew.factor.link_graph import Floats
from clew.knowledge import Table
from clew.learn.checkpoint import KeptAttributes

#: Words whose ratios are worked out in one go.
_PIECE = 8192


class WordWeights(KeptAttributes):
    """The significant log ratio of each word of a table, as of the last `estimate`."""

    KEPT = ("_of",)

    def __init__(self, state: LearningState, name: str) -> None:
        self.state = state
        self.name = name
        self.table: Table = getattr(state.knowledge, name)
        self._of: Floats = np.zeros(0)

    @property
    def of(self) -> Floats:
        """By word number. A word met since the last estimate weighs nothing yet."""
        if len(self._of) < len(self.table):
            self._of = np.concatenate([self._of, np.zeros(len(self.table) + 256 - len(self._of))])
        return self._of

    def estimate(self) -> None:
        rate = self.state.rate
        if rate <= 0.0:
            self._of = np.zeros(len(self.table))
            return
        seen, hits = self.state.counts(self.name)
        base, how = self.state.base, self.state.how
        # Piece by piece: what is made on the way stays in the processor's cache, and small.
        self._of = np.empty(len(seen))
        for at in range(0, len(seen), _PIECE):
            part = slice(at, at + _PIECE)
            self._of[part] = significant(seen[part], hits[part], rate, base, how)

    def terms(self, numbers: list[int]) -> list[EvidenceTerm]:
        """The weighing words among some, strongest first."""
        weights = self.of
        telling = [i for i in numbers if weights[i] != 0.0]
        if not telling:
            return []
        seen, hits = (counts[telling] for counts in self.state.counts(self.name))
        strength = significance(seen, hits, self.state.rate, self.state.base)
        return strongest(
            [
                EvidenceTerm(self.table.names[i], float(weights[i]), float(s), float(h), float(z))
                for i, s, h, z in zip(telling, seen, hits, strength, strict=True)
            ]
        )
