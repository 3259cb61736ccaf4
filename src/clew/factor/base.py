"""`Factor`: one reason to like a link."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clew.factor.inherited import Inherited
from clew.factor.interest import Estimation
from clew.factor.marks import Marks
from clew.factor.memory import Floats, Ids, Memory
from clew.knowledge import Knowledge, Table


@dataclass(frozen=True, slots=True)
class Seen:
    """The outcome of one fetch, as factors learn from it."""

    candidate: int
    satisfied: bool
    parents: tuple[int, ...]
    """Slots of the fetched pages that link to it, the first of them."""
    words: NDArray[np.int64]
    """Numbers (in `knowledge.words`) of its distinct words."""
    tokens: NDArray[np.int64]
    """Numbers (in `knowledge.tokens`) of the tokens of its URL."""
    anchors: NDArray[np.int64]
    """Numbers (in `knowledge.anchors`) of the words of anchors that point to it."""
    alive: bool = True
    """Whether there was a page."""
    url: str = ""
    """Its address."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word, token or count behind a factor's evidence."""

    text: str
    log_ratio: float
    seen: float
    """Pages it was seen on: the support; 0 where nothing is counted, as for the weight of a regression."""
    hits: float
    significance: float


class Factor(Protocol):
    """Gives the log interest ratio of candidates; learns from outcomes.

    `learn` counts; `estimate` re-reads the counts into ratios; `evidence` uses the ratios and the memory
    as they are and changes nothing. So between two calls of `estimate`, the evidence for a candidate
    changes only if something about that candidate does.
    """

    name: str

    def learn(self, seen: Seen) -> None: ...

    def estimate(self) -> None: ...

    def evidence(self, ids: Ids) -> Floats: ...

    def support(self, ids: Ids) -> Floats:
        """How many observations stand behind the evidence; 0 means it is silent."""
        ...

    def terms(self, candidate: int) -> list[Term]:
        """What the evidence for one candidate consists of, strongest first."""
        ...


@dataclass(slots=True)
class Sources:
    """What every factor reads: counts, memory, how to estimate, what an earlier crawl knew, links' marks."""

    knowledge: Knowledge
    memory: Memory
    how: Estimation
    earlier: Knowledge | None = None
    marks: Marks = field(default_factory=Marks)
    inherited: Inherited | None = None

    @property
    def known(self) -> Knowledge | Inherited:
        """What there is to go by: this crawl's counts, and those it counts on in."""
        return self.inherited or self.knowledge

    @property
    def rate(self) -> float:
        """P(C)."""
        known = self.known
        return known.satisfied / known.pages if known.pages else 0.0

    @property
    def chance(self) -> float:
        """P(C); while nothing was found, the most that it can well be."""
        known = self.known
        return self.rate if known.satisfied else 1.0 / (known.pages + 1.0)

    @property
    def base(self) -> float:
        """What the deviation of eq. 6 and 9 is taken over."""
        known = self.known
        return known.satisfied if self.how.deviation == "satisfying" else known.pages

    def marked(self, candidate: int, weights: Floats) -> list[Term]:
        """What the marks of a candidate weigh in a regression over marks, of those that weigh anything."""
        names = self.marks.names
        row = self.marks.rows.row(candidate).tolist()
        return [Term(names[i], float(weights[i]), 0.0, 0.0, 0.0) for i in row if i in names and weights[i]]

    def counts(self, name: str) -> tuple[Floats, Floats]:
        """(seen, hits) of a table, by word number."""
        if self.inherited is not None:
            return self.inherited.counts(name)
        table: Table = getattr(self.knowledge, name)
        n = len(table)
        return table.seen[:n], table.hits[:n]


def strongest(terms: list[Term]) -> list[Term]:
    """Terms in order of the strength of their ratio."""
    return sorted(terms, key=lambda term: (-abs(term.log_ratio), term.text))


class Tallied:
    """The half of a factor whose counts are the memory's, candidate by candidate: only P(C) is its own."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._rate = 0.0

    def learn(self, seen: Seen) -> None:
        """There is nothing to add up here."""

    def estimate(self) -> None:
        self._rate = self.sources.chance
