"""Exploring and exploiting: which requests tried what nothing spoke for, and what came of it.

A contribution to a score explores or is evidence (`Strategy.explores`). A request *explored* when the
evidence for its link summed to no more than 0: nothing that was known spoke for the link more than chance
does. Else it *exploited* what was known. So before the first find nearly all explore, without a rule of their
own: only a formula, an earlier crawl or people's visits can speak for a link by then. What is put first
whatever it is worth, as start pages are, does neither. All of it is a fold over the trace: nothing is kept
for it during a crawl.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew import native
from clew.engine.commands import SetStrategy, name_of
from clew.errors import StoreForeign
from clew.messages import Decision, State
from clew.store.base import Reader
from clew.strategy import STRATEGIES

#: A contribution like this puts a link first whatever it is worth, a start page say: it says nothing of the
#: reasons.
PUT_FIRST = 500.0
#: Stretches of a crawl that are told apart, at most.
MAX_STRETCHES = 48
_SET_STRATEGY = name_of(SetStrategy(""))


@dataclass(frozen=True, slots=True)
class ScoreSplit:
    """A score in two: the evidence for a link, and what explores."""

    evidence: float
    exploring: tuple[tuple[str, float], ...]
    """Contributions by name."""

    @property
    def explored(self) -> bool:
        """Whether a request with this score explored."""
        return self.evidence <= 0.0

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"explored": self.explored, "evidence": self.evidence, "exploring": dict(self.exploring)}

    def __str__(self) -> str:
        known = f"what was known gave it {self.evidence:+.3g}" if self.evidence else "nothing was known of it"
        if not self.explored:
            return f"for what was known of it: {self.evidence:+.3g}"
        reasons = sorted([part for part in self.exploring if part[1] > 0.0], key=lambda part: -part[1])
        chosen = "chosen for " + ", ".join(f"{name} {value:+.3g}" for name, value in reasons)
        return f"to explore: {known}; {chosen if reasons else 'nothing better was at hand'}"


class ScoreSplitter:
    """Tells the contributions of one strategy apart.

    Parameters: the strategy's name; the names of the contributions, in the order of a decision's terms.

    >>> splitter = ScoreSplitter("intelligent", ("content", "url_depth", "chance"))
    >>> splitter.split((-0.5, -0.7, 0.4)).explored, splitter.split((1.5, -0.7, 0.4)).explored
    (True, False)
    >>> ScoreSplitter("breadth-first", ("depth",)).split((-2.0,)) is None
    True
    """

    def __init__(self, strategy: str = "", names: Sequence[str] = ()) -> None:
        self.strategy = strategy
        self.names = tuple(names)
        kinds = [self._explores(name) for name in self.names]
        self._evidence = [column for column, explores in enumerate(kinds) if explores is False]
        self._exploring = [column for column, explores in enumerate(kinds) if explores]

    def __repr__(self) -> str:
        return f"ScoreSplitter({self.strategy!r}, {self.names!r})"

    def __bool__(self) -> bool:
        """Whether scores of the strategy can be split at all."""
        return bool(self._evidence or self._exploring)

    def _explores(self, name: str) -> bool | None:
        if self.strategy not in STRATEGIES:
            return None
        explores = STRATEGIES[self.strategy].explores
        own = explores(name)
        # Where there are several interests, each has contributions of its own: `wind.content`.
        return explores(name.rpartition(".")[2]) if own is None else own

    def split(self, terms: Sequence[float]) -> ScoreSplit | None:
        """A score in two; None where the terms have other names, and for what was put first."""
        if not self or len(terms) != len(self.names):
            return None
        exploring = tuple([(self.names[column], terms[column]) for column in self._exploring])
        if any(value >= PUT_FIRST for _, value in exploring):
            return None
        return ScoreSplit(native.left_sum([terms[column] for column in self._evidence]), exploring)

    def after(self, entry: str) -> ScoreSplitter:
        """What tells contributions apart from an entry of the journal on, which may have changed the
        strategy or the columns."""
        if '"command":' not in entry:
            return self
        try:
            found = json.loads(entry)
        except ValueError:  # the directory of a stranger
            return self
        if not isinstance(found, dict):
            return self
        strategy = found.get("strategy") if found.get("command") == _SET_STRATEGY else None
        columns = found.get("columns")
        if strategy is None and not isinstance(columns, list):
            return self
        names = tuple(map(str, columns)) if isinstance(columns, list) else self.names
        return ScoreSplitter(self.strategy if strategy is None else str(strategy), names)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationCounts:
    """Requests that explored and that exploited, and the finds of each.

    >>> ExplorationCounts(explored=4, explored_finds=1) + ExplorationCounts(exploited=6, exploited_finds=3)
    ExplorationCounts(explored=4, explored_finds=1, exploited=6, exploited_finds=3)
    """

    explored: int = 0
    explored_finds: int = 0
    exploited: int = 0
    exploited_finds: int = 0

    def __add__(self, other: ExplorationCounts) -> ExplorationCounts:
        return ExplorationCounts(
            explored=self.explored + other.explored,
            explored_finds=self.explored_finds + other.explored_finds,
            exploited=self.exploited + other.exploited,
            exploited_finds=self.exploited_finds + other.exploited_finds,
        )

    def __sub__(self, other: ExplorationCounts) -> ExplorationCounts:
        return ExplorationCounts(
            explored=self.explored - other.explored,
            explored_finds=self.explored_finds - other.explored_finds,
            exploited=self.exploited - other.exploited,
            exploited_finds=self.exploited_finds - other.exploited_finds,
        )

    @property
    def requests(self) -> int:
        """Of both kinds."""
        return self.explored + self.exploited

    def __str__(self) -> str:
        """In words.

        >>> str(ExplorationCounts(explored=4, explored_finds=1))
        '4 of 4 requests explored (100%), 1 find (harvest 0.250)'
        """
        told = []
        if self.explored:
            share = f"{self.explored:,} of {self.requests:,} requests explored"
            finds = _finds(self.explored_finds, self.explored)
            told.append(f"{share} ({self.explored / self.requests:.0%}), {finds}")
        if self.exploited:
            many = f"{self.exploited:,}" if told else f"all {self.exploited:,} requests"
            told.append(f"{many} went by what was known, {_finds(self.exploited_finds, self.exploited)}")
        return "; ".join(told)


def _finds(finds: int, requests: int) -> str:
    return f"{finds or 'no'} find{'' if finds == 1 else 's'} (harvest {finds / requests:.3f})"


class ExplorationFold:
    """Explored and exploited requests along a crawl, of which it is given each line of the trace once.

    Finds are those of the moment: pages that were judged anew later count as they were judged when fetched.
    """

    def __init__(self, strategy: str = "", names: Sequence[str] = ()) -> None:
        self.splitter = ScoreSplitter(strategy, names)
        self.counts = ExplorationCounts()
        self.until_first: ExplorationCounts | None = None
        """The requests up to the first find, and with it; None while there is none."""
        self.step = 1
        self._stretches: list[ExplorationCounts] = []

    def __repr__(self) -> str:
        return f"ExplorationFold({self.counts!r})"

    def take(self, decision: Decision) -> None:
        """The next line of the trace."""
        if decision.kind == "command" and decision.reasons:
            self.splitter = self.splitter.after(decision.reasons[0])
        if decision.kind != "page":
            return
        found = decision.result == "match"
        split = self.splitter.split(decision.terms)
        if split is not None and split.explored:
            self._add(ExplorationCounts(explored=1, explored_finds=int(found)))
        elif split is not None:
            self._add(ExplorationCounts(exploited=1, exploited_finds=int(found)))
        if found and self.until_first is None:
            self.until_first = self.counts

    def _add(self, one: ExplorationCounts) -> None:
        if self.counts.requests % self.step == 0:
            self._stretches.append(ExplorationCounts())
        self._stretches[-1] += one
        self.counts += one
        if len(self._stretches) > MAX_STRETCHES:
            self.step *= 2
            pairs = range(0, len(self._stretches), 2)
            self._stretches = [sum(self._stretches[at : at + 2], start=ExplorationCounts()) for at in pairs]

    @property
    def stretches(self) -> list[ExplorationCounts]:
        """The counts of each stretch of `step` requests; the last may be shorter."""
        return list(self._stretches)

    def sentences(self) -> list[str]:
        """The shares in words, up to the first find and since."""
        if not self.counts.requests:
            return []
        if self.until_first is None:
            return [f"Nothing was found: {self.counts}."]
        since = self.counts - self.until_first
        told = [f"Up to the first find, {self.until_first}."] if self.until_first.requests else []
        return told + ([f"Since the first find, {since}."] if since.requests else [])


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkYield:
    """What became of the links of a fetched page, as far as is known now."""

    links: int
    new: int
    """Those that no page before it had."""
    fetched: int
    """Of the new ones."""
    failed: int
    finds: int

    def __str__(self) -> str:
        if not self.links:
            return "no links to follow"
        told = f"{self.new or 'no'} new link{'' if self.new == 1 else 's'} of {self.links}"
        if self.new:
            told += f", {self.fetched or 'none'} fetched since"
        if self.failed:
            told += f", {self.failed} failed"
        if self.fetched:
            told += f", {self.finds or 'no'} find{'' if self.finds == 1 else 's'} among them"
        return told


def link_yield(store: Reader, candidate: int) -> LinkYield | None:
    """What became of the links of a page by now; None where nothing was saved yet."""
    saved = store.snapshot()
    if saved is None:
        return None
    links = np.unique(store.outlinks(candidate))
    if len(links) and not 0 <= links[0] <= links[-1] < len(saved.sources):
        raise StoreForeign(f"the links of candidate {candidate} are damaged: restore a copy")
    # A link was new on the page that is recorded as the one it was found on.
    new = links[saved.sources[links] == candidate]
    return LinkYield(
        links=len(links),
        new=len(new),
        fetched=int(np.count_nonzero(saved.states[new] == State.FETCHED)),
        failed=int(np.count_nonzero(saved.states[new] == State.FAILED)),
        finds=sum(number in saved.matched for number in new.tolist()),
    )
