"""`cosine`: naive best-first, a link is worth how alike its source page and the topic are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew.learn.centroid import Centroid
from clew.page import Page
from clew.predicate.verdict import Predicate
from clew.strategy.base import Expansion, Scored, Setup, Strategy
from clew.strategy.features import TIES, telling, tie_breaks, topic_words
from clew.strategy.options import ChoiceOption, Option


class Cosine(Strategy):
    """Score = the cosine of the source page's words and the topic's (Cho 1998; Menczer, Pant 2004).

    The topic is the mean of the pages found so far; before the first find, the words the predicate
    wants. With `topic="words"` it stays those words. A link keeps the score of the moment it was found,
    unless it is found again from a better place.
    """

    name = "cosine"
    parts: tuple[str, ...] = ("cosine", "dice")
    options: ClassVar[Mapping[str, Option]] = {"topic": ChoiceOption(("found", "words")), "ties": TIES}

    def __init__(
        self, predicate: Predicate, seed: int = 0, *, topic: str = "found", ties: str = "dice"
    ) -> None:
        self.seed = seed
        self.topic = topic
        self.ties = ties
        self.seek(predicate)
        self.found_ = Centroid()

    def __repr__(self) -> str:
        return f"Cosine({self.topic!r}, found={self.found_!r})"

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls(setup.predicate, setup.seed, **setup.options)

    def seek(self, focus: Predicate) -> None:
        self._wanted = Centroid()
        words = topic_words(focus)
        if words:
            self._wanted.add(dict.fromkeys(words, 1))

    def seeds(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        return self._parts(1.0, keys)

    def score(self, expansion: Expansion) -> NDArray[np.float64]:
        return self._parts(self._likeness(expansion.page), expansion.keys)

    def observe(self, expansion: Expansion) -> Scored:
        if expansion.verdict.satisfied and self.topic == "found":
            counts = telling(expansion.page.text, expansion.page.language)
            if counts:
                self.found_.add(counts)
        return Scored(self.score(expansion))

    def state(self) -> str:
        return json.dumps({"found": self.found_.state()}) if self.found_ else ""

    def restore(self, state: str) -> None:
        if state:
            self.found_.restore(json.loads(state)["found"])

    def _parts(self, likeness: float, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        parts = np.full((len(keys), 2), likeness)
        parts[:, 1] = tie_breaks(self.ties, keys, self.seed)
        return parts

    def _likeness(self, page: Page) -> float:
        topic = self.found_ if self.found_ else self._wanted
        return topic.cosine(telling(page.text, page.language)) if topic else 0.0
