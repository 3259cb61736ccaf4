"""How good a crawl was, from the request numbers of its finds."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

Finds = Sequence[int]
"""The request number, from 1, of each find, ascending: the whole find curve, losslessly."""


def area(finds: Finds, budget: int) -> int:
    """The area under the find curve: finds after request 1, 2, … `budget`, summed.

    >>> area([1, 3], 4)  # 1, 1, 2, 2
    6
    """
    return sum(budget - at + 1 for at in finds if at <= budget)


def nauc(finds: Finds, oracle: Finds, budget: int) -> float | None:
    """Area under the find curve ÷ that of the oracle; None where there was nothing to find.

    >>> nauc([2, 4], [1, 2], 4)
    0.5714285714285714
    """
    best = area(oracle, budget)
    return area(finds, budget) / best if best else None


def found(finds: Finds, requests: int) -> int:
    """Finds after that many requests."""
    return bisect_right(finds, requests)


def recall(finds: Finds, reachable: int, budget: int) -> float | None:
    """The share of reachable targets found; None where there was none."""
    return found(finds, budget) / reachable if reachable else None


def requests_to(share: float, finds: Finds, reachable: int, budget: int) -> int | None:
    """Requests until that share of the reachable targets was found; None when it never was.

    >>> requests_to(0.5, [3, 7, 9], 4, 100)
    7
    """
    needed = math.ceil(share * reachable - 1e-9)
    if not reachable or len(finds) < needed:
        return None
    at = finds[needed - 1] if needed else 0
    return at if at <= budget else None


def curve(finds: Finds, budget: int, points: int = 100) -> tuple[tuple[int, int], ...]:
    """(requests, finds) at evenly spaced places, both ends included.

    >>> curve([1, 3], 4, points=2)
    ((0, 0), (2, 1), (4, 2))
    """
    places = sorted({round(budget * i / points) for i in range(points + 1)})
    return tuple((place, found(finds, place)) for place in places)
