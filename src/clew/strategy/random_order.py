"""`random`: every order equally likely, the same one for the same seed."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from clew.strategy.base import Expansion, Setup, Strategy

_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def dice(keys: NDArray[np.uint64], seed: int) -> NDArray[np.float64]:
    """A number in [0, 1) for each key: a function of key and seed, so that no generator's state
    has to survive a restart.

    >>> keys = np.array([1, 2], np.uint64)
    >>> dice(keys, 0).tolist() == dice(keys, 1).tolist()
    False
    """
    x = keys + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) % (1 << 64))
    x = (x ^ (x >> np.uint64(30))) * _MIX[0]
    x = (x ^ (x >> np.uint64(27))) * _MIX[1]
    x = x ^ (x >> np.uint64(31))
    return (x >> np.uint64(11)).astype(np.float64) / float(1 << 53)


class RandomOrder(Strategy):
    """A link is worth a throw of the dice."""

    name = "random"
    parts: tuple[str, ...] = ("dice",)

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @classmethod
    def explores(cls, part: str) -> bool | None:
        return True if part in cls.parts else None

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls(setup.seed)

    def seeds(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        return dice(keys, self.seed)[:, None]

    def score(self, expansion: Expansion) -> NDArray[np.float64]:
        return dice(expansion.keys, self.seed)[:, None]
