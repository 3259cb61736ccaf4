"""`Factor`: one reason to like a link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clew.factor.interest import Estimation
from clew.factor.memory import Floats, Ids, Memory
from clew.knowledge import TABLES, Knowledge, LinkTypes, Table


@dataclass(frozen=True, slots=True)
class Seen:
    """The outcome of one fetch, as factors learn from it."""

    candidate: int
    satisfied: bool
    parents: tuple[int, ...]
    """Slots of the fetched pages that link to it."""
    words: NDArray[np.int64]
    """Numbers (in `knowledge.words`) of its distinct words."""
    tokens: NDArray[np.int64]
    """Numbers (in `knowledge.tokens`) of the tokens of its URL."""
    anchors: NDArray[np.int64]
    """Numbers (in `knowledge.anchors`) of the words of anchors that point to it."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word, token or count behind a factor's evidence."""

    text: str
    log_ratio: float
    seen: float
    """Pages it was seen on: the support."""
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


class Inherited:
    """What an earlier crawl knew, aligned with the words of this one, and how far it is believed.

    It counts as at most `trust` pages. It is believed in full as long as this crawl's harvest is what the
    earlier knowledge promises, and less the more it falls short: knowledge of another subject promises
    finds that do not come, and is soon outvoted.
    """

    def __init__(self, earlier: Knowledge, own: Knowledge, trust: float) -> None:
        self.scale = min(1.0, trust / earlier.pages) if earlier.pages else 0.0
        self.known = earlier.discounted(self.scale)
        self.belief = 1.0
        self._numbers = {name: getattr(own, name).numbers(getattr(self.known, name).names) for name in TABLES}

    def judge(self, own: Knowledge) -> None:
        """Compare what this crawl found with what was to be expected."""
        rate = self.known.rate
        if rate > 0.0:
            self.belief = min(1.0, (own.satisfied + 1.0) / (own.pages + 1.0 / rate) / rate)

    def counts(self, name: str, size: int) -> tuple[Floats, Floats]:
        """(seen, hits) by this crawl's word numbers, as far as they are believed."""
        seen, hits = np.zeros(size), np.zeros(size)
        table: Table = getattr(self.known, name)
        n = len(table)
        seen[self._numbers[name]] = table.seen[:n] * self.belief
        hits[self._numbers[name]] = table.hits[:n] * self.belief
        return seen, hits


@dataclass(slots=True)
class Sources:
    """What every factor reads: counts (this crawl's and earlier ones'), memory, and how to estimate."""

    knowledge: Knowledge
    memory: Memory
    how: Estimation
    inherited: Inherited | None = None

    @property
    def pages(self) -> float:
        """N_t."""
        more = self.inherited
        return self.knowledge.pages + (more.known.pages * more.belief if more else 0.0)

    @property
    def satisfied(self) -> float:
        """N_c."""
        more = self.inherited
        return self.knowledge.satisfied + (more.known.satisfied * more.belief if more else 0.0)

    @property
    def rate(self) -> float:
        """P(C)."""
        return self.satisfied / self.pages if self.pages else 0.0

    @property
    def links(self) -> LinkTypes:
        more = self.inherited
        return self.knowledge.links.plus(more.known.links, more.belief) if more else self.knowledge.links

    @property
    def base(self) -> float:
        """What the deviation of eq. 6 and 9 is taken over."""
        return self.satisfied if self.how.deviation == "satisfying" else self.pages

    def counts(self, name: str) -> tuple[Floats, Floats]:
        """(seen, hits) of a table, by word number."""
        table: Table = getattr(self.knowledge, name)
        n = len(table)
        seen, hits = table.seen[:n], table.hits[:n]
        if self.inherited is None:
            return seen, hits
        more = self.inherited.counts(name, n)
        return seen + more[0], hits + more[1]


def strongest(terms: list[Term]) -> list[Term]:
    """Terms in order of the strength of their ratio."""
    return sorted(terms, key=lambda term: (-abs(term.log_ratio), term.text))
