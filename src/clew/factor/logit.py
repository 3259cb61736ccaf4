"""A logistic regression over features that is never quite finished: each estimate takes one step more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.factor.link_features import WIDTH, Examples
from clew.factor.link_graph import Floats

#: The penalty on squared weights: one feature alone, seen a few times, moves the odds by about two.
_RIDGE = 1.0
#: The constant term is as good as free.
_FREE = 0.01
_ROUNDS = 6
#: No example's log odds move further than this in one step: far from the optimum the curve is deceptive.
_STRIDE = 4.0


class Logit:
    """Weights of features and a constant, the log odds of an outcome; one Newton step an estimate.

    Steps begin where the last one ended, so that after a few pages the regression is where it should be, and
    follows from then on.
    """

    def __init__(self) -> None:
        self.weights: Floats = np.zeros(WIDTH)
        self.bias = 0.0
        self._compact: Floats = np.zeros(0)

    def step(self, examples: Examples, outcomes: Sequence[bool] | Floats) -> None:
        """One step towards what the examples say, yes, no or how much; nothing while all agree."""
        y = np.array(outcomes, np.float64)
        if not y.any() or y.all():
            return
        matrix = _Matrix(examples)
        w = np.zeros(examples.width + 1)
        w[: len(self._compact)] = self._compact
        w[-1] = self.bias
        p = 1.0 / (1.0 + native.exp(-np.clip(matrix.times(w), -30.0, 30.0)))
        step = matrix.solve(np.maximum(p * (1.0 - p), 1e-3), matrix.back(y - p) - matrix.ridge * w)
        longest = float(np.abs(matrix.times(step)).max())
        w += step / max(1.0, longest / _STRIDE)
        self._compact, self.bias = w[:-1], float(w[-1])
        self.weights[examples.columns[: examples.width]] = self._compact


class _Matrix:
    """The examples with a column of ones at the end."""

    def __init__(self, examples: Examples) -> None:
        self.items, self.owners = examples.items, examples.owners
        self.height, self.width = len(examples), examples.width
        self.ridge = np.append(np.full(self.width, _RIDGE), _FREE)

    def times(self, w: Floats) -> Floats:
        return np.asarray(gathered(self.owners, self.items, w, self.height) + w[-1], np.float64)

    def back(self, r: Floats) -> Floats:
        return np.append(gathered(self.items, self.owners, r, self.width), r.sum())

    def solve(self, curve: Floats, target: Floats) -> Floats:
        """x with (Xᵀ diag(curve) X + ridge) x = target, nearly, by conjugate gradients."""
        scale = self.back(curve) + self.ridge
        x, rest = np.zeros_like(target), target.copy()
        way = rest / scale
        size = dot(rest, way)
        goal = 1e-3 * size
        for _ in range(_ROUNDS):
            if size <= goal:
                break
            there = self.back(curve * self.times(way)) + self.ridge * way
            length = size / dot(way, there)
            x += length * way
            rest -= length * there
            scaled = rest / scale
            before, size = size, dot(rest, scaled)
            way = scaled + (size / before) * way
        return x


def gathered(to: NDArray[np.int32], of: NDArray[np.int32], values: Floats, size: int) -> Floats:
    """Of each of `size` places, the sum of the values whose place it is, from first to last.

    >>> to, of = np.array([[0, 1, 0], [1, 1, 0]], np.int32)
    >>> gathered(to, of, np.array([1.0, 2.0]), 3).tolist()
    [3.0, 2.0, 0.0]
    """
    if native.gathered is None:
        return summed(to, of, values, size)
    found = np.empty(size)
    native.gathered(to, of, np.ascontiguousarray(values), found)
    return found


def summed(to: NDArray[np.int32], of: NDArray[np.int32], values: Floats, size: int) -> Floats:
    """`gathered` in numpy, where nothing is compiled: counting adds up one after the other."""
    return np.asarray(np.bincount(to, values[of], size), np.float64)


def dot(a: Floats, b: Floats) -> float:
    """The product of two vectors, added up in an order that depends on their length alone.

    numpy's own product is that of the library below it, whose order depends on the processor, and for long
    vectors on how many of them there are.

    >>> dot(np.ones(30_001), np.full(30_001, 2.0))
    60002.0
    """
    return float((a * b).sum())
