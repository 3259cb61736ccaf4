"""`intelligent`: interest ratios learned while crawling (Aggarwal, Al-Garawi and Yu, 2001).

Until the first find the order is random (or, if the predicate can be applied to anchors and URLs, by what
it makes of them). From then on a link is worth the weighted sum of its factors'
log interest ratios. Ratios and weights are read from the counts anew at *estimates*: after every page
at first, then whenever the crawl has grown by `refresh` (2 %); with `refresh=0`, after every page, as
the paper has it. Between estimates only the links that the last page touched change their worth, its
own and its siblings', and these are re-scored at once: so every score in the frontier is exact at every
moment, and a re-score of the whole is a few array operations, spread over many pages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.factor import (
    FACTORS,
    PAPER,
    Estimation,
    Factor,
    LinkLocality,
    Memory,
    Seen,
    Sources,
    Term,
)
from clew.factor.memory import Ragged
from clew.knowledge import Knowledge, Table, dumps, loads
from clew.messages import Rescore
from clew.page import Page
from clew.predicate.verdict import Predicate
from clew.strategy.base import Expansion
from clew.strategy.options import Choice, Names, Number, Option
from clew.strategy.random_order import dice
from clew.strategy.weighing import Balanced, Fixed, Learned, Weighing
from clew.words import lexicon, stopwords, tokens

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

#: Characters of a page whose words are learned from.
_TEXT = 50_000
#: Anchors whose words are remembered.
_REMEMBERED = 20_000
#: A full re-score is put off until as many pages were fetched as there are this many candidates for each.
_SPREAD = 2000
#: A throw of the dice decides between equals, and everything before the first find.
_CHANCE = 1e-6
#: Seeds come before anything that was found.
_SEED = 1e3

ALL = tuple(FACTORS)
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
    "temper": Number(0, 1),
    "reach": Number(0, 1000),
}
_ESTIMATION = ("smoothing", "threshold", "deviation", "content", "temper", "reach")


class Intelligent:
    """Learns which links lead to pages that satisfy the predicate.

    Parameters: the factors to combine; how to weigh them (`balanced`, `learned`, `product`, or weights
    by factor); how to estimate; knowledge of earlier crawls to begin with.
    """

    name = "intelligent"
    #: Cuts a page into words; a lab that shows the same pages again and again may remember the cuts.
    words_of: Callable[[Page], Sequence[str]] = staticmethod(lambda page: distinct_words(page))
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
    ) -> None:
        self.factors = tuple(factors) or (ALL if weights == "learned" else PAPER)
        self.parts = (*self.factors, "chance")
        self.seed = seed
        self.predicate = predicate if "hint" in self.factors else None
        self.refresh = refresh
        self.style = tokens
        self.memory = Memory()
        self.knowledge = Knowledge()
        sources = Sources(self.knowledge, self.memory, how or Estimation(), known)
        self._how = sources.how
        # All factors learn, so that the knowledge serves any later crawl; the chosen ones are heard.
        self._all: dict[str, Factor] = {name: make(sources) for name, make in FACTORS.items()}
        self.heard = [self._all[name] for name in self.factors]
        self.weighing = self._weigher(weights)
        self._keys: NDArray[np.uint64] = np.zeros(1024, np.uint64)
        self._anchors: dict[tuple[str, str], list[str]] = {}
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
        return self.evaluate(expansion.ids)

    def learn(self, expansion: Expansion) -> Rescore | None:
        before = self._count(expansion)
        self._fetched += 1
        if not self._found:
            self._all["earlier"].estimate()
            ids = expansion.ids[(expansion.ids >= 0) & ~expansion.fresh]
            ids = ids[self.memory.open[ids]]
            return Rescore(ids, self.evaluate(ids), saved=False) if len(ids) else None
        if self._fetched >= self._due:
            return self._everything()
        return self._touched(expansion, before)

    def state(self) -> str:
        """What this crawl learned itself; what it was given is the earlier crawl's."""
        return dumps(self.knowledge)

    def restore(self, state: str) -> None:
        """Nothing to do: a crawl that goes on learns from its stored pages again (see `clew.run.relearn`)."""
        loads(state, "the learned state")

    # evaluation

    def evaluate(self, ids: Ids) -> Floats:
        """The contributions of candidates as of now, one row each. Changes nothing."""
        parts = np.zeros((len(ids), len(self.parts)))
        known = ids >= 0
        rows = ids[known]
        if len(rows) and int(rows.max()) >= len(self._keys):
            self._reserve(int(rows.max()) + 1)
        parts[known, -1] = dice(self._keys[rows], self.seed) * (_CHANCE if self._found else 1.0)
        if self._found:
            parts[known, :-1] = self.weighing.apply(self.evidence(rows))
        else:
            # Before the first find, only what was known before the crawl began can be heard.
            for place, name in enumerate(self.factors):
                if name in ("hint", "earlier"):
                    parts[known, place] = self._all[name].evidence(rows)
        return parts

    def evidence(self, ids: Ids) -> Floats:
        """Log interest ratios, one row a candidate, one column a factor."""
        if not len(ids):
            return np.zeros((0, len(self.heard)))
        self.memory.reserve(int(ids.max()) + 1)
        return np.column_stack([factor.evidence(ids) for factor in self.heard])

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
        words = self.knowledge.words.numbers(self.words_of(expansion.page))
        seen = Seen(
            source,
            satisfied,
            tuple(parents),
            words,
            self.knowledge.tokens.numbers(self._tokens(expansion.page.url)),
            self.memory.anchors.row(source).astype(np.int64),
        )
        for factor in self._all.values():
            factor.learn(seen)
        self.knowledge.pages += 1
        self.knowledge.satisfied += satisfied
        self.memory.fetch(source, satisfied, parents, self._how.reach)
        self._remember(expansion)
        children = expansion.ids[expansion.ids >= 0]
        self.memory.link(source, satisfied, words, children, self._how.reach)
        self._count_links_out(satisfied)
        if satisfied and not self._found:
            self._found = True
            self._due = self._fetched + 1
        return parents

    def _count_links_out(self, satisfied: bool) -> None:
        pages, slots = self.memory.pages, self.memory.slots
        page = pages[-1]
        outcomes = [pages[slots[int(page.children[place])]].satisfied for place in page.visited]
        link = self._all["link"]
        if outcomes and isinstance(link, LinkLocality):
            link.links_out(satisfied, sum(outcomes), len(outcomes) - sum(outcomes))

    def _remember(self, expansion: Expansion) -> None:
        """Tokens, anchor words and keys of links never seen before; the hints of all."""
        known = expansion.ids >= 0
        if self.predicate is not None and known.any():
            top = int(expansion.ids.max()) + 1
            self.memory.reserve(top)
            hints = np.asarray(self.predicate.glance(expansion.links), np.float32)
            np.maximum.at(self.memory.hints, expansion.ids[known], hints[known])
        fresh = np.flatnonzero(expansion.fresh).tolist()
        if not fresh:
            return
        self._reserve(int(expansion.ids[fresh[-1]]) + 1)
        self.memory.reserve(int(expansion.ids[fresh[-1]]) + 1)
        numbers = expansion.ids[fresh]
        self._keys[numbers] = expansion.keys[fresh]
        self.memory.open[numbers] = True
        language = expansion.page.language or "en"
        # Numbers of new candidates follow each other, so their rows are appended in one go.
        first = int(numbers[0])
        rows = [self._tokens(expansion.links.targets[i]) for i in fresh]
        self._append(self.memory.tokens, self.knowledge.tokens, first, rows)
        rows = [self._said(expansion.links.anchors[i], language) for i in fresh]
        self._append(self.memory.anchors, self.knowledge.anchors, first, rows)

    @staticmethod
    def _append(memory: Ragged, table: Table, first: int, rows: list[list[str]]) -> None:
        memory.extend(first, [len(row) for row in rows], table.numbers([w for row in rows for w in row]))

    def _said(self, anchor: str, language: str) -> list[str]:
        """`telling` for anchors, of which a site has few different ones."""
        key = (anchor, language)
        found = self._anchors.get(key)
        if found is None:
            if len(self._anchors) > _REMEMBERED:
                self._anchors.clear()
            found = self._anchors[key] = telling(anchor, language)
        return found

    def _tokens(self, url: str) -> list[str]:
        return list(dict.fromkeys(urls.tokens(url, "paper" if self.style == "paper" else "words")))

    # re-scoring

    def _everything(self) -> Rescore:
        """Read ratios and weights from the counts anew and re-score every candidate."""
        ids = np.flatnonzero(self.memory.open[: self.memory.size])
        wait = max(math.floor(self._fetched * self.refresh), len(ids) // _SPREAD if self.refresh else 0)
        self._due = self._fetched + max(1, wait)
        self._estimate()
        evidence = self.evidence(ids)
        self.weighing.fit(evidence)
        parts = np.zeros((len(ids), len(self.parts)))
        parts[:, :-1] = self.weighing.apply(evidence)
        parts[:, -1] = dice(self._keys[ids], self.seed) * _CHANCE
        return Rescore(ids, parts, saved=False)

    def _touched(self, expansion: Expansion, parents: list[int]) -> Rescore:
        """Re-score what the last page changed: its links, and its siblings."""
        families = [self.memory.pages[slot].children for slot in parents]
        ids = np.unique(np.concatenate([*families, expansion.ids[expansion.ids >= 0]]))
        ids = ids[self.memory.open[ids]].astype(np.int64)
        return Rescore(ids, self.evaluate(ids), saved=False)

    def _estimate(self) -> None:
        for factor in self.heard:
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


def distinct_words(page: Page) -> list[str]:
    """The distinct stems of a page's words that can carry a topic."""
    return telling(page.text[:_TEXT], page.language or "en")


def telling(text: str, language: str) -> list[str]:
    """Distinct stems of the words of a text, without stop words, numbers and single letters.

    >>> telling("The turbines of 12 wind farms", "en")
    ['turbin', 'wind', 'farm']
    """
    if not text:
        return []
    idle, cut = stopwords(language), lexicon(language).stem
    words = dict.fromkeys(tokens(text))
    return list(dict.fromkeys([cut(w) for w in words if len(w) > 2 and w not in idle and not w.isdigit()]))
