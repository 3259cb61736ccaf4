"""`collaborative`: follow the people (Aggarwal, 2002).

Candidates come from a log of people's visits, not from links. A page is worth the product of three interest
ratios (eq. 12): of the people who visited it, of what their finds have in common, and of what was visited
next to finds. After each page, the people who visited it are estimated anew, and with them the pages they
visited; those whose ratio is above the threshold become candidates (`CalculatePriorities` and `ExpandList`
of Figure 1). All others keep what they were worth until the next full estimate, which comes whenever the
crawl has grown by `refresh`; with `exact`, after every page. While there is no candidate, and until
`min-cand` pages were crawled, the log is sampled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.factor import FACTORS, Estimation, FetchOutcome, LearningState, LinkGraph
from clew.factor.visit_counts import VisitCounts
from clew.factor.visit_frequency import NO_LOG
from clew.factor.visit_log import VisitLog
from clew.knowledge import Knowledge
from clew.messages import Rescore
from clew.strategy.base import Capabilities, Evidence, Expansion, Scored, Setup
from clew.strategy.options import ChoiceOption, NumberOption, Option
from clew.strategy.random_order import dice
from clew.strategy.relearning import RelearningStrategy
from clew.strategy.vectorizer import Vectorizer
from clew.topic import TopicScorers

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_FACTORS = ("visit_frequency", "visit_signature", "visit_temporal")
#: Throws of the dice decide between equals.
_CHANCE = 1e-6
#: What a ratio of 0 contributes: less than anything.
_WORST = -1e9
#: The sampling of the log is a throw of dice of its own.
_SAMPLING = 0x10C5
_NO: Ids = np.zeros(0, np.int64)

_ESTIMATION = (
    "smoothing", "visit_threshold", "visit_deviation", "visit_signature", "visit_reach", "signature_share",
    "signature_features",
)  # fmt: skip
OPTIONS: dict[str, Option] = {
    "above": NumberOption(0, 1000),
    "min_cand": NumberOption(0, 10_000_000, whole=True),
    "refresh": NumberOption(0, 1),
    "exact": ChoiceOption(("no", "yes")),
    "smoothing": NumberOption(0, 1000),
    "visit_threshold": NumberOption(0, 100),
    "visit_deviation": ChoiceOption(("all", "satisfying", "own")),
    "visit_signature": ChoiceOption(("definition", "printed")),
    "visit_reach": NumberOption(1, 1000, whole=True),
    "signature_share": NumberOption(0, 1),
    "signature_features": ChoiceOption(("words", "topics", "both")),
}


class Collaborative(RelearningStrategy):
    """Learns which people visit pages that satisfy the predicate, and goes where they went.

    Parameters: the seed of the dice; the log; how to estimate; the `topics` that signatures may be made of;
    the interest ratio `above` which a page becomes a candidate; until how many pages (`min_cand`) the log is
    sampled; how often all is estimated anew."""

    name = "collaborative"
    parts: tuple[str, ...] = (*_FACTORS, "chance")
    options: ClassVar[Mapping[str, Option]] = OPTIONS
    capabilities = Capabilities(
        meets=True, interest=True, explains=True, relearns=True, offers=True, follows=False
    )

    def __init__(
        self,
        seed: int = 0,
        log: VisitLog | None = None,
        how: Estimation | None = None,
        *,
        topics: TopicScorers | None = None,
        above: float = 1.0,
        min_cand: int = 1000,
        refresh: float = 0.02,
        exact: str = "no",
    ) -> None:
        self.seed = seed
        self.log = NO_LOG if log is None else log
        self.above = native.log_of(above) if above > 0.0 else -math.inf
        self.min_cand = min_cand
        self.refresh = refresh
        self.exact = exact == "yes"
        self.knowledge = Knowledge()
        self.vectorizer = Vectorizer(self.knowledge, "words")
        self.counts = VisitCounts(self.log)
        self._state = LearningState(
            self.knowledge, LinkGraph(), how or Estimation(), visits=self.counts, topics=topics
        )
        # These are the factors of the log: they weigh people and pages without being asked for candidates.
        self.factors: list[Any] = [FACTORS[name](self._state) for name in _FACTORS]
        self._fetched = 0
        self._due = 1
        self._met = 0
        self._keys: dict[int, int] = {}
        self._offered: list[str] = []
        # Ties by age: the order of the log's pages is that of their keys.
        self._order = np.argsort(dice(self.log.keys, seed + _SAMPLING), kind="stable")

    @classmethod
    def explores(cls, part: str) -> bool | None:
        return part == "chance" if part in cls.parts else None

    @classmethod
    def build(cls, setup: Setup) -> Self:
        plain: dict[str, Any] = {n: value for n, value in setup.options.items() if n not in _ESTIMATION}
        how = Estimation(**{n: value for n, value in setup.options.items() if n in _ESTIMATION})
        return cls(setup.seed, setup.visits, how, topics=setup.scorers, **plain)

    def __repr__(self) -> str:
        return f"Collaborative({self.log!r}, {self.knowledge!r})"

    # the protocol

    def seeds(self, keys: NDArray[np.uint64]) -> Floats:
        """Ratio one, as every page of which nothing is known."""
        parts = np.zeros((len(keys), len(self.parts)))
        parts[:, -1] = dice(keys, self.seed) * _CHANCE
        return parts

    def score(self, expansion: Expansion) -> Floats:
        return self._worth(self.log.find(expansion.keys), expansion.keys)

    def observe(self, expansion: Expansion) -> Scored:
        satisfied = expansion.verdict.satisfied
        outcome = FetchOutcome(
            candidate=expansion.source,
            satisfied=satisfied,
            parents=(),
            words=self.vectorizer.page(expansion.page),
            tokens=_NO,
            anchors=_NO,
            url=expansion.page.url,
            page=expansion.page,
        )
        for factor in self.factors:
            factor.learn(outcome)
        self._remember(expansion)
        self.knowledge.pages += 1
        self.knowledge.satisfied += satisfied
        self._fetched += 1
        pages = self._estimate()
        if self.knowledge.satisfied:
            self._offered += self.counts.promising(pages, self.factors, self.above)
        queued = pages[(self.counts.candidate[pages] >= 0) & ~self.counts.fetched[pages]]
        queued = queued[np.argsort(self.counts.candidate[queued], kind="stable")]
        ids = self.counts.candidate[queued]
        moved = Rescore(ids, self._worth(queued, self.log.keys[queued]), saved=False) if len(ids) else None
        return Scored(self.score(expansion), moved)

    def _estimate(self) -> Ids:
        """Read ratios from the counts anew, of whom the last page concerns or of all; gives the pages whose
        worth may have changed."""
        if self.exact or self._fetched >= self._due:
            self._due = self._fetched + max(1, math.floor(self._fetched * self.refresh))
            for factor in self.factors:
                factor.estimate()
            return np.arange(len(self.log.urls))
        if self.counts.last < 0:
            return _NO
        people = self.log.people_of.row(self.counts.last).astype(np.int64)
        for factor in self.factors:
            factor.estimate_people(people)
        rows = [self.log.pages_of.row(person) for person in people.tolist()]
        return np.unique(np.concatenate(rows)).astype(np.int64) if rows else _NO

    def samples(self) -> Iterator[str]:
        if self._fetched < self.min_cand:
            yield from self.counts.sampled(self._order)

    @property
    def met(self) -> int:
        return self._met

    def meet(self, expansion: Expansion) -> Floats | None:
        self._remember(expansion)
        return self.score(expansion)

    def _remember(self, expansion: Expansion) -> None:
        """Look up which new candidates the log knows."""
        fresh = expansion.fresh & (expansion.ids >= 0)
        self.counts.meet(expansion.ids[fresh], expansion.keys[fresh])
        if fresh.any():
            self._met = max(self._met, int(expansion.ids[fresh].max()) + 1)
        for number, key in zip(expansion.ids.tolist(), expansion.keys.tolist(), strict=True):
            self._keys[number] = key

    # evaluation

    def _worth(self, pages: Ids, keys: NDArray[np.uint64]) -> Floats:
        """Contributions of pages, one row each; a page that the log does not know has ratio one."""
        parts = self.seeds(keys)
        known = np.flatnonzero(pages >= 0)
        for column, factor in enumerate(self.factors):
            parts[known, column] = np.maximum(factor.page_evidence(pages[known]), _WORST)
        return parts

    def candidates(self) -> Ids:
        open_ = self.counts.candidate[(self.counts.candidate >= 0) & ~self.counts.fetched]
        return np.sort(open_)

    def evaluate(self, ids: Ids) -> Floats:
        keys = np.array([self._keys.get(number, 0) for number in ids.tolist()], np.uint64)
        return self._worth(self.counts.pages(ids), keys)

    def evidence_for(self, candidate: int) -> list[Evidence]:
        mine = np.array([candidate])
        return [
            Evidence(
                factor.name,
                float(factor.evidence(mine)[0]),
                float(factor.support(mine)[0]),
                tuple(factor.terms(candidate)),
            )
            for factor in self.factors
        ]

    def interest(self, parts: tuple[float, ...]) -> float:
        """The composite interest ratio."""
        return native.exp_of(min(700.0, math.fsum(parts[:-1]))) if self.knowledge.satisfied else math.inf
