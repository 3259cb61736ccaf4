"""`Lesson`: what one settled task teaches a strategy, and `teach`, the one way it is taught.

What a strategy knows is a fold of `teach` over lessons. `settle` makes them of replies; on resume they are
made again of the stored decisions and the archive (`clew.run.relearn`), and `teach` takes them in once more.
So nothing that was learned can be out of date or half saved, and there is no second account of learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew import url as urls
from clew.frontier.admission import Admitted
from clew.frontier.expander import Numbered
from clew.messages import Rescore
from clew.page import Links, Page
from clew.predicate.verdict import Verdict
from clew.strategy.base import Expansion, Strategy

_NOTHING = Verdict(0.0, False)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One of three things: a page was judged, a fetch gave nothing, or candidates came that no judged page
    led to. The constructors below say which."""

    expansion: Expansion
    met: bool = False

    @classmethod
    def judged(
        cls, candidate: int, page: Page, verdict: Verdict, depth: int, admitted: Admitted, numbered: Numbered
    ) -> Lesson:
        """A page, what was thought of it, and those of its links that were let in."""
        return cls(
            Expansion(
                source=candidate,
                page=page,
                verdict=verdict,
                depth=depth,
                links=admitted.links,
                keys=admitted.keys,
                ids=numbered.ids,
                fresh=numbered.fresh,
            )
        )

    @classmethod
    def missed(cls, candidate: int, url: str, status: int, depth: int) -> Lesson:
        """A fetch that gave nothing: a dead link says something about links like it."""
        return cls(Expansion.nothing(candidate, Page(url=url, status=status, depth=depth)))

    @classmethod
    def introduced(
        cls,
        source: int,
        depth: int,
        links: Links,
        keys: NDArray[np.uint64],
        ids: NDArray[np.int64],
        fresh: NDArray[np.bool_] | None = None,
    ) -> Lesson:
        """Candidates that no judged page led to: of a sitemap or another shard (`source` is -1), or what a
        redirect, a refresh or a canonical link of `source` leads to."""
        return cls(
            Expansion(
                source=source,
                page=Page(url=links.source, depth=depth),
                verdict=_NOTHING,
                depth=depth,
                links=links,
                keys=keys,
                ids=ids,
                fresh=np.ones(len(ids), np.bool_) if fresh is None else fresh,
            ),
            met=True,
        )

    @classmethod
    def offered(cls, targets: Sequence[str], ids: NDArray[np.int64]) -> Lesson:
        """Pages that the strategy knew of itself and that became candidates."""
        links = Links("", tuple(targets), *[("",) * len(targets)] * 4)
        return cls.introduced(-1, 0, links, urls.keys(targets), ids)


@dataclass(frozen=True, slots=True)
class Taught:
    """What a strategy makes of a lesson."""

    terms: NDArray[np.float64] | None
    """Of the lesson's links, one row each; None from a strategy that does not know its candidates, for those
    that no judged page led to."""
    moved: Rescore | None = None
    """Queued candidates whose worth changed by it."""


def teach_many(strategy: Strategy, lessons: Sequence[Lesson]) -> list[Taught]:
    """Tell a strategy of the pages, judged or missed, of one batch: they are learned from together."""
    if len(lessons) == 1:
        scored = [strategy.observe(lessons[0].expansion)]
    else:
        scored = strategy.observe_many([lesson.expansion for lesson in lessons])
    return [
        Taught(one.terms if len(lesson.expansion.ids) else None, one.moved)
        for lesson, one in zip(lessons, scored, strict=True)
    ]


def teach(strategy: Strategy, lesson: Lesson) -> Taught:
    """Tell a strategy of what happened; only this changes what it knows."""
    if lesson.met:
        return Taught(strategy.meet(lesson.expansion))
    return teach_many(strategy, (lesson,))[0]
