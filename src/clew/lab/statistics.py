"""Is the difference real? Paired permutation tests, Holm's correction, bootstrap intervals.

The unit is the topic: what is compared are the means of a topic over its seed sets, pair by pair. Runs that
share a topic are alike, and counting each of them would make chance look like evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

#: Up to this many pairs every assignment of signs is tried; beyond, a sample of them.
EXACT = 16
_ROUNDS = 20_000
_SLACK = 1e-12

Floats = NDArray[np.float64]


def sign_flip(differences: Sequence[float], seed: int = 0, rounds: int = _ROUNDS) -> float:
    """Two-sided p-value of a paired permutation test: how often random signs give as large a mean.

    Exact for up to 16 pairs; beyond, by sampling, the observed signs counted in, so that p is never 0.

    >>> sign_flip([1.0, 1.0, 1.0])
    0.25
    """
    values = np.array([d for d in differences if d != 0.0], np.float64)
    if not len(values):
        return 1.0
    observed = abs(values.sum())
    bar = observed - _SLACK * float(np.abs(values).sum())
    if len(values) <= EXACT:
        return float((np.abs(_all_sums(values)) >= bar).mean())
    rng = np.random.default_rng(seed)
    hits = 0
    for start in range(0, rounds, 1000):
        signs = rng.integers(0, 2, (min(1000, rounds - start), len(values))) * 2.0 - 1.0
        hits += int((np.abs((signs * values).sum(axis=1)) >= bar).sum())
    return (hits + 1) / (rounds + 1)


def _all_sums(values: Floats) -> Floats:
    """The sum under each of the 2ⁿ assignments of signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """p-values corrected for their number by Holm's step-down method, under the same names.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    order = sorted(p_values, key=lambda name: p_values[name])
    corrected: dict[str, float] = {}
    highest = 0.0
    for rank, name in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[name]))
        corrected[name] = highest
    return {name: corrected[name] for name in p_values}


def interval(
    values: Sequence[float], seed: int = 0, level: float = 0.95, rounds: int = 10_000
) -> tuple[float, float]:
    """A bootstrap interval of the mean (percentile method), the same one for the same seed.

    >>> interval([0.5, 0.5, 0.5])
    (0.5, 0.5)
    """
    data = np.array(values, np.float64)
    if not len(data):
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    means = data[rng.integers(0, len(data), (rounds, len(data)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
