"""`best-first`: a link is worth its source page's verdict and what its anchor and URL promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from clew.messages import Rescore
from clew.predicate.verdict import Predicate
from clew.strategy.base import Capabilities, Expansion, Setup, Strategy


class BestFirst(Strategy):
    """Score = `source` × the source page's degree + `hint` × the predicate's degree on anchor and URL.

    A seed is worth as much as the best of links. A page found again from a better place is worth the
    better of the two.
    """

    name = "best-first"
    parts: tuple[str, ...] = ("source", "hint")
    capabilities = Capabilities(throws=False, reweighs=True, reestimates=True)

    def __init__(self, predicate: Predicate, *, source: float = 1.0, hint: float = 1.0) -> None:
        self.focus = predicate
        self.source = source
        self.hint = hint
        # What weighs nothing has left no trace.
        self.capabilities = replace(self.capabilities, reweighs=bool(source and hint))

    @classmethod
    def weight_names(cls) -> tuple[str, ...]:
        return cls.parts

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls(setup.predicate, **setup.weights)

    def seek(self, focus: Predicate) -> None:
        self.focus = focus

    def seeds(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        return np.tile(np.array([self.source, self.hint]), (len(keys), 1))

    def score(self, expansion: Expansion) -> NDArray[np.float64]:
        parts = np.empty((len(expansion.ids), 2))
        parts[:, 0] = self.source * expansion.verdict.score
        parts[:, 1] = np.asarray(self.focus.estimate_links(expansion.links), np.float64) * self.hint
        return parts

    def reweigh(self, weights: Mapping[str, float], waiting: Rescore) -> Rescore:
        other = type(self)(self.focus, **weights)
        ratios = np.array([other.source, other.hint]), np.array([self.source, self.hint])
        terms = waiting.terms / ratios[1] * ratios[0]
        self.source, self.hint, self.capabilities = other.source, other.hint, other.capabilities
        return Rescore(waiting.ids, terms)

    def reestimate(self, degrees: NDArray[np.float64], waiting: Rescore) -> Rescore:
        """The degrees of source pages stay those of the other focus."""
        terms = waiting.terms.copy()
        terms[:, 1] = degrees[waiting.ids] * self.hint
        return Rescore(waiting.ids, terms)
