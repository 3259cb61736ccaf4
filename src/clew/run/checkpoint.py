"""Checkpoints of what a strategy has learned: a resumed crawl learns again only from what came after.

A checkpoint says after which decision it was made, by which strategy, and of which candidates. One that is of
another crawl, of other settings, of another version of clew, damaged, or not as such a strategy can have
written it is passed over: then all is learned again from the archive, and comes to the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xxhash

from clew import __version__
from clew.engine import Crawl
from clew.frontier.queue import Frontier
from clew.learn import checkpoint
from clew.learn.checkpoint import Keeps
from clew.messages import Rescore, State
from clew.store.base import Reader, Store
from clew.store.faults import UNDECODABLE
from clew.strategy.base import Strategy

#: Pages between two checkpoints, at least; a twentieth of the pages so far in a long crawl. So a crawl that
#: is killed has no more than that to learn again, and little is written that is soon written over.
LEAST = 500
#: A crawl of fewer pages has learned again within a second or two.
FEW = 200


class UnusableCheckpoint(Exception):
    """What was taken for a checkpoint cannot be one: the engine that took it up is not to be used."""


def is_due(pages: int, last: int) -> bool:
    """Whether a checkpoint is worth its while, with so many pages learned from and so many at the last one.

    >>> is_due(600, 0), is_due(20_600, 20_000), is_due(21_000, 20_000)
    (True, False, True)
    """
    return pages - last >= max(LEAST, last // 20)


def save(crawl: Crawl, store: Store, after: int) -> None:
    """Keep what was learned from all decisions up to that one; nothing, if the strategy cannot."""
    kept = crawl.strategy.checkpoint()
    if kept is not None:
        about = _about(crawl, crawl.strategy.met) | {"after": after}
        store.save_checkpoint(checkpoint.dumps(about, _Learned(kept, crawl.frontier)))


def take_up(crawl: Crawl, store: Reader) -> int:
    """Go on from the last checkpoint, if it is of use; gives the decision after which it was made, or -1.

    Call after the engine was restored. `UnusableCheckpoint` when the strategy has taken in some of it before
    the rest turned out to be of no use.
    """
    kept, data = crawl.strategy.checkpoint(), store.checkpoint()
    if kept is None or data is None:
        return -1
    try:
        about, arrays = checkpoint.loads(data)
        after, met = int(about["after"]), int(about["met"])
        if about != _about(crawl, met) | {"after": after} or not 0 <= after <= crawl.tracer.count:
            return -1
    except UNDECODABLE:
        return -1
    try:
        checkpoint.fill(_Learned(kept, crawl.frontier), arrays)
        checkpoint.require(not arrays and crawl.strategy.met == met, "there is more than is kept")
        ids = crawl.strategy.candidates()
        worth = Rescore(ids, crawl.strategy.evaluate(ids), saved=False)
    except UNDECODABLE as error:
        raise UnusableCheckpoint(str(error)) from error
    crawl.expander.rescore(worth)
    return after


class _Learned:
    """What a strategy keeps, and the worth of candidates not at hand, which is as old as their absence."""

    def __init__(self, strategy: Keeps, frontier: Frontier) -> None:
        self.strategy, self.frontier = strategy, frontier

    def kept(self) -> dict[str, Any]:
        aside = np.flatnonzero(self.frontier.overflowed[: self.frontier.count])
        return {"strategy": self.strategy, "aside": aside, "terms": self.frontier.terms[aside]}

    def recall(self, found: Mapping[str, Any]) -> None:
        aside, terms = found["aside"], found["terms"]
        checkpoint.require(checkpoint.within(aside, 0, self.frontier.count), "candidates not at hand")
        checkpoint.require(len(aside) == len(terms) and np.isfinite(terms).all(), "their worth")
        queued = self.frontier.states[aside] == State.QUEUED
        self.frontier.rescore(aside[queued], terms[queued])


def _about(crawl: Crawl, met: int) -> dict[str, object]:
    """Which strategy has learned, since when, and of which candidates."""
    keys = crawl.frontier.keys[: max(0, min(met, crawl.frontier.count))]
    digest = xxhash.xxh3_64_hexdigest(keys.tobytes())
    return {
        "strategy": _identity(crawl.strategy),
        # One that was taught again for a command knows the pages before it, too, and otherwise.
        "remade": crawl.learner.remade,
        "met": met,
        "keys": digest,
    }


def _identity(strategy: Strategy) -> str:
    """What a strategy was built from, and by which clew: one that was built alike learns alike."""
    setup = strategy.setup
    if setup is None:
        return ""
    known = xxhash.xxh3_64()
    for name, array in () if setup.known is None else checkpoint.arrays_of(setup.known):
        known.update(name.encode() + array.tobytes())
    built = [
        __version__,
        strategy.name,
        strategy.parts,
        setup.seed,
        setup.predicate.text(),
        known.hexdigest(),
    ]
    built.append("" if setup.visits is None else setup.visits.digest)
    plain = json.dumps([*built, dict(setup.weights), dict(setup.options)], sort_keys=True, default=str)
    return xxhash.xxh3_64_hexdigest(plain.encode())
