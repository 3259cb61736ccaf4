"""`Learner`: what a crawl seeks, what it has learned of it, and what candidates are worth by that.

It holds the strategy and the focus, teaches the one lessons by the other, and gives the frontier the worth
that moved. A command may put another focus, other weights, or a whole strategy that was taught again
(`clew.engine.refold`) in their place; the rest of the engine asks here and need not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.engine.commands import Feedback, SetFocus, SetMatch, SetStrategy, SetWeights, Teaching
from clew.engine.learning import Lesson, Taught, teach, teach_many
from clew.engine.reestimate import LinksOf, Reestimate
from clew.engine.refold import Learning, Refold
from clew.engine.tunnelling import Tunnelling
from clew.errors import UsageError
from clew.frontier.expander import Expander
from clew.frontier.queue import Frontier
from clew.messages import Effect, Learned, Redimension, Rescore, State
from clew.page import Page
from clew.predicate import FormulaPredicate, Interests, Predicate
from clew.predicate import compile as compile_predicate
from clew.strategy import Strategy, built, checked_weights, find
from clew.strategy.options import read


class Learner:
    """A strategy, its focus, and the frontier they give worth to.

    Parameters: the predicate, which is judged and is the focus to begin with; the strategy; the frontier, and
    the expander that re-scores it; what may want another focus; what gives the links of candidates.
    """

    def __init__(
        self,
        predicate: Predicate,
        strategy: Strategy,
        frontier: Frontier,
        expander: Expander,
        tunnelling: Tunnelling | None = None,
        links_of: LinksOf | None = None,
    ) -> None:
        self.learning = Learning(strategy, predicate, predicate)
        self.tunnelling = tunnelling
        self.taught: list[Sequence[Lesson]] | None = None
        """What the strategy was taught, batch by batch; kept only where a lab, which has no archive, asks."""
        self.behind = False
        """Whether the strategy knows pages by what was sought before: it is to be taught all of them again,
        whenever there is time (`Retaught`)."""
        self.remade = 0
        """After which decision the strategy came into its place; it knows all that happened before, too."""
        self._first = predicate
        self._again: Refold | None = None
        self._frontier = frontier
        self._expander = expander
        self._links_of = links_of

    def __repr__(self) -> str:
        return f"Learner({self.strategy.name}, seeking {self.focus.text()!r})"

    @property
    def strategy(self) -> Strategy:
        """What candidates are worth, and why."""
        return self.learning.strategy

    @property
    def predicate(self) -> Predicate:
        """What is judged: what counts as a find. Nothing but `SetMatch` changes it."""
        return self.learning.predicate

    @property
    def focus(self) -> Predicate:
        """What is sought: links are estimated by it, and pages are examples for learning by it."""
        return self.learning.focus

    # the fold

    @property
    def met(self) -> int:
        """Learning again, how many candidates were told of so far."""
        return self.strategy.met if self._again is None else self._again.met

    def meet(self, lesson: Lesson) -> NDArray[np.float64] | None:
        """Tell of candidates that no judged page led to; gives their worth, if the strategy knows better than
        whoever found them."""
        self._keep((lesson,))
        return teach(self.strategy, lesson).terms

    def teach(self, lessons: Sequence[Lesson]) -> tuple[list[Taught], list[Effect]]:
        """Learn from the pages of a batch; gives what each taught, and what to save of others' worth."""
        self._keep(lessons)
        taught = teach_many(self.strategy, lessons)
        return taught, self._rescore(taught)

    def _keep(self, lessons: Sequence[Lesson]) -> None:
        if self.taught is not None:
            self.taught.append(lessons)

    def _rescore(self, taught: Sequence[Taught]) -> list[Effect]:
        moved = [one.moved for one in taught if one.moved is not None]
        return [effect for some in moved for effect in self._expander.rescore(some)]

    def catch_up(self, taught: Sequence[Taught], first: int) -> list[Effect]:
        """The candidates that a batch brought, from number `first` on, are worth what its later pages made of
        them; call when they are filed."""
        if len(taught) == 1:
            return []
        late: list[Effect] = []
        for one in taught:
            if one.moved is not None and (mine := one.moved.ids >= first).any():
                moved = Rescore(one.moved.ids[mine], one.moved.terms[mine], one.moved.saved)
                late += self._expander.rescore(moved)
        return late

    def teach_again(self, lessons: Sequence[Lesson]) -> None:
        """Take in once more a batch that was taught before the crawl was taken up again (or one lesson of
        candidates that no judged page led to): its candidates are filed."""
        if not self.strategy.capabilities.meets:
            self._again = self._again or Refold(self.learning, self._frontier)
            self._again.teach(lessons)
            return
        if lessons[0].met:
            taught = [teach(self.strategy, lesson) for lesson in lessons]
        else:
            taught = teach_many(self.strategy, lessons)
        self._rescore(taught)
        fresh = [lesson.expansion.ids[lesson.expansion.fresh] for lesson in lessons]
        first = min([int(ids[0]) for ids in fresh if len(ids)], default=self._frontier.count)
        for lesson, one in zip(lessons, taught, strict=True):
            self._expander.file_again(lesson.expansion.ids, lesson.expansion.fresh, one.terms)
        self.catch_up(taught, first)

    def end_again(self) -> None:
        """All was taught again: the worth of what a strategy does not know by number is put in place. (Some
        of it came by candidates that are closed by now, so that it cannot be filed as it comes.)"""
        if self._again is not None:
            self._expander.rescore(self._again.open())
            self._again = None

    def note_page(self, candidate: int, page: Page, *, shown: bool) -> None:
        """Nothing: its verdict is known."""

    # changes

    def prepare(self, changes: Sequence[Teaching]) -> Refold | None:
        """What must be taught all that happened before some changes; None where nothing must. A change that
        cannot be made is an error that says why."""
        for change in changes:
            if isinstance(change, Feedback) and self._frontier.state_of(change.url) is not State.FETCHED:
                raise UsageError(
                    f"{change.url} was not fetched: feedback is for pages that were; "
                    "--boost has links like it fetched earlier"
                )
        if all(map(self._at_once, changes)):
            return None
        learning = self._changed(changes)
        if learning.strategy.capabilities.follows != self.strategy.capabilities.follows:
            new, old = learning.strategy.base.name, self.strategy.base.name
            raise UsageError(
                f"{new} and {old} find candidates in different ways, by "
                "links and by people's visits alone: begin another crawl for it"
            )
        if self.tunnelling is not None and learning.predicate is not self.predicate:
            Tunnelling(learning.predicate, self.tunnelling.rules)
        rejudged = [change.url for change in changes if isinstance(change, Feedback)]
        whole = self.behind or any(isinstance(change, SetMatch) for change in changes)
        return Refold(learning, self._frontier, None if whole else frozenset(rejudged))

    def reestimate(self, changes: Sequence[Teaching]) -> Reestimate | None:
        """What must be worked out of candidates' links so that some changes can be made at once, the strategy
        being taught again later; None where they cannot."""
        wanted = [change for change in changes if isinstance(change, SetMatch)]
        others = [change for change in changes if not isinstance(change, SetMatch)]
        able = self._links_of is not None and self.strategy.capabilities.reestimates
        if len(wanted) != 1 or not able or self.tunnelling is not None or not all(map(self._at_once, others)):
            return None
        focus = self.predicate_of(wanted[0].formula, self.predicate)
        # Several interests have a strategy each.
        return None if isinstance(focus, Interests) else self._reestimate(focus)

    def _reestimate(self, focus: Predicate) -> Reestimate:
        assert self._links_of is not None  # nobody asks for it otherwise
        return Reestimate(focus, self._frontier, self._links_of)

    def _at_once(self, change: Teaching) -> bool:
        """Whether a change calls for nothing to be taught again."""
        strategy = self.strategy
        match change:
            case SetFocus(formula, rescore):
                self.predicate_of(formula, self.predicate)
                return not rescore or strategy.capabilities.refocuses
            case SetWeights(weights):
                known = checked_weights(type(strategy.base), weights)
                heard = {*known} <= {*strategy.base.parts}
                return bool(known) and strategy.capabilities.reweighs and heard
            case _:
                return False

    def _changed(self, changes: Sequence[Teaching]) -> Learning:
        """What is to be learned, and from what, once some changes are made, by a fresh strategy."""
        learning = self.learning
        setup = learning.strategy.setup
        if setup is None:
            raise UsageError(
                f"{self.strategy.base.name} cannot be changed: clew.strategy.make did not build it"
            )
        kind = type(learning.strategy.base)
        for change in changes:
            match change:
                case SetStrategy(name):
                    kind = find(name)
                    setup = replace(setup, weights={}, options=read(name, kind.options, {}))
                case SetWeights(weights):
                    setup = replace(setup, weights=checked_weights(kind, weights))
                case SetFocus(formula):
                    learning = replace(learning, focus=self.predicate_of(formula, learning.predicate))
                case SetMatch(formula):
                    wanted = self.predicate_of(formula, learning.predicate)
                    learning = replace(learning, predicate=wanted, focus=wanted)
                case Feedback(url, satisfied):
                    learning = replace(learning, feedback={**learning.feedback, url: satisfied})
        return replace(learning, strategy=built(kind, replace(setup, predicate=learning.focus)))

    def change(
        self, change: SetFocus | SetWeights | SetMatch, after: int, anew: Reestimate | None, *, again: bool
    ) -> list[Effect]:
        """Make a change for which nothing need be taught again, or not now; it comes after so many decisions.
        `again` is whether it was made before the crawl was taken up again: then what candidates are worth is
        known, unless it is what the strategy learns once more."""
        strategy = self.strategy
        if isinstance(change, SetWeights):
            weights = checked_weights(type(strategy.base), change.weights)
            moved = strategy.reweigh(weights, self._waiting(seeds=True))
            self._note(weights=weights)
            return self._move(moved, again=again)
        if isinstance(change, SetMatch):
            return self._match_at_once(change, after, anew, again=again)
        self._seek(self.predicate_of(change.formula, self.predicate))
        self._note(predicate=self.focus)
        if change.rescore and strategy.capabilities.refocuses:
            return self._expander.rescore(strategy.refocus(self.focus))
        strategy.seek(self.focus)
        return []

    def _match_at_once(
        self, change: SetMatch, after: int, anew: Reestimate | None, *, again: bool
    ) -> list[Effect]:
        """Judge and seek something else from now on; what waits is worth what is known of it already."""
        wanted = self.predicate_of(change.formula, self.predicate)
        self.learning = replace(self.learning, predicate=wanted, focus=wanted, since=after)
        self.behind = True
        self._note(predicate=wanted)
        self.strategy.seek(wanted)
        able = self.strategy.capabilities
        if not able.reestimates or (again and not able.relearns):
            return []
        anew = anew or self._reestimate(wanted)
        while anew.step():
            pass
        return self._move(self.strategy.reestimate(anew.degrees, self._waiting(seeds=False)), again=again)

    def _waiting(self, *, seeds: bool) -> Rescore:
        """What may still be fetched, with seeds or without, and what it is worth."""
        frontier, count = self._frontier, self._frontier.count
        found = (frontier.sources[:count] >= 0) | (frontier.depths[:count] > 0)
        ids = np.flatnonzero(_may_come(frontier.states[:count]) & (found | seeds))
        return Rescore(ids, frontier.terms[ids])

    def _move(self, moved: Rescore, *, again: bool = False) -> list[Effect]:
        """Candidates are worth this from now on."""
        if again and not self.strategy.capabilities.relearns:
            return []
        # Those under way may come back to their queues.
        live = _may_come(self._frontier.states[moved.ids])
        self._frontier.put(moved.ids[live], moved.terms[live])
        return self._expander.rescore(moved)

    def remake(self, change: Teaching, after: int) -> None:
        """Begin anew, before anything is learned, with a fresh strategy that has the change from the
        beginning; it was made after so many decisions."""
        learning = self._changed([change])
        if isinstance(change, SetMatch):
            learning = replace(learning, since=after)
        self.remade = after
        self._take(learning)

    def replace(self, refold: Refold, since: int | None = None) -> list[Effect]:
        """A strategy that was taught again takes over, and the frontier is worth what it says. What it judges
        by is judged since a decision; None is that this is no other."""
        learning = refold.learning
        effects = self._take(learning if since is None else replace(learning, since=since))
        self.behind = False
        frontier = self._frontier
        if frontier.overflow_count and self.strategy.capabilities.sheds:
            self.strategy.set_aside(np.flatnonzero(frontier.overflowed[: frontier.count]))
        return [*effects, *self._move(refold.open()), *self.learned()]

    def _take(self, learning: Learning) -> list[Effect]:
        """Learn this from now on. Where that makes scores of other contributions, the frontier has room for
        them, and is worth nothing yet."""
        before, self.learning = self.learning, learning
        if self.tunnelling is not None:
            if learning.predicate is not before.predicate:
                self.tunnelling = Tunnelling(learning.predicate, self.tunnelling.rules)
            self.tunnelling.take(learning.focus.text())
        if learning.strategy.parts == before.strategy.parts:
            return []
        self._frontier.redimension(len(learning.strategy.parts))
        return [Redimension(len(learning.strategy.parts))]

    def learned(self) -> list[Effect]:
        """What is to be saved of what was learned."""
        state = self.strategy.snapshot()
        return [Learned(state)] if state else []

    def predicate_of(self, formula: str, judged: Predicate) -> Predicate:
        """What a formula stands for: what is judged, if that is its formula, or the predicate that the crawl
        began with, whose topics may be named."""
        for known in (judged, self._first):
            if formula == known.text():
                return known
        if isinstance(self._first, FormulaPredicate | Interests):
            return self._first.another(formula)
        return compile_predicate(formula)

    def _seek(self, focus: Predicate) -> None:
        self.learning = replace(self.learning, focus=focus)
        if self.tunnelling is not None:
            self.tunnelling.take(focus.text())

    def _note(self, **changes: Any) -> None:
        if self.strategy.setup is not None:
            self.strategy.setup = replace(self.strategy.setup, **changes)


def _may_come(states: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which candidates may still be fetched: those that wait, and those under way."""
    waiting: NDArray[np.bool_] = (states == State.QUEUED) | (states == State.LEASED)
    return waiting
