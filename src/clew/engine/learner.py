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

from clew.engine.commands import SetFocus, SetWeights
from clew.engine.learning import Lesson, Taught, teach, teach_many
from clew.engine.refold import Refold
from clew.engine.tunnelling import Tunnelling
from clew.errors import UsageError
from clew.frontier.expander import Expander
from clew.frontier.queue import Frontier
from clew.messages import Effect, Learned, Rescore
from clew.predicate import FormulaPredicate, Predicate
from clew.predicate import compile as compile_predicate
from clew.strategy import Strategy, checked_weights, remake


class Learner:
    """A strategy, its focus, and the frontier they give worth to.

    Parameters: the predicate, which is judged and is the focus to begin with; the strategy; the frontier, and
    the expander that re-scores it; what may want another focus.
    """

    def __init__(
        self,
        predicate: Predicate,
        strategy: Strategy,
        frontier: Frontier,
        expander: Expander,
        tunnelling: Tunnelling | None = None,
    ) -> None:
        self.predicate = predicate
        """What is judged: what counts as a find. It never changes."""
        self.focus = predicate
        """What is sought: links are estimated by it, and pages are examples for learning by it."""
        self.strategy = strategy
        self.tunnelling = tunnelling
        self.taught: list[Sequence[Lesson]] | None = None
        """What the strategy was taught, batch by batch; kept only where a lab, which has no archive, asks."""
        self._again: Refold | None = None
        self._frontier = frontier
        self._expander = expander

    def __repr__(self) -> str:
        return f"Learner({self.strategy.name}, seeking {self.focus.text()!r})"

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
            self._again = self._again or Refold(self.strategy, self.focus, self._frontier)
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

    # changes

    def prepare(self, change: SetFocus | SetWeights) -> Refold | None:
        """What must be taught all that happened before the change; None where nothing must."""
        strategy, focus = self.strategy, self.focus
        if isinstance(change, SetFocus):
            focus = self.predicate_of(change.formula)
            if not change.rescore or strategy.capabilities.refocuses:
                return None
            fresh = remake(strategy, predicate=focus)
        elif change.weights and strategy.capabilities.reweighs:
            checked_weights(type(strategy), change.weights)
            return None
        else:
            fresh = remake(strategy, weights=change.weights)
        if fresh.parts != strategy.parts:
            raise UsageError(
                f"that would make a score of {', '.join(fresh.parts)}; in this crawl it is made of "
                f"{', '.join(strategy.parts)}: begin another crawl for it"
            )
        return Refold(fresh, focus, self._frontier)

    def change(self, change: SetFocus | SetWeights) -> list[Effect]:
        """Make a change for which nothing need be taught again."""
        strategy = self.strategy
        if isinstance(change, SetWeights):
            moved = strategy.reweigh(checked_weights(type(strategy), change.weights))
            self._note(weights=change.weights)
            return self._expander.rescore(moved)
        self._seek(change.formula)
        self._note(predicate=self.focus)
        if change.rescore and strategy.capabilities.refocuses:
            return self._expander.rescore(strategy.refocus(self.focus))
        strategy.seek(self.focus)
        return []

    def remake(self, change: SetFocus | SetWeights) -> None:
        """Begin anew with a fresh strategy that has the change from the beginning."""
        if isinstance(change, SetFocus):
            self._seek(change.formula)
            self.strategy = remake(self.strategy, predicate=self.focus)
        else:
            self.strategy = remake(self.strategy, weights=change.weights)

    def replace(self, refold: Refold) -> list[Effect]:
        """A strategy that was taught again takes over, and the frontier is worth what it says."""
        self.strategy = refold.strategy
        self._seek(refold.focus.text(), refold.focus)
        frontier = self._frontier
        if frontier.overflow_count and self.strategy.capabilities.sheds:
            self.strategy.set_aside(np.flatnonzero(frontier.overflowed[: frontier.count]))
        moved = refold.open()
        # Those under way may come back to their queues.
        frontier.put(moved.ids, moved.terms)
        return [*self._expander.rescore(moved), *self.learned()]

    def learned(self) -> list[Effect]:
        """What is to be saved of what was learned."""
        state = self.strategy.snapshot()
        return [Learned(state)] if state else []

    def predicate_of(self, formula: str) -> Predicate:
        """What a formula seeks: the crawl's own predicate, if it is that one's."""
        if formula == self.predicate.text():
            return self.predicate
        if isinstance(self.predicate, FormulaPredicate):
            return self.predicate.another(formula)
        return compile_predicate(formula)

    def _seek(self, formula: str, focus: Predicate | None = None) -> None:
        self.focus = self.predicate_of(formula) if focus is None else focus
        if self.tunnelling is not None:
            self.tunnelling.take(formula)

    def _note(self, **changes: Any) -> None:
        if self.strategy.setup is not None:
            self.strategy.setup = replace(self.strategy.setup, **changes)
