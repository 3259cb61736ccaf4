"""Predicates of the lab: the truth about a page, told only once it is fetched."""

from __future__ import annotations

from collections.abc import Sequence

from clew.page import Links, Page
from clew.predicate.verdict import Predicate, Verdict


class Blind:
    """Yes for the pages of a set, no for all others; nothing about a link.

    >>> blind = Blind("label:wind", frozenset({"http://a.example/"}))
    >>> blind.judge(Page(url="http://a.example/")).satisfied, list(blind.estimate_links(Links()))
    (True, [])
    """

    def __init__(self, name: str, targets: frozenset[str]) -> None:
        self.name = name
        self.targets = targets
        self._yes = Verdict(1.0, True, (f"{name} 1.0",))
        self._no = Verdict(0.0, False, (f"{name} 0.0",))

    def judge(self, page: Page) -> Verdict:
        """Whether the page is one of them."""
        return self._yes if page.url in self.targets else self._no

    def estimate_links(self, links: Links) -> Sequence[float]:
        """Nothing: a link is a link."""
        return [0.0] * len(links)

    def text(self) -> str:
        """The name of the set."""
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self.targets)} pages)"


class Hinted(Blind):
    """A `Blind` predicate that also has a formula, which may be applied to anchors and URLs."""

    def __init__(self, name: str, targets: frozenset[str], formula: Predicate) -> None:
        super().__init__(name, targets)
        self.formula = formula

    def estimate_links(self, links: Links) -> Sequence[float]:
        """What the formula makes of anchor and URL."""
        return self.formula.estimate_links(links)
