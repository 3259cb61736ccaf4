"""`Reestimate`: the degrees that another focus has on the links of all candidates, worked out piece by piece.

A strategy that is to seek something else has to be taught all that happened again, which takes a while. Until
then the frontier is worth what can be told at once: what was learned before, and what the new focus makes of
each candidate's link. Whoever drives the crawl asks for one piece after another, and does other things
between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from clew.frontier.queue import Frontier
from clew.page import Links
from clew.predicate.verdict import Predicate

LinksOf = Callable[[NDArray[np.int64]], tuple[Sequence[str], Sequence[str]]]
"""Gives the URLs of candidates, and the texts of the links they were found by."""

_PIECE = 4096


class Reestimate:
    """Degrees of a focus on candidates' links, by number; so far of those below `done`.

    Parameters: the focus; the frontier, which is read, not changed; what gives the links of candidates.
    """

    def __init__(self, focus: Predicate, frontier: Frontier, links_of: LinksOf) -> None:
        self.focus = focus
        self.degrees: NDArray[np.float64] = np.zeros(frontier.count)
        self.done = 0
        self._frontier = frontier
        self._links_of = links_of

    def __repr__(self) -> str:
        return f"Reestimate({self.focus.text()!r}, {self.done} of {self._frontier.count} candidates)"

    def step(self, until: int | None = None) -> bool:
        """Work out another piece of all candidates, or of those below a number; False when there is none."""
        count = self._frontier.count
        first, last = self.done, min(self.done + _PIECE, count if until is None else until)
        if first >= last:
            return False
        if last > len(self.degrees):
            self.degrees = np.concatenate([self.degrees, np.zeros(count - len(self.degrees))])
        urls, texts = self._links_of(np.arange(first, last))
        blank = ("",) * len(urls)
        links = Links("", tuple(urls), tuple(texts), blank, blank, blank)
        self.degrees[first:last] = self.focus.estimate_links(links)
        self.done = last
        return True
