"""Earlier: what an earlier crawl knew of the words on the pages linking to a candidate, of its URL and its
anchor (section 5.4). Silent without such knowledge."""

from __future__ import annotations

import numpy as np

from clew.factor.base import Seen, Sources, Term, strongest
from clew.factor.interest import Estimation, significance, significant
from clew.factor.memory import Floats, Ids
from clew.knowledge import Knowledge, Table

#: Bounds on one word's say. An earlier crawl that did well saw finds everywhere, so that its words
#: against a page are stronger than they should be, and those for it weaker.
_LEAST, _MOST = -0.5, 3.0
#: Finds of its own after which a crawl does without earlier knowledge.
_ENOUGH = 5.0


class Earlier:
    """The earlier crawl's log ratios of the words, tokens and anchor words of a link, taken together.

    They are kept apart from this crawl's own counts: the earlier crawl went its own way and found what it
    found where it looked. How far they are believed depends on what they promised and what came of it.
    """

    name = "earlier"

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.belief = 1.0
        known = sources.earlier
        self._tables: dict[str, tuple[Table, Floats, Ids]] = {}
        if known is None or known.satisfied <= 0:
            return
        for name in ("words", "tokens", "anchors"):
            mine: Table = getattr(sources.knowledge, name)
            theirs: Table = getattr(known, name)
            numbers = mine.numbers(theirs.names)
            self._tables[name] = (theirs, _weights(known, theirs, sources.how), numbers)
        self._of = {name: np.zeros(0) for name in self._tables}
        self._pages: Floats = np.zeros(0)

    @property
    def speaks(self) -> bool:
        """Whether there is earlier knowledge at all."""
        return bool(self._tables)

    def learn(self, seen: Seen) -> None:
        """Nothing to count; what it knows, it knew before."""

    def estimate(self) -> None:
        """Believe it less the further the harvest falls short of its promise, and the more is known here.

        A crawl's own finds soon say more about where the next ones are than another crawl's: after a few of
        them the earlier knowledge has done its work, which is to lead to the first.
        """
        known, own = self.sources.earlier, self.sources.knowledge
        if known is not None and known.rate > 0.0:
            kept = min(1.0, (own.satisfied + 1.0) / (own.pages + 1.0 / known.rate) / known.rate)
            self.belief = kept * max(0.0, 1.0 - own.satisfied / _ENOUGH)

    def evidence(self, ids: Ids) -> Floats:
        if not self._tables:
            return np.zeros(len(ids))
        memory = self.sources.memory
        self._catch_up()
        total = memory.tokens.sums(ids, self._aligned("tokens")) + memory.anchors.sums(
            ids, self._aligned("anchors")
        )
        if len(self._pages):
            parents = memory.parents[ids]
            there = parents >= 0
            values = np.where(there, self._pages[np.where(there, parents, 0)], 0.0)
            total = total + values.sum(axis=1) / np.maximum(1, there.sum(axis=1))
        return np.asarray(total * self.belief, np.float64)

    def support(self, ids: Ids) -> Floats:
        known = self.sources.earlier
        return np.full(len(ids), known.pages * self.belief if known is not None else 0.0)

    def terms(self, candidate: int) -> list[Term]:
        found: list[Term] = []
        known, memory = self.sources.earlier, self.sources.memory
        if known is None:
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

    def _aligned(self, name: str) -> Floats:
        """Weights by this crawl's numbers."""
        size = len(getattr(self.sources.knowledge, name))
        if len(self._of[name]) < size:
            _, weights, numbers = self._tables[name]
            self._of[name] = np.zeros(size + size // 2)
            self._of[name][numbers] = weights
        return self._of[name]

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


def _weights(known: Knowledge, table: Table, how: Estimation) -> Floats:
    n = len(table)
    seen, hits = table.seen[:n], table.hits[:n]
    found = significant(seen, hits, known.rate, known.satisfied, how)
    found = np.where(np.isfinite(found), found, _LEAST)
    strong = significance(seen, hits, known.rate, known.pages) >= how.threshold
    return np.where(strong, np.clip(found, _LEAST, _MOST), 0.0)
