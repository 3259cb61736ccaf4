"""A baseline of one's own: the page that most links seen so far lead to comes first.

[project.entry-points."clew.strategies"]
backlink-count = "backlink_count:BacklinkCount"

After Cho, Garcia-Molina and Page, *Efficient Crawling Through URL Ordering* (1998). A baseline is a strategy
that an experiment compares others with: `baseline = "backlink-count"` in its file, as in `fables.toml`.
"""

import json

import numpy as np

from clew.strategy import Expansion, Setup, Strategy
from clew.strategy.base import Scored


class BacklinkCount(Strategy):
    """The number of fetched pages that link to a candidate."""

    name = "backlink-count"
    parts = ("backlinks",)

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}

    @classmethod
    def build(cls, setup: Setup) -> "BacklinkCount":
        return cls()

    def seeds(self, keys):
        return np.zeros((len(keys), 1))

    def score(self, expansion: Expansion):
        counts = [self.counts.get(number, 0) for number in expansion.ids.tolist()]
        return np.array(counts, np.float64).reshape(-1, 1)

    def observe(self, expansion: Expansion) -> Scored:
        # Of candidates that are queued already the greater of two scores counts, which is the later one here.
        for number in expansion.ids.tolist():
            self.counts[number] = self.counts.get(number, 0) + 1
        return Scored(self.score(expansion))

    def state(self) -> str:
        return json.dumps(list(self.counts.items()))

    def restore(self, state: str) -> None:
        self.counts = dict(json.loads(state)) if state else {}
