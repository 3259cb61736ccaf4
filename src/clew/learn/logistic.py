"""Logistic regression: by Newton's method over all examples there are, and by one gradient step an example.

The model is P(y | x) = 1 / (1 + e^-(w·x + b)). `newton` fits it, whatever the rows are made of; the classes
say how it is kept up to date. Sums run in one order, so that the weights are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.learn.checkpoint import require, within
from clew.learn.codec import pack, unpack
from clew.learn.examples import Examples
from clew.learn.rows import joined

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32] | NDArray[np.int64]


class Design(Protocol):
    """The examples as a matrix X, one row an example, one column a weight."""

    def times(self, w: Floats) -> Floats:
        """X w: one number an example."""
        ...

    def back(self, r: Floats) -> Floats:
        """Xᵀ r: one number a weight."""
        ...

    def solve(self, curve: Floats, penalty: Floats, target: Floats) -> Floats:
        """x with (Xᵀ diag(curve) X + diag(penalty)) x = target."""
        ...


def newton(
    design: Design,
    labels: Floats,
    weights: Floats,
    penalty: Floats,
    *,
    centre: Floats | float = 0.0,
    trust: Floats | float = 1.0,
    clip: float = math.inf,
    floor: float = 0.0,
    steps: int = 12,
    flat: float = 0.0,
    still: float = 0.0,
    stride: float = math.inf,
    leap: float = math.inf,
) -> Floats:
    """Weights with the least Σ trust · log loss + ½ Σ penalty · (w - centre)², or some steps towards them.

    Parameters: `design`, the examples; `labels`, 0 to 1; `weights` to begin with; `penalty` and `centre`, one
    a weight; `trust`, one an example; `clip`, log odds beyond this count as this; `floor`, least curvature
    of an example; `steps`, how many at most. It ends before a step when the whole gradient is below `flat`,
    and after one in which no weight moved by `still`. In one step no example's log odds move further than
    `stride`, no weight further than `leap`: far from the optimum the curve is almost flat, and a full step
    would leap beyond all bounds.

    Hastie, Tibshirani and Friedman, "The elements of statistical learning", 2nd ed., section 4.4.1, with the
    ridge of le Cessie and van Houwelingen, "Ridge estimators in logistic regression", 1992.

    >>> design = DenseDesign(np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]))
    >>> labels, start = np.array([1.0, 1.0, 0.0, 0.0]), np.zeros(2)
    >>> newton(design, labels, start, np.ones(2)).round(3).tolist()
    [0.731, -0.179]
    """
    w = weights
    for _ in range(steps):
        p = _chance(design.times(w), clip)
        target = design.back(trust * (labels - p)) - penalty * (w - centre)
        if float(np.abs(target).max(initial=0.0)) < flat:
            break
        step = design.solve(np.maximum(trust * p * (1.0 - p), floor), penalty, target)
        most = float(np.abs(step).max(initial=0.0))
        far = float(np.abs(design.times(step)).max()) if stride < math.inf else 0.0
        w = w + step / max(1.0, far / stride, most / leap)
        if most < still:
            break
    return w


def sigmoid(z: Floats) -> Floats:
    """1 / (1 + e^-z), for any z without overflow.

    >>> sigmoid(np.array([0.0, -1e9])).tolist()
    [0.5, 0.0]
    """
    small = native.exp(-np.abs(z))
    found: Floats = np.where(z >= 0, 1.0, small) / (1.0 + small)
    return found


def _chance(z: Floats, clip: float) -> Floats:
    return sigmoid(z) if clip == math.inf else 1.0 / (1.0 + native.exp(-np.clip(z, -clip, clip)))


class SparseDesign:
    """Rows of columns with value 1, perhaps with a column of ones at the end (`intercept`).

    `solve` is by conjugate gradients: at most `rounds`, until the residual is `tolerance` of what it was,
    `scaled` by the diagonal where columns differ much in how often they occur.
    """

    def __init__(
        self,
        items: Numbers,
        owners: Numbers,
        shape: tuple[int, int],
        *,
        intercept: bool = False,
        rounds: int = 20,
        tolerance: float = 1e-8,
        scaled: bool = False,
    ) -> None:
        self.items, self.owners, self.shape = items, owners, shape
        self.intercept = intercept
        self.rounds, self.tolerance, self.scaled = rounds, tolerance, scaled

    def times(self, w: Floats) -> Floats:
        found = native.gathered(self.owners, self.items, w, self.shape[0])
        return np.asarray(found + w[-1], np.float64) if self.intercept else found

    def back(self, r: Floats) -> Floats:
        found = native.gathered(self.items, self.owners, r, self.shape[1])
        return np.append(found, r.sum()) if self.intercept else found

    def solve(self, curve: Floats, penalty: Floats, target: Floats) -> Floats:
        scale = self.back(curve) + penalty if self.scaled else 1.0
        x, rest = np.zeros_like(target), target.copy()
        way = rest / scale
        size = dot(rest, way)
        goal = self.tolerance * size
        for _ in range(self.rounds):
            if size <= goal:
                break
            there = self.back(curve * self.times(way)) + penalty * way
            length = size / dot(way, there)
            x += length * way
            rest -= length * there
            scaled = rest / scale
            before, size = size, dot(rest, scaled)
            way = scaled + (size / before) * way
        return x


class DenseDesign:
    """A few columns of numbers, given one row a column: sums run along them."""

    def __init__(self, columns: Floats) -> None:
        self.columns = np.ascontiguousarray(columns)

    def times(self, w: Floats) -> Floats:
        found = np.zeros(self.columns.shape[1])
        for column, weight in zip(self.columns, w, strict=True):
            found += column * weight
        return found

    def back(self, r: Floats) -> Floats:
        return np.asarray((self.columns * r).sum(axis=1), np.float64)

    def solve(self, curve: Floats, penalty: Floats, target: Floats) -> Floats:
        matrix, product = np.diag(penalty), np.empty(self.columns.shape)
        for row, weighted in enumerate(self.columns * curve):
            matrix[row] += np.add.reduce(np.multiply(self.columns, weighted, out=product), axis=1)
        return native.solved(matrix, target)


def fit(rows: Sequence[bytes], labels: Floats, width: int, ridge: float = 1.0) -> Floats:
    """Weights (one a column) with the least log loss + `ridge`/2 × their squared length.

    >>> row = [np.array(c, np.int32).tobytes() for c in ([0, 1], [0, 1], [0, 2], [0, 2])]
    >>> weights = fit(row, np.array([1.0, 1.0, 0.0, 0.0]), 3)
    >>> (weights.round(3) + 0.0).tolist()  # + 0.0: a constant of -1e-17 would print as -0.0
    [0.0, 0.675, -0.675]
    """
    columns, owners = joined(rows)
    used, items = np.unique(columns, return_inverse=True)
    design = SparseDesign(items, owners, (len(rows), len(used)))
    penalty = np.full(len(used), ridge)
    weights = np.zeros(width)
    weights[used] = newton(design, labels, np.zeros(len(used)), penalty, flat=1e-6 * max(1, len(rows)))
    return weights


class LogisticRegression:
    """A regression that is never quite finished: each call takes one Newton step more.

    Steps begin where the last one ended, so that after a few examples the regression is where it should be,
    and follows from then on.

    Parameters: `width`, how many columns there may be; `ridge`, the penalty on squared weights (with 1, one
    column alone, seen a few times, moves the odds by about two); `free`, that on the constant: next to none.

    >>> examples, model = Examples(8, "find"), LogisticRegression(8)
    >>> for column in (1, 2, 1, 2):
    ...     examples.add(np.array([0, column], np.int32), find=column == 1)
    >>> model.step(examples, examples.labels["find"])
    >>> bool(model.weights[1] > 0.0 > model.weights[2])
    True
    """

    def __init__(self, width: int, *, ridge: float = 1.0, free: float = 0.01) -> None:
        self.ridge, self.free = ridge, free
        self.weights: Floats = np.zeros(width)
        self.bias = 0.0
        self._compact: Floats = np.zeros(0)

    def kept(self) -> dict[str, Any]:
        # Bit by bit, since a zero may have a sign.
        there = self.weights.view(np.uint64).nonzero()[0]
        return {
            "columns": there,
            "weights": self.weights[there],
            "compact": self._compact,
            "bias": self.bias,
        }

    def recall(self, found: Mapping[str, Any]) -> None:
        require(within(found["columns"], 0, len(self.weights)), "columns of a regression")
        require(len(found["columns"]) == len(found["weights"]), "weights of a regression")
        self.weights[found["columns"]] = found["weights"]
        self._compact, self.bias = found["compact"], found["bias"]

    def step(self, examples: Examples, labels: Sequence[bool] | Floats) -> None:
        """One step towards what the examples say, yes, no or how much; nothing while all agree."""
        y = np.array(labels, np.float64)
        if not y.any() or y.all():
            return
        width = examples.width
        design = SparseDesign(
            examples.items,
            examples.owners,
            (len(examples), width),
            intercept=True,
            rounds=6,
            tolerance=1e-3,
            scaled=True,
        )
        w = np.zeros(width + 1)
        w[: len(self._compact)] = self._compact
        w[-1] = self.bias
        penalty = np.append(np.full(width, self.ridge), self.free)
        w = newton(design, y, w, penalty, clip=30.0, floor=1e-3, steps=1, stride=4.0)
        self._compact, self.bias = w[:-1], float(w[-1])
        self.weights[examples.columns[:width]] = self._compact


class OnlineLogisticRegression:
    """A regression that takes one gradient step an example, each weight at its own pace (AdaGrad).

    Parameters: `width`, how many columns there are; `rate`, how far a first step goes.

    Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", 2011.

    >>> model = OnlineLogisticRegression(8)
    >>> for _ in range(20):
    ...     model.learn([0, 1], 1.0)
    ...     model.learn([0, 2], 0.0)
    >>> bool(model.chance([[0, 1]])[0] > 0.8), bool(model.chance([[0, 2]])[0] < 0.2)
    (True, True)
    """

    __slots__ = ("_squares", "_weights", "rate")

    def __init__(self, width: int, rate: float = 0.5) -> None:
        self.rate = rate
        self._weights = np.zeros(width)
        self._squares = np.zeros(width)

    def chance(self, rows: Sequence[Sequence[int]]) -> Floats:
        """The probability of each row."""
        return sigmoid(self.odds(rows))

    def odds(self, rows: Sequence[Sequence[int]]) -> Floats:
        """The log odds of each row."""
        columns = np.array([column for row in rows for column in row], np.int32)
        owners = np.arange(len(rows)).repeat(np.array([len(row) for row in rows], np.int64))
        return native.gathered(owners, columns, self._weights, len(rows))

    def learn(self, row: Sequence[int], label: float) -> None:
        """Take one step towards an example; the columns of a row are distinct."""
        slope = float(self.chance([row])[0]) - label
        columns = np.array(row, np.int64)
        self._squares[columns] += slope * slope
        self._weights[columns] -= self.rate * slope / np.sqrt(self._squares[columns] + 1e-9)

    def state(self) -> dict[str, str]:
        """As plain data."""
        used = self._squares.nonzero()[0]
        return {
            "columns": pack(used),
            "weights": pack(self._weights[used]),
            "squares": pack(self._squares[used]),
        }

    def restore(self, state: Mapping[str, str]) -> None:
        """The opposite of `state`."""
        used = unpack(state["columns"], np.int64)
        self._weights[:] = 0.0
        self._squares[:] = 0.0
        self._weights[used] = unpack(state["weights"], np.float64)
        self._squares[used] = unpack(state["squares"], np.float64)


def dot(a: Floats, b: Floats) -> float:
    """The product of two vectors, added up in an order that depends on their length alone.

    numpy's own product is that of the library below it, whose order depends on the processor, and for long
    vectors on how many of them there are.

    >>> dot(np.ones(30_001), np.full(30_001, 2.0))
    60002.0
    """
    return float((a * b).sum())
