"""`focused`: a link is worth its source page's relevance, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from clew.strategy.base import Expansion, Unlearned
from clew.strategy.options import Option


class Focused(Unlearned):
    """Soft focus (Chakrabarti, van den Berg, Dom 1999): score = the degree of the page a link stands on.

    A page linked from several is worth the best of them; among equals the oldest comes first. Seeds are
    worth as much as links of a perfect page.
    """

    name = "focused"
    parts: tuple[str, ...] = ("source",)
    options: Mapping[str, Option] = {}

    def seeds(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        return np.ones((len(keys), 1))

    def score(self, expansion: Expansion) -> NDArray[np.float64]:
        return np.full((len(expansion.ids), 1), expansion.verdict.score)
