"""The arithmetic of degrees: what AND, OR, atleast and weights make of numbers between 0 and 1.

Three semantics. `minmax` is possibilistic: AND is the least degree, OR the greatest. `product` treats terms
as independent: AND multiplies, OR is the chance that one holds. `weighted` lets the terms of AND make up
for each other: it is their geometric mean. Weights follow Fagin and Wimmers' rule in each, which turns any
rule for a group into one for a weighted group and changes nothing when all weights are equal. No result
depends on the order of the terms, not even in its last bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise

from clew import native

Rule = Callable[[Sequence[float]], float]


class Semantics(ABC):
    """How degrees combine. NOT is 1 - x in each."""

    name: str

    @abstractmethod
    def conj(self, degrees: Sequence[float]) -> float:
        """AND."""

    @abstractmethod
    def disj(self, degrees: Sequence[float]) -> float:
        """OR."""

    @abstractmethod
    def atleast(self, count: int, votes: Sequence[tuple[float, int]]) -> float:
        """At least `count` of the votes; each is (degree, how many it counts as)."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class MinMax(Semantics):
    """AND = min, OR = max, atleast(k) = the k-th largest degree."""

    name = "minmax"

    def conj(self, degrees: Sequence[float]) -> float:
        return min(degrees)

    def disj(self, degrees: Sequence[float]) -> float:
        return max(degrees)

    def atleast(self, count: int, votes: Sequence[tuple[float, int]]) -> float:
        left = count
        for degree, number in sorted(votes, reverse=True):
            left -= number
            if left <= 0:
                return degree
        return 0.0


class Product(Semantics):
    """AND = x·y, OR = x + y - x·y, atleast(k) = the chance that k hold, if x is the chance of each."""

    name = "product"

    def conj(self, degrees: Sequence[float]) -> float:
        return math.prod(sorted(degrees))

    def disj(self, degrees: Sequence[float]) -> float:
        return 1.0 - math.prod(sorted([1.0 - degree for degree in degrees]))

    def atleast(self, count: int, votes: Sequence[tuple[float, int]]) -> float:
        chance = {0: 1.0}  # number of votes so far (no more than `count`) -> how likely
        for degree, number in sorted(votes):
            after: dict[int, float] = {}
            for have, p in chance.items():
                reached = min(count, have + number)
                after[reached] = after.get(reached, 0.0) + p * degree
                after[have] = after.get(have, 0.0) + p * (1.0 - degree)
            chance = after
        return min(1.0, chance.get(count, 0.0))


class WeightedMean(MinMax):
    """AND = the geometric mean, in which terms make up for each other, but not for one that is 0; OR = max;
    atleast(k) = the mean of the k largest.

    >>> WeightedMean().conj([0.8, 0.2])
    0.4
    """

    name = "weighted"

    def conj(self, degrees: Sequence[float]) -> float:
        if min(degrees) == 0.0:
            return 0.0
        if len(degrees) == 2:
            return min(max(degrees), max(min(degrees), math.sqrt(math.prod(degrees))))
        logs = native.left_sum([native.log_of(degree) for degree in sorted(degrees)])
        return min(max(degrees), max(min(degrees), native.exp_of(logs / len(degrees))))

    def atleast(self, count: int, votes: Sequence[tuple[float, int]]) -> float:
        best = [degree for degree, number in sorted(votes, reverse=True) for _ in range(min(number, count))]
        return self.conj(best[:count]) if len(best) >= count else 0.0


SEMANTICS: dict[str, Semantics] = {rule.name: rule for rule in (MinMax(), Product(), WeightedMean())}


def weigh(rule: Rule, weighted: Sequence[tuple[float, float]]) -> float:
    """Apply a rule to (weight, degree) pairs by Fagin and Wimmers' formula.

    With weights w1 ≥ w2 ≥ … that sum to 1 the result is the sum over i of
    i · (w_i - w_(i+1)) · rule(the first i degrees). Equal weights give the plain rule; a term of small
    weight can move the result only a little.

    >>> weigh(min, [(3.0, 1.0), (1.0, 0.0)])
    0.5
    """
    ordered = sorted(weighted, reverse=True)
    if ordered[0][0] == ordered[-1][0]:
        return rule([degree for _, degree in ordered])
    total = native.left_sum([weight for weight, _ in ordered])
    weights = [weight / total for weight, _ in ordered] + [0.0]
    degrees = [degree for _, degree in ordered]
    result = 0.0
    for size, (here, after) in enumerate(pairwise(weights), 1):
        if here > after:
            result += size * (here - after) * rule(degrees[:size])
    return min(1.0, max(0.0, result))
