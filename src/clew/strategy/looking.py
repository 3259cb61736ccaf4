"""Looking at `intelligent` from outside: the naive loop, the true best, whether anything is of interest."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew.factor import Content, Factor, Hub, Memory
from clew.knowledge import Knowledge
from clew.messages import Rescore
from clew.strategy.base import totals
from clew.strategy.random_order import dice
from clew.strategy.weighing import Balanced, Fixed, Learned, Weighing

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

#: Who is audited is a throw of dice of its own.
_AUDIT = 0xA0D17


class Looking:
    """What a strategy with evidence for each candidate can be asked at any time."""

    seed: int
    audit: float
    parts: tuple[str, ...]
    heard: list[Factor]
    memory: Memory
    knowledge: Knowledge
    weighing: Weighing
    _keys: NDArray[np.uint64]
    _found: bool
    _aside: set[int]

    def evaluate(self, ids: Ids) -> Floats:
        """The contributions of candidates as of now, one row each."""
        raise NotImplementedError

    def afresh(self) -> None:
        """Forget what factors have worked out of pages: the next evidence comes from the counts alone."""
        for factor in self.heard:
            if isinstance(factor, Content | Hub):
                factor.forget()

    def one_by_one(self) -> Rescore:
        """Every candidate's worth, worked out for itself in a plain loop: slow, and plainly right."""
        self.afresh()
        ids = np.flatnonzero(self.memory.open[: self.memory.size])
        rows = [self.evaluate(np.array([number]))[0] for number in ids.tolist()]
        return Rescore(ids, np.array(rows).reshape(len(ids), len(self.parts)), saved=False)

    def set_aside(self, ids: Ids) -> None:
        """These candidates are not at hand for now: they are not scored anew."""
        ids = ids[ids < self.memory.size]
        ids = ids[self.memory.open[ids]]
        self.memory.open[ids] = False
        self._aside.update(ids.tolist())

    def take_back(self, ids: Ids) -> Rescore:
        """These are at hand again, worth what they are worth by now."""
        back = [number for number in ids.tolist() if number in self._aside]
        self._aside.difference_update(back)
        known = np.array(back, np.int64)
        self.memory.open[known] = True
        return Rescore(known, self.evaluate(known), saved=False)

    def audits(self, candidate: int) -> bool:
        """Whether the choice of this candidate is to be checked; the same ones for the same seed."""
        if self.audit <= 0.0 or candidate >= self.memory.size or not self.memory.open[candidate]:
            return False
        return bool(dice(self._keys[candidate : candidate + 1], self.seed + _AUDIT)[0] < self.audit)

    def review(self, ids: Ids) -> Floats:
        """Scores worked out anew; not a number for candidates of which nothing is known."""
        self.afresh()
        found = np.full(len(ids), np.nan)
        known = ids < self.memory.size
        known[known] = self.memory.open[ids[known]]
        found[known] = totals(self.evaluate(ids[known]))
        return found

    def interest(self, parts: tuple[float, ...]) -> float:
        """How many times as likely as chance a candidate with these contributions is to be a find."""
        if not self._found:
            return math.inf
        if isinstance(self.weighing, Learned):
            return probability_ratio(math.fsum(parts[:-1]), self.weighing.bias, self.knowledge.rate)
        assert isinstance(self.weighing, Balanced | Fixed)
        return weighted_ratio(parts[:-1], self.weighing.weights.tolist())


def probability_ratio(score: float, bias: float, rate: float) -> float:
    """How many times as likely as chance a logistic score makes a find.

    >>> round(probability_ratio(0.0, math.log(1 / 9), 0.1), 6)
    1.0
    """
    chance = 1.0 / (1.0 + math.exp(-min(30.0, max(-30.0, score + bias))))
    return chance / rate if rate > 0.0 else math.inf


def weighted_ratio(parts: Sequence[float], weights: Sequence[float]) -> float:
    """The interest ratio that weighted log ratios come to: their product for weights of one, else the
    geometric mean by weight.

    >>> round(weighted_ratio((math.log(2), math.log(3)), (1.0, 1.0)), 6)
    6.0
    """
    total = math.fsum(parts)
    if any(weight != 1.0 for weight in weights):
        total /= math.fsum(weights) or 1.0
    return math.exp(min(700.0, total))
