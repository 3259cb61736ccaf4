"""What `Confidence` has counted, once more: a fold over the judged pages of a stored crawl.

Nothing of it is stored: depths, counts and limits follow from the decisions, the links and the finds.
"""

from __future__ import annotations

from collections.abc import Container

import numpy as np
from numpy.typing import NDArray

from clew.engine import Crawl
from clew.errors import StoreForeign
from clew.messages import State, TaskKind
from clew.policy.confidence import Confidence
from clew.run.relearn import JUDGED
from clew.store.base import Reader


def recall_confidence(crawl: Crawl, store: Reader) -> None:
    """Count again all that was counted, by the finds as they are now; call after the engine was restored, and
    when other pages are finds than were."""
    if crawl.confidence is None:
        return
    frontier = crawl.frontier
    crawl.confidence.forget()
    fold(crawl.confidence, store, frontier.sources[: frontier.count], frozenset(crawl.tally.finds))
    crawl.suspend_anew()


def fold(
    confidence: Confidence,
    store: Reader,
    sources: NDArray[np.int32],
    finds: Container[int],
    before: int | None = None,
) -> None:
    """Tell of every page that was judged, in order; `finds` says which of them, from 1, are finds, `before`
    which decision to stop short of."""
    page = 0
    for decision in store.decisions():
        if before is not None and decision.seq >= before:
            return
        candidate = decision.candidate
        if decision.kind != TaskKind.PAGE or candidate < 0:
            continue
        if candidate >= len(sources):
            raise StoreForeign(
                f"decision {decision.seq} is about a candidate that there is not: it is damaged"
            )
        if decision.result in JUDGED:
            page += 1
            targets = store.outlinks(candidate)
            if len(targets) and targets.max() >= len(sources):
                raise StoreForeign(f"the links of candidate {candidate} are damaged: restore a copy")
            # A link was new on the page that is recorded as the one it was found on.
            confidence.record(
                candidate, find=page in finds, targets=targets, fresh=sources[targets] == candidate
            )
        elif decision.result == "redirect":
            confidence.close(candidate)


def counted(store: Reader, level: float, before: int | None = None) -> tuple[Confidence, int]:
    """What a stored crawl has counted, or had before a decision; and how many of its candidates are suspended
    by that."""
    saved = store.snapshot()
    sources = np.zeros(0, np.int32) if saved is None else saved.sources
    confidence = Confidence(level, lambda number: int(sources[number]))
    if saved is None:
        return confidence, 0
    finds = frozenset(n for n, candidate in enumerate(saved.scores, 1) if candidate in saved.matched)
    fold(confidence, store, sources, finds, before)
    waiting = np.flatnonzero((saved.states == State.QUEUED) | (saved.states == State.LEASED))
    return confidence, int(np.count_nonzero(confidence.suspends(waiting)))
