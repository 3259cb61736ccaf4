"""Earlier: what an earlier crawl knew of the words on the pages linking to a candidate, of its URL and its
anchor, and of the pages that led it to its finds (section 5.4). Silent without such knowledge."""

from __future__ import annotations

import math

import numpy as np

from clew.factor.base import Seen, Sources, Term, strongest
from clew.factor.interest import Estimation, log_ratio, significance
from clew.factor.marks import WIDTH
from clew.factor.memory import Floats, Ids
from clew.knowledge import Table

#: Bounds on one word's say. An earlier crawl that did well saw finds everywhere, so that its words
#: against a page are stronger than they should be, and those for it weaker.
_LEAST, _MOST = -0.5, 3.0
#: Bounds on the whole.
_BOUND = 4.0
#: The log odds, at first, that earlier knowledge is about the same thing; and how far one page may move them.
_TRUST, _MOVE, _FIRM = 2.0, 2.0, 6.0
#: What is foretold of where a page leads is put to the test from here on.
_TELLING = 0.5
#: The most that a crawl may expect of its harvest because an earlier one had it.
_PROMISE = 0.03
#: The row of `ways` that counts all pages, and the marks that tell of a link wherever it stands.
EVERY = ""
LASTING = ("url ", "file ", "anchor ", "below ", "host ")


