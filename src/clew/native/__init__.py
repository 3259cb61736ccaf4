"""Loops over texts, rows of numbers and hashes, compiled if a compiler was at hand when clew was installed.

Texts and arrays move through here and come out as folded texts or numbers. The invariant: every compiled
function has a twin in `clew.native.pure` that gives the same to the last bit, so that a crawl is the same
crawl without them, only slower. Which of the two is called is decided here, once: the twins where nothing was
compiled, or where the environment says `CLEW_PURE=1`. With `CLEW_REQUIRE_NATIVE=1`, for checks of a build,
what was not compiled is an ImportError.

`exp`, `log`, `log1p`, `tanh` and `logaddexp` of arrays (of one number: `exp_of` and so on) and `left_sum` are
for whatever decides a crawl: those of numpy, of the C library and of Python give other last bits on other
processors and in other versions.
"""

from __future__ import annotations

import contextlib
import operator
import os
from collections.abc import Callable, Iterable
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from clew.native import pure
from clew.native import pure as _loops

__all__ = [
    "COMPILED",
    "best",
    "exp",
    "exp_of",
    "find",
    "flat",
    "gathered",
    "left_sum",
    "log",
    "log1p",
    "log1p_of",
    "log_of",
    "logaddexp",
    "sketch",
    "solved",
    "sums",
    "tanh",
    "tanh_of",
]

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Items = NDArray[np.int32]
Keys = NDArray[np.uint64]

#: What is passed over where there was no compiler when clew was installed; nothing where that is an error.
_MISSING = () if os.environ.get("CLEW_REQUIRE_NATIVE") == "1" else (ImportError,)

if os.environ.get("CLEW_PURE") != "1":
    with contextlib.suppress(*_MISSING):
        from clew.native import _compiled as _loops  # type: ignore[no-redef]

COMPILED = _loops is not pure
"""Whether the compiled part is in use."""

flat: Callable[[str, NDArray[np.uint16], list[tuple[int, int]]], tuple[str, int]] = _loops.flat
"""The folded words of a text between blanks, and their number, by a table of what becomes of a character.
Lines with characters of which the table does not say it are left blank, and the list takes where they begin
and end."""
best: Callable[[int, int, Items, Ids, Floats, NDArray[np.uint8], Floats], int] = _loops.best
"""The best entry of a host that still holds: of the first so many of a buffer of hosts, candidates and
scores, by the candidates' states and scores; see `clew.frontier.sorted_runs`."""
sketch: Callable[[bytes, int, int], bytes] = _loops.sketch
"""The similarity sketch of the words of a text in UTF-8; see `clew.parse.similar`."""
exp_of: Callable[[float], float] = _loops.exp_of
"""e to the power of one number."""
log_of: Callable[[float], float] = _loops.log_of
"""The natural logarithm of one number."""
log1p_of: Callable[[float], float] = _loops.log1p_of
"""log(1 + x) of one number."""
tanh_of: Callable[[float], float] = _loops.tanh_of
"""The hyperbolic tangent of one number."""


def exp(x: Floats) -> Floats:
    """e to the power of each number, the same bits on every processor.

    >>> exp(np.array([0.0, -np.inf])).tolist()
    [1.0, 0.0]
    """
    found = np.empty(x.shape)
    _loops.exp(np.ascontiguousarray(x), found)
    return found


def log(x: Floats) -> Floats:
    """The natural logarithm of each number, the same bits on every processor.

    >>> log(np.array([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    found = np.empty(x.shape)
    _loops.log(np.ascontiguousarray(x), found)
    return found


def log1p(x: Floats) -> Floats:
    """log(1 + x) of each number, the same bits on every processor.

    >>> log1p(np.array([0.0, 1e-300])).tolist()
    [0.0, 1e-300]
    """
    found = np.empty(x.shape)
    _loops.log1p(np.ascontiguousarray(x), found)
    return found


def tanh(x: Floats) -> Floats:
    """The hyperbolic tangent of each number to 2^-52, the same bits on every processor.

    >>> tanh(np.array([0.0, -np.inf])).tolist()
    [0.0, -1.0]
    """
    found = np.empty(x.shape)
    _loops.tanh(np.ascontiguousarray(x), found)
    return found


def logaddexp(a: Floats, b: Floats) -> Floats:
    """log(e^a + e^b) of each pair, the same bits on every processor.

    >>> logaddexp(np.array([-np.inf]), np.array([2.0])).tolist()
    [2.0]
    """
    found = np.empty(a.shape)
    _loops.logaddexp(np.ascontiguousarray(a), np.ascontiguousarray(b), found)
    return found


def find(keys: Keys, ids: Items, wanted: Keys) -> Ids:
    """The number of each wanted key in a hash table of two arrays, those of `clew.url.index`; -1 for none."""
    found = np.empty(len(wanted), np.int64)
    _loops.find(keys, ids, np.ascontiguousarray(wanted), found)
    return found


def sums(starts: Ids, items: Items, rows: Ids, weights: Floats) -> Floats:
    """Of each row the sum of the weights of its items, from first to last; 0 for rows beyond the last.

    >>> starts, items = np.array([0, 2, 3]), np.array([1, 1, 0], np.int32)
    >>> sums(starts, items, np.array([0, 1, 2]), np.array([4.0, 0.5])).tolist()
    [1.0, 4.0, 0.0]
    """
    found = np.empty(len(rows))
    _loops.sums(starts, items, np.ascontiguousarray(rows, np.int64), weights, found)
    return found


def solved(matrix: Floats, target: Floats) -> Floats:
    """x with matrix · x = target, for a symmetric positive definite matrix, by elimination; the same bits on
    every processor, which numpy's own does not promise.

    >>> solved(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])).round(6).tolist()
    [0.090909, 0.636364]
    """
    found = np.empty(len(target))
    # Of more the compiled loop would not add up in numpy's order.
    loops = _loops if len(target) <= 128 else pure
    loops.solved(np.ascontiguousarray(matrix), np.ascontiguousarray(target), found)
    return found


def gathered(to: Ids | Items, of: Ids | Items, values: Floats, size: int) -> Floats:
    """Of each of `size` places the sum of the values whose place it is, from first to last: the product of a
    sparse matrix with a vector.

    >>> to, of = np.array([[0, 1, 0], [1, 1, 0]], np.int32)
    >>> gathered(to, of, np.array([1.0, 2.0]), 3).tolist()
    [3.0, 2.0, 0.0]
    """
    found = np.empty(size)
    places = np.ascontiguousarray(to, np.int32), np.ascontiguousarray(of, np.int32)
    _loops.gathered(*places, np.ascontiguousarray(values), found)
    return found


def left_sum(values: Iterable[float]) -> float:
    """The sum from first to last, rounded after each: `sum` has done otherwise since Python 3.12.

    >>> left_sum([1e16, 1.0, -1e16])
    0.0
    """
    return reduce(operator.add, values, 0.0)
