"""`PerInterest`: one strategy for each of a crawl's interests, which take turns at choosing.

Every page teaches each of them, by the verdict of its own interest; and while it is one's turn, candidates
are worth what that one says. So scores of different interests, which cannot be compared, never are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np

from clew.errors import ConfigError, UsageError
from clew.learn.checkpoint import Keeps, KeptAttributes, require
from clew.messages import Rescore
from clew.page import Page
from clew.predicate.interests import Interests, verdict_of
from clew.predicate.verdict import Predicate
from clew.strategy.base import Evidence, Expansion, Floats, Ids, Keys, Scored, Setup, Strategy, totals
from clew.strategy.candidate_terms import CandidateTerms

Share = Literal["even", "greedy"]
SHARES: tuple[Share, ...] = get_args(Share)

#: A turn is a page long, and one more for every so many candidates: all are re-scored when it ends.
_SPREAD = 1000
#: By how much less what happened is heeded with every page since, when turns go to who finds most.
_FADING = 0.995
#: Finds, and pages, that everybody is credited with: more than a find a page, so that who has not had a turn
#: for long is tried again.
_CREDIT = 1.0, 0.5


class Turns(KeptAttributes):
    """Whose turn it is: with `even`, whoever has had the fewest pages; with `greedy`, whoever's turns have
    brought the most finds a page lately.

    >>> turns = Turns(2, "even")
    >>> turns.record(3, finds=1)
    >>> turns.end()
    >>> turns.now
    1
    """

    KEPT = ("now", "spent", "pages", "finds", "counts")

    def __init__(self, count: int, share: Share) -> None:
        self.share = share
        self.now = 0
        self.spent = 0
        """Pages of this turn."""
        self.counts = np.zeros(count, np.int64)
        """Pages of each one's turns."""
        self.pages = np.zeros(count)
        """Pages of each one's turns, what is long past counting less."""
        self.finds = np.zeros(count)
        """Finds of each one's turns, what is long past counting less; a page that is one for two interests
        counts twice."""

    def __repr__(self) -> str:
        return f"Turns({self.share}, {self.now} of {len(self.counts)})"

    def record(self, pages: int, finds: int) -> None:
        """Pages that were fetched in this turn, and what they were."""
        fading = 1.0
        for _ in range(pages):
            fading *= _FADING
        self.pages *= fading
        self.finds *= fading
        self.pages[self.now] += pages
        self.finds[self.now] += finds
        self.counts[self.now] += pages
        self.spent += pages

    def end(self) -> None:
        """The turn is over: the next begins."""
        self.spent = 0
        if self.share == "even":
            self.now = int(np.argmin(self.counts))
        else:
            self.now = int(np.argmax((self.finds + _CREDIT[0]) / (self.pages + _CREDIT[1])))

    def recall(self, found: Mapping[str, Any]) -> None:
        count = len(self.counts)
        require(all(len(found[name]) == count for name in ("pages", "finds", "counts")), "turns")
        require(0 <= found["now"] < count, "turns")
        super().recall(found)


