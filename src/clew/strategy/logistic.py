"""Logistic regression over sparse rows of columns, in numpy: in one go, and one example at a time.

A row is the columns it has, each with value 1, as 32-bit integers; many rows are one array of columns and
one of lengths, so a score is a gather and a sum, and a re-score of everything needs no loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.factor.logit import dot
from clew.strategy.features import pack, unpack

Floats = NDArray[np.float64]
_STEPS = 12
_INNER = 20


def join(rows: Sequence[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Packed rows as (columns of all, number of the row of each column).

    >>> one, two = np.array([3, 4], np.int32).tobytes(), np.array([7], np.int32).tobytes()
    >>> [part.tolist() for part in join([one, two])]
    [[3, 4, 7], [0, 0, 1]]
    """
    columns = np.frombuffer(b"".join(rows), np.int32)
    lengths = np.fromiter(map(len, rows), np.int64, len(rows)) // 4
    return columns, np.repeat(np.arange(len(rows)), lengths)


def sums(numbers: NDArray[np.int64], values: Floats, count: int) -> Floats:
    """The values added up by number, 0 to `count` - 1.

    >>> sums(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [1.0, 0.0, 5.0]
    """
    return np.asarray(np.bincount(numbers, values, count), np.float64)


def sigmoid(z: Floats) -> Floats:
    """1 / (1 + e^-z), for any z without overflow.

    >>> sigmoid(np.array([0.0, -1e9])).tolist()
    [0.5, 0.0]
    """
    small = native.exp(-np.abs(z))
    found: Floats = np.where(z >= 0, 1.0, small) / (1.0 + small)
    return found


def fit(rows: Sequence[bytes], labels: Floats, width: int, ridge: float = 1.0) -> Floats:
    """Weights (one a column) with the least log loss + `ridge`/2 × their squared length.

    Newton steps, each solved by conjugate gradients; the loss is convex, so a dozen are plenty.

    >>> row = [np.array(c, np.int32).tobytes() for c in ([0, 1], [0, 1], [0, 2], [0, 2])]
    >>> weights = fit(row, np.array([1.0, 1.0, 0.0, 0.0]), 3)
    >>> (weights.round(3) + 0.0).tolist()  # + 0.0: a constant of -1e-17 would print as -0.0
    [0.0, 0.675, -0.675]
    """
    columns, numbers = join(rows)
    used, inverse = np.unique(columns, return_inverse=True)
    n, m = len(rows), len(used)
    w = np.zeros(m)

    def forward(v: Floats) -> Floats:
        return sums(numbers, v[inverse], n)

    def backward(r: Floats) -> Floats:
        return sums(inverse, r[numbers], m)

    for _ in range(_STEPS):
        p = sigmoid(forward(w))
        gradient = backward(p - labels) + ridge * w
        if float(np.abs(gradient).max(initial=0.0)) < 1e-6 * max(1, n):
            break
        curve = p * (1.0 - p)
        w = w - _solve(lambda v, c=curve: backward(c * forward(v)) + ridge * v, gradient)
    weights = np.zeros(width)
    weights[used] = w
    return weights


def _solve(product: Any, target: Floats) -> Floats:
    """The x with product(x) = target, nearly, by conjugate gradients."""
    x = np.zeros_like(target)
    rest = target.copy()
    way = rest.copy()
    size = dot(rest, rest)
    goal = 1e-8 * size
    for _ in range(_INNER):
        if size <= goal:
            break
        there = product(way)
        step = size / dot(way, there)
        x += step * way
        rest -= step * there
        old, size = size, dot(rest, rest)
        way = rest + (size / old) * way
    return x


class Online:
    """Logistic regression that takes one step an example (AdaGrad).

    >>> model = Online(8)
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
        columns = np.array([column for row in rows for column in row], np.int64)
        numbers = np.repeat(np.arange(len(rows)), np.array([len(row) for row in rows], np.int64))
        return sums(numbers, self._weights[columns], len(rows))

    def learn(self, row: Sequence[int], label: float) -> None:
        """Take one step towards an example; the columns of a row are distinct."""
        slope = float(self.chance([row])[0]) - label
        columns = np.array(row, np.int64)
        self._squares[columns] += slope * slope
        self._weights[columns] -= self.rate * slope / np.sqrt(self._squares[columns] + 1e-9)

    def state(self) -> dict[str, str]:
        """As plain data."""
        used = np.flatnonzero(self._squares)
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
