"""`prior_crawl`: what an earlier crawl knew, for this one to begin with (section 5.4).

It knew the page itself, the words on the pages linking to it, its URL and its anchor, and the pages that led
it to its finds. The factor is silent without such knowledge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.factor.base import (
    Discovery,
    EvidenceTerm,
    Factor,
    FactorSpec,
    FetchOutcome,
    LearningState,
    strongest,
)
from clew.factor.inherited import CARRIED, Inherited
from clew.factor.interest import Estimation, log_ratio, significance
from clew.factor.link_features import WIDTH
from clew.factor.link_graph import Floats, Ids
from clew.factor.prior_pages import START, STRANGE, PriorPages
from clew.knowledge import Table
from clew.learn.checkpoint import require, within
from clew.learn.codec import MAX_WORD
from clew.learn.rows import SparseRows

#: Bounds on one word's say. An earlier crawl that did well saw finds everywhere, so that its words
#: against a page are stronger than they should be, and those for it weaker.
_LEAST, _MOST = -0.5, 3.0
#: Bounds on the whole.
_BOUND = 4.0
#: How far one page may move the log odds that a part foretells finds, and all pages together.
_MOVE, _FIRM = 2.0, 6.0
#: One former find found again may be luck: to count on in the earlier counts takes more than that.
_LUCK = 2.0
#: The most that former finds found again say for the other parts.
_SAME = 3.0
#: What is foretold of where a page leads is put to the test from here on.
_TELLING = 0.5
#: What is held against links that stand only on pages fetched in vain because of what was known. Without that
#: knowledge they would not be there, and there are many: the crawl would stay where it was led to.
_ASIDE = -1.0
#: The most that a crawl may expect of its harvest because an earlier one had it.
_PROMISE = 0.03
#: The row of `hub_features` that counts all pages, and the features that tell of a link wherever it stands.
EVERY = ""
LASTING = ("url ", "file ", "anchor ", "below ", "host ")
#: Pages whose addresses are remembered for later crawls, and finds from which on a page leads to several.
_PLACES = 200_000
#: Features of links that are counted for later crawls.
_FEATURES = 200_000
_SEVERAL = 2


class PriorCrawl(Factor):
    """What an earlier crawl knew, believed as far as it foretells what comes.

    Of a page that the earlier crawl fetched it is known what it was (`PriorPages`). Of any other, the earlier
    log ratios of the words of linking pages, of its URL and anchor, and of features of pages on the way, are
    each tested with every page and believed as far as they do better than the mere rate. Once former finds
    turn out finds again, the other factors count on in the earlier counts too (`Inherited`); once they turn
    out none, all this is left aside, and so are the links that only those pages have: the crawl goes on as if
    nothing had been known.
    """

    spec = FactorSpec(
        name="prior_crawl",
        prior=2.0,
        defaults=frozenset({"learned", "reuse"}),
        early=1.0,
        foreknown=True,
        teaches=True,
        estimated_first=True,
        aliases=("earlier",),
    )

    def __init__(self, state: LearningState) -> None:
        super().__init__(state)
        self._odds = {"links": 0.0, "words": 0.0, "hubs": 0.0}
        self.beliefs = dict.fromkeys(self._odds, 0.5)
        self._rows = SparseRows()
        self._addresses: list[int] = []
        self._led: list[int] = []
        self._foretold: dict[int, float] = {}
        self._vain: list[int] = []
        self._silent = False
        known = state.earlier
        self._given: dict[str, tuple[Ids, Floats]] = {}
        self._of: dict[str, Floats] = {}
        self._pages: Floats = np.zeros(0)
        self._hubs: Floats | None = None
        self.places: PriorPages | None = None
        if known is None or known.satisfied <= 0:
            return
        self.places = PriorPages(known)
        state.inherited = Inherited(state.knowledge, known)
        for name in CARRIED:
            theirs: Table = getattr(known, name)
            weights = _weights(theirs, known.rate, known.satisfied, state.how)
            mine: Table = getattr(state.knowledge, name)
            self._given[name] = (mine.numbers(theirs.names), weights)
            self._of[name] = np.zeros(0)
        pages, led = known.hub_features.row(EVERY)
        if led:
            weights = _weights(known.hub_features, led / pages, led, state.how)
            weights[known.hub_features.find(EVERY)] = 0.0
            columns = [state.features.hasher[name] for name in known.hub_features.names]
            self._hubs = np.zeros(WIDTH)
            self._hubs[columns] = weights

    def kept(self) -> dict[str, Any]:
        parts: dict[str, Any] = {} if self.places is None else {"places": self.places}
        assert self.places is None or self.state.inherited is not None
        return {
            **parts,
            **({} if self.state.inherited is None else {"inherited": self.state.inherited}),
            "odds": np.array(list(self._odds.values())),
            "beliefs": np.array(list(self.beliefs.values())),
            "rows": self._rows,
            "addresses": np.array(self._addresses, np.int64),
            "led": np.array(self._led, np.int64),
            "told": np.array(list(self._foretold), np.int64),
            "foretold": np.array(list(self._foretold.values()), np.float64),
            "vain": np.array(self._vain, np.int64),
            "silent": self._silent,
        }

    def recall(self, found: Mapping[str, Any]) -> None:
        known, count = self.state.knowledge, len(self._rows)
        require(len(found["odds"]) == len(found["beliefs"]) == len(self._odds), "beliefs")
        require(within(self._rows.items, 0, len(known.hub_features)), "features that last")
        require(count == len(found["addresses"]) == len(found["led"]), "pages on the way")
        require(within(found["addresses"], -1, len(known.places)), "addresses")
        require(within(found["told"], 0, count) and within(found["vain"], 0, count), "what was foretold")
        require(len(found["told"]) == len(found["foretold"]), "what was foretold of pages")
        self._odds = dict(zip(self._odds, found["odds"].tolist(), strict=True))
        self.beliefs = dict(zip(self.beliefs, found["beliefs"].tolist(), strict=True))
        self._addresses, self._led = found["addresses"].tolist(), found["led"].tolist()
        self._foretold = dict(zip(found["told"].tolist(), found["foretold"].tolist(), strict=True))
        self._vain, self._silent = found["vain"].tolist(), found["silent"]

    def meet(self, found: Discovery) -> None:
        """Look up which new candidates the earlier crawl fetched."""
        fresh = found.fresh.nonzero()[0].tolist()
        if self.places is not None and fresh:
            self.places.meet(found.ids[fresh].tolist(), [found.links.targets[i] for i in fresh])

    def learn(self, outcome: FetchOutcome) -> None:
        """Count which pages lead to finds, and how many; see whether the earlier crawl would have known."""
        known = self.state.knowledge
        row = self._way(outcome)
        known.hub_features.count(row, False)
        if self.places is not None:
            self._test(self.places, outcome)
        self._rows.append(row)
        self._addresses.append(self._address(outcome))
        self._led.append(0)
        if outcome.satisfied:
            for parent in outcome.parents:
                self._lead(parent)

    def _lead(self, slot: int) -> None:
        """A page led to one find more."""
        known, before = self.state.knowledge, self._led[slot]
        self._led[slot] = before + 1
        # A page that led to many counts nearly whole, one that led to a single find not at all.
        more = _share(before + 1) - _share(before)
        known.hub_features.hits[self._rows.row(slot)] += more
        if self._addresses[slot] >= 0 and before + 1 >= _SEVERAL:
            number = known.hubs.numbers([known.places.names[self._addresses[slot]]])
            known.hubs.seen[number] += before + 1 == _SEVERAL
            known.hubs.hits[number] += more
        if not before and slot in self._foretold:
            self._tell("hubs", self._foretold.pop(slot), True, self._hub_rate())

    def _address(self, outcome: FetchOutcome) -> int:
        """Count what a page is, by its address; its row, or -1 when there are too many to remember."""
        table = self.state.knowledge.places
        full = len(table) >= _PLACES and table.find(outcome.url) < 0
        if full or not 0 < len(outcome.url) <= MAX_WORD:
            return -1
        row = table.numbers([outcome.url])
        table.count(row, outcome.satisfied)
        return int(row[0])

    def _way(self, outcome: FetchOutcome) -> Ids:
        """A page's row in `hub_features`: the features of the link that led there, those that last."""
        features, table = self.state.features, self.state.knowledge.hub_features
        names = [features.names.get(column, "") for column in features.rows.row(outcome.candidate).tolist()]
        lasting = dict.fromkeys(name for name in names if name.startswith(LASTING))
        row = np.array(table.admitted([EVERY, *lasting], _FEATURES), np.int64)
        return np.asarray(row[row >= 0], np.int64)

    def _test(self, places: PriorPages, outcome: FetchOutcome) -> None:
        """See what was foretold of a page that is now known."""
        kind, rate, one = places.kind(outcome.candidate), places.rate, np.array([outcome.candidate])
        if kind == STRANGE and not outcome.parents:
            return  # a seed: nothing led there
        if not outcome.satisfied and float(self.evidence(one)[0]) > _TELLING:
            self._vain.append(len(self._rows))
        places.learn(outcome.candidate, outcome.satisfied)
        if kind != STRANGE:
            # Words that foretell what is known already prove nothing.
            assert self.state.inherited is not None
            counted = {"words": outcome.words, "tokens": outcome.tokens, "anchors": outcome.anchors}
            self.state.inherited.again(counted, outcome.satisfied)
            return
        self._tell("links", float(self._said(one)[0]), outcome.satisfied, rate)
        self._tell("words", float(self._read(one)[0]), outcome.satisfied, rate)
        if self._hubs is not None:
            foretold = float(self._led_by(one, self._hubs)[0])
            if foretold > _TELLING:
                # Whether it leads to finds shows later; until then it does not.
                self._foretold[len(self._rows)] = foretold
                self._tell("hubs", foretold, False, self._hub_rate())

    def _tell(self, kind: str, foretold: float, came: bool, rate: float) -> None:
        """Log loss of what was foretold, beside that of the mere rate: what is worse is believed less."""
        chance = 1.0 / (1.0 + native.exp_of(-foretold) * (1.0 - rate) / rate)
        gain = native.log_of(chance / rate) if came else native.log_of((1.0 - chance) / (1.0 - rate))
        # Trust lost can be won back, and trust won be lost, within a few pages.
        self._odds[kind] = min(_FIRM, max(-_FIRM, self._odds[kind] + min(_MOVE, max(-_MOVE, gain))))

    def _hub_rate(self) -> float:
        return (sum(map(bool, self._led)) + 0.5) / (len(self._led) + 1.0)

    def estimate(self) -> None:
        """Believe each part as far as it foretold what came, and all less the further the harvest falls
        short; nothing once it is clear that something else is looked for."""
        known, own, places = self.state.earlier, self.state.knowledge, self.places
        if known is None or places is None or self.state.inherited is None:
            return
        places.estimate()
        self._silent = places.silent
        kept = min(1.0, (own.satisfied + 1.0) / (own.pages * min(known.rate, _PROMISE) + 1.0))
        kept *= min(1.0, max(0.0, 1.0 + places.odds / 2.0))
        same = min(_SAME, places.odds - START)
        self.beliefs = {kind: kept / (1.0 + native.exp_of(-odds - same)) for kind, odds in self._odds.items()}
        # To count on is another matter than to listen: it begins when former finds were found again.
        self.state.inherited.trust = max(0.0, native.tanh_of(places.odds - START - _LUCK))

    @property
    def belief(self) -> float:
        """How far the most trusted part is believed."""
        return max(self.beliefs.values())

    def evidence(self, ids: Ids) -> Floats:
        if self.places is None:
            return np.zeros(len(ids))
        total = self.beliefs["links"] * self._said(ids) + self.beliefs["words"] * self._read(ids)
        if self._hubs is not None:
            # A page is worth fetching for what it is or for where it leads.
            leads = self.beliefs["hubs"] * self._led_by(ids, self._hubs)
            total = native.logaddexp(total, leads) - native.log_of(2.0)
        found = np.where(self.places.known(ids), self.places.evidence(ids), total)
        return found + _ASIDE * self._aside(ids) if self._silent and self._vain else found

    def support(self, ids: Ids) -> Floats:
        known = self.state.earlier
        return np.full(len(ids), known.pages * self.belief if known is not None else 0.0)

    def terms(self, candidate: int) -> list[EvidenceTerm]:
        known, graph = self.state.earlier, self.state.graph
        if known is None or self.places is None:
            return []
        found = self.places.terms(candidate)
        if self._silent and self._vain and self._aside(np.array([candidate]))[0]:
            found.append(
                EvidenceTerm("found only where the earlier crawl led in vain", _ASIDE, 0.0, 0.0, 0.0)
            )
        if self.places.kind(candidate) != STRANGE:
            return found
        rows = {"tokens": graph.tokens.row(candidate), "anchors": graph.anchors.row(candidate)}
        for name, numbers in rows.items():
            mine: Table = getattr(self.state.knowledge, name)
            weights = self._aligned(name)
            for i in numbers.tolist():
                if weights[i]:
                    seen, hits = getattr(known, name).row(mine.names[i])
                    found.append(EvidenceTerm(mine.names[i], float(weights[i]), seen, hits, 0.0))
        return strongest(found)

    def _aside(self, ids: Ids) -> NDArray[np.bool_]:
        """Which candidates were found only on pages that were fetched in vain because of what was known."""
        parents = self.state.graph.parents[ids]
        there = parents >= 0
        vain = np.isin(parents, self._vain)
        return np.asarray(there.any(axis=1) & (vain | ~there).all(axis=1), np.bool_)

    def _read(self, ids: Ids) -> Floats:
        """What was known of pages by the words of those that link to them."""
        graph = self.state.graph
        self._catch_up()
        if not len(self._pages):
            return np.zeros(len(ids))
        parents = graph.parents[ids]
        there = parents >= 0
        values = np.where(there, self._pages[np.where(there, parents, 0)], 0.0)
        return _bounded(values.sum(axis=1) / np.maximum(1, there.sum(axis=1)))

    def _said(self, ids: Ids) -> Floats:
        """What was known of pages by their URLs and anchors."""
        graph = self.state.graph
        tokens, anchors = self._aligned("tokens"), self._aligned("anchors")
        return _bounded(graph.tokens.sums(ids, tokens) + graph.anchors.sums(ids, anchors))

    def _led_by(self, ids: Ids, weights: Floats) -> Floats:
        """What was known of where pages lead."""
        return _bounded(self.state.features.rows.sums(ids, weights))

    def _aligned(self, key: str) -> Floats:
        """Weights by this crawl's numbers."""
        size = len(getattr(self.state.knowledge, key))
        if len(self._of[key]) < size:
            numbers, weights = self._given[key]
            self._of[key] = np.zeros(size + size // 2)
            self._of[key][numbers] = weights
        return self._of[key]

    def _catch_up(self) -> None:
        """Terms of pages, divided by the root of their length so that long pages do not shout."""
        graph = self.state.graph
        if len(self._pages) < graph.fetched:
            weights = self._aligned("words")
            words = [graph.words.row(slot) for slot in range(len(self._pages), graph.fetched)]
            new = [float(weights[row].sum()) / math.sqrt(max(1, len(row))) for row in words]
            self._pages = np.concatenate([self._pages, np.array(new)])


def _bounded(total: Floats) -> Floats:
    """Words that go together are counted each: their sum says twice what it should, and more the larger."""
    return np.asarray(_BOUND * native.tanh(total / (2.0 * _BOUND)), np.float64)


def _share(finds: int) -> float:
    return max(0.0, (finds - 1.0) / (finds + 2.0))


def _weights(table: Table, rate: float, finds: float, how: Estimation) -> Floats:
    n = len(table)
    seen, hits = table.seen[:n], table.hits[:n]
    found = log_ratio(seen, hits, rate, max(how.smoothing, 1.0))
    # The deviation of a share of so many pages, not of all finds: a word seen once says little.
    with np.errstate(divide="ignore", invalid="ignore"):
        strong = np.abs(hits - seen * rate) >= how.threshold * np.sqrt(
            np.maximum(seen, 1.0) * rate * (1.0 - rate)
        )
    strong &= (significance(seen, hits, rate, finds) >= how.threshold) & (seen > 0)
    return np.where(strong, np.clip(found, _LEAST, _MOST), 0.0)
