"""`tagpath`: a sleeping bandit over groups of links that stand at alike places of their pages."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.learn.bandit import WAITING, Arms
from clew.learn.hashing import FeatureHasher
from clew.messages import Rescore
from clew.strategy.base import Capabilities, Expansion, Scored, Setup, Strategy, totals
from clew.strategy.options import NumberOption, Option
from clew.strategy.random_order import dice

Floats = NDArray[np.float64]
_BITS = 10
_PATHS = 20_000
#: Between two of these ratios the logarithm of the time hardly moves, so scores are not touched for it.
_TICK = 1.1


class TagPathGroups:
    """Groups of tag paths: each path joins the group it is most alike, or opens one.

    A path is the bag of its runs of `grams` steps; alike is the cosine with the group's mean, at least
    `alike`. At most `most` groups are opened.

    >>> places = TagPathGroups()
    >>> places.learn("html/body/div/ul/li/a"), places.learn("html/body/p/a"), places.find("html/body/p/a")
    (0, 1, 1)
    """

    def __init__(self, alike: float = 0.75, grams: int = 2, most: int = 1000) -> None:
        self.alike = alike
        self.grams = grams
        self.most = most
        self._hasher = FeatureHasher(_BITS)
        self._known: dict[str, int] = {}
        self._sums: Floats = np.zeros((16, 1 << _BITS))
        self._lengths: Floats = np.zeros(16)
        self.count = 0

    def __repr__(self) -> str:
        return f"TagPathGroups({self.count} groups of {len(self._known)} paths)"

    def find(self, path: str) -> int:
        """The group of a path; -1 when it would open one."""
        known = self._known.get(path)
        return self._nearest(self._vector(path)) if known is None else known

    def learn(self, path: str) -> int:
        """The group of a path, opened if need be; the path becomes part of the group's mean."""
        known = self._known.get(path)
        if known is not None:
            return known
        vector = self._vector(path)
        group = self._nearest(vector)
        return self._join(path, vector, group)

    def state(self) -> list[list[str | int]]:
        """As plain data: each path with its group, in the order they were met."""
        return [[path, group] for path, group in self._known.items()]

    def restore(self, state: list[list[str | int]]) -> None:
        """The opposite of `state`: the same sums in the same order."""
        self._known = {}
        self._sums[:] = 0.0
        self._lengths[:] = 0.0
        self.count = 0
        for path, group in state:
            number = int(group)
            self._join(str(path), self._vector(str(path)), number if number < self.count else -1)

    def _join(self, path: str, vector: Floats, group: int) -> int:
        if len(self._known) >= _PATHS and group >= 0:
            # Enough examples: what is met from now on is told apart by them, and costs no memory.
            return group
        if group < 0:
            group = self.count
            self.count += 1
            if group == len(self._sums):
                self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
                self._lengths = np.concatenate([self._lengths, np.zeros_like(self._lengths)])
        self._known[path] = group
        self._sums[group] += vector
        self._lengths[group] = math.sqrt(float((self._sums[group] ** 2).sum()))
        return group

    def _nearest(self, vector: Floats) -> int:
        if not self.count:
            return -1
        used = np.flatnonzero(vector)
        cosines = totals(self._sums[: self.count, used] * vector[used]) / self._lengths[: self.count]
        best = int(cosines.argmax())
        return best if cosines[best] >= self.alike - 1e-9 or self.count >= self.most else -1

    def _vector(self, path: str) -> Floats:
        steps = ["^", *path.split("/"), "$"]
        n = min(self.grams, len(steps))
        runs = ["/".join(steps[i : i + n]) for i in range(len(steps) - n + 1)]
        vector = np.zeros(1 << _BITS)
        for run in runs:
            vector[self._hasher[run]] += 1.0
        return vector / math.sqrt(float((vector**2).sum()))


