"""Ways: whether a page leads to finds, be it one itself or not. Not in the paper, which values a page for
what it is: there, a list of everything that is wanted is worth as little as any page that is no find."""

from __future__ import annotations

import numpy as np

from clew.factor.base import Seen, Sources, Term, strongest
from clew.factor.kin import Kin
from clew.factor.logit import Logit
from clew.factor.memory import Floats, Ids

#: Links that a page is taken to have beyond those it has: two finds behind two links do not make a list.
_MORE = 5.0
#: What the pages that link to a candidate say of where it leads: a list mostly links back to what names it.
_KIN = 0.5


class Ways:
    """The log odds that a link of the page behind a candidate leads to a find.

    Of every page that was fetched it is known how many of its links were finds so far; a regression over the
    marks of the links that led to such pages foretells it of others.
    """

    name = "ways"

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.model = Logit()
        self._kin = Kin(sources)
        self._slots: list[int] = []
        self._sizes: list[int] = []

    def learn(self, seen: Seen) -> None:
        """Note which page an example is; `context`, which comes before, has made it one."""
        marks = self.sources.marks
        if len(marks.rows.row(seen.candidate)):
            self._slots.append(len(self.sources.memory.pages))
            # The oldest examples are forgotten when there are too many.
            del self._slots[: len(self._slots) - len(marks.examples)]

    def estimate(self) -> None:
        self._kin.estimate()
        memory = self.sources.memory
        self._sizes += [len(page.children) for page in memory.pages[len(self._sizes) :]]
        links = np.array(self._sizes, np.float64)[self._slots] + _MORE
        self.model.step(self.sources.marks.examples, memory.child_good[self._slots] / links)

    def evidence(self, ids: Ids) -> Floats:
        marked = self.sources.marks.rows.sums(ids, self.model.weights) + self.model.bias
        return np.asarray(marked + _KIN * self._kin.evidence(ids), np.float64)

    def support(self, ids: Ids) -> Floats:
        return self.sources.marks.rows.sums(ids, (self.model.weights != 0.0).astype(float))

    def terms(self, candidate: int) -> list[Term]:
        named = self.sources.marked(candidate, self.model.weights)
        kin = [
            Term(term.text, _KIN * term.log_ratio, term.seen, term.hits, term.significance)
            for term in self._kin.terms(candidate)
        ]
        return strongest([*named, *kin])
