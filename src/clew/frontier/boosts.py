"""`Boosts`: URL patterns that a user holds to be worth more, or less, than the strategy says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.policy.scope import pattern


class Boosts:
    """Patterns and their factors. What a URL gains is the sum of the logs of the factors of all that match.

    >>> boosts = Boosts()
    >>> boosts.set({"*/blog/*": 2.0, "*/tag/*": 0.5})
    >>> boosts.of(["http://a.example/blog/1", "http://a.example/"]).round(3).tolist()
    [0.693, 0.0]
    """

    def __init__(self) -> None:
        self.factors: dict[str, float] = {}
        self._rules: list[tuple[re.Pattern[str], float]] = []

    def __len__(self) -> int:
        return len(self.factors)

    def __repr__(self) -> str:
        return f"Boosts({self.factors!r})"

    def set(self, factors: Mapping[str, float]) -> None:
        """These hold, and no others."""
        self.factors = dict(factors)
        logs = native.log(np.array(list(self.factors.values()))).tolist()
        self._rules = [(pattern(text), gain) for text, gain in zip(self.factors, logs, strict=True)]

    def of(self, urls: Iterable[str]) -> NDArray[np.float64]:
        """What each URL gains."""
        rules = self._rules
        if len(rules) == 1:
            search, gain = rules[0][0].search, rules[0][1]
            return np.array([gain if search(url) else 0.0 for url in urls], np.float64)
        found = []
        for url in urls:
            total = 0.0
            for rule, gain in rules:
                if rule.search(url):
                    total += gain
            found.append(total)
        return np.array(found, np.float64)
