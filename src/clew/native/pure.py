"""Pure-Python twins of the compiled functions; each returns the same bits.

exp, log and their kin are built from additions, multiplications and divisions alone, which IEEE 754 fixes to
the last bit: the functions of a C library, and numpy's own, differ from one processor to the next.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LN2 = float.fromhex("0x1.62e42fefa39efp-1")
#: The first 28 bits of it, whose product with an exponent is exact, and the rest.
_LN2_HIGH = float.fromhex("0x1.62e42fep-1")
_LN2_LOW = float.fromhex("0x1.f473de6af278fp-30")
_LOG2_E = float.fromhex("0x1.71547652b82fep+0")
#: What is added to it and taken away again comes out rounded.
_WHOLE = float.fromhex("0x1.8p52")
_ROOT_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")
#: 1 / n!, from n = 13 to 2.
_EXP = [1.0 / n for n in (6227020800, 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2)]
#: 2 / n, from n = 23 to 3.
_LOG = [2.0 / n for n in range(23, 2, -2)]


def exp(x: Floats, found: Floats) -> None:
    """Write e to the power of each number to `found`."""
    held = np.where(x > 710.0, 710.0, np.where(x < -746.0, -746.0, x))
    k = (held * _LOG2_E + _WHOLE) - _WHOLE
    r = (held - k * _LN2_HIGH) - k * _LN2_LOW
    p = np.full(x.shape, _EXP[0])
    for coefficient in _EXP[1:]:
        p = p * r + coefficient
    p = 1.0 + (r + r * r * p)
    nan = np.isnan(x)
    with np.errstate(over="ignore", under="ignore"):
        found[...] = np.where(nan, x, np.ldexp(p, np.where(nan, 0.0, k).astype(np.int32)))


def _log_near(f: Floats) -> Floats:
    """log(1 + f) for f between sqrt(1/2) - 1 and sqrt(2) - 1."""
    s = f / (2.0 + f)
    z, square = s * s, 0.5 * f * f
    r = np.full(f.shape, _LOG[0])
    for coefficient in _LOG[1:]:
        r = r * z + coefficient
    return np.asarray(f - (square - s * (square + r * z)), np.float64)


def log(x: Floats, found: Floats) -> None:
    """Write the natural logarithm of each number to `found`: -inf of 0, nan of less."""
    usual = (x > 0.0) & (x < np.inf)
    m, exponent = np.frexp(np.where(usual, x, 1.0))
    low = m < _ROOT_HALF
    k = (exponent - low).astype(np.float64)
    near = _log_near(np.where(low, m * 2.0, m) - 1.0)
    special = np.where(x == 0.0, -np.inf, np.where(x > 0.0, x, np.nan))
    found[...] = np.where(usual, k * _LN2_HIGH + (near + k * _LN2_LOW), special)


def log1p(x: Floats, found: Floats) -> None:
    """Write log(1 + x) of each number to `found`, exact for small ones too."""
    small = (x > -0.25) & (x < 0.375)
    one = 1.0 + x
    log(one, found)
    between = (x > -1.0) & (x < 2.0**60)
    lost = (np.where(between, x, 0.0) - (np.where(between, one, 1.0) - 1.0)) / np.where(between, one, 1.0)
    found[...] = np.where(small, _log_near(np.where(small, x, 0.0)), np.where(between, found + lost, found))


def tanh(x: Floats, found: Floats) -> None:
    """Write the hyperbolic tangent of each number to `found`."""
    e = np.empty(x.shape)
    with np.errstate(over="ignore"):
        exp(-2.0 * np.abs(x), e)
    t = (1.0 - e) / (1.0 + e)
    found[...] = np.where(x < 0.0, -t, t)


def logaddexp(a: Floats, b: Floats, found: Floats) -> None:
    """Write log(e^a + e^b) of each pair to `found`."""
    equal = a == b
    gap = np.where(equal, 0.0, a) - np.where(equal, 0.0, b)
    less, more = np.empty(gap.shape), np.empty(gap.shape)
    exp(-np.abs(gap), less)
    log1p(less, more)
    apart = np.where(np.isnan(gap), gap, np.where(gap > 0.0, a, b) + more)
    found[...] = np.where(equal, a + _LN2, apart)


def exp_of(x: float) -> float:
    """e to the power of one number."""
    return _one(exp, x)


def log_of(x: float) -> float:
    """The natural logarithm of one number."""
    return _one(log, x)


def log1p_of(x: float) -> float:
    """log(1 + x) of one number."""
    return _one(log1p, x)


def tanh_of(x: float) -> float:
    """The hyperbolic tangent of one number."""
    return _one(tanh, x)


def _one(function: Callable[[Floats, Floats], None], x: float) -> float:
    found = np.empty(1)
    function(np.array([x], np.float64), found)
    return float(found[0])
