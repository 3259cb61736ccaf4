"""Ratios of a whole table of words or tokens: what content, URL and anchor factors share."""

from __future__ import annotations

import numpy as np

from clew.factor.base import Sources, Term, strongest
from clew.factor.interest import significance, significant
from clew.factor.memory import Floats
from clew.knowledge import Table


class Weights:
    """The significant log ratio of each word of a table, as of the last `estimate`."""

    def __init__(self, sources: Sources, table: Table) -> None:
        self.sources = sources
        self.table = table
        self._of: Floats = np.zeros(0)

    @property
    def of(self) -> Floats:
        """By word number. A word met since the last estimate weighs nothing yet."""
        if len(self._of) < len(self.table):
            self._of = np.concatenate([self._of, np.zeros(len(self.table) + 256 - len(self._of))])
        return self._of

    def estimate(self) -> None:
        n = len(self.table)
        rate = self.sources.knowledge.rate
        if not rate > 0.0:
            self._of = np.zeros(n)
            return
        self._of = significant(
            self.table.seen[:n], self.table.hits[:n], rate, self.sources.base, self.sources.how
        )

    def terms(self, numbers: list[int]) -> list[Term]:
        """The weighing words among some, strongest first."""
        known = self.sources.knowledge
        weights = self.of
        telling = [i for i in numbers if weights[i] != 0.0]
        if not telling:
            return []
        seen, hits = self.table.seen[telling], self.table.hits[telling]
        strength = significance(seen, hits, known.rate, self.sources.base)
        return strongest(
            [
                Term(self.table.names[i], float(weights[i]), float(s), float(h), float(z))
                for i, s, h, z in zip(telling, seen, hits, strength, strict=True)
            ]
        )
