"""Strategies: what a link is worth.

A judged page and its links go in as an `Expansion`; one row of contributions per link comes out, and
the row's sum is the link's score. Invariant: scoring never changes learned state, so the same
expansion scored twice gives the same rows; `observe` learns and scores in one call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clew.errors import ConfigError, UsageError
from clew.factor.visit_log import VisitLog
from clew.knowledge import Knowledge
from clew.plugins import Registry
from clew.predicate.interests import Interests
from clew.predicate.verdict import Predicate
from clew.strategy.ache import Ache
from clew.strategy.anthelion import Anthelion
from clew.strategy.ariadne import Ariadne
from clew.strategy.base import Capabilities, Evidence, Expansion, Scored, Setup, Strategy
from clew.strategy.best_first import BestFirst
from clew.strategy.breadth_first import BreadthFirst
from clew.strategy.collaborative import Collaborative
from clew.strategy.cosine import Cosine
from clew.strategy.focused import Focused
from clew.strategy.intelligent import Intelligent
from clew.strategy.options import nearest, read
from clew.strategy.per_interest import PerInterest, Share
from clew.strategy.random_order import RandomOrder
from clew.strategy.shark import Shark
from clew.strategy.tagpath import TagPath
from clew.strategy.topic_driven import TopicDriven
from clew.topic import TopicLibrary, TopicModel

__all__ = [
    "STRATEGIES",
    "Ache",
    "Anthelion",
    "Ariadne",
    "BestFirst",
    "BreadthFirst",
    "Capabilities",
    "Collaborative",
    "Cosine",
    "Evidence",
    "Expansion",
    "Focused",
    "Intelligent",
    "RandomOrder",
    "Scored",
    "Setup",
    "Shark",
    "Strategy",
    "TagPath",
    "TopicDriven",
    "built",
    "checked_weights",
    "find",
    "make",
    "remake",
]

#: The largest weight of a contribution, and the smallest below 0: beyond it, numbers may overflow.
HEAVIEST = 1_000_000
#: Where clew's own strategies are.
OWN = {
    "best-first": "clew.strategy.best_first:BestFirst",
    "breadth-first": "clew.strategy.breadth_first:BreadthFirst",
    "random": "clew.strategy.random_order:RandomOrder",
    "intelligent": "clew.strategy.intelligent:Intelligent",
    "collaborative": "clew.strategy.collaborative:Collaborative",
    "focused": "clew.strategy.focused:Focused",
    "shark": "clew.strategy.shark:Shark",
    "cosine": "clew.strategy.cosine:Cosine",
    "ache": "clew.strategy.ache:Ache",
    "anthelion": "clew.strategy.anthelion:Anthelion",
    "tagpath": "clew.strategy.tagpath:TagPath",
    "ariadne": "clew.strategy.ariadne:Ariadne",
    "topic-driven": "clew.strategy.topic_driven:TopicDriven",
}


def _problem(name: str, found: object) -> str:
    if not isinstance(found, type) or not issubclass(found, Strategy) or not hasattr(found, "name"):
        return "it is no subclass of clew.strategy.Strategy with a name"
    return "" if found.name == name else f"it calls itself {found.name!r}"


#: Every strategy by name.
STRATEGIES: Registry[type[Strategy]] = Registry("clew.strategies", OWN, _problem)


def find(name: str) -> type[Strategy]:
    """The class of a strategy.

    >>> find("intelligent").capabilities.interest, find("focused").capabilities.interest
    (True, False)
    """
    if name not in STRATEGIES:
        raise ConfigError(f"unknown strategy {name!r}{nearest(name, tuple(STRATEGIES))}")
    return STRATEGIES[name]


def make(
    name: str,
    predicate: Predicate,
    *,
    seed: int = 0,
    weights: Mapping[str, float] | None = None,
    options: Mapping[str, object] | None = None,
    known: Knowledge | None = None,
    visits: VisitLog | None = None,
    topics: TopicLibrary | None = None,
    like: TopicModel | None = None,
    share: Share = "even",
) -> Strategy:
    """A fresh strategy of that name.

    Parameters: `seed` for the dice; `weights` of the contributions to a score, where a strategy allows them;
    `options`, see docs/strategies.md; `known`, what an earlier crawl learned; `visits`, a log of
    people's visits; `topics` that pages are told apart by; `like`, example pages as one direction
    (`clew.training.train.like`); `share`, how several interests share the pages.

    >>> from clew.predicate import compile
    >>> make("breadth-first", compile("wind")).parts
    ('depth',)
    >>> make("shark", compile("wind"), options={"decay": 0.25}).decay
    0.25
    """
    strategy = find(name)
    given = checked_weights(strategy, weights or {})
    chosen = read(name, strategy.options, options or {})
    setup = Setup(
        predicate=predicate,
        seed=seed,
        weights=given,
        options=chosen,
        known=known,
        visits=visits,
        topics=topics,
        like=like,
        share=share,
    )
    return built(strategy, setup)


def remake(strategy: Strategy, **changes: Any) -> Strategy:
    """A fresh strategy like this one, but for what is changed of its `Setup`.

    >>> from clew.predicate import compile
    >>> remake(make("best-first", compile("wind")), weights={"hint": 2.0}).hint
    2.0
    """
    if strategy.setup is None:
        raise UsageError(f"{strategy.name} cannot be changed: it was not built by clew.strategy.make")
    if "weights" in changes:
        changes["weights"] = checked_weights(type(strategy.base), changes["weights"])
    return built(type(strategy.base), replace(strategy.setup, **changes))


def checked_weights(strategy: type[Strategy], weights: Mapping[str, float]) -> dict[str, float]:
    """Weights by the present names of contributions; a `ConfigError` for a name that the strategy lacks."""
    given = {strategy.weight_name(key): weight for key, weight in weights.items()}
    allowed = strategy.weight_names() if given else ()
    for key in given:
        if key not in allowed:
            raise ConfigError(f"the strategy {strategy.name!r} has no weight {key!r}{nearest(key, allowed)}")
        if not -HEAVIEST <= given[key] <= HEAVIEST:
            raise ConfigError(f"the weight of {key!r} must be a number from -{HEAVIEST} to {HEAVIEST}")
    return given


def built(strategy: type[Strategy], setup: Setup) -> Strategy:
    """A fresh strategy of a setup that was checked: one for each interest, where there are several."""
    sought = setup.predicate
    if isinstance(sought, Interests):
        each = {name: built(strategy, replace(setup, predicate=one)) for name, one in sought.each.items()}
        fresh: Strategy = PerInterest(each, setup.share)
    else:
        fresh = strategy.build(setup)
    fresh.setup = setup
    return fresh
