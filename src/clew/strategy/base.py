"""`Strategy`: how much each link is worth, and what was learned from the last page.

A strategy is one file: a subclass of `Strategy` with one declared value, `Capabilities`, of what it needs and
what it offers beyond scoring. The engine asks for capabilities, never for a class or a name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from clew.factor import EvidenceTerm
from clew.factor.visit_log import VisitLog
from clew.knowledge import Knowledge
from clew.learn.checkpoint import Keeps
from clew.messages import Rescore
from clew.page import Links, Page
from clew.predicate.verdict import Predicate, Verdict
from clew.strategy.options import Option
from clew.topic import TopicLibrary, TopicModel, TopicScorers

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Keys = NDArray[np.uint64]

#: No score is larger: beyond it are slips of arithmetic, and differences would drown in it.
LARGEST = 1e9


@dataclass(frozen=True, slots=True)
class Expansion:
    """A judged page and those of its links that are in scope, one row per distinct target.

    `verdict` is what the crawl's focus makes of the page: what is sought, not what counts as a find.
    `ids[i]` is the candidate number of `links[i]`'s target (-1 when another shard owns it); those in
    `fresh` were not known before. A fetch that gave nothing (404, a host that is gone) is an expansion
    too: of an empty page, judged 0, without links.
    """

    source: int
    page: Page
    verdict: Verdict
    depth: int
    links: Links
    keys: Keys
    ids: Ids
    fresh: NDArray[np.bool_]

    @classmethod
    def nothing(cls, source: int, page: Page) -> Expansion:
        """A fetch that gave nothing: `page` has no more than its address, status and depth."""
        return cls(
            source=source,
            page=page,
            verdict=Verdict(0.0, False),
            depth=page.depth,
            links=Links(page.url),
            keys=np.zeros(0, np.uint64),
            ids=np.zeros(0, np.int64),
            fresh=np.zeros(0, np.bool_),
        )


@dataclass(frozen=True, slots=True)
class Scored:
    """What a strategy makes of an expansion."""

    terms: Floats
    """Contributions of the expansion's links: one row a link, one column a contribution."""
    moved: Rescore | None = None
    """Queued candidates whose worth changed by what was learned; of this page's new links, at most what
    `terms` says of them too."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one factor says of a candidate, for an explanation."""

    factor: str
    log_ratio: float
    support: float
    """Observations behind it; 0 means the factor is silent."""
    terms: tuple[EvidenceTerm, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a strategy needs of the crawl, and which optional hooks of `Strategy` it has.

    >>> Capabilities(link_columns=frozenset({"paths"})).audits
    False
    """

    link_columns: frozenset[str] = frozenset()
    """Columns of links it reads that are not found out unless somebody asks: `contexts`, `paths`. They can be
    had anyway; named here, a page is not read twice for them."""
    meets: bool = False
    """It knows its candidates: it has `met` and a `meet` of its own."""
    sheds: bool = False
    """It need not keep the worth of all candidates up to date: `set_aside`, `take_back`."""
    audits: bool = False
    """It can be asked what it thinks of candidates now: `audits`, `review`."""
    interest: bool = False
    """It estimates how likely a find is: `interest`."""
    explains: bool = False
    """It can give the evidence behind a score: `candidates`, `evaluate`, `evidence_for`."""
    relearns: bool = False
    """On resume it learns from the stored pages again, since its `state` is not all it needs."""
    reweighs: bool = False
    """It takes other weights without being taught again: `reweigh`."""
    tunnels: bool = False
    """Unless it is told otherwise, a crawl by it widens its focus when finds become rare."""
    reestimates: bool = False
    """It can tell from memory what its candidates are worth when a new focus has other degrees on their
    links, as long as it has not been taught by that focus: `reestimate`."""
    refocuses: bool = False
    """It can tell from memory what its candidates are worth by another focus: `refocus`."""
    offers: bool = False
    """It knows of pages otherwise than by links: `offers`, `samples`."""
    throws: bool = True
    """What it prefers depends on `Setup.seed`: with other dice it is another crawl."""
    follows: bool = True
    """Links of pages become candidates, and so does what sitemaps list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a strategy is built from."""

    predicate: Predicate
    """What is sought, the focus: links are estimated by it, and so are the pages of an `Expansion` judged."""
    seed: int = 0
    """For its dice."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Of contributions to a score, by the names in `weight_names`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Checked against its `options`."""
    known: Knowledge | None = None
    """What an earlier crawl learned."""
    visits: VisitLog | None = None
    """A log of people's visits."""
    topics: TopicLibrary | None = None
    """Topics that pages are told apart by, where an option asks for that."""
    like: TopicModel | None = None
    """Example pages, as one direction."""
    share: Literal["even", "greedy"] = "even"
    """How several interests share the pages (`clew.strategy.per_interest`)."""

    @property
    def scorers(self) -> TopicScorers | None:
        """Of those topics."""
        return None if self.topics is None else self.topics.scorers(self.topics.models)


def totals(parts: Floats) -> Floats:
    """The scores that rows of contributions sum to: from left to right, one number for one row of numbers,
    however many others are asked for and however they lie in memory.

    >>> totals(np.array([[0.5, 2.0], [1.0, 0.0]])).tolist()
    [2.5, 1.0]
    """
    found = np.zeros(len(parts))
    for column in range(parts.shape[1]):
        found += parts[:, column]
    return found


def finite(parts: Floats) -> Floats:
    """Contributions whose scores can be compared: what is no number counts as nothing, and what is beyond
    `LARGEST` as that. Every score that enters the frontier comes through here, whoever worked it out.

    >>> finite(np.array([[np.nan, 2.0], [np.inf, 1.0]])).tolist()
    [[0.0, 2.0], [1000000000.0, 1.0]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores = totals(parts)
    # A sum that is finite and small has no terms that are not, unless they cancel each other out.
    if np.abs(scores).max(initial=0.0) <= LARGEST:
        return parts
    return np.clip(np.nan_to_num(parts, nan=0.0), -LARGEST, LARGEST)


class Strategy(ABC):
    """Which reasons to like a link, and how they combine.

    A score is the sum of its contributions, one column of `parts` each, so that an explanation cannot
    disagree with the decision. Only `observe`, `meet`, `set_aside` and `take_back` may change learned state.

    Subclasses give `name`, `parts`, `seeds` and `score`; those that learn override `observe`, and `state`
    with `restore`. The other hooks come with the capability that names them.
    """

    name: ClassVar[str]
    parts: tuple[str, ...]
    """Names of the contributions, in column order."""
    options: ClassVar[Mapping[str, Option]] = {}
    """What may be said about it beyond its name."""
    capabilities: Capabilities = Capabilities()
    setup: Setup | None = None
    """What it was built from, if `clew.strategy.make` built it."""
    knowledge: Knowledge | None = None
    """The counts it learned, which another crawl can begin with; None for one that learns otherwise."""

    @property
    def base(self) -> Strategy:
        """The strategy that users know by name: this one, or, where each interest has one, that of each."""
        return self

    @classmethod
    def parts_of(
        cls,
        weights: Mapping[str, float],
        options: Mapping[str, Any],
        *,
        reuses: bool = False,
        visits: bool = False,
    ) -> tuple[str, ...]:
        """What `parts` is for a strategy built with these weights and options, and with knowledge of earlier
        crawls, a log of visits, or without."""
        return cls.parts

    @classmethod
    def weight_names(cls) -> tuple[str, ...]:
        """Contributions whose weight a user may set."""
        return ()

    @classmethod
    def weight_name(cls, given: str) -> str:
        """The present name of a contribution that may have had another once."""
        return given

    @classmethod
    def explores(cls, part: str) -> bool | None:
        """Whether the contribution of that name explores: True for one that says nothing of whether a page is
        a find or leads to one, False for evidence of that, which is above 0 where it speaks for the page
        more than chance does. None for what is neither, and for a strategy whose contributions are not
        measured against chance."""
        return None

    @classmethod
    @abstractmethod
    def build(cls, setup: Setup) -> Self:
        """A fresh strategy."""

    @abstractmethod
    def seeds(self, keys: Keys) -> Floats:
        """Contributions of the starting points, one row each."""

    @abstractmethod
    def score(self, expansion: Expansion) -> Floats:
        """Contributions of an expansion's links by what is known so far, one row each. Changes nothing."""

    def observe(self, expansion: Expansion) -> Scored:
        """Take in the outcome of one page; give what its links are worth and which candidates moved."""
        return Scored(self.score(expansion))

    def observe_many(self, expansions: Sequence[Expansion]) -> list[Scored]:
        """`observe` for pages that were settled together, in order. What is told later of a candidate's worth
        holds; one that works scores out of all it knows need do so only once."""
        return [self.observe(expansion) for expansion in expansions]

    def state(self) -> str:
        """Learned state as JSON text; empty when nothing is learned."""
        return ""

    def restore(self, state: str) -> None:
        """Take up the state that `state` gave."""
        return None

    def snapshot(self) -> str | Callable[[], str]:
        """`state` as it is now, or, where putting it into words takes a while, what gives it whenever it is
        called and in whatever thread."""
        return self.state()

    def checkpoint(self) -> Keeps | None:
        """With `relearns`: all it has learned, in parts that can be put down as arrays and taken up by one
        that was built alike; None where some part cannot, so that it learns from the beginning again."""
        return None

    def cut_words_with(self, cut: Callable[[Page], Sequence[str]]) -> None:
        """Take the distinct stems of pages from `cut`: a lab crawls the same pages many times, and
        remembers them. A strategy that does not read pages so need not care."""
        return None

    def seek(self, focus: Predicate) -> None:
        """Estimate links by another focus from now on; the worth of those met before stays. (The verdicts it
        is shown are the focus's already: one that asks the predicate nothing itself need not care.)"""
        return None

    # with `meets`

    @property
    def met(self) -> int:
        """It knows candidates below this number, if it is to know them at all."""
        return 0

    def meet(self, expansion: Expansion) -> Floats | None:
        """Learn of new candidates that no judged page led to: of a sitemap or another shard (`source` is -1),
        or what a redirect, a refresh or a canonical link of `source` leads to.

        Gives their contributions. None leaves them what they are worth without it: what a sitemap lists is
        scored like the links of a page that says nothing, what another shard found is worth what it thought,
        and what a page points to is worth what that page was.
        """
        return None

    # with `offers`

    def offers(self) -> Sequence[str]:
        """URLs that are worth fetching by what was learned last and that no page need link to, the best
        first; those that are taken in come back by `meet`. Asked again, it has none."""
        raise NotImplementedError

    def samples(self) -> Iterator[str]:
        """URLs to try when nothing else is left to fetch, in an order that the dice give. Changes nothing."""
        raise NotImplementedError

    # with `sheds`

    def set_aside(self, ids: Ids) -> None:
        """These candidates are not at hand for now."""
        raise NotImplementedError

    def take_back(self, ids: Ids) -> Rescore:
        """These are again; gives their worth as of now, of those it can tell it of."""
        raise NotImplementedError

    # with `audits`

    def audits(self, candidate: int) -> bool:
        """Whether the choice of this candidate is to be checked."""
        raise NotImplementedError

    def review(self, ids: Ids) -> Floats:
        """Scores worked out anew; not a number for candidates it has no opinion of."""
        raise NotImplementedError

    # with `interest`

    def interest(self, parts: tuple[float, ...]) -> float:
        """How many times as likely as chance a candidate with these contributions is to be a find."""
        raise NotImplementedError

    # with `reweighs`

    def reweigh(self, weights: Mapping[str, float], waiting: Rescore) -> Rescore:
        """Weigh contributions so, by the names of `parts`, from now on; gives what candidates are worth, of
        which `waiting` tells what they were worth till now."""
        raise NotImplementedError

    # with `reestimates`

    def reestimate(self, degrees: Floats, waiting: Rescore) -> Rescore:
        """Take the degrees that the focus has on the links of candidates, by their numbers, in the place of
        those of another focus; gives what candidates are worth. `waiting` are those that are no seeds, with
        what they were worth till now."""
        raise NotImplementedError

    # with `refocuses`

    def refocus(self, focus: Predicate) -> Rescore:
        """`seek` it, and give what the candidates met before are worth by it."""
        raise NotImplementedError

    # with `explains`

    def candidates(self) -> Ids:
        """Numbers of the candidates it has an opinion of, ascending."""
        raise NotImplementedError

    def evaluate(self, ids: Ids) -> Floats:
        """Contributions of candidates as of now, one row each. Changes nothing."""
        raise NotImplementedError

    def evidence_for(self, candidate: int) -> list[Evidence]:
        """What each factor says of a candidate, in column order of `parts`."""
        raise NotImplementedError
