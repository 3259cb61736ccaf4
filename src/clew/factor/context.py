"""Context: where and how a candidate was first linked. Not in the paper, which looks at the words of whole
pages and of URLs; a logistic regression over the marks of a link weighs each beside all others."""

from __future__ import annotations

import numpy as np

from clew.factor.base import Seen, Sources, Term, strongest
from clew.factor.logit import Logit
from clew.factor.memory import Floats, Ids


class Context:
    """The sum of the weights of a link's marks: how far they raise the log odds of a find."""

    name = "context"

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.model = Logit()

    def learn(self, seen: Seen) -> None:
        marks = self.sources.marks
        row = marks.rows.row(seen.candidate)
        if len(row):
            marks.examples.add(row, seen.satisfied, seen.alive)

    def estimate(self) -> None:
        examples = self.sources.marks.examples
        self.model.step(examples, examples.satisfied)

    def evidence(self, ids: Ids) -> Floats:
        return self.sources.marks.rows.sums(ids, self.model.weights)

    def support(self, ids: Ids) -> Floats:
        return self.sources.marks.rows.sums(ids, (self.model.weights != 0.0).astype(float))

    def terms(self, candidate: int) -> list[Term]:
        return strongest(self.sources.marked(candidate, self.model.weights))


class Alive(Context):
    """log of the probability that there is a page behind a link at all, from the same marks.

    On some webs most links are dead, and a dead link is never a find: so this is heard before the first find
    too.
    """

    name = "alive"

    def learn(self, seen: Seen) -> None:
        """Its examples are those of `Context`."""

    def estimate(self) -> None:
        examples = self.sources.marks.examples
        self.model.step(examples, examples.alive)

    def evidence(self, ids: Ids) -> Floats:
        odds = super().evidence(ids) + self.model.bias
        return np.asarray(-np.logaddexp(0.0, -odds), np.float64)
