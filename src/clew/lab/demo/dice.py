"""Dice that fall the same way in every process, on every machine, in every version of Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from xxhash import xxh64_intdigest

T = TypeVar("T")


class Dice:
    """Choices drawn from a named seed. Two dice of the same name fall alike.

    Only `Random.random` is used: it alone is promised not to change between versions of Python.

    >>> Dice(7, "http://a.example/").below(1000) == Dice(7, "http://a.example/").below(1000)
    True
    """

    def __init__(self, *name: object) -> None:
        self._next = random.Random(xxh64_intdigest("\x1f".join(map(str, name)).encode())).random

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1."""
        return int(self._next() * n)

    def between(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self._next() < p

    def share(self) -> float:
        """A number in [0, 1)."""
        return self._next()

    def pick(self, items: Sequence[T]) -> T:
        """One of them."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[T], n: int) -> list[T]:
        """Up to n different ones, in random order."""
        rest = list(items)
        for i in range(min(n, len(rest))):
            j = i + self.below(len(rest) - i)
            rest[i], rest[j] = rest[j], rest[i]
        return rest[:n]
