"""Counting on where another crawl stopped: its counts beside this crawl's own, each page counted once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clew.factor.link_graph import Floats, Ids
from clew.knowledge import Knowledge, LinkTypes, Table
from clew.learn.checkpoint import require

#: The tables that are counted on.
CARRIED = ("words", "tokens", "anchors")
#: What a page of the earlier crawl counts for beside one of this: new evidence outweighs old.
DISCOUNT = 0.5


class Inherited:
    """The counts of an earlier crawl by this crawl's numbers, added to its own as far as they are trusted.

    A crawl that looks for the same again fetches first what the earlier one found. Counted twice, those
    pages would make every word look like a word of finds; so a page that both have fetched counts as the
    earlier crawl's as far as that is trusted, and as this crawl's else. `trust` changes at estimates only.
    """

    def __init__(self, own: Knowledge, earlier: Knowledge) -> None:
        self.own, self.earlier = own, earlier
        self.trust = 0.0
        self._pages = DISCOUNT * earlier.pages
        self._satisfied = DISCOUNT * earlier.satisfied
        # What full trust adds, by table: never less than nothing together with what this crawl counted.
        self._more: dict[str, tuple[Floats, Floats]] = {}
        for name in CARRIED:
            theirs: Table = getattr(earlier, name)
            numbers, n = getattr(own, name).numbers(theirs.names), len(theirs)
            seen, hits = self._room(name)
            seen[numbers] = DISCOUNT * theirs.seen[:n]
            hits[numbers] = DISCOUNT * theirs.hits[:n]

    def kept(self) -> dict[str, Any]:
        counts = {f"{name} {at}": self._more[name][at] for name in CARRIED for at in range(2)}
        return {"trust": self.trust, "pages": self._pages, "satisfied": self._satisfied, **counts}

    def recall(self, found: Mapping[str, Any]) -> None:
        self.trust, self._pages, self._satisfied = (found[name] for name in ("trust", "pages", "satisfied"))
        for name in CARRIED:
            seen, hits = found[f"{name} 0"], found[f"{name} 1"]
            require(len(seen) == len(hits), "counts of an earlier crawl")
            self._more[name] = (seen, hits)

    def again(self, counted: Mapping[str, Ids], satisfied: bool) -> None:
        """A page was fetched that the earlier crawl counted too; by table, what it counts for."""
        self._pages -= 1.0
        self._satisfied -= satisfied
        for name, numbers in counted.items():
            seen, hits = self._room(name)
            seen[numbers] -= 1.0
            hits[numbers] -= satisfied

    def counts(self, name: str) -> tuple[Floats, Floats]:
        """(seen, hits) of a table, by word number."""
        table: Table = getattr(self.own, name)
        n = len(table)
        if name not in self._more or not self.trust:
            return table.seen[:n], table.hits[:n]
        seen, hits = self._room(name)
        return table.seen[:n] + self.trust * seen[:n], table.hits[:n] + self.trust * hits[:n]

    @property
    def pages(self) -> float:
        return self.own.pages + self.trust * self._pages

    @property
    def satisfied(self) -> float:
        return self.own.satisfied + self.trust * self._satisfied

    @property
    def links(self) -> LinkTypes:
        return self.own.links.plus(self.earlier.links, DISCOUNT * self.trust)

    def _room(self, name: str) -> tuple[Floats, Floats]:
        """The arrays of a table, with room for every word there is by now."""
        size = len(getattr(self.own, name))
        seen, hits = self._more.get(name, (np.zeros(0), np.zeros(0)))
        if len(seen) < size:
            more = np.zeros(size + size // 2 - len(seen))
            seen, hits = np.concatenate([seen, more]), np.concatenate([hits, more])
            self._more[name] = (seen, hits)
        return seen, hits
