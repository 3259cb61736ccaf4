"""`FrontierProspects`: what a stop rule asks of the frontier and of the finds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from clew.frontier.queue import Frontier
from clew.messages import Decision, State
from clew.policy.community import Community
from clew.policy.recall import KnownTargets, RecallEstimate, RecallEstimator

_AT_HAND = 64
"""Best candidates kept in mind, so that the frontier is not searched for every request."""


class FrontierProspects:
    """Answers the questions of `clew.policy.stop_rule.Prospects`."""

    def __init__(self, frontier: Frontier, in_flight: Callable[[], int]) -> None:
        self._frontier = frontier
        self._in_flight = in_flight
        self._best: NDArray[np.int64] = np.zeros(0, np.int64)
        self.graph: Community | None = None
        """The links around the finds; kept only where a rule asks for communities."""
        self.estimator = RecallEstimator()
        self.known_targets: KnownTargets | None = None

    def best(self, enough: float = np.inf) -> float:
        """The greatest score at the frontier, or one of at least `enough`; -inf when nothing is queued."""
        frontier = self._frontier
        known = self._best[frontier.states[self._best] == State.QUEUED]
        if len(known) and (score := float(frontier.scores[known].max())) >= enough:
            return score
        queued = np.flatnonzero(frontier.states[: frontier.count] == State.QUEUED)
        if not len(queued):
            return -np.inf
        scores = frontier.scores[queued]
        if len(queued) > _AT_HAND:
            queued = queued[np.argpartition(scores, -_AT_HAND)[-_AT_HAND:]]
        self._best = queued
        return float(scores.max())

    def exhausted(self) -> bool:
        """Whether nothing is queued and nothing under way."""
        return not self._frontier.queued and not self._in_flight()

    def community(self) -> int:
        """The number of finds in the largest community among them."""
        return 0 if self.graph is None else self.graph.size()

    def recall(self) -> float | None:
        """The lower end of the estimate of recall, as of the last look."""
        return None if self.estimator.last is None else self.estimator.last.low

    def known(self) -> float | None:
        """The lower end of recall by the targets that were known before."""
        return None if self.known_targets is None else self.known_targets.interval[0]

    def record(self, decision: Decision) -> None:
        """Take in a line of the trace."""
        self.estimator.record(decision)
        if self.known_targets is not None:
            self.known_targets.record(decision)

    def look(self, closed: NDArray[np.int64]) -> RecallEstimate | None:
        """Estimate recall if it is time to; `closed` are hosts of which nothing will be fetched."""
        if not self.estimator.due:
            return None
        frontier, count = self._frontier, self._frontier.count
        states = frontier.states[:count]
        waiting = ((states == State.QUEUED) | (states == State.LEASED)).nonzero()[0]
        if len(closed):
            waiting = waiting[~np.isin(frontier.hosts[waiting], closed)]
        return self.estimator.look(len(waiting), frontier.sources)
