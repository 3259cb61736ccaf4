"""`Arms`: candidates in groups, for bandits that choose a group before they choose a link.

A bandit's estimate of a group moves with every page of that group, and a group may have many thousand
links; giving all of them a new score each time would cost more than the fetch. But only the best links of
a group can be next. So of each arm the first `width` links stand in front, with the arm's true score; the
others wait behind, worth less than any link in front, and step forward when a place is free. The frontier
then finds the best arm by itself, and an arm without links sleeps of itself.

Invariant: of an arm's links that are neither fetched nor let go, those in front have the highest ranks.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: What waiting costs: more than any estimate is worth.
WAITING = -1000.0


@dataclass(slots=True)
class Arm:
    """One group: how often it was tried, what that gave, who is next."""

    pulls: int = 0
    reward: float = 0.0
    front: dict[int, tuple[float, int]] = field(default_factory=dict)
    """Candidate -> (rank, pulls when it stepped forward), in the order of stepping forward."""
    back: list[tuple[float, int]] = field(default_factory=list)
    """A heap of (minus rank, candidate); those fetched meanwhile are skipped when they surface."""
    worst: tuple[float, int] | None = None
    """What `lowest` found, until the front changes."""

    @property
    def mean(self) -> float:
        """The mean reward; 0 before the first."""
        return self.reward / self.pulls if self.pulls else 0.0

    def lowest(self) -> tuple[float, int]:
        """(rank, minus candidate) of the worst in front."""
        if self.worst is None:
            self.worst = min([(rank, -number) for number, (rank, _) in self.front.items()])
        return self.worst


class Arms:
    """Groups of candidates by number.

    Parameters: `width`, how many of a group stand in front; `patience`, after how many pulls of its group a
    link in front that is not fetched (forbidden by robots.txt, say) no longer holds its place; `limit`, how
    many candidates are remembered.

    >>> arms = Arms(width=1)
    >>> arms.new()
    0
    >>> arms.add(10, 0, rank=0.3)
    >>> arms.add(11, 0, rank=0.9)
    >>> arms.in_front(10), arms.in_front(11), arms.moved
    (False, True, {10: 0.3, 11: 0.9})
    >>> arms.take(11), arms.in_front(10)
    (0, True)
    """

    def __init__(self, *, width: int = 32, patience: int = 128, limit: int = 300_000) -> None:
        self.width = width
        self.patience = patience
        self.limit = limit
        self.list: list[Arm] = []
        self.moved: dict[int, float] = {}
        """Candidates that stepped forward or back since this was last cleared, with their ranks."""
        self._arm_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.list)

    def __getitem__(self, number: int) -> Arm:
        return self.list[number]

    def __repr__(self) -> str:
        return f"Arms({len(self.list)} with {len(self._arm_of)} candidates)"

    def new(self) -> int:
        """The number of a new, empty arm."""
        self.list.append(Arm())
        return len(self.list) - 1

    def arm_of(self, candidate: int) -> int:
        """The arm of a candidate; -1 when it is not remembered."""
        return self._arm_of.get(candidate, -1)

    def in_front(self, candidate: int) -> bool:
        """Whether a candidate stands in front of its arm."""
        number = self._arm_of.get(candidate, -1)
        return number >= 0 and candidate in self.list[number].front

    def add(self, candidate: int, number: int, rank: float) -> None:
        """File a candidate under an arm; one that is filed already stays where it is."""
        if candidate < 0 or candidate in self._arm_of or len(self._arm_of) >= self.limit:
            return
        self._arm_of[candidate] = number
        arm = self.list[number]
        if len(arm.front) >= self.width:
            worst, minus = arm.lowest()
            if rank <= worst:
                heapq.heappush(arm.back, (-rank, candidate))
                return
            self._step_back(arm, -minus)
            heapq.heappush(arm.back, (-worst, -minus))
            self.moved[-minus] = worst
        self._step_forward(arm, candidate, rank)

    def take(self, candidate: int) -> int:
        """Forget a candidate that was fetched; gives its arm, or -1."""
        number = self._arm_of.pop(candidate, -1)
        if number >= 0:
            self.moved.pop(candidate, None)
            arm = self.list[number]
            if candidate in arm.front:
                self._step_back(arm, candidate)
            self._refill(number, arm)
        return number

    def credit(self, number: int, reward: float) -> None:
        """An arm was pulled; those in front that were passed over for too long lose their places."""
        arm = self.list[number]
        arm.pulls += 1
        arm.reward += reward
        while arm.front:
            first = next(iter(arm.front))
            if arm.pulls - arm.front[first][1] <= self.patience:
                break
            self._step_back(arm, first)
        self._refill(number, arm)

    def _refill(self, number: int, arm: Arm) -> None:
        while arm.back and len(arm.front) < self.width:
            minus, candidate = heapq.heappop(arm.back)
            if self._arm_of.get(candidate) == number and candidate not in arm.front:
                self._step_forward(arm, candidate, -minus)

    def _step_forward(self, arm: Arm, candidate: int, rank: float) -> None:
        arm.front[candidate] = (rank, arm.pulls)
        arm.worst = None
        self.moved[candidate] = rank

    def _step_back(self, arm: Arm, candidate: int) -> None:
        del arm.front[candidate]
        arm.worst = None

    def state(self) -> dict[str, Any]:
        """As plain data; `moved` is not part of it."""
        held: set[int] = set()
        rows = []
        for number, arm in enumerate(self.list):
            waiting = sorted([pair for pair in arm.back if self._arm_of.get(pair[1]) == number])
            rows.append([arm.pulls, arm.reward, [[c, *place] for c, place in arm.front.items()], waiting])
            held.update(arm.front)
            held.update([candidate for _, candidate in waiting])
        loose = sorted([(c, number) for c, number in self._arm_of.items() if c not in held])
        return {"arms": rows, "loose": loose}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The opposite of `state`."""
        self.moved = {}
        self.list = []
        self._arm_of = {int(c): int(number) for c, number in state["loose"]}
        for number, (pulls, reward, front, back) in enumerate(state["arms"]):
            # A sorted list is a heap, and a heap of distinct pairs gives them out in one order only.
            arm = Arm(int(pulls), float(reward), back=[(float(minus), int(c)) for minus, c in back])
            arm.front = {int(c): (float(rank), int(at)) for c, rank, at in front}
            self._arm_of.update(dict.fromkeys([*arm.front, *[c for _, c in arm.back]], number))
            self.list.append(arm)
