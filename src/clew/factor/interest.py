"""Interest ratios and their significance: the arithmetic of section 3 of the 2001 paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew import native

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimation:
    """How counts become evidence.

    With `smoothing=0` every number is the paper's formula as printed. Otherwise a ratio is estimated as
    if `smoothing` more pages had been seen that behave like the average, so that no logarithm meets 0.
    """

    smoothing: float = 1.0
    threshold: float = 2.0
    """t: how many standard deviations make a word or token significant (eq. 7, 10)."""
    deviation: Literal["satisfying", "all"] = "satisfying"
    """What the deviation of eq. 6 and 9 is taken over: n(C), as the 2001 paper prints, or N, as the 2002
    paper does."""
    content: Literal["candidate", "inlink"] = "candidate"
    """P(C|Q_i) from the words of crawled pages themselves (eq. 11) or from those of pages linking to them."""
    parents: Literal["mean", "union"] = "mean"
    """Content of a candidate with several parents: the mean of what each page's words say, or, as the paper
    has it, what the words of all of them together say, each counted once."""
    temper: float = 0.5
    """A link ratio over k in-links counts as k to this power of one link's; 1 is the paper's form."""
    reach: float = 4.0
    """How many links away a fetched neighbour still tells something (`neighbour`)."""
    visit_deviation: Literal["all", "satisfying", "own"] = "all"
    """What the deviation of a person's interest is taken over: N, as the 2002 paper prints in eq. 3, n(C), or
    the pages that the person visited."""
    visit_threshold: float = 2.0
    """t of the 2002 paper: how many standard deviations make a person significant (eq. 3, 8)."""
    visit_signature: Literal["definition", "printed"] = "definition"
    """SF_i as eq. 4 defines it, or as section 3 of the 2002 paper estimates it, without the denominator."""
    visit_reach: int = 2
    """n: how many visits before and after a find are its temporal locality."""
    signature_share: float = 0.03125
    """The share of words that signatures are worked out on; 1 takes all."""
    signature_features: Literal["words", "topics", "both"] = "words"
    """What signatures are made of: the words of pages, the topics they are about, or both."""


def log_ratio(seen: Floats, hits: Floats, rate: float, smoothing: float) -> Floats:
    """log I(C, E) = log P(C|E) / P(C) for events seen on `seen` pages, `hits` of them satisfying (eq. 3).

    >>> log_ratio(np.array([15.0]), np.array([9.0]), 0.1, 0.0).round(6).tolist()
    [1.791759]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found = native.log((hits + smoothing * rate) / (seen + smoothing) / rate)
    if smoothing > 0.0:
        return np.asarray(found, np.float64)
    return np.where(seen + smoothing > 0, found, 0.0)


def significance(seen: Floats, hits: Floats, rate: float, pages: float) -> Floats:
    """|P(C|E) − P(C)| in standard deviations (eq. 6): sqrt(P(C)(1 − P(C)) / pages)."""
    deviation = math.sqrt(rate * (1.0 - rate) / pages) if pages > 0 and 0.0 < rate < 1.0 else 0.0
    if deviation == 0.0:
        return np.zeros(len(seen))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(seen > 0, hits / np.maximum(seen, 1e-300), rate)
    return np.abs(share - rate) / deviation


def significant(seen: Floats, hits: Floats, rate: float, pages: float, how: Estimation) -> Floats:
    """Log ratios where they are significant, 0 elsewhere (eq. 7 and 10)."""
    found = log_ratio(seen, hits, rate, how.smoothing)
    strong = significance(seen, hits, rate, pages) >= how.threshold
    return np.where(strong & (seen > 0), found, 0.0)
