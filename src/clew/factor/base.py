"""`Factor`: one reason to like a link, and the `FactorSpec` that declares what it needs and offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from clew.factor.inherited import Inherited
from clew.factor.interest import Estimation
from clew.factor.link_features import LinkFeatures
from clew.factor.link_graph import Floats, Ids, LinkGraph
from clew.factor.link_liveness import LinkLiveness
from clew.factor.visit_counts import VisitCounts
from clew.knowledge import Knowledge, Table
from clew.learn.checkpoint import KeptAttributes
from clew.page import Links, Page
from clew.predicate.verdict import Predicate
from clew.topic import TopicScorers

#: Where a factor is heard without being named: `learned`, where weights are learned; `paper`, where they are
#: not; `reuse`, where they are not and there is knowledge of an earlier crawl; `visits`, where there is a
#: log of people's visits.
Default = Literal["learned", "paper", "reuse", "visits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorSpec:
    """What a factor needs and offers.

    >>> FactorSpec(name="freshness").prior
    0.5
    """

    name: str
    prior: float = 0.5
    """The weight that learned weights are pulled towards while little is known."""
    defaults: frozenset[Default] = frozenset()
    """Where it is heard without being named. A factor of another package is heard when it is named, so that
    installing one changes no crawl."""
    early: float = 0.0
    """Where weights are learned, how much of its weight it has before the first find; 0: it is not heard."""
    early_by_formula: bool = False
    """It is heard that early only where what is sought is a formula, which says something of links: where
    nothing does, it leads away from small topics (docs/lab.md)."""
    foreknown: bool = False
    """What it says does not depend on this crawl: it is heard before the first find with any weights."""
    teaches: bool = False
    """It adds to the knowledge that later crawls begin with, so that it learns also when it is not heard."""
    estimated_first: bool = False
    """Others read what it estimates, heard or not."""
    sums_words: bool = False
    """Its evidence adds up the ratios of many words: its size, which says how many, is taken out first."""
    about_leads: bool = False
    """Its evidence is the log odds that the page's links are finds, not that the page is one: it is priced
    against the recent harvest, and its weight is not learned."""
    explores: bool = False
    """It is a reason to look elsewhere, and says nothing of whether the page is a find or leads to one."""
    columns: frozenset[str] = frozenset()
    """Columns of links it reads that are not found out unless somebody asks: `contexts`, `paths`."""
    after: tuple[str, ...] = ()
    """Factors that learn before it, heard or not, because it reads what they keep."""
    aliases: tuple[str, ...] = ()
    """Names it had before: what was written with them still loads."""


@dataclass(frozen=True, slots=True)
class FetchOutcome:
    """The outcome of one fetch, as factors learn from it."""

    candidate: int
    satisfied: bool
    parents: tuple[int, ...]
    """Slots of the fetched pages that link to it, the first of them."""
    words: NDArray[np.int64]
    """Numbers (in `knowledge.words`) of its distinct words."""
    tokens: NDArray[np.int64]
    """Numbers (in `knowledge.tokens`) of the tokens of its URL."""
    anchors: NDArray[np.int64]
    """Numbers (in `knowledge.anchors`) of the words of anchors that point to it."""
    alive: bool = True
    """Whether there was a page."""
    url: str = ""
    """Its address."""
    page: Page | None = None
    """The page itself, where it is at hand."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """Links that were found, on a page that was judged or otherwise.

    `ids[i]` is the candidate number of `links[i]`'s target, -1 when it is another shard's; numbers of those
    in `fresh`, which were not known before, ascend.
    """

    page: Page
    satisfied: bool
    links: Links
    ids: Ids
    fresh: NDArray[np.bool_]
    keys: NDArray[np.uint64] | None = None
    """The keys of the targets, if they are at hand."""


@dataclass(frozen=True, slots=True)
class EvidenceTerm:
    """One word, token or count behind a factor's evidence."""

    text: str
    log_ratio: float
    seen: float = 0.0
    """Pages it was seen on: the support; 0 where nothing is counted, as for the weight of a regression."""
    hits: float = 0.0
    significance: float = 0.0


