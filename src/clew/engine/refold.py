"""`Refold`: a strategy that is taught all that happened once more, before it takes the place of another.

What was learned is a fold over lessons (`clew.engine.learning`). With another focus or other weights it is
the same fold over the same lessons, by a fresh strategy; and what its links were worth on the way is what the
open frontier is worth by it. Whoever drives the crawl makes the lessons anew, from the archive.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew.engine.learning import Lesson, teach, teach_many
from clew.frontier.queue import Frontier
from clew.messages import Rescore, State
from clew.predicate.verdict import Predicate
from clew.strategy.base import Expansion, Strategy, totals

Terms = NDArray[np.float64]


class Refold:
    """A fresh strategy, what it seeks, and the worth of candidates as it has it so far.

    Parameters: the strategy, with nothing learned yet; its focus; the frontier, which is read, not changed.
    """

    def __init__(self, strategy: Strategy, focus: Predicate, frontier: Frontier) -> None:
        self.strategy = strategy
        self.focus = focus
        self._frontier = frontier
        count = frontier.count
        seeds = (frontier.sources[:count] < 0) & (frontier.depths[:count] == 0)
        self._terms: Terms = np.zeros((count, len(strategy.parts)))
        self._terms[seeds] = strategy.seeds(frontier.keys[:count][seeds])
        self._told = seeds
        """Which candidates something was said of."""
        self._met = int(seeds.nonzero()[0].max(initial=-1)) + 1

    def __repr__(self) -> str:
        return f"Refold({self.strategy.name}, {int(self._told.sum())} of {len(self._told)} candidates)"

    @property
    def met(self) -> int:
        """How many candidates it has been told of; numbers follow each other."""
        return self.strategy.met if self.strategy.capabilities.meets else self._met

    def teach(self, lessons: Sequence[Lesson]) -> None:
        """Take in what happened next: a batch of pages, or one lesson of candidates no judged page led to."""
        if lessons[0].met:
            taught = [teach(self.strategy, lesson) for lesson in lessons]
        else:
            taught = teach_many(self.strategy, lessons)
        moved = [one.moved for one in taught if one.moved is not None]
        for some in moved:
            self._set(some.ids, some.terms)
        for lesson, one in zip(lessons, taught, strict=True):
            self._file(lesson, one.terms)
        if len(lessons) > 1:
            fresh = np.concatenate([lesson.expansion.ids[lesson.expansion.fresh] for lesson in lessons])
            for some in moved if len(fresh) else ():
                late = some.ids >= fresh.min()
                self._set(some.ids[late], some.terms[late])

    def _set(self, ids: NDArray[np.int64], terms: Terms) -> None:
        self._reserve(ids)
        self._terms[ids] = terms
        self._told[ids] = True
        self._met = max(self._met, int(ids.max(initial=-1)) + 1)

    def _file(self, lesson: Lesson, terms: Terms | None) -> None:
        expansion = lesson.expansion
        ours = expansion.ids >= 0
        if not ours.any():
            return
        ids = expansion.ids[ours]
        self._reserve(ids)
        terms = (self._unmet(expansion) if terms is None else terms)[ours]
        told = self._told[ids]
        better = told & (totals(terms) > totals(self._terms[ids]))
        # What a redirect leads to and was not known then came later, by other ways.
        better |= expansion.fresh[ours] if lesson.met else expansion.fresh[ours] | ~told
        self._set(ids[better], terms[better])

    def open(self) -> Rescore:
        """What the candidates that may still be fetched are worth by it; of others nothing is told, and what
        was never met keeps the worth it has."""
        self._reserve(np.array([self._frontier.count - 1]))
        states = self._frontier.states[: len(self._told)]
        waiting = (states == State.QUEUED) | (states == State.LEASED)
        ids = np.flatnonzero(waiting & self._told)
        return Rescore(ids, self._terms[ids], saved=not self.strategy.capabilities.relearns)

    def _unmet(self, expansion: Expansion) -> Terms:
        """Worth of candidates that no judged page led to, by a strategy that does not know its candidates: a
        redirect's target is worth what led there, a sitemap's entry what a link of an empty page is."""
        if expansion.source < 0:
            return self.strategy.score(expansion)
        self._reserve(np.array([expansion.source]))
        return np.repeat(self._terms[expansion.source][None], len(expansion.ids), axis=0)

    def _reserve(self, ids: NDArray[np.int64]) -> None:
        """The crawl may go on meanwhile."""
        more = (int(ids.max()) + 1 if len(ids) else 0) - len(self._told)
        if more > 0:
            self._terms = np.concatenate([self._terms, np.zeros((more, self._terms.shape[1]))])
            self._told = np.concatenate([self._told, np.zeros(more, np.bool_)])
