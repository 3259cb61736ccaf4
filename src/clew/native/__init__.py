"""Loops over texts, rows of numbers and hashes, compiled if a compiler was at hand when clew was installed.

Texts and arrays move through here and come out as folded texts or numbers. The invariant: every function has
a twin in Python that gives the same to the last bit (in `clew.words.cut`, `clew.parse.similar`,
`clew.parse.text`, `clew.parse.html.document`, `clew.predicate.link_estimate`, `clew.predicate.view`,
`clew.url.many`, `clew.url.index`, `clew.frontier.sorted_runs`, `clew.learn.rows`,
`clew.learn.logistic`, `clew.words.forms`), so that a crawl is the same crawl without them, only
slower. Each name is None when it was not compiled, or when the environment says `CLEW_PURE=1`. With
`CLEW_REQUIRE_NATIVE=1`, for checks of a build, what was not compiled is an ImportError.

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

__all__ = [
    "COMPILED",
    "beginning",
    "best",
    "exp",
    "exp_of",
    "find",
    "first_of_each",
    "flat",
    "fold",
    "gathered",
    "hashed",
    "having",
    "joined",
    "left_sum",
    "lines",
    "log",
    "log1p",
    "log1p_of",
    "log_of",
    "logaddexp",
    "sketch",
    "sums",
    "tanh",
    "tanh_of",
]

Floats = NDArray[np.float64]

flat: Callable[..., tuple[str, int] | None] | None = None
"""The folded words of a text between blanks, and their number, by a table of what becomes of a character;
None where the table does not say. Given a list as well, lines with such characters are left blank, and the
list takes where they begin and end."""
sketch: Callable[[bytes, int, int], bytes] | None = None
"""The similarity sketch of the words of a text in UTF-8; see `clew.parse.similar`."""
fold: Callable[[str], str | None] | None = None
"""White space folded to single blanks, blank lines dropped; None where a rare kind needs a closer look."""
best: Callable[..., int] | None = None
"""The best entry of a host that still holds; see `clew.frontier.sorted_runs`."""
find: Callable[..., None] | None = None
"""The numbers of keys in a hash table of two arrays; see `clew.url.index`."""
first_of_each: Callable[..., int] | None = None
"""Rows without what stands in them twice; see `clew.learn.rows`."""
gathered: Callable[..., None] | None = None
"""Products of a sparse matrix with a vector; see `clew.learn.logistic`."""
hashed: Callable[..., int] | None = None
"""The hashes of words between blanks, and where they stand; see `clew.words.forms`."""
beginning: Callable[[str, str], dict[str, int] | None] | None = None
"""The words of a folded text that begin with some letters, counted; see `clew.predicate.view`."""
having: Callable[[tuple[str, ...], tuple[str, ...], list[int]], set[int]] | None = None
"""Which of some texts have certain letters, in any case, those beyond ASCII put into a list instead; see
`clew.predicate.link_estimate`."""
joined: Callable[..., list[str | None]] | None = None
"""The URLs of a page's hrefs, as far as they are known; see `clew.url.many`."""
lines: Callable[[list[str]], list[int]] | None = None
"""Which of some texts are not yet words between single blanks; see `clew.parse.html.document`."""
sums: Callable[..., None] | None = None
"""The sums of the weights of the items of rows; see `clew.learn.rows`."""

_arithmetic = pure

#: What is passed over where there was no compiler when clew was installed; nothing where that is an error.
_MISSING = () if os.environ.get("CLEW_REQUIRE_NATIVE") == "1" else (ImportError,)

if os.environ.get("CLEW_PURE") != "1":
    with contextlib.suppress(*_MISSING):
        from clew.native import _compiled as _arithmetic  # type: ignore[no-redef]
        from clew.native._compiled import (
            beginning,
            best,
            find,
            first_of_each,
            flat,
            fold,
            gathered,
            hashed,
            having,
            joined,
            lines,
            sketch,
            sums,
        )

COMPILED = flat is not None
"""Whether the compiled part is in use."""

exp_of: Callable[[float], float] = _arithmetic.exp_of
"""e to the power of one number."""
log_of: Callable[[float], float] = _arithmetic.log_of
"""The natural logarithm of one number."""
log1p_of: Callable[[float], float] = _arithmetic.log1p_of
"""log(1 + x) of one number."""
tanh_of: Callable[[float], float] = _arithmetic.tanh_of
"""The hyperbolic tangent of one number."""


def exp(x: Floats) -> Floats:
    """e to the power of each number, the same bits on every processor.

    >>> exp(np.array([0.0, -np.inf])).tolist()
    [1.0, 0.0]
    """
    found = np.empty(x.shape)
    _arithmetic.exp(np.ascontiguousarray(x), found)
    return found


def log(x: Floats) -> Floats:
    """The natural logarithm of each number, the same bits on every processor.

    >>> log(np.array([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    found = np.empty(x.shape)
    _arithmetic.log(np.ascontiguousarray(x), found)
    return found


def log1p(x: Floats) -> Floats:
    """log(1 + x) of each number, the same bits on every processor.

    >>> log1p(np.array([0.0, 1e-300])).tolist()
    [0.0, 1e-300]
    """
    found = np.empty(x.shape)
    _arithmetic.log1p(np.ascontiguousarray(x), found)
    return found


def tanh(x: Floats) -> Floats:
    """The hyperbolic tangent of each number to 2^-52, the same bits on every processor.

    >>> tanh(np.array([0.0, -np.inf])).tolist()
    [0.0, -1.0]
    """
    found = np.empty(x.shape)
    _arithmetic.tanh(np.ascontiguousarray(x), found)
    return found


def logaddexp(a: Floats, b: Floats) -> Floats:
    """log(e^a + e^b) of each pair, the same bits on every processor.

    >>> logaddexp(np.array([-np.inf]), np.array([2.0])).tolist()
    [2.0]
    """
    found = np.empty(a.shape)
    _arithmetic.logaddexp(np.ascontiguousarray(a), np.ascontiguousarray(b), found)
    return found


def left_sum(values: Iterable[float]) -> float:
    """The sum from first to last, rounded after each: `sum` has done otherwise since Python 3.12.

    >>> left_sum([1e16, 1.0, -1e16])
    0.0
    """
    return reduce(operator.add, values, 0.0)
