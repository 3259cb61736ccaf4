"""`RelearningStrategy`: what strategies share that learn counts from pages, and learn them from stored pages
again when a crawl goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew.knowledge import Knowledge, dumps, frozen, loads
from clew.page import Page
from clew.strategy.base import Strategy
from clew.strategy.vectorizer import Vectorizer


class RelearningStrategy(Strategy):
    """A strategy whose state is its `knowledge`; what it would fetch without a link (`_offered`) is handed
    over once."""

    knowledge: Knowledge
    vectorizer: Vectorizer
    _offered: list[str]

    def state(self) -> str:
        """What this crawl learned itself; what it was given is the earlier crawl's."""
        return dumps(self.knowledge)

    def snapshot(self) -> Callable[[], str]:
        """`state` as of now, put into words later: there are hundreds of thousands of them."""
        return frozen(self.knowledge)

    def restore(self, state: str) -> None:
        """Nothing to do: a crawl that goes on learns from its stored pages again (see `clew.run.relearn`)."""
        loads(state, "the learned state")

    def offers(self) -> Sequence[str]:
        found, self._offered = self._offered, []
        return found

    def cut_words_with(self, cut: Callable[[Page], Sequence[str]]) -> None:
        self.vectorizer.cut = cut
