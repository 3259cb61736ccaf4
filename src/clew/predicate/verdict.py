"""`Verdict`, what a predicate says of a page, and `Predicate`, anything that says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from clew.page import Links, Page


@dataclass(frozen=True, slots=True)
class Verdict:
    """A degree in [0, 1], whether it is enough, and the terms behind it.

    >>> Verdict(0.8, True, ('"wind farm" 1.0', 'lang:en 0.8')).satisfied
    True
    """

    score: float
    satisfied: bool
    reasons: tuple[str, ...] = ()
    """One entry a term, most telling first: the term as text, a space, its degree; for a topic, the stems
    that gave it."""
    each: tuple[tuple[str, Verdict], ...] = field(default=(), repr=False)
    """Where several interests judge: the verdict of each, by name."""

    @property
    def interests(self) -> tuple[str, ...]:
        """The interests that are satisfied, by name; empty where there is one without a name."""
        return tuple([name for name, verdict in self.each if verdict.satisfied])


@runtime_checkable
class Predicate(Protocol):
    """What the user wants: a formula, a classifier, a callable of their own."""

    def judge(self, page: Page) -> Verdict:
        """Say how far a fetched page satisfies it."""
        ...

    def estimate_links(self, links: Links) -> Sequence[float]:
        """Guess, from anchor text and URL alone, how far each link's target would; 0 where it cannot tell."""
        ...

    def text(self) -> str:
        """The predicate as text, for the record and for reproducing a crawl."""
        ...
