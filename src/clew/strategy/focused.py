"""`focused`: a link is worth its source page's relevance, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew.strategy.base import Expansion, Setup, Strategy
from clew.strategy.features import TIES, tie_breaks
from clew.strategy.options import Option


class Focused(Strategy):
    """Soft focus (Chakrabarti, van den Berg, Dom 1999): score = the degree of the page a link stands on.

    A page linked from several is worth the best of them. Among equals the dice choose, or, with
    `ties="age"`, the oldest comes first. Seeds are worth as much as links of a perfect page.
    """

    name = "focused"
    parts: tuple[str, ...] = ("source", "dice")
    options: ClassVar[Mapping[str, Option]] = {"ties": TIES}

    def __init__(self, seed: int = 0, *, ties: str = "dice") -> None:
        self.seed = seed
        self.ties = ties

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls(setup.seed, **setup.options)

    def seeds(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        return self._parts(1.0, keys)

    def score(self, expansion: Expansion) -> NDArray[np.float64]:
        return self._parts(expansion.verdict.score, expansion.keys)

    def _parts(self, degree: float, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        parts = np.full((len(keys), 2), degree)
        parts[:, 1] = tie_breaks(self.ties, keys, self.seed)
        return parts