@dataclass(slots=True)
class LearningState:
    """What every factor reads: counts, visits, links and their features, estimation, earlier knowledge."""

    knowledge: Knowledge
    graph: LinkGraph
    how: Estimation
    earlier: Knowledge | None = None
    features: LinkFeatures = field(default_factory=LinkFeatures)
    inherited: Inherited | None = None
    predicate: Predicate | None = None
    visits: VisitCounts | None = None
    liveness: LinkLiveness = field(init=False)
    topics: TopicScorers | None = None
    """The topics that pages are told apart by."""

    def __post_init__(self) -> None:
        self.liveness = LinkLiveness(self.features)

    @property
    def known(self) -> Knowledge | Inherited:
        """What there is to go by: this crawl's counts, and those it counts on in."""
        return self.inherited or self.knowledge

    @property
    def rate(self) -> float:
        """P(C)."""
        known = self.known
        return known.satisfied / known.pages if known.pages else 0.0

    @property
    def chance(self) -> float:
        """P(C); while nothing was found, the most that it can well be."""
        known = self.known
        return self.rate if known.satisfied else 1.0 / (known.pages + 1.0)

    @property
    def base(self) -> float:
        """What the deviation of eq. 6 and 9 is taken over."""
        known = self.known
        return known.satisfied if self.how.deviation == "satisfying" else known.pages

    def feature_terms(self, candidate: int, weights: Floats) -> list[EvidenceTerm]:
        """What a candidate's features weigh in a regression over them, of those that weigh anything."""
        names = self.features.names
        row = self.features.rows.row(candidate).tolist()
        return [EvidenceTerm(names[i], float(weights[i])) for i in row if i in names and weights[i]]

    def counts(self, name: str) -> tuple[Floats, Floats]:
        """(seen, hits) of a table, by word number."""
        if self.inherited is not None:
            return self.inherited.counts(name)
        table: Table = getattr(self.knowledge, name)
        n = len(table)
        return table.seen[:n], table.hits[:n]


class Factor(KeptAttributes, ABC):
    """Gives the log interest ratio of candidates; learns from outcomes.

    `learn` counts; `estimate` re-reads the counts into ratios; `evidence` uses the ratios and the graph
    as they are and changes nothing. So between two calls of `estimate`, the evidence for a candidate
    changes only if something about that candidate does.

    Subclasses give `spec`, `evidence` and `support`; everything else has a default that does nothing. One
    whose class has a `KEPT` of its own, which names all it has learned, need not learn again on resume.
    """

    spec: ClassVar[FactorSpec]

    def __init__(self, state: LearningState) -> None:
        self.state = state

    @property
    def name(self) -> str:
        """Its name, as users write it."""
        return self.spec.name

    def meet(self, found: Discovery) -> None:
        """Take note of links, before any of them is scored."""
        return None

    def learn(self, outcome: FetchOutcome) -> None:
        """Take in the outcome of one fetch."""
        return None

    def linked(self, satisfied: bool, finds: int, others: int) -> None:
        """The page just fetched links to so many finds and other pages that were fetched before."""
        return None

    def estimate(self) -> None:
        """Read ratios from the counts."""
        return None

    @abstractmethod
    def evidence(self, ids: Ids) -> Floats:
        """Log interest ratios of candidates; 0 where it is silent."""

    @abstractmethod
    def support(self, ids: Ids) -> Floats:
        """How many observations stand behind the evidence; 0 means it is silent."""

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        """What the evidence for one candidate consists of, strongest first."""
        return []

    def forget(self) -> None:
        """Drop what was worked out on the way: the next evidence comes from the counts alone."""
        return None


def strongest(terms: Sequence[EvidenceTerm]) -> list[EvidenceTerm]:
    """Terms in order of the strength of their ratio."""
    return sorted(terms, key=lambda term: (-abs(term.log_ratio), term.text))


def is_kept(factor: Factor) -> bool:
    """Whether a factor's own class says what it keeps; what a subclass adds is not its parent's to know."""
    return any(name in vars(type(factor)) for name in ("KEPT", "kept"))


class Tallied(Factor):
    """A factor whose counts are the graph's, candidate by candidate: only P(C) is its own."""

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self._rate = 0.0

    def estimate(self) -> None:
        self._rate = self.state.chance
