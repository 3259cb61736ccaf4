"""`Refold`: a strategy that is taught all that happened once more, before it takes the place of another.

What was learned is a fold over lessons (`clew.engine.learning`). With another focus or other weights it is
the same fold over the same lessons, by a fresh strategy; and what its links were worth on the way is what the
open frontier is worth by it. Whoever drives the crawl makes the lessons anew, from the archive.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.engine.learning import Lesson, teach, teach_many
from clew.frontier.queue import Frontier
from clew.messages import Rescore, State
from clew.page import Page
from clew.predicate.interests import Interests
from clew.predicate.verdict import Predicate, Verdict
from clew.strategy.base import Expansion, Strategy, totals
from clew.strategy.candidate_terms import CandidateTerms

Terms = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Learning:
    """What is learned, and from what: a strategy, what is judged, what is sought, and what people said."""

    strategy: Strategy
    predicate: Predicate
    """What is judged: what counts as a find."""
    focus: Predicate
    """What is sought: links are estimated by it, and pages are examples for learning by it."""
    feedback: Mapping[str, bool] = field(default_factory=dict)
    """URLs of pages of which a person said whether they are finds: that stands, whatever a formula says."""
    since: int = 0
    """Decisions up to this one were made when something else was judged."""

    def sought(self, page: Page, verdict: Verdict | None = None) -> Verdict:
        """What a page is an example of; `verdict` is that of `predicate`, where it is at hand."""
        said = self.feedback.get(page.url) if self.feedback else None
        if said is not None:
            return self._said(self.focus, page, said)
        if verdict is not None and self.focus is self.predicate and _is_whole(verdict, self.predicate):
            return verdict
        return self.focus.judge(page)

    def judge(self, page: Page) -> Verdict:
        """Whether a page is a find, and why."""
        said = self.feedback.get(page.url)
        if said is None:
            return self.predicate.judge(page)
        return self._said(self.predicate, page, said, (f"feedback {'yes' if said else 'no'}",))

    def _said(self, by: Predicate, page: Page, said: bool, reasons: tuple[str, ...] = ()) -> Verdict:
        if isinstance(by, Interests):
            return by.said(page, said, reasons)
        return Verdict(float(said), said, reasons)


def _is_whole(verdict: Verdict, predicate: Predicate) -> bool:
    """Whether a verdict says what each interest makes of a page; the trace keeps no more than the best."""
    return bool(verdict.each) or not isinstance(predicate, Interests)


class Refold:
    """A fresh strategy, what it seeks, and the worth of candidates as it has it so far.

    Parameters: what is learned, by which strategy, with nothing learned yet; the frontier, which is read, not
    changed; of which pages the verdict is to be told anew: all of them (None), or these URLs.
    """

    def __init__(
        self, learning: Learning, frontier: Frontier, rejudged: Collection[str] | None = frozenset()
    ) -> None:
        self.learning = learning
        self.strategy = strategy = learning.strategy
        self.rejudged = rejudged
        self.numbers: dict[int, int] = {}
        """Of each page that was judged, by candidate, which page it was: 1 for the first."""
        self.judged: dict[int, tuple[Verdict, bool]] = {}
        """Of pages that are judged anew: the verdict, and whether the page may be shown."""
        self._frontier = frontier
        count = frontier.count
        seeds = (frontier.sources[:count] < 0) & (frontier.depths[:count] == 0)
        self._terms = CandidateTerms(len(strategy.parts), count)
        self._terms.set(seeds.nonzero()[0], strategy.seeds(frontier.keys[:count][seeds]))

    def __repr__(self) -> str:
        told = self._terms.told
        return f"Refold({self.strategy.name}, {int(told.sum())} of {len(told)} candidates)"

    def note_page(self, candidate: int, page: Page, *, shown: bool) -> None:
        """A page that was judged; `shown` is whether it asks for no less. The next in order."""
        self.numbers.setdefault(candidate, len(self.numbers) + 1)
        if self.rejudged is None or page.url in self.rejudged:
            self.judged[candidate] = self.learning.judge(page), shown

    @property
    def met(self) -> int:
        """How many candidates it has been told of; numbers follow each other."""
        return self.strategy.met if self.strategy.capabilities.meets else self._terms.met

    def teach(self, lessons: Sequence[Lesson]) -> None:
        """Take in what happened next: a batch of pages, or one lesson of candidates no judged page led to."""
        if lessons[0].met:
            taught = [teach(self.strategy, lesson) for lesson in lessons]
        else:
            taught = teach_many(self.strategy, lessons)
        moved = [one.moved for one in taught if one.moved is not None]
        for some in moved:
            self._terms.set(some.ids, some.terms)
        for lesson, one in zip(lessons, taught, strict=True):
            self._file(lesson, one.terms)
        if len(lessons) > 1:
            fresh = np.concatenate([lesson.expansion.ids[lesson.expansion.fresh] for lesson in lessons])
            for some in moved if len(fresh) else ():
                late = some.ids >= fresh.min()
                self._terms.set(some.ids[late], some.terms[late])

    def _file(self, lesson: Lesson, terms: Terms | None) -> None:
        expansion = lesson.expansion
        ours = expansion.ids >= 0
        if not ours.any():
            return
        ids = expansion.ids[ours]
        self._terms.reserve(int(ids.max()) + 1)
        terms = (self._unmet(expansion) if terms is None else terms)[ours]
        told = self._terms.told[ids]
        better = told & (totals(terms) > totals(self._terms.rows[ids]))
        # What a redirect leads to and was not known then came later, by other ways.
        better |= expansion.fresh[ours] if lesson.met else expansion.fresh[ours] | ~told
        self._terms.set(ids[better], terms[better])

    def open(self) -> Rescore:
        """What the candidates that may still be fetched are worth by it; of others nothing is told, and what
        was never met keeps the worth it has."""
        self._terms.reserve(self._frontier.count)
        states = self._frontier.states[: len(self._terms.told)]
        waiting = (states == State.QUEUED) | (states == State.LEASED)
        ids = np.flatnonzero(waiting & self._terms.told)
        return Rescore(ids, self._terms.rows[ids], saved=not self.strategy.capabilities.relearns)

    def _unmet(self, expansion: Expansion) -> Terms:
        """Worth of candidates that no judged page led to, by a strategy that does not know its candidates: a
        redirect's target is worth what led there, a sitemap's entry what a link of an empty page is."""
        if expansion.source < 0:
            return self.strategy.score(expansion)
        self._terms.reserve(expansion.source + 1)
        return np.repeat(self._terms.rows[expansion.source][None], len(expansion.ids), axis=0)
