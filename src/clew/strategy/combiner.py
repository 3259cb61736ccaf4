"""`Combiner`: how the factors' evidence becomes one score: weights that balance, given ones, learned ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.factor import FactorSpec
from clew.factor.url_depth import FADING, boldness
from clew.learn.checkpoint import KeptAttributes, require
from clew.learn.logistic import DenseDesign, newton
from clew.strategy.base import totals

Floats = NDArray[np.float64]
_CLIP = 4.0
#: Throws of the dice decide between equals.
_CHANCE = 1e-6
#: How much of chance there is in the order when nothing was found lately, in units of log odds.
_NOISE = 0.2
_LN2 = 0.6931471805599453
#: So many links of a page that leads somewhere are thought of when it is compared with a find at once.
_AHEAD = 5.0
#: What a ratio of 0 contributes (its logarithm is infinite, which no frontier can order): less than anything.
_WORST = -1e9


#: What learned weights keep besides the rows they are fitted to.
_FITTED = ("weights", "bias", "_recent", "_harvest", "_noise", "_scale")


class Combiner(Protocol):
    """Turns rows of log ratios (one column a factor) into rows of contributions that sum to the score."""

    weights: Floats
    """One for each factor; what weighs nothing need not be worked out to be applied."""

    def fit(self, evidence: Floats) -> None:
        """Look at the evidence for all candidates there are; weights change here and nowhere else."""
        ...

    def observe(self, evidence: Floats, satisfied: bool) -> None:
        """The evidence there was for a candidate, and what it turned out to be."""
        ...

    def apply(self, evidence: Floats) -> Floats: ...

    def kept(self) -> dict[str, Any]:
        """What it learned (see `clew.learn.checkpoint`)."""
        ...

    def recall(self, found: Mapping[str, Any]) -> None:
        """Go on with what another kept."""
        ...

    def luck(self, dice: Floats) -> Floats:
        """What throws of the dice (0 to 1) are worth beside the contributions."""
        ...

    def interest(self, contributions: Sequence[float], rate: float) -> float:
        """How many times as likely as chance, which has this rate, they make a find."""
        ...


class FixedWeights(KeptAttributes):
    """Weights given by the user; all one gives the product of the ratios (eq. 4)."""

    KEPT = ("weights",)

    def __init__(self, factors: tuple[str, ...], weights: Mapping[str, float]) -> None:
        self.weights = np.array([weights.get(name, 1.0 if not weights else 0.0) for name in factors])

    def fit(self, evidence: Floats) -> None:
        return None

    def observe(self, evidence: Floats, satisfied: bool) -> None:
        return None

    def apply(self, evidence: Floats) -> Floats:
        return _weighed(evidence, self.weights)

    def luck(self, dice: Floats) -> Floats:
        return dice * _CHANCE

    def interest(self, contributions: Sequence[float], rate: float) -> float:
        return weighted_ratio(contributions, self.weights.tolist())


class BalancedWeights(FixedWeights):
    """Section 3.6: every factor weighs the same when averaged over the candidates there are now.

    A weight is 1 over the mean absolute log ratio; a factor that is silent everywhere weighs nothing. Between
    two fits the weights are used as fixed ones.
    """

    def __init__(self, factors: tuple[str, ...]) -> None:
        super().__init__(factors, {})

    def fit(self, evidence: Floats) -> None:
        if not len(evidence):
            return
        size = _size(np.abs(evidence))
        self.weights = np.divide(1.0, size, out=np.zeros(len(size)), where=size > 1e-12)


class LearnedWeights:
    """Weights by logistic regression of what pages turned out to be on the evidence there was for them.

    Factors that add up many words are scaled to unit size over the candidates there are, and all are cut
    off at four, so that no single ratio can shout the others down. The regression is pulled towards weights
    that did well elsewhere as long as little is known (`pull` pages' worth), forgets slowly (`half` pages),
    and never turns a factor round: a weight below 0 becomes 0, since chance, not sense, makes good evidence
    look bad. The less was found lately, the more of chance there is in the order.

    A page is worth fetching for what it is or for where it leads (`FactorSpec.about_leads`): what that adds
    to the odds of a find is how many more finds than lately the next few links of the page would bring.
    """

    def __init__(self, factors: Sequence[FactorSpec], pull: float = 5.0, half: float = 500.0) -> None:
        self.pull = pull
        self.half = half
        self.start = np.array([factor.prior for factor in factors])
        self.weights = self.start.copy()
        self._sums = np.array([factor.sums_words for factor in factors])
        self._leads = [column for column, factor in enumerate(factors) if factor.about_leads]
        self._recent = 0.0
        self._harvest = 0.0
        self._noise = _NOISE
        self.bias = 0.0
        self._scale = np.ones(len(factors))
        self._rows: list[Floats] = []
        self._outcomes: list[bool] = []

    def kept(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in _FITTED},
            "rows": np.array(self._rows).reshape(len(self._rows), len(self.weights)),
            "outcomes": np.array(self._outcomes, np.bool_),
        }

    def recall(self, found: Mapping[str, Any]) -> None:
        require(len(found["rows"]) == len(found["outcomes"]), "outcomes")
        require(len(found["weights"]) == len(found["_scale"]) == len(self.weights), "weights")
        for name in _FITTED:
            setattr(self, name, found[name])
        self._rows = list(np.ascontiguousarray(found["rows"]))
        self._outcomes = found["outcomes"].tolist()

    def fit(self, evidence: Floats) -> None:
        if len(evidence):
            self._scale = np.where(self._sums, np.maximum(np.sqrt(_size(evidence**2)), 0.3), 1.0)
        self._harvest = self._recent * (1.0 - FADING)
        self._noise = _NOISE * boldness(self._recent) + _CHANCE
        if any(self._outcomes) and not all(self._outcomes):
            self._regress()

    def observe(self, evidence: Floats, satisfied: bool) -> None:
        self._recent = FADING * self._recent + satisfied
        self._rows.append(evidence)
        self._outcomes.append(satisfied)
        if len(self._rows) > 8 * self.half:
            del self._rows[: int(self.half)], self._outcomes[: int(self.half)]

    def apply(self, evidence: Floats) -> Floats:
        found = self._scaled(evidence)
        found *= self.weights
        for column in self._leads:
            found[:, column] = 0.0
        for column in self._leads:
            found[:, column] = self._ahead(evidence[:, column], totals(found) + self.bias)
        return found

    def _ahead(self, leads: Floats, odds: Floats) -> Floats:
        """What it adds to log odds of a find that the page's links have such log odds of being finds."""
        more = 1.0 / (1.0 + native.exp(-np.maximum(leads, -30.0))) - self._harvest
        return native.logaddexp(np.zeros(len(odds)), native.log(_AHEAD * np.maximum(more, 1e-6)) - odds)

    def luck(self, dice: Floats) -> Floats:
        """Gumbel's distribution: with it, the best of many is a draw by their odds."""
        inside = np.minimum(np.maximum(dice, 1e-12), 1.0 - 1e-12)
        return np.asarray(-self._noise * native.log(-native.log(inside)), np.float64)

    def interest(self, contributions: Sequence[float], rate: float) -> float:
        return probability_ratio(math.fsum(contributions), self.bias, rate)

    def _scaled(self, evidence: Floats) -> Floats:
        found: Floats = evidence / self._scale
        np.maximum(found, -_CLIP, out=found)
        return np.minimum(found, _CLIP, out=found)

    def _regress(self) -> None:
        """Fit the weights, from where the last fit ended."""
        x = self._scaled(np.array(self._rows))
        for column in self._leads:
            # No part of the odds of a find, so there is nothing to learn and its weight keeps to the prior.
            x[:, column] = 0.0
        y = np.array(self._outcomes, np.float64)
        age = np.arange(len(y), dtype=np.float64)[::-1]
        trust = native.exp(age * (-_LN2 / self.half))
        design = DenseDesign(np.concatenate([x.T, np.ones((1, len(y)))]))
        w = newton(
            design,
            y,
            np.append(self.weights, self.bias),
            penalty=np.append(np.full(x.shape[1], self.pull), 0.1),
            centre=np.append(self.start, 0.0),
            trust=trust,
            clip=30.0,
            steps=25,
            still=1e-9,
            leap=1.0,
        )
        self.weights = np.maximum(w[:-1], 0.0)
        self.bias = float(w[-1])


def _size(values: Floats) -> Floats:
    """The mean of each column, without what is infinite: that is the absence of a find, not its measure."""
    there = np.isfinite(values)
    total = np.where(there, values, 0.0).sum(axis=0)
    return np.asarray(total / np.maximum(1, there.sum(axis=0)), np.float64)


def _weighed(evidence: Floats, weights: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        found = evidence * weights
    found[..., weights == 0.0] = 0.0
    return np.maximum(found, _WORST, out=found)


def probability_ratio(score: float, bias: float, rate: float) -> float:
    """How many times as likely as chance a logistic score makes a find.

    >>> round(probability_ratio(0.0, math.log(1 / 9), 0.1), 6)
    1.0
    """
    chance = 1.0 / (1.0 + native.exp_of(-min(30.0, max(-30.0, score + bias))))
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
    return native.exp_of(min(700.0, total))