class Earlier:
    """The earlier crawl's log ratios of the words, tokens and anchor words of a link, taken together.

    They are kept apart from this crawl's own counts: the earlier crawl went its own way and found what it
    found where it looked. What words of linking pages, what URLs and anchors, and what marks of pages on
    the way foretell is tested with every page: each is believed as far as it does better than the mere rate.
    """

    name = "earlier"

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._odds = {"links": _TRUST, "words": _TRUST, "ways": _TRUST}
        self.beliefs = dict.fromkeys(self._odds, 1.0)
        self._rows: list[Ids] = []
        self._led: list[int] = []
        self._foretold: dict[int, float] = {}
        known = sources.earlier
        self._given: dict[str, tuple[Ids, Floats]] = {}
        self._of: dict[str, Floats] = {}
        self._pages: Floats = np.zeros(0)
        self._ways: Floats | None = None
        if known is None or known.satisfied <= 0:
            return
        for name in ("words", "tokens", "anchors"):
            theirs: Table = getattr(known, name)
            weights = _weights(theirs, known.rate, known.satisfied, sources.how)
            mine: Table = getattr(sources.knowledge, name)
            self._given[name] = (mine.numbers(theirs.names), weights)
            self._of[name] = np.zeros(0)
        pages, led = known.ways.row(EVERY)
        if led:
            weights = _weights(known.ways, led / pages, led, sources.how)
            weights[known.ways.find(EVERY)] = 0.0
            columns = [sources.marks.column(name) for name in known.ways.names]
            self._ways = np.zeros(WIDTH)
            self._ways[columns] = weights

    @property
    def speaks(self) -> bool:
        """Whether there is earlier knowledge at all."""
        return bool(self._given)

    def learn(self, seen: Seen) -> None:
        """Count which pages lead to finds, and how many; see whether the earlier crawl would have known."""
        known = self.sources.knowledge
        row = self._way(seen)
        known.ways.count(row, False)
        if self._given:
            self._test(seen)
        self._rows.append(row)
        self._led.append(0)
        if seen.satisfied:
            for parent in seen.parents:
                before = self._led[parent]
                self._led[parent] = before + 1
                # A page that led to many counts nearly whole, one that led to a single find not at all.
                known.ways.hits[self._rows[parent]] += _share(before + 1) - _share(before)
                if self._given and not before and parent in self._foretold:
                    self._tell("ways", self._foretold.pop(parent), True, self._ways_rate())

    def _way(self, seen: Seen) -> Ids:
        """A page's row in the table of ways: the marks of the link that led there, those that last."""
        marks, table = self.sources.marks, self.sources.knowledge.ways
        names = [marks.names.get(column, "") for column in marks.rows.row(seen.candidate).tolist()]
        return table.numbers([EVERY, *dict.fromkeys(name for name in names if name.startswith(LASTING))])

    def _test(self, seen: Seen) -> None:
        """See what was foretold of a page that is now known."""
        if not seen.parents:
            return
        known, one = self.sources.knowledge, np.array([seen.candidate])
        rate = (known.satisfied + 0.5) / (known.pages + 1.0)
        self._tell("links", float(self._said(one)[0]), seen.satisfied, rate)
        self._tell("words", float(self._read(one)[0]), seen.satisfied, rate)
        if self._ways is not None:
            foretold = float(self._led_by(one, self._ways)[0])
            if foretold > _TELLING:
                # Whether it leads to finds shows later; until then it does not.
                self._foretold[len(self._rows)] = foretold
                self._tell("ways", foretold, False, self._ways_rate())

    def _tell(self, kind: str, foretold: float, came: bool, rate: float) -> None:
        """Log loss of what was foretold, beside that of the mere rate: what is worse is believed less."""
        chance = 1.0 / (1.0 + math.exp(-foretold) * (1.0 - rate) / rate)
        gain = math.log(chance / rate) if came else math.log((1.0 - chance) / (1.0 - rate))
        # Trust lost can be won back, and trust won be lost, within a few pages.
        self._odds[kind] = min(_FIRM, max(-_FIRM, self._odds[kind] + min(_MOVE, max(-_MOVE, gain))))

    def _ways_rate(self) -> float:
        return (sum(map(bool, self._led)) + 0.5) / (len(self._led) + 1.0)

    def estimate(self) -> None:
        """Believe each as far as it foretold what came, and all less the further the harvest falls short."""
        known, own = self.sources.earlier, self.sources.knowledge
        if known is not None and known.rate > 0.0:
            kept = min(1.0, (own.satisfied + 1.0) / (own.pages * min(known.rate, _PROMISE) + 1.0))
            self.beliefs = {kind: kept / (1.0 + math.exp(-odds)) for kind, odds in self._odds.items()}

    @property
    def belief(self) -> float:
        """How far the most trusted part is believed."""
        return max(self.beliefs.values())

    def evidence(self, ids: Ids) -> Floats:
        if not self._given:
            return np.zeros(len(ids))
        total = self.beliefs["links"] * self._said(ids) + self.beliefs["words"] * self._read(ids)
        if self._ways is not None:
            # A page is worth fetching for what it is or for where it leads.
            ways = self.beliefs["ways"] * self._led_by(ids, self._ways)
            total = np.logaddexp(total, ways) - math.log(2.0)
        return np.asarray(total, np.float64)

    def support(self, ids: Ids) -> Floats:
        known = self.sources.earlier
        return np.full(len(ids), known.pages * self.belief if known is not None else 0.0)

    def terms(self, candidate: int) -> list[Term]:
        found: list[Term] = []
        known, memory = self.sources.earlier, self.sources.memory
        if known is None or not self._given:
            return found
        rows = {"tokens": memory.tokens.row(candidate), "anchors": memory.anchors.row(candidate)}
        for name, numbers in rows.items():
            mine: Table = getattr(self.sources.knowledge, name)
            weights = self._aligned(name)
            for i in numbers.tolist():
                if weights[i]:
                    seen, hits = getattr(known, name).row(mine.names[i])
                    found.append(Term(mine.names[i], float(weights[i]), seen, hits, 0.0))
        return strongest(found)

    def _read(self, ids: Ids) -> Floats:
        """What was known of pages by the words of those that link to them."""
        memory = self.sources.memory
        self._catch_up()
        if not len(self._pages):
            return np.zeros(len(ids))
        parents = memory.parents[ids]
        there = parents >= 0
        values = np.where(there, self._pages[np.where(there, parents, 0)], 0.0)
        return _bounded(values.sum(axis=1) / np.maximum(1, there.sum(axis=1)))

    def _said(self, ids: Ids) -> Floats:
        """What was known of pages by their URLs and anchors."""
        memory = self.sources.memory
        tokens, anchors = self._aligned("tokens"), self._aligned("anchors")
        return _bounded(memory.tokens.sums(ids, tokens) + memory.anchors.sums(ids, anchors))

    def _led_by(self, ids: Ids, ways: Floats) -> Floats:
        """What was known of where pages lead."""
        return _bounded(self.sources.marks.rows.sums(ids, ways))

    def _aligned(self, key: str) -> Floats:
        """Weights by this crawl's numbers."""
        size = len(getattr(self.sources.knowledge, key))
        if len(self._of[key]) < size:
            numbers, weights = self._given[key]
            self._of[key] = np.zeros(size + size // 2)
            self._of[key][numbers] = weights
        return self._of[key]

    def _catch_up(self) -> None:
        """Terms of pages, divided by the root of their length so that long pages do not shout."""
        pages = self.sources.memory.pages
        if len(self._pages) < len(pages):
            weights = self._aligned("words")
            new = [
                float(weights[p.words].sum()) / max(1.0, float(len(p.words))) ** 0.5
                for p in pages[len(self._pages) :]
            ]
            self._pages = np.concatenate([self._pages, np.array(new)])


def _bounded(total: Floats) -> Floats:
    """Words that go together are counted each: their sum says twice what it should, and more the larger."""
    return np.asarray(_BOUND * np.tanh(total / (2.0 * _BOUND)), np.float64)


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