class PerInterest(Strategy):
    """A strategy for each interest, by its name.

    Parameters: the strategies, all of one kind; how the pages are shared among them. A contribution is called
    after both, such as `wind.content`.
    """

    name: ClassVar[str] = "per-interest"

    def __init__(self, each: Mapping[str, Strategy], share: Share = "even") -> None:
        self.each = dict(each)
        self.turns = Turns(len(each), share)
        kind = self.base
        self.parts = parts_for(tuple(each), kind.parts)
        self.capabilities = replace(
            kind.capabilities,
            meets=True,
            relearns=True,
            audits=False,
            refocuses=False,
            reestimates=False,
            tunnels=False,
        )
        self._width = len(kind.parts)
        self._worth = [CandidateTerms(self._width) for _ in each]
        self._closed = np.zeros(0, np.bool_)
        """Which candidates are not at hand: fetched, or set aside."""

    def __repr__(self) -> str:
        return f"PerInterest({', '.join(self.each)}; {self.turns!r})"

    @classmethod
    def build(cls, setup: Setup) -> Self:
        raise UsageError("a strategy for several interests is made of others: see clew.strategy.built")

    @property
    def base(self) -> Strategy:
        return next(iter(self.each.values()))

    @property
    def _chooser(self) -> Strategy:
        return list(self.each.values())[self.turns.now]

    # the protocol

    def seeds(self, keys: Keys) -> Floats:
        return self._placed(self._chooser.seeds(keys))

    def score(self, expansion: Expansion) -> Floats:
        name = list(self.each)[self.turns.now]
        return self._placed(self._chooser.score(_as_seen_by(name, expansion)))

    def observe(self, expansion: Expansion) -> Scored:
        return self.observe_many((expansion,))[0]

    def observe_many(self, expansions: Sequence[Expansion]) -> list[Scored]:
        """Teach each its lesson; then, once, tell what moved for whoever's turn it is."""
        moved: list[list[Ids]] = []
        given: list[list[Floats]] = []
        for (name, strategy), worth in zip(self.each.items(), self._worth, strict=True):
            seen = [_as_seen_by(name, expansion) for expansion in expansions]
            scored = strategy.observe_many(seen) if len(seen) > 1 else [strategy.observe(seen[0])]
            moved.append(self._take_in(worth, seen, scored))
            given.append([one.terms for one in scored])
        self._close(np.array([expansion.source for expansion in expansions], np.int64))
        before = self.turns.now
        self._count(expansions)
        now = self.turns.now
        ids = self.candidates() if now != before else _distinct(moved[now])
        *others, last = [
            self._placed(self._links(expansion, terms))
            for expansion, terms in zip(expansions, given[now], strict=True)
        ]
        return [*[Scored(terms) for terms in others], Scored(last, self._rescore(ids))]

    def _take_in(
        self, worth: CandidateTerms, seen: Sequence[Expansion], scored: Sequence[Scored]
    ) -> list[Ids]:
        """Keep what one strategy says of candidates; gives of which."""
        moved = [one.moved for one in scored if one.moved is not None]
        touched = [some.ids for some in moved]
        for some in moved:
            worth.set(some.ids, some.terms)
        for expansion, one in zip(seen, scored, strict=True):
            touched.append(_file(worth, expansion, one.terms))
        fresh = [expansion.ids[expansion.fresh] for expansion in seen]
        firsts = [int(ids[0]) for ids in fresh if len(ids)]
        for some in moved if len(seen) > 1 and firsts else ():
            late = some.ids >= min(firsts)
            worth.set(some.ids[late], some.terms[late])
        return touched

    def _count(self, expansions: Sequence[Expansion]) -> None:
        finds = sum([len(expansion.verdict.interests) for expansion in expansions])
        self.turns.record(len(expansions), finds)
        if self.turns.spent > self._worth[0].met // _SPREAD:
            self.turns.end()

    def _links(self, expansion: Expansion, terms: Floats) -> Floats:
        """What a page's links are worth to whoever's turn it is: what is kept, if anything is."""
        worth = self._worth[self.turns.now]
        found = terms.copy()
        if len(expansion.ids):
            worth.reserve(int(expansion.ids.max()) + 1)
            told = (expansion.ids >= 0) & worth.told[expansion.ids]
            found[told] = worth.rows[expansion.ids[told]]
        return found

    def _placed(self, terms: Floats) -> Floats:
        """Contributions in the columns of whoever's turn it is."""
        parts = np.zeros((len(terms), len(self.parts)), order="F")
        first = self.turns.now * self._width
        parts[:, first : first + self._width] = terms
        return parts

    def _rescore(self, ids: Ids) -> Rescore:
        worth = self._worth[self.turns.now]
        return Rescore(ids, self._placed(worth.rows[ids]), saved=False)

    @property
    def met(self) -> int:
        return self.base.met if self.base.capabilities.meets else self._worth[0].met

    def meet(self, expansion: Expansion) -> Floats | None:
        source = expansion.source
        for name, strategy in self.each.items():
            worth, seen = self._worth[list(self.each).index(name)], _as_seen_by(name, expansion)
            terms = strategy.meet(seen) if strategy.capabilities.meets else None
            if terms is None and source < 0:
                terms = strategy.score(seen)
            if terms is None:
                worth.reserve(source + 1)
                if not worth.told[source]:
                    return None  # a seed, which is worth what it is worth
                terms = np.repeat(worth.rows[source][None], len(expansion.ids), axis=0)
            mine = expansion.ids >= 0
            worth.set(expansion.ids[mine & expansion.fresh], terms[mine & expansion.fresh])
        return self._placed(self._links(expansion, np.zeros((len(expansion.ids), self._width))))

    def state(self) -> str:
        return _stated({name: strategy.state() for name, strategy in self.each.items()})

    def snapshot(self) -> str | Callable[[], str]:
        taken = {name: strategy.snapshot() for name, strategy in self.each.items()}
        return lambda: _stated({n: one if isinstance(one, str) else one() for n, one in taken.items()})

    def restore(self, state: str) -> None:
        """Nothing to do: all are taught what happened again, whether they could go on from a state or not."""
        states_of(state)

    def checkpoint(self) -> Keeps | None:
        return None if any(one.checkpoint() is None for one in self.each.values()) else self

    def kept(self) -> dict[str, Any]:
        found: dict[str, Any] = {f"interest {name}": one.checkpoint() for name, one in self.each.items()}
        found |= {f"worth {place}": worth for place, worth in enumerate(self._worth)}
        return found | {"turns": self.turns, "closed": self._closed}

    def recall(self, found: Mapping[str, Any]) -> None:
        self._closed = found["closed"]

    def cut_words_with(self, cut: Callable[[Page], Sequence[str]]) -> None:
        for strategy in self.each.values():
            strategy.cut_words_with(cut)

    def seek(self, focus: Predicate) -> None:
        if not isinstance(focus, Interests) or focus.names != tuple(self.each):
            raise UsageError("what is sought is sought for each interest: give a formula for every one")
        for name, strategy in self.each.items():
            strategy.seek(focus.each[name])

    # with `offers`

    def offers(self) -> Sequence[str]:
        found = [strategy.offers() for strategy in self.each.values()]
        return found[self.turns.now]

    def samples(self) -> Iterator[str]:
        return self.base.samples()

    # with `sheds`

    def set_aside(self, ids: Ids) -> None:
        for strategy in self.each.values():
            strategy.set_aside(ids)
        self._close(ids)

    def take_back(self, ids: Ids) -> Rescore:
        known = ids
        for strategy, worth in zip(self.each.values(), self._worth, strict=True):
            moved = strategy.take_back(ids)
            worth.set(moved.ids, moved.terms)
            known = moved.ids
        self._close(known, closed=False)
        return self._rescore(known)

    # with `interest`, `reweighs`, `explains`

    def interest(self, parts: tuple[float, ...]) -> float:
        for place, strategy in enumerate(self.each.values()):
            mine = parts[place * self._width : (place + 1) * self._width]
            if any(mine):
                return strategy.interest(mine)
        return self.base.interest(parts[: self._width])

    def reweigh(self, weights: Mapping[str, float], waiting: Rescore) -> Rescore:
        for strategy, worth in zip(self.each.values(), self._worth, strict=True):
            told = worth.told.nonzero()[0]
            moved = strategy.reweigh(weights, Rescore(told, worth.rows[told]))
            worth.set(moved.ids, moved.terms)
        self.capabilities = replace(self.capabilities, reweighs=self.base.capabilities.reweighs)
        return self._rescore(self.candidates())

    def candidates(self) -> Ids:
        told = self._worth[self.turns.now].told.copy()
        known = min(len(told), len(self._closed))
        told[:known] &= ~self._closed[:known]
        return told.nonzero()[0]

    def _close(self, ids: Ids, *, closed: bool = True) -> None:
        """These candidates are not at hand from now on, or are again."""
        more = int(ids.max(initial=-1)) + 1 - len(self._closed)
        if more > 0:
            self._closed = np.concatenate([self._closed, np.zeros(more + len(self._closed) // 2, np.bool_)])
        self._closed[ids] = closed

    def evaluate(self, ids: Ids) -> Floats:
        self._worth[self.turns.now].reserve(int(ids.max(initial=-1)) + 1)
        return self._placed(self._worth[self.turns.now].rows[ids])

    def evidence_for(self, candidate: int) -> list[Evidence]:
        return [
            replace(one, factor=f"{name}.{one.factor}")
            for name, strategy in self.each.items()
            for one in strategy.evidence_for(candidate)
        ]


def parts_for(names: Sequence[str], parts: Sequence[str]) -> tuple[str, ...]:
    """What contributions are called where each interest has its own.

    >>> parts_for(("wind", "solar"), ("hint", "chance"))
    ('wind.hint', 'wind.chance', 'solar.hint', 'solar.chance')
    """
    return tuple([f"{name}.{part}" for name in names for part in parts])


def states_of(state: str) -> dict[str, str]:
    """What each interest's strategy learned, by name, of the state of a crawl; empty for one of a single
    interest."""
    try:
        found = json.loads(state) if state.startswith('{"interests":') else {}
        return {str(name): str(one) for name, one in found.get("interests", {}).items()}
    except (ValueError, AttributeError) as error:
        raise ConfigError(f"what was learned of several interests is damaged ({error})") from None


def _stated(states: Mapping[str, str]) -> str:
    return json.dumps({"interests": states}, separators=(",", ":")) if any(states.values()) else ""


def _as_seen_by(name: str, expansion: Expansion) -> Expansion:
    return replace(expansion, verdict=verdict_of(expansion.verdict, name))


def _file(worth: CandidateTerms, expansion: Expansion, terms: Floats) -> Ids:
    """Links that are new are worth what is said of them; known ones the better of two places. Of those that
    nothing was said of, seeds say, nothing is kept. Gives which changed."""
    ours = expansion.ids >= 0
    if not ours.any():
        return expansion.ids[:0]
    ids, terms = expansion.ids[ours], terms[ours]
    worth.reserve(int(ids.max()) + 1)
    better = worth.told[ids] & (totals(terms) > totals(worth.rows[ids]))
    better |= expansion.fresh[ours]
    worth.set(ids[better], terms[better])
    return ids[better]


def _distinct(some: Sequence[Ids]) -> Ids:
    return np.unique(np.concatenate(some)) if some else np.zeros(0, np.int64)
