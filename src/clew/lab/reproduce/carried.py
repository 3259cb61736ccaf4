"""`Carried`: earlier knowledge as the paper reuses it, which goes on counting where another crawl stopped."""

from __future__ import annotations

from clew.knowledge import TABLES, Knowledge, Table
from clew.strategy import Intelligent


class Carried(Intelligent):
    """The composite with another crawl's counts in place of none (section 5.4).

    `clew crawl --use` does it another way: what an earlier crawl knew stays apart, as a factor of its own,
    believed as far as it keeps its promises. Only this reproduction counts on.
    """

    def take(self, known: Knowledge) -> None:
        """Begin with these counts. Call before the crawl."""
        own = self.knowledge
        own.pages += known.pages
        own.satisfied += known.satisfied
        own.links = own.links.plus(known.links)
        for name in TABLES:
            theirs: Table = getattr(known, name)
            n = len(theirs)
            getattr(own, name).add(theirs.names, theirs.seen[:n], theirs.hits[:n])
        # There is something to go by from the first page on.
        self._found = self._found or known.satisfied > 0
