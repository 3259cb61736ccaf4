"""Strategies: what a link is worth.

A judged page and its links go in as an `Expansion`; one row of contributions per link comes out, and
the row's sum is the link's score. Invariant: scoring never changes learned state, so the same
expansion scored twice gives the same rows; only `learn` moves anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clew.errors import ConfigError
from clew.knowledge import Knowledge
from clew.predicate.verdict import Predicate
from clew.strategy.ache import Ache
from clew.strategy.anthelion import Anthelion
from clew.strategy.base import Expansion, Resumable, Strategy, Unlearned
from clew.strategy.best_first import BestFirst
from clew.strategy.breadth_first import BreadthFirst
from clew.strategy.cosine import Cosine
from clew.strategy.focused import Focused
from clew.strategy.intelligent import Intelligent
from clew.strategy.options import Option, nearest, read
from clew.strategy.random_order import RandomOrder
from clew.strategy.shark import Shark
from clew.strategy.tagpath import TagPath

__all__ = [
    "NAMES",
    "OPTIONS",
    "PARTS",
    "Ache",
    "Anthelion",
    "BestFirst",
    "BreadthFirst",
    "Cosine",
    "Expansion",
    "Focused",
    "Intelligent",
    "RandomOrder",
    "Resumable",
    "Shark",
    "Strategy",
    "TagPath",
    "Unlearned",
    "make",
]

_PLAIN = (BestFirst, BreadthFirst, RandomOrder, Intelligent)
_BASELINES = (Focused, Shark, Cosine, Ache, Anthelion, TagPath)

#: Names of the contributions to a score, by strategy.
PARTS: dict[str, tuple[str, ...]] = {s.name: s.parts for s in (*_PLAIN, *_BASELINES)}
NAMES = tuple(PARTS)
#: What may be said about a strategy beyond its name, by strategy.
OPTIONS: dict[str, Mapping[str, Option]] = {s.name: s.options for s in (Intelligent, *_BASELINES)}

_Made = Callable[[Predicate, int, dict[str, Any]], Strategy]
_FACTORIES: dict[str, _Made] = {
    BreadthFirst.name: lambda predicate, seed, options: BreadthFirst(),
    RandomOrder.name: lambda predicate, seed, options: RandomOrder(seed),
    Focused.name: lambda predicate, seed, options: Focused(seed, **options),
    Shark.name: lambda predicate, seed, options: Shark(predicate, seed, **options),
    Cosine.name: lambda predicate, seed, options: Cosine(predicate, seed, **options),
    Ache.name: lambda predicate, seed, options: Ache(seed, **options),
    Anthelion.name: lambda predicate, seed, options: Anthelion(seed, **options),
    TagPath.name: lambda predicate, seed, options: TagPath(seed, **options),
}


def make(
    name: str,
    predicate: Predicate,
    *,
    seed: int = 0,
    weights: Mapping[str, float] | None = None,
    options: Mapping[str, object] | None = None,
    known: Knowledge | None = None,
) -> Strategy:
    """The strategy of that name.

    Parameters: `seed` for the dice; `weights` of the parts of a score, where a strategy has such;
    `options`, see `OPTIONS` and docs/strategies.md; `known`, what an earlier crawl learned.

    >>> from clew.predicate import compile
    >>> make("breadth-first", compile("wind")).parts
    ('depth',)
    >>> make("shark", compile("wind"), options={"decay": 0.25}).decay
    0.25
    """
    if name not in PARTS:
        raise ConfigError(f"unknown strategy {name!r}{nearest(name, NAMES)}")
    allowed = {BestFirst.name: BestFirst.parts, Intelligent.name: Intelligent.parts[:-1]}.get(name, ())
    for key in weights or {}:
        if key not in allowed:
            raise ConfigError(f"the strategy {name!r} has no weight {key!r}{nearest(key, allowed)}")
    chosen = read(name, OPTIONS.get(name, {}), options or {})
    if name == BestFirst.name:
        return BestFirst(predicate, **(weights or {}))
    if name == Intelligent.name:
        return Intelligent.configured(predicate, seed, weights, chosen, known)
    return _FACTORIES[name](predicate, seed, chosen)
