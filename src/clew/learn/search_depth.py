"""How many links away the next relevant page is: the distribution of the *search depth* (Hu and Wong).

From a page, its new out-links are searched level by level. A page that a relevant page leads to is irrelevant
with probability P2, one that an irrelevant page leads to with probability P4, and each page has so many new
out-links that their number has the probability generating function G. With q(i) the probability that the
first i levels hold nothing relevant,

    q_irrelevant(0) = 1,  q_irrelevant(i) = G(P4 q_irrelevant(i - 1))
                          q_relevant(i)   = G(P2 q_irrelevant(i - 1))

by the kind of page that is searched from. G(x) = x² is the binary tree of the paper. Where pages may have no
new links, the search may end without a find: then q stays above 0, and quantiles are those of the searches
that come to one.

All of it is products and sums in a fixed order, so that it is the same to the bit everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

Generating = Callable[[float], float]
"""The probability generating function of the number of new out-links of a page."""


def binary(x: float) -> float:
    """Two new links on every page, as in the paper."""
    return x * x


class OutDegrees:
    """A distribution of the number of new out-links, by how many pages had so many: its generating function.

    >>> three = OutDegrees([1, 0, 2])  # one page without, two with two
    >>> three(0.5), three.mean
    (0.5, 1.3333333333333333)
    """

    def __init__(self, counts: Sequence[int]) -> None:
        self.counts = tuple(counts)
        self.pages = sum(self.counts)

    def __repr__(self) -> str:
        return f"OutDegrees({self.pages} pages, {self.mean:.3g} new links each)"

    def __call__(self, x: float) -> float:
        if not self.pages:
            return 1.0
        total = 0.0
        for count in reversed(self.counts):
            total = total * x + count
        return total / self.pages

    @property
    def mean(self) -> float:
        """New out-links of a page."""
        if not self.pages:
            return 0.0
        return sum(number * count for number, count in enumerate(self.counts)) / self.pages


@dataclass(frozen=True, slots=True)
class SearchDepth:
    """The depth at which a search first meets a relevant page; the paper's *crawler confidence*.

    Parameters: P4, that a page is irrelevant which an irrelevant one leads to; of how many links a page has,
    the generating function; P2, where the search starts from a relevant page, or None where it does not.

    >>> of_relevant = SearchDepth(0.999, binary, p2=0.9)
    >>> round(of_relevant.mean(), 3), of_relevant.mode(), of_relevant.quantile(0.9)
    (7.21, 9, 11)
    """

    p4: float
    out_links: Generating = binary
    p2: float | None = None

    def survival(self) -> Iterator[float]:
        """The probability that nothing relevant is met within 1, 2, 3, … levels; without end."""
        first = self.p4 if self.p2 is None else self.p2
        before = 1.0
        while True:
            yield self.out_links(first * before)
            before = self.out_links(self.p4 * before)

    def mass(self, depths: int) -> list[float]:
        """The probabilities of the depths 1, 2, 3, … up to `depths`."""
        found, before = [], 1.0
        for beyond in islice(self.survival(), depths):
            found.append(before - beyond)
            before = beyond
        return found

    def _levels(self, most: int) -> list[float]:
        """`survival` until it moves no more."""
        found: list[float] = []
        for beyond in islice(self.survival(), most):
            if len(found) > 1 and found[-1] - beyond <= 1e-15:
                break
            found.append(beyond)
        return found

    def never(self, most: int = 10_000) -> float:
        """The probability that the search ends without a find."""
        return self._levels(most)[-1]

    def mean(self, most: int = 10_000) -> float:
        """The expected depth, of searches that come to a find."""
        levels = self._levels(most)
        never = levels[-1]
        total = 1.0 - never
        for beyond in levels:
            total += beyond - never
        return total / (1.0 - never) if never < 1.0 else float("inf")

    def mode(self, most: int = 10_000) -> int:
        """The likeliest depth from the second level on."""
        mass = self.mass(len(self._levels(most)))
        return max(range(2, len(mass) + 1), key=lambda depth: mass[depth - 1], default=1)

    def quantile(self, level: float, most: int = 1000) -> int | None:
        """The depth within which a share `level` lies of the searches that come to a find; None where none
        does, or where that is deeper than `most`."""
        levels = self._levels(most)
        never = levels[-1]
        if never >= 1.0 or (len(levels) == most and levels[-2] - never > 1e-6):
            return None
        within = level * (1.0 - never)
        return next(depth for depth, beyond in enumerate(levels, 1) if 1.0 - beyond >= within)
