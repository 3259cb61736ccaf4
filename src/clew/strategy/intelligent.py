"""`intelligent`: interest ratios learned while crawling (Aggarwal, Al-Garawi and Yu, 2001).

Until the first find the order is random (or, if the predicate can be applied to anchors and URLs, by what it
makes of them); with learned weights, links come first that are likely alive, lie near the top of their site,
are few links away from where the crawl began, and whose siblings were not tried in vain. From then on a link
is worth the weighted sum of its factors' log interest ratios. Ratios and weights are read from the counts
anew at *estimates*: after every page at first, then whenever the crawl has grown by `refresh` (2 %); with
`refresh=0`, after every page, as the paper has it. Between estimates only the links that the last page
touched change their worth, its own and its siblings', and these are re-scored at once: so every score in the
frontier is exact at every moment, and a re-score of the whole is a few array operations, spread over many
pages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew.errors import ConfigError
from clew.factor import (
    FACTORS,
    Default,
    Discovery,
    Estimation,
    Factor,
    FetchOutcome,
    LearningState,
    LinkGraph,
    canonical,
    heard_by_default,
    is_kept,
    needed,
)
from clew.factor.link_features import Said
from clew.factor.visit_counts import VisitCounts
from clew.factor.visit_frequency import VisitorFactor
from clew.factor.visit_log import VisitLog
from clew.factor.visit_temporal import VisitTemporal
from clew.knowledge import Knowledge
from clew.learn.checkpoint import Keeps, require, within
from clew.learn.rows import distinct
from clew.messages import Rescore
from clew.predicate.verdict import Predicate
from clew.strategy.base import Capabilities, Evidence, Expansion, Scored, Setup, totals
from clew.strategy.combiner import BalancedWeights, Combiner, FixedWeights, LearnedWeights
from clew.strategy.options import ChoiceOption, NamesOption, NumberOption, Option
from clew.strategy.random_order import dice
from clew.strategy.relearning import RelearningStrategy
from clew.strategy.vectorizer import Vectorizer
from clew.topic import TopicScorers

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

#: Candidates evaluated in one go: what is made on the way stays in the processor's cache.
_PIECE = 8192
#: Candidates whose evidence decides how it is weighed; of more, so many are looked at.
_SAMPLE = 20_000
#: A full re-score is put off until as many pages were fetched as there are this many candidates for each.
_SPREAD = 1000
#: Seeds come before anything that was found.
_SEED = 1e3
#: Who is audited is a throw of dice of its own.
_AUDIT = 0xA0D17

#: How people are estimated where their weights are learned. The lab has it that a deviation over a person's
#: own pages tells more than the 2002 paper's over all, by which everybody is significant soon.
_PEOPLE: dict[str, Any] = {"visit_deviation": "own", "visit_threshold": 0.5}
#: Until the first find, one page in so many is one that people visited, wherever it is.
_TRY = 2

WEIGHINGS = ("balanced", "learned", "product")

OPTIONS: dict[str, Option] = {
    "factors": NamesOption(lambda: tuple(FACTORS), canonical),
    "weights": ChoiceOption(WEIGHINGS),
    "refresh": NumberOption(0, 1),
    "tokens": ChoiceOption(("words", "paper")),
    "smoothing": NumberOption(0, 1000),
    "threshold": NumberOption(0, 100),
    "deviation": ChoiceOption(("satisfying", "all")),
    "content": ChoiceOption(("candidate", "inlink")),
    "parents": ChoiceOption(("mean", "union")),
    "exact": ChoiceOption(("no", "yes")),
    "audit": NumberOption(0, 1),
    "temper": NumberOption(0, 1),
    "reach": NumberOption(0, 1000),
    "visit_threshold": NumberOption(0, 100),
    "visit_deviation": ChoiceOption(("all", "satisfying", "own")),
    "visit_signature": ChoiceOption(("definition", "printed")),
    "visit_reach": NumberOption(1, 1000, whole=True),
    "signature_share": NumberOption(0, 1),
    "signature_features": ChoiceOption(("words", "topics", "both")),
}
_ESTIMATION = (
    "smoothing", "threshold", "deviation", "content", "parents", "temper", "reach",
    "visit_deviation", "visit_threshold", "visit_signature", "visit_reach", "signature_share",
    "signature_features",
)  # fmt: skip


class Intelligent(RelearningStrategy):
    """Learns which links lead to pages that satisfy the predicate.

    Parameters: the factors to combine; how to weigh them (`balanced`, `learned`, `product`, or weights
    by factor); how to estimate; knowledge of earlier crawls to begin with.
    """

    name = "intelligent"
    options: ClassVar[Mapping[str, Option]] = OPTIONS
    capabilities = Capabilities(
        link_columns=frozenset({"paths"}),
        meets=True,
        sheds=True,
        audits=True,
        interest=True,
        explains=True,
        relearns=True,
        reweighs=True,
        reestimates=True,
    )

    def __init__(
        self,
        seed: int = 0,
        *,
        predicate: Predicate | None = None,
        factors: Sequence[str] = (),
        weights: str | Mapping[str, float] = "learned",
        how: Estimation | None = None,
        refresh: float = 0.02,
        tokens: str = "words",
        known: Knowledge | None = None,
        visits: VisitLog | None = None,
        topics: TopicScorers | None = None,
        exact: str = "no",
        audit: float = 0.0,
    ) -> None:
        self.factors = tuple(factors) or _default_factors(
            weights, reuses=known is not None, visits=visits is not None
        )
        self.parts = (*self.factors, "chance")
        self.seed = seed
        self.refresh = refresh
        self.exact = exact == "yes"
        self.audit = audit
        self.graph = LinkGraph()
        self.knowledge = Knowledge()
        self.vectorizer = Vectorizer(self.knowledge, tokens)
        state = LearningState(
            self.knowledge, self.graph, how or Estimation(), known, predicate=predicate, topics=topics
        )
        state.visits = None if visits is None else VisitCounts(visits)
        self._state, self._how, self._features = state, state.how, state.features
        # More may learn than are heard, so that the knowledge serves any later crawl.
        self.learners: dict[str, Factor] = {name: FACTORS[name](state) for name in needed(self.factors)}
        self.heard = [self.learners[name] for name in self.factors]
        self._visitors = [f for f in self.heard if isinstance(f, VisitorFactor | VisitTemporal)]
        self._first = [factor for factor in self.learners.values() if factor.spec.estimated_first]
        self.capabilities = replace(
            self.capabilities,
            link_columns=self.capabilities.link_columns.union(
                *[f.spec.columns for f in self.learners.values()]
            ),
            offers=visits is not None,
        )
        self._offered: list[str] = []
        self._tried: set[int] = set()
        self.combiner = self._combiner_for(weights)
        # Learned weights have a prior, so that there is something to go by before the first find.
        self._guided = weights == "learned"
        blind = not hasattr(predicate, "formula")
        self._early = np.array(
            [0.0 if blind and f.spec.early_by_formula else f.spec.early for f in self.heard]
        )
        self._keys: NDArray[np.uint64] = np.zeros(1024, np.uint64)
        self._aside: set[int] = set()
        self._fetched = 0
        self._due = 1
        self._found = False

    @classmethod
    def parts_of(
        cls,
        weights: Mapping[str, float],
        options: Mapping[str, Any],
        *,
        reuses: bool = False,
        visits: bool = False,
    ) -> tuple[str, ...]:
        chosen = options.get("factors") or tuple(map(canonical, weights))
        way = weights or options.get("weights", "learned")
        return (*(chosen or _default_factors(way, reuses=reuses, visits=visits)), "chance")

    @classmethod
    def weight_names(cls) -> tuple[str, ...]:
        return tuple(FACTORS)

    @classmethod
    def weight_name(cls, given: str) -> str:
        return canonical(given)

    @classmethod
    def explores(cls, part: str) -> bool | None:
        if part == "chance":
            return True
        factor = FACTORS.get(canonical(part))
        return None if factor is None else factor.spec.explores

    @classmethod
    def build(cls, setup: Setup) -> Self:
        plain: dict[str, Any] = {n: value for n, value in setup.options.items() if n not in _ESTIMATION}
        how = Estimation(**_PEOPLE | {n: value for n, value in setup.options.items() if n in _ESTIMATION})
        if setup.weights:
            plain["weights"] = setup.weights
            plain.setdefault("factors", tuple(setup.weights))
        return cls(
            setup.seed,
            predicate=setup.predicate,
            how=how,
            known=setup.known,
            visits=setup.visits,
            topics=setup.scorers,
            **plain,
        )

    def __repr__(self) -> str:
        combiner = type(self.combiner).__name__
        return f"Intelligent({'+'.join(self.factors)}, {combiner}, {self.knowledge!r})"

    # the protocol

    def seeds(self, keys: NDArray[np.uint64]) -> Floats:
        parts = np.zeros((len(keys), len(self.parts)))
        parts[:, -1] = _SEED + dice(keys, self.seed)
        return parts

    def score(self, expansion: Expansion) -> Floats:
        return self.evaluate(expansion.ids)

    def observe(self, expansion: Expansion) -> Scored:
        return self.observe_many((expansion,))[0]

    def observe_many(self, expansions: Sequence[Expansion]) -> list[Scored]:
        """Count every page; then, once, read estimates anew if they are due and re-score what moved."""
        parents: list[int] = []
        visits, finds = self._state.visits, []
        for expansion in expansions:
            parents += self._count(expansion)
            self._fetched += 1
            if visits is not None and expansion.verdict.satisfied and visits.last >= 0:
                finds.append(visits.last)
        if not self._found and not self._guided:
            scored = self._before_the_first_find(expansions)
        elif self._fetched >= self._due:
            scored = self._everything(expansions)
        else:
            scored = self._touched(expansions, parents)
        if visits is not None and not self._found and self._fetched % _TRY == 0:
            self._offered = list(islice(self.samples(), 1))
        else:
            self._offered = [] if visits is None else self._promising(visits, finds)
        return self._scored(expansions, self.evaluate, self.one_by_one()) if self.exact else scored

    @property
    def met(self) -> int:
        return self.graph.tokens.rows

    def meet(self, expansion: Expansion) -> Floats | None:
        """Candidates of a sitemap are links without a page; what a redirect leads to is what led there."""
        graph, source = self.graph, expansion.source
        if source < 0:
            if not self._found and not expansion.page.url:
                # Offered before there was anything to go by: tried like a seed.
                self._tried.update(expansion.ids.tolist())
            self._remember(expansion)
            return self.evaluate(expansion.ids)
        self.graph.reserve(source + 1)
        slot = int(graph.slot_of[source])
        if slot < 0 and not graph.open[source]:
            return None  # a seed, which is worth what it is worth
        self._remember(expansion, graph.anchors.row(source).astype(np.int64))
        for number in expansion.ids[expansion.fresh].tolist():
            if slot >= 0:
                graph.more(slot, number)
            else:
                graph.succeed(source, number)
        return self.evaluate(expansion.ids)

    def checkpoint(self) -> Keeps | None:
        # What of an earlier crawl is believed does not come back to the last bit: it is learned again.
        if self.setup is not None and self.setup.known is not None:
            return None
        # What a subclass adds is not known here.
        declared = "kept" in vars(type(self)) and all(map(is_kept, self.learners.values()))
        return self if declared else None

    def kept(self) -> dict[str, Any]:
        size = self.graph.size
        return {
            "knowledge": self.knowledge,
            "graph": self.graph,
            "features": self._features,
            "combiner": self.combiner,
            **{f"factor {name}": factor for name, factor in self.learners.items()},
            "keys": self._keys[:size],
            "aside": np.array(sorted(self._aside), np.int64),
            "fetched": self._fetched,
            "due": self._due,
            "found": self._found,
        }

    def recall(self, found: Mapping[str, Any]) -> None:
        graph, known = self.graph, self.knowledge
        rows = ((graph.words, known.words), (graph.tokens, known.tokens), (graph.anchors, known.anchors))
        require(all(within(kept.items, 0, len(table)) for kept, table in rows), "words")
        require(graph.tokens.rows == graph.anchors.rows <= graph.size, "candidates by number")
        require(len(found["keys"]) <= graph.size and within(found["aside"], 0, graph.size), "candidates")
        require(found["fetched"] == graph.fetched, "pages fetched")
        self._keys, self._aside = found["keys"], set(found["aside"].tolist())
        self._fetched, self._due, self._found = found["fetched"], found["due"], found["found"]

    # what people visited

    def samples(self) -> Iterator[str]:
        """Pages of the log in the order of the dice."""
        counts = self._state.visits
        if counts is not None:
            yield from counts.sampled(np.argsort(dice(counts.log.keys, self.seed), kind="stable"))

    def _promising(self, counts: VisitCounts, finds: Sequence[int]) -> list[str]:
        """Pages visited by those who visited the finds just made, of which no link tells yet, by how much
        more likely than chance the log makes them finds (section 3.1 of the 2002 paper)."""
        if not finds:
            return []
        log = counts.log
        rows = [log.pages_of.row(person) for page in finds for person in log.people_of.row(page).tolist()]
        return counts.promising(np.unique(np.concatenate(rows)).astype(np.int64), self._visitors, 0.0)

    # evaluation

    def evaluate(self, ids: Ids, found: Floats | None = None) -> Floats:
        """The contributions of candidates as of now, one row each, by their evidence if that is at hand.
        Changes nothing."""
        parts = np.zeros((len(ids), len(self.parts)), order="F")
        if not len(ids):
            return parts
        if ids.min() < 0:
            # Those of another shard are worth nothing here.
            ours = ids >= 0
            parts[ours] = self.evaluate(ids[ours])
            return parts
        self._reserve(int(ids.max()) + 1)
        for at in range(0, len(ids), _PIECE):
            known = None if found is None else found[at : at + _PIECE]
            self._fill(parts[at : at + _PIECE], ids[at : at + _PIECE], known)
        if self._tried and not self._found:
            parts[np.isin(ids, np.array(sorted(self._tried))), -1] += _SEED
        return parts

    def _fill(self, parts: Floats, ids: Ids, found: Floats | None) -> None:
        """Write the contributions of some candidates."""
        thrown = dice(self._keys[ids], self.seed)
        if self._found or self._guided:
            parts[:, -1] = self.combiner.luck(thrown)
            heard = self.combiner.weights != 0.0
            if found is None:
                found = self.evidence(ids, heard)
            elif not heard.all():
                found[:, ~heard] = 0.0
            parts[:, :-1] = self.combiner.apply(found)
            if not self._found:
                parts[:, :-1] *= self._early
            return
        parts[:, -1] = thrown
        # Before the first find, only what was known before the crawl began can be heard.
        for place, factor in enumerate(self.heard):
            if factor.spec.foreknown:
                parts[:, place] = factor.evidence(ids)

    def evidence(self, ids: Ids, heard: NDArray[np.bool_] | None = None) -> Floats:
        """Log interest ratios, one row a candidate, one column a factor; 0 for those not to be heard."""
        if not len(ids):
            return np.zeros((0, len(self.heard)))
        self.graph.reserve(int(ids.max()) + 1)
        found = np.zeros((len(ids), len(self.heard)), order="F")
        for column, factor in enumerate(self.heard):
            if heard is None or heard[column]:
                found[:, column] = factor.evidence(ids)
        return found

    def candidates(self) -> Ids:
        return self.graph.open[: self.graph.size].nonzero()[0]

    def evidence_for(self, candidate: int) -> list[Evidence]:
        mine = np.array([candidate])
        return [
            Evidence(
                factor.name, float(ratio), float(factor.support(mine)[0]), tuple(factor.terms(candidate))
            )
            for factor, ratio in zip(self.heard, self.evidence(mine)[0], strict=True)
        ]

    # learning

    def _count(self, expansion: Expansion) -> list[int]:
        """Take one outcome into counts and graph; gives the slots of the pages linking to it."""
        source, satisfied = expansion.source, expansion.verdict.satisfied
        self._reserve(source + 1)
        self.graph.reserve(source + 1)
        parents = self.graph.parents_of(source)
        if self._found and parents:
            self.combiner.observe(self.evidence(np.array([source]))[0], satisfied)
        words = self.vectorizer.page(expansion.page)
        outcome = FetchOutcome(
            candidate=source,
            satisfied=satisfied,
            parents=tuple(parents),
            words=words,
            tokens=self.vectorizer.url(expansion.page.url),
            anchors=self.graph.anchors.row(source).astype(np.int64),
            alive=200 <= expansion.page.status < 300,
            url=expansion.page.url,
            page=expansion.page,
        )
        for factor in self.learners.values():
            factor.learn(outcome)
        self.knowledge.pages += 1
        self.knowledge.satisfied += satisfied
        self.graph.fetch(source, satisfied, parents, self._how.reach)
        self._remember(expansion)
        children = expansion.ids[expansion.ids >= 0]
        fetched, finds = self.graph.link(source, satisfied, words, children, self._how.reach)
        if fetched:
            for factor in self.learners.values():
                factor.linked(satisfied, finds, fetched - finds)
        if satisfied and not self._found:
            self._found = True
            self._due = self._fetched + 1
        return parents

    def _remember(self, expansion: Expansion, anchor: Ids | None = None) -> None:
        """Tokens, anchor words (or those given) and keys of new links; factors are told of all links."""
        found = Discovery(
            page=expansion.page,
            satisfied=expansion.verdict.satisfied,
            links=expansion.links,
            ids=expansion.ids,
            fresh=expansion.fresh,
            keys=expansion.keys,
        )
        for factor in self.learners.values():
            factor.meet(found)
        fresh = expansion.fresh.nonzero()[0].tolist()
        if not fresh:
            return
        numbers = expansion.ids[fresh]
        self._reserve(int(numbers[-1]) + 1)
        self.graph.reserve(int(numbers[-1]) + 1)
        self._keys[numbers] = expansion.keys[fresh]
        self.graph.open[numbers] = True
        self.graph.distances[numbers] = expansion.depth + 1
        # Numbers of new candidates follow each other, so their rows are appended in one go.
        first, links = int(numbers[0]), expansion.links
        self.graph.tokens.extend(*self.vectorizer.urls([links.targets[i] for i in fresh]), first)
        said = self.vectorizer.anchors([links.anchors[i] for i in fresh], expansion.page.language or "en")
        if anchor is not None:
            said = (np.full(len(fresh), len(anchor)), np.tile(anchor, len(fresh)).astype(np.int32))
        self.graph.anchors.extend(*said, first)
        words = Said(*said, self.knowledge.anchors.names)
        self._features.note(first, links, fresh, words, expansion.verdict.satisfied)

    def seek(self, focus: Predicate) -> None:
        self._state.predicate = focus

    def reestimate(self, degrees: Floats, waiting: Rescore) -> Rescore:
        """What was counted by the other focus stays."""
        ids = self.candidates()
        known = np.concatenate([ids, np.array(sorted(self._aside), np.int64)])
        self.graph.link_degrees[known] = degrees[known]
        return Rescore(ids, self.evaluate(ids), saved=False)

    def reweigh(self, weights: Mapping[str, float], waiting: Rescore) -> Rescore:
        """These weights hold from now on, whatever was learned of weights."""
        unheard = [name for name in weights if name not in self.factors]
        if unheard:
            heard = ", ".join(self.factors)
            raise ConfigError(f"{unheard[0]!r} is not among the factors of this crawl: {heard}")
        self.combiner = self._combiner_for(weights)
        self._guided = False
        ids = self.candidates()
        return Rescore(ids, self.evaluate(ids), saved=False)

    # re-scoring

    def _before_the_first_find(self, expansions: Sequence[Expansion]) -> list[Scored]:
        """Only what was known before the crawl began is heard, and only links found again can have moved."""
        for factor in self._first:
            factor.estimate()
        again = [expansion.ids[(expansion.ids >= 0) & ~expansion.fresh] for expansion in expansions]
        ids = distinct(np.concatenate(again)) if len(again) > 1 else again[0]
        ids = ids[self.graph.open[ids]]
        moved = Rescore(ids, self.evaluate(ids), saved=False) if len(ids) else None
        return self._scored(expansions, self.evaluate, moved)

    def _everything(self, expansions: Sequence[Expansion]) -> list[Scored]:
        """Read ratios and weights from the counts anew and re-score every candidate."""
        ids = self.graph.open[: self.graph.size].nonzero()[0]
        wait = max(math.floor(self._fetched * self.refresh), len(ids) // _SPREAD if self.refresh else 0)
        self._due = self._fetched + max(1, wait)
        self._estimate()
        step = len(ids) // _SAMPLE + 1
        found = self.evidence(ids[::step])
        # What sitemaps and visitors tell of, which no page led to, may come to be known at another time.
        self.combiner.fit(found[self.graph.inlinks[ids[::step]] > 0])
        return self._moved(expansions, ids, found if step == 1 else None)

    def _touched(self, expansions: Sequence[Expansion], parents: list[int]) -> list[Scored]:
        """Re-score what the last pages changed: their links, and their siblings."""
        slots = range(self.graph.fetched - len(expansions), self.graph.fetched)
        own = np.concatenate([self.graph.children_of(slot) for slot in slots])
        families = [self.graph.family(slot) for slot in parents]
        siblings = np.concatenate(families) if families else own[:0]
        # Its own links are all evaluated, those fetched before too: they are asked for.
        ids = distinct(np.concatenate([siblings[self.graph.open[siblings]], own])).astype(np.int64)
        return self._moved(expansions, ids)

    def _moved(self, expansions: Sequence[Expansion], ids: Ids, found: Floats | None = None) -> list[Scored]:
        """Candidates (numbers ascending) with their worth, by the evidence for them if that is at hand;
        most of the pages' links are among them."""
        parts = self.evaluate(ids, found)

        def worth(links: Ids) -> Floats:
            if not len(ids):
                return self.evaluate(links)
            places = np.minimum(np.searchsorted(ids, links), len(ids) - 1)
            there = ids[places] == links
            terms: Floats = parts[places]
            if not there.all():
                terms[~there] = self.evaluate(links[~there])
            return terms

        return self._scored(expansions, worth, Rescore(ids, parts, saved=False))

    def _scored(
        self, expansions: Sequence[Expansion], worth: Callable[[Ids], Floats], moved: Rescore | None
    ) -> list[Scored]:
        """The worth of each page's links; what else moved is told with the last."""
        *others, last = [worth(expansion.ids) for expansion in expansions]
        return [*[Scored(terms) for terms in others], Scored(last, moved)]

    def _estimate(self) -> None:
        for factor in [*self._first, *[factor for factor in self.heard if factor not in self._first]]:
            factor.estimate()

    def _combiner_for(self, weights: str | Mapping[str, float]) -> Combiner:
        if weights == "balanced":
            return BalancedWeights(self.factors)
        if weights == "learned":
            return LearnedWeights([factor.spec for factor in self.heard])
        return FixedWeights(self.factors, {} if isinstance(weights, str) else weights)

    # what may be asked at any time

    def afresh(self) -> None:
        """Forget what factors have worked out of pages: the next evidence comes from the counts alone."""
        for factor in self.heard:
            factor.forget()

    def one_by_one(self) -> Rescore:
        """Every candidate's worth, worked out for itself in a plain loop: slow, and plainly right."""
        self.afresh()
        ids = self.graph.open[: self.graph.size].nonzero()[0]
        rows = [self.evaluate(np.array([number]))[0] for number in ids.tolist()]
        return Rescore(ids, np.array(rows).reshape(len(ids), len(self.parts)), saved=False)

    def set_aside(self, ids: Ids) -> None:
        """These candidates are not at hand for now: they are not scored anew."""
        ids = ids[ids < self.graph.size]
        ids = ids[self.graph.open[ids]]
        self.graph.open[ids] = False
        self._aside.update(ids.tolist())

    def take_back(self, ids: Ids) -> Rescore:
        """These are at hand again, worth what they are worth by now."""
        back = [number for number in ids.tolist() if number in self._aside]
        self._aside.difference_update(back)
        known = np.array(back, np.int64)
        self.graph.open[known] = True
        return Rescore(known, self.evaluate(known), saved=False)

    def audits(self, candidate: int) -> bool:
        """Whether the choice of this candidate is to be checked; the same ones for the same seed."""
        if self.audit <= 0.0 or candidate >= self.graph.size or not self.graph.open[candidate]:
            return False
        return bool(dice(self._keys[candidate : candidate + 1], self.seed + _AUDIT)[0] < self.audit)

    def review(self, ids: Ids) -> Floats:
        """Scores worked out anew; not a number for candidates of which nothing is known."""
        self.afresh()
        found = np.full(len(ids), np.nan)
        known = ids < self.graph.size
        known[known] = self.graph.open[ids[known]]
        found[known] = totals(self.evaluate(ids[known]))
        return found

    def interest(self, parts: tuple[float, ...]) -> float:
        """How many times as likely as chance a candidate with these contributions is to be a find."""
        return self.combiner.interest(parts[:-1], self.knowledge.rate) if self._found else math.inf

    def _reserve(self, size: int) -> None:
        if size > len(self._keys):
            new = np.zeros(max(size, len(self._keys) * 3 // 2), np.uint64)
            new[: len(self._keys)] = self._keys
            self._keys = new


def _default_factors(weights: str | Mapping[str, float], *, reuses: bool, visits: bool) -> tuple[str, ...]:
    """All, where their weights are learned; else the paper's, and what was known before, if anything was; and
    those of a log of visits, if there is one."""
    where: tuple[Default, ...] = ("learned",) if weights == "learned" else ("paper",)
    if reuses and weights != "learned":
        where += ("reuse",)
    return heard_by_default(*where, *(("visits",) if visits else ()))
