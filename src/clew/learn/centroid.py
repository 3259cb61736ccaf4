"""`Centroid`: a topic by example."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from clew import native


class Centroid:
    """The mean of the word vectors of texts, each scaled to length 1; a text is as near as its cosine.

    Parameters: `limit` bounds the words held; when there are twice as many, the lightest half is forgotten.

    Rocchio, "Relevance feedback in information retrieval", 1971, with positive examples alone.

    >>> topic = Centroid()
    >>> topic.add({"wind": 3, "farm": 4})
    >>> round(topic.cosine({"wind": 1}), 12), topic.cosine({"bread": 1})
    (0.6, 0.0)
    """

    __slots__ = ("_length2", "_weights", "limit")

    def __init__(self, limit: int = 20_000) -> None:
        self.limit = limit
        self._weights: dict[str, float] = {}
        self._length2 = 0.0

    def __bool__(self) -> bool:
        return bool(self._weights)

    def __repr__(self) -> str:
        return f"Centroid({len(self._weights)} words)"

    def add(self, counts: Mapping[str, int]) -> None:
        """Take in one example."""
        length = math.sqrt(sum([n * n for n in counts.values()]))
        weights = self._weights
        for word, n in counts.items():
            old = weights.get(word, 0.0)
            new = old + n / length
            self._length2 += new * new - old * old
            weights[word] = new
        if len(weights) > 2 * self.limit:
            self._prune()

    def cosine(self, counts: Mapping[str, int]) -> float:
        """How alike a text and the topic are, 0 to 1."""
        if not counts or not self._weights:
            return 0.0
        get = self._weights.get
        inner = native.left_sum([n * get(word, 0.0) for word, n in counts.items()])
        if not inner:
            return 0.0
        length2 = sum([n * n for n in counts.values()]) * self._length2
        return min(1.0, inner / math.sqrt(length2))

    def state(self) -> dict[str, Any]:
        """As plain data."""
        return {"weights": self._weights, "length2": self._length2}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The opposite of `state`."""
        self._weights = {str(word): float(weight) for word, weight in state["weights"].items()}
        self._length2 = float(state["length2"])

    def _prune(self) -> None:
        heaviest = sorted(self._weights.items(), key=lambda item: (-item[1], item[0]))[: self.limit]
        self._weights = dict(heaviest)
        self._length2 = math.fsum([weight * weight for _, weight in heaviest])
