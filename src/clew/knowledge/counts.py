"""`Knowledge`: the counts a crawl learns from; the 2001 paper's K, items 1 to 8.

It is a commutative monoid: `merge` adds, the empty knowledge is its identity, and `delta` is what one
has more than another. So shards can exchange what they learned, and a later crawl can begin with what
an earlier one knew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clew.learn.checkpoint import require
from clew.learn.counts import Table

#: The tables, by name, with what a row of each counts pages by.
TABLES: dict[str, str] = {
    "words": "a word on the page itself",
    "inlinks": "a word on a page that links to it",
    "tokens": "a token of its URL",
    "anchors": "a word of an anchor that points to it",
    "hub_features": "a feature of a link to a page; hits are how far such pages led to finds",
    "places": "the address of the page",
    "hubs": "the address of a page; hits are how far it led to finds",
}

#: Names that tables had before: files written with them are still read.
FORMER_TABLES: dict[str, str] = {"hub_features": "ways"}


@dataclass(frozen=True, slots=True)
class LinkTypes:
    """Links with both ends crawled, by whether source and target satisfy the predicate (Table 1)."""

    pp: float = 0.0
    pn: float = 0.0
    np: float = 0.0
    nn: float = 0.0

    @property
    def total(self) -> float:
        return self.pp + self.pn + self.np + self.nn

    def plus(self, other: LinkTypes, sign: float = 1.0) -> LinkTypes:
        return LinkTypes(
            self.pp + sign * other.pp,
            self.pn + sign * other.pn,
            self.np + sign * other.np,
            self.nn + sign * other.nn,
        )

    def scaled(self, factor: float) -> LinkTypes:
        return LinkTypes(self.pp * factor, self.pn * factor, self.np * factor, self.nn * factor)


@dataclass(slots=True, eq=True)
class Knowledge:
    """What a crawl knows about the web with respect to its predicate.

    >>> k = Knowledge(pages=10, satisfied=2)
    >>> k.merge(Knowledge()) == k, k.delta(k) == Knowledge(), k.rate
    (True, True, 0.2)
    """

    pages: float = 0.0
    """N_t, pages crawled."""
    satisfied: float = 0.0
    """N_c, those that satisfy the predicate."""
    links: LinkTypes = field(default_factory=LinkTypes)
    words: Table = field(default_factory=lambda: Table(many=True))
    inlinks: Table = field(default_factory=Table)
    """As long as it is empty, with the numbers of `words`: they are the words of the same pages."""
    tokens: Table = field(default_factory=lambda: Table(many=True))
    anchors: Table = field(default_factory=Table)
    hub_features: Table = field(default_factory=lambda: Table(many=True))
    places: Table = field(default_factory=lambda: Table(many=True))
    hubs: Table = field(default_factory=lambda: Table(many=True))

    def __post_init__(self) -> None:
        if not self.inlinks.names:
            self.inlinks = Table(like=self.words)

    @property
    def rate(self) -> float:
        """P(C), the share of crawled pages that satisfy."""
        return self.satisfied / self.pages if self.pages else 0.0

    def kept(self) -> dict[str, Any]:
        links = self.links
        return {
            "pages": self.pages,
            "satisfied": self.satisfied,
            "links": np.array([links.pp, links.pn, links.np, links.nn]),
            **{name: getattr(self, name) for name in TABLES},
        }

    def recall(self, found: Mapping[str, Any]) -> None:
        require(0.0 <= found["satisfied"] <= found["pages"] < math.inf, "pages")
        require(len(found["links"]) == 4 and np.isfinite(found["links"]).all(), "kinds of links")
        self.pages, self.satisfied = found["pages"], found["satisfied"]
        self.links = LinkTypes(*found["links"].tolist())

    def merge(self, other: Knowledge) -> Knowledge:
        """What both know together; neither is changed."""
        return self._combined(other, 1.0)

    def delta(self, earlier: Knowledge) -> Knowledge:
        """What this knows beyond an earlier state of itself: `earlier.merge(delta) == self`."""
        return self._combined(earlier, -1.0)

    def discounted(self, factor: float) -> Knowledge:
        """Knowledge of fewer pages in unchanged proportions, so that new evidence soon outweighs old."""
        return Knowledge(
            self.pages * factor,
            self.satisfied * factor,
            self.links.scaled(factor),
            *(getattr(self, name).scaled(factor) for name in TABLES),
        )

    def _combined(self, other: Knowledge, sign: float) -> Knowledge:
        return Knowledge(
            self.pages + sign * other.pages,
            self.satisfied + sign * other.satisfied,
            self.links.plus(other.links, sign),
            *(getattr(self, name).plus(getattr(other, name), sign) for name in TABLES),
        )

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(getattr(self, name))} {name}" for name in TABLES)
        share = f"{self.satisfied:g} of {self.pages:g} pages satisfy"
        return f"Knowledge({share}, {self.links.total:g} links, {sizes})"
