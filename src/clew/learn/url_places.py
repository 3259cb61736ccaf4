"""`UrlPlaces`: what pages in the same place of the web were worth, by site, host and directories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from clew.learn.checkpoint import KeptAttributes, require
from clew.learn.hashing import FeatureHasher

Floats = NDArray[np.float64]
Columns = NDArray[np.int32]

#: Levels of a place: whether the link stays on its host, the host, and its first three directories.
LEVELS = 5
_BITS = 18
COLUMNS = 1 << _BITS


class UrlPlaces(KeptAttributes):
    """Means of what pages were worth by the place of their URL, each level shrunk towards the one above it.

    A place is a chain: does the link stay on the host of its page, to which host does it lead, into which
    directories of it. The mean of a level counts what the level above says as `doubt` pages beside its own,
    so that a directory of one page is judged by its host, and a strange host by how strange hosts were.
    Levels are columns by hash.

    Parameters: `doubt`.

    >>> places = UrlPlaces(1.0)
    >>> chains = places.chains("http://a.example/", ["http://a.example/x/1", "http://b.example/"])
    >>> places.learn(chains[0], 0.6), places.learn(chains[1], 0.0)
    (None, None)
    >>> new = places.chains("http://a.example/", ["http://a.example/x/2", "http://a.example/y/2"])
    >>> places.means(new).round(3).tolist(), places.mean
    ([0.562, 0.525], 0.3)
    """

    KEPT: ClassVar[tuple[str, ...]] = ("sums", "counts", "total", "pages")

    def __init__(self, doubt: float) -> None:
        self.doubt = doubt
        self.sums: Floats = np.zeros(COLUMNS)
        self.counts: Floats = np.zeros(COLUMNS)
        self.total = 0.0
        self.pages = 0
        self._hasher = FeatureHasher(_BITS)

    def __repr__(self) -> str:
        return f"UrlPlaces({self.pages} pages, {self.mean:.3g} each)"

    def recall(self, found: Mapping[str, Any]) -> None:
        require(len(found["sums"]) == len(found["counts"]) == COLUMNS, "places by column")
        require((found["counts"] >= 0).all() and found["pages"] >= 0, "pages of places")
        super().recall(found)

    @property
    def mean(self) -> float:
        """What all pages were worth on average."""
        return self.total / self.pages if self.pages else 0.0

    def chains(self, source: str, targets: Sequence[str]) -> Columns:
        """The places of links of a page: for each level 1 + its column, 0 where a URL is not so deep."""
        home = source.partition("://")[2].partition("/")[0]
        known: dict[str, int] = {}
        rows: list[list[int]] = []
        numbers = []
        for target in targets:
            place = target.partition("?")[0].rpartition("/")[0]
            number = known.setdefault(place, len(rows))
            if number == len(rows):
                rows.append(self._chain(place.partition("://")[2], home))
            numbers.append(number)
        return np.array(rows, np.int32).reshape(-1, LEVELS)[numbers]

    def _chain(self, place: str, home: str) -> list[int]:
        host, *directories = place.split("/", LEVELS - 1)
        side = "at home" if host == home else "away"
        names = [side]
        for step in (host, *directories[: LEVELS - 2]):
            names.append(f"{names[-1]}/{step}")
        found = [self._hasher[name] + 1 for name in names]
        return found + [0] * (LEVELS - len(found))

    def learn(self, chain: Columns, worth: float) -> None:
        """A page at a place was worth so much."""
        columns = chain[chain > 0] - 1
        self.sums[columns] += worth
        self.counts[columns] += 1.0
        self.total += worth
        self.pages += 1

    def credit(self, chain: Columns, worth: float) -> None:
        """A page at a place turned out to be worth so much more."""
        self.sums[chain[chain > 0] - 1] += worth

    def means(self, chains: Columns) -> Floats:
        """What to expect of pages at places."""
        found = np.full(len(chains), self.mean)
        for level in range(LEVELS):
            columns = chains[:, level] - 1
            there = np.flatnonzero(columns >= 0)
            column = columns[there]
            found[there] = (self.doubt * found[there] + self.sums[column]) / (
                self.doubt + self.counts[column]
            )
        return found
