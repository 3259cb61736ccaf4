"""Strategies: what a link is worth.

A judged page and its links go in as an `Expansion`; one row of contributions per link comes out, and
the row's sum is the link's score. Invariant: scoring never changes learned state, so the same
expansion scored twice gives the same rows; only `learn` moves anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from clew.errors import ConfigError
from clew.predicate.verdict import Predicate
from clew.strategy.base import Expansion, Strategy, Unlearned
from clew.strategy.best_first import BestFirst
from clew.strategy.breadth_first import BreadthFirst
from clew.strategy.random_order import RandomOrder

__all__ = [
    "NAMES",
    "PARTS",
    "BestFirst",
    "BreadthFirst",
    "Expansion",
    "RandomOrder",
    "Strategy",
    "Unlearned",
    "make",
]

#: Names of the contributions to a score, by strategy.
PARTS: dict[str, tuple[str, ...]] = {s.name: s.parts for s in (BestFirst, BreadthFirst, RandomOrder)}
NAMES = tuple(PARTS)


def make(
    name: str, predicate: Predicate, *, seed: int = 0, weights: Mapping[str, float] | None = None
) -> Strategy:
    """The strategy of that name.

    >>> from clew.predicate import compile
    >>> make("breadth-first", compile("wind")).parts
    ('depth',)
    """
    given = dict(weights or {})
    allowed = BestFirst.parts if name == "best-first" else ()
    for key in given:
        if key not in allowed:
            near = get_close_matches(key, allowed, 1)
            hint = f": did you mean {near[0]!r}?" if near else ""
            raise ConfigError(f"the strategy {name!r} has no weight {key!r}{hint}")
    if name == "best-first":
        return BestFirst(predicate, **given)
    if name == "breadth-first":
        return BreadthFirst()
    if name == "random":
        return RandomOrder(seed)
    near = get_close_matches(name, NAMES, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(NAMES)}"
    raise ConfigError(f"unknown strategy {name!r}: {hint}")
