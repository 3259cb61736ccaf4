"""A strategy of one's own: the shortest URL first.

[project.entry-points."clew.strategies"]
short-first = "short_first:ShortFirst"

clew crawl --strategy short-first --option slope=2 …
"""

import numpy as np

from clew.strategy import Expansion, Setup, Strategy
from clew.strategy.options import NumberOption


class ShortFirst(Strategy):
    """Minus `slope` × the length of a link's URL."""

    name = "short-first"
    parts = ("length",)
    options = {"slope": NumberOption(0.1, 10.0)}  # noqa: RUF012

    def __init__(self, slope: float = 1.0) -> None:
        self.slope = slope

    @classmethod
    def build(cls, setup: Setup) -> "ShortFirst":
        return cls(**setup.options)

    def seeds(self, keys):
        return np.zeros((len(keys), 1))

    def score(self, expansion: Expansion):
        lengths = [-self.slope * len(target) for target in expansion.links.targets]
        return np.array(lengths, np.float64).reshape(-1, 1)
