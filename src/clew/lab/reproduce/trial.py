"""`Trial`: one crawl of the reproduction, said in full; and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import xxhash

from clew.lab.experiment import StrategySpec, Topic
from clew.lab.metrics import found

#: The paper's forms: URLs cut at `.` and `/`, each in-link counted in full.
_PAPER: dict[str, Any] = {"name": "intelligent", "tokens": "paper", "temper": 1.0}
_FOUR = ("content", "url", "link", "sibling")


def _spec(label: str, **given: Any) -> StrategySpec:
    return StrategySpec.model_validate({"label": label} | given)


def _composite(label: str, **changed: Any) -> StrategySpec:
    return _spec(label, **(_PAPER | {"weights": "balanced"} | changed))


#: The log of made-up people who browse the web of a trial.
MADE = "made"
_LOG: dict[str, Any] = {"visits": MADE, "signature_share": 0.125}
#: The single factors, as the paper calls them.
FACTORS = _FOUR
#: The paper's combination of them.
COMPOSITE = "composite"
#: Ariadne without tunnelling, as the 2001 paper on it calls it, and with it.
SIMPLE, TUNNELLING = "simple focused", "tunnelling"
#: The one that knows everything.
ORACLE = "oracle"
#: Who crawls, by name.
STRATEGIES: dict[str, StrategySpec | None] = {
    COMPOSITE: _composite(COMPOSITE),
    **{name: _spec(name, **_PAPER, factors=[name], weights="product") for name in _FOUR},
    "random": _spec("random", name="random"),
    "breadth-first": _spec("breadth-first", name="breadth-first"),
    "learned": _spec("learned", name="intelligent"),
    ORACLE: None,
    "every page": _composite("every page", refresh=0.0),
    "word tokens": _composite("word tokens", tokens="words"),
    "tempered": _composite("tempered", temper=0.5),
    "in-link words": _composite("in-link words", content="inlink"),
    "deviation over N": _composite("deviation over N", deviation="all"),
    "no smoothing": _composite("no smoothing", smoothing=0.0),
    "product": _composite("product", weights="product"),
    "collaborative": _spec("collaborative", name="collaborative", **_LOG),
    "collaborative + linkage": _spec("collaborative + linkage", name="intelligent", **_LOG),
    SIMPLE: _spec(SIMPLE, name="ariadne"),
    TUNNELLING: _spec(TUNNELLING, name="ariadne", tunnel="climb"),
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One strategy, looking for one thing on one recorded web, from given pages, for a number of pages.

    With `after`, it begins with what that crawl learned.
    """

    corpus: str
    wanted: Topic
    seeds: tuple[str, ...]
    strategy: str
    pages: int
    after: Trial | None = None

    @property
    def key(self) -> str:
        """A name for all that shapes it."""
        how = STRATEGIES[self.strategy]
        told = [self.corpus, self.wanted, self.seeds, self.strategy, how, self.pages]
        told.append(self.after.key if self.after else None)
        return f"{xxhash.xxh3_64_intdigest(repr(told).encode()):016x}"

    @property
    def dice(self) -> int:
        """A seed for the dice, the same for all strategies."""
        return xxhash.xxh3_64_intdigest(repr((self.corpus, self.wanted, self.seeds)).encode()) >> 33


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawled:
    """What came of a trial."""

    key: str
    finds: tuple[int, ...]
    """The number of the page, from 1, that each find was."""
    pages: int
    """Pages crawled; fewer than asked for when there was nothing left."""
    targets: int
    """Pages of the web that satisfy the predicate."""
    rate: float
    """Their share of the web."""
    locality: float
    """The share of links from satisfying pages that lead to satisfying ones."""
    drawn: float
    """The share of all links that lead to satisfying pages."""
    again: tuple[int, ...] = ()
    """Of `finds`, those that the crawl whose knowledge it began with had found already."""
    distances: tuple[int, ...] = ()
    """Of each find, the links from a start page to it, on the path that led there."""
    behind: tuple[int, ...] = ()
    """Of each find, the pages that are no finds since the last find, or the start page, on that path."""
    foci: tuple[tuple[int, str], ...] = ()
    """Changes of focus: the pages crawled before it, and what was sought from then on."""
    threshold: float = 0.5
    """The degree that made a page a find."""

    def harvest(self, pages: int) -> float:
        """The share of the first pages crawled that satisfy: the paper's P(C).

        >>> Crawled(key="", finds=(2, 4), pages=4, targets=9, rate=0.1, locality=0, drawn=0).harvest(4)
        0.5
        """
        crawled = min(pages, self.pages)
        return found(self.finds, crawled) / crawled if crawled else 0.0

    def until(self, finds: int) -> int | None:
        """Pages until that many finds; None when there were fewer."""
        return self.finds[finds - 1] if len(self.finds) >= finds else None
