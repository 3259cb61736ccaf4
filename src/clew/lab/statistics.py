"""Is the difference real? Paired permutation tests, Holm's correction, bootstrap intervals.

The unit is the topic: what is compared are the means of a topic over its seed sets, pair by pair. Runs that
share a topic are alike, and counting each of them would make chance look like evidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents:
    """Variances of what a single run's value is made of; None where nothing was repeated to tell it from."""

    dice: float | None
    """Between runs of one case with other dice."""
    starts: float | None
    """Between seed sets of one topic, what dice explain taken off; dice and all where they cannot be told."""
    topics: float | None
    """Between topics, what starts and dice explain taken off."""


def variance_components(values: Mapping[str, Mapping[str, Sequence[float]]]) -> VarianceComponents:
    """How much of the variance of values, by topic and by seed set, is due to dice, starts and topics.

    The nested analysis of variance by unweighted means, which is without bias also where some cases have
    fewer runs than others. What comes out below 0 is 0.

    >>> starts = {"first": [1.0, 3.0], "second": [5.0, 7.0]}
    >>> found = variance_components({"wind": starts, "rain": starts})
    >>> found.dice, found.starts, found.topics
    (2.0, 7.0, 0.0)
    """
    cases = [list(runs) for starts in values.values() for runs in starts.values() if runs]
    dice = _pooled(cases)
    means = [[(_mean(runs), 1 / len(runs)) for runs in starts.values() if runs] for starts in values.values()]
    means = [topic for topic in means if topic]
    between = _pooled([[mean for mean, _ in topic] for topic in means])
    # The mean of a case has the dice's variance over the number of its runs in it.
    thrown = [(len(topic) - 1) * _mean([share for _, share in topic]) for topic in means]
    freedom = sum(len(topic) - 1 for topic in means)
    starts = None if between is None else max(0.0, between - (dice or 0.0) * math.fsum(thrown) / freedom)
    among = _pooled([[_mean([mean for mean, _ in topic]) for topic in means]])
    if among is None:
        return VarianceComponents(dice=dice, starts=starts, topics=None)
    within = [
        (starts or 0.0) / len(topic) + (dice or 0.0) * sum(share for _, share in topic) / len(topic) ** 2
        for topic in means
    ]
    return VarianceComponents(dice=dice, starts=starts, topics=max(0.0, among - _mean(within)))


def _pooled(groups: Sequence[Sequence[float]]) -> float | None:
    """The variance within groups; None where no group has two."""
    freedom = sum(len(group) - 1 for group in groups if group)
    if not freedom:
        return None
    squares = [(value - _mean(group)) ** 2 for group in groups for value in group]
    return math.fsum(squares) / freedom


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def ratio_interval(
    above: Sequence[float], below: Sequence[float], seed: int = 0, level: float = 0.95, rounds: int = 10_000
) -> tuple[float, float]:
    """A bootstrap interval of the ratio of two means over the same units, the same one for the same seed.

    >>> ratio_interval([1.0, 1.0], [2.0, 2.0])
    (0.5, 0.5)
    """
    if not above:
        return float("nan"), float("nan")
    drawn = np.random.default_rng(seed).integers(0, len(above), (rounds, len(above)))
    sums = np.array(below, np.float64)[drawn].sum(axis=1)
    some = sums > 0  # a draw of topics on which nothing was found has no ratio
    if not some.any():
        return float("nan"), float("nan")
    ratios = np.array(above, np.float64)[drawn].sum(axis=1)[some] / sums[some]
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


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
