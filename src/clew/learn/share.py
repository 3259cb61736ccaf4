"""`Share`: a probability by what was counted, and the interval it lies in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

LEVEL = 0.9
"""Of intervals: so many of them hold the truth."""
NORMAL = round(NormalDist().inv_cdf((1 + LEVEL) / 2), 6)
"""So many deviations to either side make an interval of that level."""


def wilson(found: int, of: int) -> tuple[float, float]:
    """The interval of a share of which a sample is known (Wilson 1927).

    >>> low, high = wilson(45, 50)
    >>> round(low, 3), round(high, 3)
    (0.808, 0.95)
    """
    if of == 0:
        return 0.0, 1.0
    share, squared = found / of, NORMAL * NORMAL / of
    middle = (share + squared / 2) / (1 + squared)
    half = math.sqrt(share * (1 - share) * squared + squared * squared / 4) / (1 + squared)
    return 0.0 if found == 0 else middle - half, 1.0 if found == of else middle + half


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many.

    >>> Share(45, 50).value
    0.9
    """

    hits: int
    of: int

    @property
    def value(self) -> float:
        """The share; 0 where nothing was counted."""
        return self.hits / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Its interval."""
        return wilson(self.hits, self.of)

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        low, high = self.interval
        return {"hits": self.hits, "of": self.of, "value": self.value, "low": low, "high": high}
