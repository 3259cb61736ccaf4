"""`breadth-first`: nearest to the seeds first, the oldest first among equals."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from clew.strategy.base import Capabilities, Expansion, Setup, Strategy


class BreadthFirst(Strategy):
    """A link is worth minus its distance from the seeds."""

    name = "breadth-first"
    parts: tuple[str, ...] = ("depth",)
    capabilities = Capabilities(throws=False)

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls()

    def seeds(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        return np.zeros((len(keys), 1))

    def score(self, expansion: Expansion) -> NDArray[np.float64]:
        return np.full((len(expansion.ids), 1), -float(expansion.depth + 1))
