"""`shark`: Shark-search, relevance inherited along the way and hints around each link."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew.learn.centroid import Centroid
from clew.page import Links, Page
from clew.predicate.verdict import Predicate
from clew.strategy.base import Expansion, Floats, Scored, Setup, Strategy
from clew.strategy.features import TIES, telling, tie_breaks
from clew.strategy.options import ChoiceOption, NumberOption, Option


class Shark(Strategy):
    """Shark-search (Hersovici, Jacovi, Maarek, Pelleg, Shtalhaim, Ur 1998).

    A link inherits `decay` × the degree of its source page, or, when that page has none, `decay` × what
    that page itself inherited. Its neighbourhood is `beta` × the likeness of its anchor + (1 − `beta`) ×
    that of the text around, which counts as 1 when the anchor has any. Score = `gamma` × inherited +
    (1 − `gamma`) × neighbourhood.

    Likeness is the predicate's guess about anchor and URL. A predicate that cannot guess leaves the
    inherited part alone; then, with `examples="auto"`, the words of the pages found so far take its place
    (`"found"`: always; `"none"`: never, as published).
    """

    name = "shark"
    parts: tuple[str, ...] = ("inherited", "anchor", "context", "dice")
    options: ClassVar[Mapping[str, Option]] = {
        "decay": NumberOption(0.0, 1.0),
        "beta": NumberOption(0.0, 1.0),
        "gamma": NumberOption(0.0, 1.0),
        "examples": ChoiceOption(("auto", "found", "none")),
        "ties": TIES,
        "memory": NumberOption(1, 1e8, whole=True),
    }

    def __init__(
        self,
        predicate: Predicate,
        seed: int = 0,
        *,
        decay: float = 0.5,
        beta: float = 0.8,
        gamma: float = 0.8,
        examples: str = "auto",
        ties: str = "dice",
        memory: int = 1_000_000,
    ) -> None:
        self.focus = predicate
        self.seed = seed
        self.decay = decay
        self.beta = beta
        self.gamma = gamma
        self.examples = examples
        self.ties = ties
        self.memory = memory
        self.inherited_: dict[int, float] = {}
        """What candidates that are not fetched yet inherited."""
        self.found_ = Centroid()
        self.guesses_ = False
        """Whether the predicate has ever made a guess about a link."""

    def __repr__(self) -> str:
        return f"Shark({len(self.inherited_)} heirs, found={self.found_!r})"

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls(setup.predicate, setup.seed, **setup.options)

    def seek(self, focus: Predicate) -> None:
        self.focus = focus

    def seeds(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        near = 1.0 - self.gamma
        parts = np.tile([self.gamma, near * self.beta, near * (1.0 - self.beta), 0.0], (len(keys), 1))
        parts[:, 3] = tie_breaks(self.ties, keys, self.seed)
        return parts

    def score(self, expansion: Expansion) -> Floats:
        return self._scores(expansion, self._bequest(expansion))

    def _scores(self, expansion: Expansion, bequest: float) -> Floats:
        links, page = expansion.links, expansion.page
        anchors = np.asarray(self._likeness(links, page), np.float64)
        around = np.ones(len(links))
        bare = np.flatnonzero(anchors == 0.0).tolist()
        if bare:
            contexts = replace(_rows(links, bare), anchors=tuple([links.contexts[i] for i in bare]))
            around[bare] = self._likeness(contexts, page)
        near = 1.0 - self.gamma
        parts = np.empty((len(links), 4))
        parts[:, 0] = self.gamma * bequest
        parts[:, 1] = near * self.beta * anchors
        parts[:, 2] = near * (1.0 - self.beta) * around
        parts[:, 3] = tie_breaks(self.ties, expansion.keys, self.seed)
        return parts

    def observe(self, expansion: Expansion) -> Scored:
        bequest = self._bequest(expansion)
        self.inherited_.pop(expansion.source, None)
        self._leave(bequest, expansion)
        if expansion.verdict.satisfied and self.examples != "none":
            counts = telling(expansion.page.text, expansion.page.language)
            if counts:
                self.found_.add(counts)
        if not self.guesses_ and len(expansion.links):
            self.guesses_ = any(self.focus.estimate_links(expansion.links))
        return Scored(self._scores(expansion, bequest))

    def state(self) -> str:
        heirs = [[number, score] for number, score in self.inherited_.items()]
        return json.dumps({"inherited": heirs, "found": self.found_.state(), "guesses": self.guesses_})

    def restore(self, state: str) -> None:
        if not state:
            return
        saved = json.loads(state)
        self.inherited_ = {int(number): float(score) for number, score in saved["inherited"]}
        self.found_.restore(saved["found"])
        self.guesses_ = bool(saved["guesses"])

    def _bequest(self, expansion: Expansion) -> float:
        """What the links of a page inherit."""
        if expansion.verdict.score > 0.0:
            return self.decay * expansion.verdict.score
        return self.decay * self.inherited_.get(expansion.source, 0.0)

    def _leave(self, bequest: float, expansion: Expansion) -> None:
        heirs = self.inherited_
        for number, new in zip(expansion.ids.tolist(), expansion.fresh.tolist(), strict=True):
            # A known candidate that is no heir was fetched already.
            if new or heirs.get(number, bequest) < bequest:
                heirs[number] = bequest
        while len(heirs) > self.memory:
            del heirs[next(iter(heirs))]

    def _likeness(self, links: Links, page: Page) -> Sequence[float]:
        if self.examples == "found" or (self.examples == "auto" and not self.guesses_):
            return [self.found_.cosine(telling(anchor, page.language)) for anchor in links.anchors]
        return self.focus.estimate_links(links)


def _rows(links: Links, rows: list[int]) -> Links:
    """Some of the links."""
    if len(rows) == len(links):
        return links
    return Links(
        links.source,
        tuple([links.targets[i] for i in rows]),
        tuple([links.anchors[i] for i in rows]),
        tuple([links.contexts[i] for i in rows]),
        tuple([links.paths[i] for i in rows]),
        tuple([links.rels[i] for i in rows]),
    )
