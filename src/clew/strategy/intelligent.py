"""`intelligent`: interest ratios learned while crawling (Aggarwal, Al-Garawi and Yu, 2001).

Until the first find the order is random (or, if the predicate can be applied to anchors and URLs, by what
it makes of them); with learned weights, links that are likely dead or lie deep come last. From then on a
link is worth the weighted sum of its factors' log interest ratios. Ratios and weights are read from the
counts anew at *estimates*: after every page at first, then whenever the crawl has grown by `refresh` (2
%); with `refresh=0`, after every page, as the paper has it. Between estimates only the links that the
last page touched change their worth, its own and its siblings', and these are re-scored at once: so every
score in the frontier is exact at every moment, and a re-score of the whole is a few array operations,
spread over many pages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.factor import (
    FACTORS,
    PAPER,
    Earlier,
    Estimation,
    Factor,
    LinkLocality,
    Memory,
    Seen,
    Sources,
    Term,
)
from clew.factor.marks import Said
from clew.factor.memory import distinct
from clew.knowledge import Knowledge, dumps, frozen, loads
from clew.messages import Rescore
from clew.predicate.verdict import Predicate
from clew.strategy.base import Expansion
from clew.strategy.looking import Looking
from clew.strategy.options import Choice, Names, Number, Option
from clew.strategy.random_order import dice
from clew.strategy.reading import Reading
from clew.strategy.weighing import Balanced, Fixed, Learned, Weighing

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

ALL = tuple(FACTORS)
#: Factors that say something before the first find: what is likely dead, where lists are, what was known.
#: Keeping away from the neighbours of misses as well made the first find come later where subjects are mixed.
EARLY = ("alive", "shallow", "hint", "earlier")
WEIGHINGS = ("balanced", "learned", "product")

OPTIONS: dict[str, Option] = {
    "factors": Names(ALL),
    "weights": Choice(WEIGHINGS),
    "refresh": Number(0, 1),
    "tokens": Choice(("words", "paper")),
    "smoothing": Number(0, 1000),
    "threshold": Number(0, 100),
    "deviation": Choice(("satisfying", "all")),
    "content": Choice(("candidate", "inlink")),
    "parents": Choice(("mean", "union")),
    "exact": Choice(("no", "yes")),
    "audit": Number(0, 1),
    "temper": Number(0, 1),
    "reach": Number(0, 1000),
}
_ESTIMATION = ("smoothing", "threshold", "deviation", "content", "parents", "temper", "reach")


class Intelligent(Looking):
    """Learns which links lead to pages that satisfy the predicate.

    Parameters: the factors to combine; how to weigh them (`balanced`, `learned`, `product`, or weights
    by factor); how to estimate; knowledge of earlier crawls to begin with.
    """

    name = "intelligent"
    reads = frozenset({"paths"})
    parts: tuple[str, ...] = (*ALL, "chance")
    options = OPTIONS

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
        exact: str = "no",
        audit: float = 0.0,
    ) -> None:
        self.factors = tuple(factors) or (ALL if weights == "learned" else _paper(known))
        self.parts = (*self.factors, "chance")
        self.seed = seed
        self.predicate = predicate if "hint" in self.factors else None
        self.refresh = refresh
        self.exact = exact == "yes"
        self.audit = audit
        self.memory = Memory()
        self.knowledge = Knowledge()
        self.reading = Reading(self.knowledge, tokens)
        sources = Sources(self.knowledge, self.memory, how or Estimation(), known)
        self._how, self._marks = sources.how, sources.marks
        # All factors learn, so that the knowledge serves any later crawl; the chosen ones are heard.
        self._all: dict[str, Factor] = {name: make(sources) for name, make in FACTORS.items()}
        self.heard = [self._all[name] for name in self.factors]
        self.weighing = self._weigher(weights)
        # Learned weights have a prior, so that there is something to go by before the first find.
        self._guided = weights == "learned"
        self._early = np.array([float(name in EARLY) for name in self.factors])
        self._keys: NDArray[np.uint64] = np.zeros(1024, np.uint64)
        self._scored: tuple[Expansion, Ids, Floats] | None = None
        self._aside: set[int] = set()
        self._fetched = 0
        self._due = 1
        self._found = False

    @classmethod
    def configured(
        cls,
        predicate: Predicate | None,
        seed: int,
        weights: Mapping[str, float] | None,
        options: Mapping[str, Any],
        known: Knowledge | None = None,
    ) -> Intelligent:
        """From options as they are read from the command line or an experiment."""
        plain = {name: value for name, value in options.items() if name not in _ESTIMATION}
        how = Estimation(**{name: value for name, value in options.items() if name in _ESTIMATION})
        if weights:
            plain["weights"] = weights
            plain.setdefault("factors", tuple(weights))
        return cls(seed, predicate=predicate, how=how, known=known, **plain)

    def __repr__(self) -> str:
        weighing = type(self.weighing).__name__.lower()
        return f"Intelligent({'+'.join(self.factors)}, {weighing}, {self.knowledge!r})"

    # the protocol

    def seeds(self, keys: NDArray[np.uint64]) -> Floats:
        parts = np.zeros((len(keys), len(self.parts)))
        parts[:, -1] = _SEED + dice(keys, self.seed)
        return parts

    def score(self, expansion: Expansion) -> Floats:
        """The same numbers as `evaluate`; learning from a page has mostly worked them out already."""
        if self._scored is None or self._scored[0] is not expansion:
            return self.evaluate(expansion.ids)
        _, ids, known = self._scored
        places = np.minimum(np.searchsorted(ids, expansion.ids), len(ids) - 1)
        there = ids[places] == expansion.ids
        parts: Floats = known[places]
        if not there.all():
            parts[~there] = self.evaluate(expansion.ids[~there])
        return parts

    def learn(self, expansion: Expansion) -> Rescore | None:
        moved = self._learned(expansion)
        if not self.exact:
            return moved
        self._scored = None
        return self.one_by_one()

    def _learned(self, expansion: Expansion) -> Rescore | None:
        self._scored = None
        before = self._count(expansion)
        self._fetched += 1
        if not self._found and not self._guided:
            self._all["earlier"].estimate()
            ids = expansion.ids[(expansion.ids >= 0) & ~expansion.fresh]
            ids = ids[self.memory.open[ids]]
            return Rescore(ids, self.evaluate(ids), saved=False) if len(ids) else None
        if self._fetched >= self._due:
            return self._everything(expansion)
        return self._touched(expansion, before)

    @property
    def met(self) -> int:
        return self.memory.tokens.rows

    def meet(self, expansion: Expansion) -> Floats | None:
        """Candidates of a sitemap are links without a page; what a redirect leads to is what led there."""
        memory, source = self.memory, expansion.source
        if source < 0:
            self._remember(expansion)
            return self.evaluate(expansion.ids)
        self.memory.reserve(source + 1)
        slot = int(memory.slot_of[source])
        if slot < 0 and not memory.open[source]:
            return None  # a seed, which is worth what it is worth
        self._remember(expansion, memory.anchors.row(source).astype(np.int64))
        for number in expansion.ids[expansion.fresh].tolist():
            if slot >= 0:
                memory.more(slot, number)
            else:
                memory.succeed(source, number)
        return self.evaluate(expansion.ids)

    def state(self) -> str:
        """What this crawl learned itself; what it was given is the earlier crawl's."""
        return dumps(self.knowledge)

    def snapshot(self) -> Callable[[], str]:
        """The same as of now, put into words later: there are hundreds of thousands of them."""
        return frozen(self.knowledge)

    def restore(self, state: str) -> None:
        """Nothing to do: a crawl that goes on learns from its stored pages again (see `clew.run.relearn`)."""
        loads(state, "the learned state")

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
        return parts

    def _fill(self, parts: Floats, ids: Ids, found: Floats | None) -> None:
        """Write the contributions of some candidates."""
        thrown = dice(self._keys[ids], self.seed)
        if self._found or self._guided:
            parts[:, -1] = self.weighing.luck(thrown)
            heard = self.weighing.weights != 0.0
            if found is None:
                found = self.evidence(ids, heard)
            elif not heard.all():
                found[:, ~heard] = 0.0
            parts[:, :-1] = self.weighing.apply(found)
            if not self._found:
                parts[:, :-1] *= self._early
            return
        parts[:, -1] = thrown
        # Before the first find, only what was known before the crawl began can be heard.
        for place, name in enumerate(self.factors):
            if name in ("hint", "earlier"):
                parts[:, place] = self._all[name].evidence(ids)

    def evidence(self, ids: Ids, heard: NDArray[np.bool_] | None = None) -> Floats:
        """Log interest ratios, one row a candidate, one column a factor; 0 for those not to be heard."""
        if not len(ids):
            return np.zeros((0, len(self.heard)))
        self.memory.reserve(int(ids.max()) + 1)
        found = np.zeros((len(ids), len(self.heard)), order="F")
        for column, factor in enumerate(self.heard):
            if heard is None or heard[column]:
                found[:, column] = factor.evidence(ids)
        return found

    def why(self, candidate: int) -> dict[str, list[Term]]:
        """The terms behind each factor's evidence for one candidate."""
        return {factor.name: factor.terms(candidate) for factor in self.heard}

    # learning

    def _count(self, expansion: Expansion) -> list[int]:
        """Take one outcome into counts and memory; gives the slots of the pages linking to it."""
        source, satisfied = expansion.source, expansion.verdict.satisfied
        self._reserve(source + 1)
        self.memory.reserve(source + 1)
        parents = self.memory.parents_of(source)
        if self._found and parents:
            self.weighing.observe(self.evidence(np.array([source]))[0], satisfied)
        words = self.reading.page(expansion.page)
        seen = Seen(
            source,
            satisfied,
            tuple(parents),
            words,
            self.reading.url(expansion.page.url),
            self.memory.anchors.row(source).astype(np.int64),
            200 <= expansion.page.status < 300,
            expansion.page.url,
        )
        for factor in self._all.values():
            factor.learn(seen)
        self.knowledge.pages += 1
        self.knowledge.satisfied += satisfied
        self.memory.fetch(source, satisfied, parents, self._how.reach)
        self._remember(expansion)
        children = expansion.ids[expansion.ids >= 0]
        fetched, finds = self.memory.link(source, satisfied, words, children, self._how.reach)
        link = self._all["link"]
        if fetched and isinstance(link, LinkLocality):
            link.links_out(satisfied, finds, fetched - finds)
        if satisfied and not self._found:
            self._found = True
            self._due = self._fetched + 1
        return parents

    def _remember(self, expansion: Expansion, anchor: Ids | None = None) -> None:
        """Tokens, anchor words (or those given) and keys of links never seen before; the hints of all."""
        known = expansion.ids >= 0
        if self.predicate is not None and known.any():
            top = int(expansion.ids.max()) + 1
            self.memory.reserve(top)
            hints = np.asarray(self.predicate.glance(expansion.links), np.float32)
            np.maximum.at(self.memory.hints, expansion.ids[known], hints[known])
        fresh = np.flatnonzero(expansion.fresh).tolist()
        if not fresh:
            return
        numbers = expansion.ids[fresh]
        self._reserve(int(numbers[-1]) + 1)
        self.memory.reserve(int(numbers[-1]) + 1)
        self._keys[numbers] = expansion.keys[fresh]
        self.memory.open[numbers] = True
        # Numbers of new candidates follow each other, so their rows are appended in one go.
        first, links = int(numbers[0]), expansion.links
        if isinstance(earlier := self._all["earlier"], Earlier) and earlier.speaks:
            earlier.meet(numbers.tolist(), [links.targets[i] for i in fresh])
        self.memory.tokens.extend(first, *self.reading.urls([links.targets[i] for i in fresh]))
        said = self.reading.anchors([links.anchors[i] for i in fresh], expansion.page.language or "en")
        if anchor is not None:
            said = (np.full(len(fresh), len(anchor)), np.tile(anchor, len(fresh)).astype(np.int32))
        self.memory.anchors.extend(first, *said)
        words = Said(*said, self.knowledge.anchors.names)
        self._marks.note(first, links, fresh, words, expansion.verdict.satisfied)

    # re-scoring

    def _everything(self, expansion: Expansion) -> Rescore:
        """Read ratios and weights from the counts anew and re-score every candidate."""
        ids = np.flatnonzero(self.memory.open[: self.memory.size])
        wait = max(math.floor(self._fetched * self.refresh), len(ids) // _SPREAD if self.refresh else 0)
        self._due = self._fetched + max(1, wait)
        self._estimate()
        step = len(ids) // _SAMPLE + 1
        found = self.evidence(ids[::step])
        self.weighing.fit(found)
        return self._moved(expansion, ids, found if step == 1 else None)

    def _touched(self, expansion: Expansion, parents: list[int]) -> Rescore:
        """Re-score what the last page changed: its links, and its siblings."""
        own = self.memory.pages[-1].children
        families = [self.memory.pages[slot].family for slot in parents]
        siblings = np.concatenate(families) if families else own[:0]
        # Its own links are all evaluated, those fetched before too: `score` is asked for them next.
        ids = distinct(np.concatenate([siblings[self.memory.open[siblings]], own])).astype(np.int64)
        return self._moved(expansion, ids)

    def _moved(self, expansion: Expansion, ids: Ids, found: Floats | None = None) -> Rescore:
        """Candidates (numbers ascending) with their worth, kept for the call of `score` that follows; by the
        evidence for them, if it was looked at before."""
        parts = self.evaluate(ids, found)
        self._scored = (expansion, ids, parts) if len(ids) else None
        return Rescore(ids, parts, saved=False)

    def _estimate(self) -> None:
        # How far earlier counts are trusted is settled before anybody reads them.
        first = self._all["earlier"]
        first.estimate()
        for factor in self.heard:
            if factor is not first:
                factor.estimate()

    def _weigher(self, weights: str | Mapping[str, float]) -> Weighing:
        if weights == "balanced":
            return Balanced(self.factors)
        if weights == "learned":
            return Learned(self.factors)
        return Fixed(self.factors, {} if isinstance(weights, str) else weights)

    def _reserve(self, size: int) -> None:
        if size > len(self._keys):
            new = np.zeros(max(size, len(self._keys) * 3 // 2), np.uint64)
            new[: len(self._keys)] = self._keys
            self._keys = new


def _paper(known: Knowledge | None) -> tuple[str, ...]:
    """The paper's factors, and what was known before, if anything was."""
    return PAPER if known is None else (*PAPER, "earlier")