class TagPath(Strategy):
    """UCB over the groups that have links left (after Gauquier, Manolescu, Senellart 2025).

    Score = the mean outcome of the pages behind a group's links + `explore` × √(ln t / n), t pages after
    the start, n of them of the group (a group not tried yet counts as tried once). A group without
    queued links sleeps. Within a group the dice choose.
    """

    name = "tagpath"
    capabilities = Capabilities(link_columns=frozenset({"paths"}))
    parts: tuple[str, ...] = ("mean", "bonus", "wait")
    options: ClassVar[Mapping[str, Option]] = {
        "explore": NumberOption(0.0, 100.0),
        "alike": NumberOption(0.0, 1.0),
        "grams": NumberOption(1, 5, whole=True),
        "memory": NumberOption(1, 1e8, whole=True),
    }

    def __init__(
        self,
        seed: int = 0,
        *,
        explore: float = 0.3,
        alike: float = 0.75,
        grams: int = 2,
        memory: int = 300_000,
    ) -> None:
        self.seed = seed
        self.explore = explore
        self.places_ = TagPathGroups(alike, grams)
        self.arms_ = Arms(limit=memory)
        self.pages_ = 0
        self.tick_ = 2.0
        """The time that scores go by: at most a tenth behind."""

    def __repr__(self) -> str:
        return f"TagPath({self.pages_} pages, {self.places_!r}, {self.arms_!r})"

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls(setup.seed, **setup.options)

    def seeds(self, keys: NDArray[np.uint64]) -> Floats:
        return np.tile([100.0, 0.0, 0.0], (len(keys), 1))

    def score(self, expansion: Expansion) -> Floats:
        parts = np.empty((len(expansion.ids), 3))
        for i, (number, path) in enumerate(zip(expansion.ids.tolist(), expansion.links.paths, strict=True)):
            arm = self.arms_.arm_of(number)
            if arm < 0:
                arm = self.places_.find(path)
            parts[i] = self._row(arm, number >= 0 and not self.arms_.in_front(number))
        return parts

    def observe(self, expansion: Expansion) -> Scored:
        moved = self._learn(expansion)
        return Scored(self.score(expansion), moved)

    def _learn(self, expansion: Expansion) -> Rescore | None:
        """Take in one outcome; gives the candidates of the arms that moved."""
        arms = self.arms_
        arms.moved.clear()
        self.pages_ += 1
        pulled = arms.take(expansion.source)
        if pulled >= 0:
            arms.credit(pulled, float(expansion.verdict.satisfied))
        self._file(expansion)
        changed = dict.fromkeys(arms[pulled].front) if pulled >= 0 else {}
        if self.pages_ >= self.tick_ * _TICK:
            self.tick_ = float(self.pages_)
            for arm in arms.list:
                changed.update(dict.fromkeys(arm.front))
        changed.update(dict.fromkeys(arms.moved))
        fresh = set(expansion.ids[expansion.fresh].tolist())
        numbers = [number for number in changed if number not in fresh]
        if not numbers:
            return None
        rows = [self._row(arms.arm_of(number), not arms.in_front(number)) for number in numbers]
        return Rescore(np.array(numbers, np.int64), np.array(rows))

    def state(self) -> str:
        return json.dumps(
            {
                "pages": self.pages_,
                "tick": self.tick_,
                "places": self.places_.state(),
                "arms": self.arms_.state(),
            }
        )

    def restore(self, state: str) -> None:
        if not state:
            return
        saved = json.loads(state)
        self.pages_, self.tick_ = int(saved["pages"]), float(saved["tick"])
        self.places_.restore(saved["places"])
        self.arms_.restore(saved["arms"])

    def _file(self, expansion: Expansion) -> None:
        ranks = dice(expansion.keys, self.seed).tolist()
        for number, new, path, rank in zip(
            expansion.ids.tolist(), expansion.fresh.tolist(), expansion.links.paths, ranks, strict=True
        ):
            if new:
                group = self.places_.learn(path)
                while group >= len(self.arms_):
                    self.arms_.new()
                self.arms_.add(number, group, rank)

    def _row(self, arm: int, waits: bool) -> tuple[float, float, float]:
        known = self.arms_[arm] if 0 <= arm < len(self.arms_) else None
        mean, pulls = (known.mean, known.pulls) if known else (0.0, 0)
        bonus = self.explore * math.sqrt(native.log_of(self.tick_) / max(pulls, 1))
        return mean, bonus, WAITING if waits else 0.0
