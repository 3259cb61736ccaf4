"""The audit: whether a chosen candidate is the best of all that could have been chosen."""

from __future__ import annotations

import numpy as np

from clew.frontier.host import Host
from clew.frontier.queue import Frontier
from clew.frontier.ready_hosts import ReadyHosts
from clew.messages import State
from clew.policy.confidence import DEMOTION
from clew.strategy.base import Strategy


def is_best(candidate: int, frontier: Frontier, ready: ReadyHosts, strategy: Strategy) -> bool:
    """Whether none of the candidates whose hosts are free is worth more, all of them scored anew.

    Those the strategy has no opinion of are worth what they were filed with.
    """
    at_hand = (frontier.states == State.QUEUED) & ~frontier.overflowed
    ids = np.flatnonzero(at_hand[: frontier.count])
    ids = ids[ready.offering(frontier.hosts[ids])]
    scores = strategy.review(ids)
    if frontier.boosts is not None:
        scores = scores + frontier.boosts[ids]
    if frontier.suspended is not None:
        scores = np.where(frontier.suspended[ids], scores - DEMOTION, scores)
    scores = np.where(np.isnan(scores), frontier.scores[ids], scores)
    return bool(scores[ids == candidate].max(initial=-np.inf) >= scores.max(initial=-np.inf))


def audited(host: Host) -> tuple[int, int]:
    """How many choices of pages of a host were checked, and how many of these were the best."""
    match host.notes.get("audits"):
        case [int(checked), int(best)]:
            return checked, best
        case _:
            return 0, 0
