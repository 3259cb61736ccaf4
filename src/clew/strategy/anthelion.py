"""`anthelion`: a bandit over hosts, and within a host a classifier of URLs that learns as it goes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew import url as urls
from clew.learn.bandit import WAITING, Arms
from clew.learn.hashing import FeatureHasher
from clew.learn.logistic import OnlineLogisticRegression, sigmoid
from clew.messages import Rescore
from clew.strategy.base import Expansion, Scored, Setup, Strategy
from clew.strategy.options import NumberOption, Option
from clew.strategy.random_order import dice

Floats = NDArray[np.float64]
_BITS = 16
_BIAS, _PARENT, _WORDS = 0, 1, 2
_LEAST = 1e-9
#: How fast the common odds follow the links met; and what the dice are worth between equals.
_FOLLOW = 0.05
_LITTLE = 1e-6
_TURNS = 64


class Anthelion(Strategy):
    """λ-greedy choice of a host, best URL of that host (after Meusel, Mika, Blanco 2014).

    A host is worth its success rate × the best chance of its queued links; a link's chance comes from an
    online classifier over the words of its path and the verdict on its source page, at the moment it was
    found. As log(rate × chance) is a sum, the frontier's best link is the best link of the best host.
    With probability λ the next link is the best of a host that the dice choose instead, its `turn`;
    λ = `explore` × `half` / (`half` + pages).
    """

    name = "anthelion"
    parts: tuple[str, ...] = ("host", "url", "wait", "turn")
    options: ClassVar[Mapping[str, Option]] = {
        "explore": NumberOption(0.0, 1.0),
        "half": NumberOption(1.0, 1e9),
        "rate": NumberOption(1e-6, 10.0),
        "memory": NumberOption(1, 1e8, whole=True),
    }

    def __init__(
        self,
        seed: int = 0,
        *,
        explore: float = 0.5,
        half: float = 200.0,
        rate: float = 0.5,
        memory: int = 300_000,
    ) -> None:
        self.seed = seed
        self.explore = explore
        self.half = half
        self._hasher = FeatureHasher(_BITS, start=_WORDS)
        self.model_ = OnlineLogisticRegression(_WORDS + (1 << _BITS), rate)
        self.arms_ = Arms(limit=memory)
        self.hosts_: dict[str, int] = {}
        self.pages_ = 0
        self.centre_ = 0.0
        """The log odds of the links met lately."""
        self.heirs_: dict[int, None] = {}
        """Candidates found on pages that satisfied the predicate."""
        self.turns_: dict[int, None] = {}
        """Candidates whose turn the dice say it is."""

    def __repr__(self) -> str:
        return f"Anthelion({self.pages_} pages, {self.arms_!r})"

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls(setup.seed, **setup.options)

    def seeds(self, keys: NDArray[np.uint64]) -> Floats:
        return np.tile([0.0, 0.0, 0.0, 1.0], (len(keys), 1))

    def score(self, expansion: Expansion) -> Floats:
        return self._scores(expansion, self._chances(self._odds(expansion), expansion))

    def _scores(self, expansion: Expansion, chances: list[float]) -> Floats:
        parts = np.empty((len(chances), 4))
        for i, number in enumerate(expansion.ids.tolist()):
            arm = self.hosts_.get(urls.host(expansion.links.targets[i]), -1)
            place = self.arms_[arm].front.get(number) if arm >= 0 else None
            if place is not None:
                parts[i] = self._row(number, arm, place[0], False)
            else:
                parts[i] = self._row(number, arm, chances[i], number >= 0)
        return parts

    def observe(self, expansion: Expansion) -> Scored:
        arms = self.arms_
        arms.moved.clear()
        self.pages_ += 1
        host = urls.host(expansion.page.url)
        pulled = self._arm(host)
        arms.take(expansion.source)
        arms.credit(pulled, float(expansion.verdict.satisfied))
        self.turns_.pop(expansion.source, None)
        parent = expansion.source in self.heirs_
        self.heirs_.pop(expansion.source, None)
        label = float(expansion.verdict.satisfied)
        self.model_.learn(self._features(expansion.page.url, parent), label)
        chances = self._file(expansion)
        self._throw()
        fresh = set(expansion.ids[expansion.fresh].tolist())
        changed = dict.fromkeys(arms[pulled].front) | dict.fromkeys(arms.moved)
        moved = self._rescore([number for number in changed if number not in fresh])
        return Scored(self._scores(expansion, chances), moved)

    def state(self) -> str:
        return json.dumps(
            {
                "pages": self.pages_,
                "centre": self.centre_,
                "hosts": list(self.hosts_),
                "arms": self.arms_.state(),
                "model": self.model_.state(),
                "heirs": list(self.heirs_),
                "turns": list(self.turns_),
            }
        )

    def restore(self, state: str) -> None:
        if not state:
            return
        saved = json.loads(state)
        self.pages_ = int(saved["pages"])
        self.centre_ = float(saved["centre"])
        self.hosts_ = {str(name): number for number, name in enumerate(saved["hosts"])}
        self.arms_.restore(saved["arms"])
        self.model_.restore(saved["model"])
        self.heirs_ = dict.fromkeys(map(int, saved["heirs"]))
        self.turns_ = dict.fromkeys(map(int, saved["turns"]))

    def _arm(self, host: str) -> int:
        known = self.hosts_.get(host)
        if known is None:
            known = self.hosts_[host] = self.arms_.new()
        return known

    def _file(self, expansion: Expansion) -> list[float]:
        """File new links under their hosts; gives the chances of all."""
        odds = self._odds(expansion)
        if expansion.fresh.any():
            self.centre_ += _FOLLOW * (float(odds[expansion.fresh].mean()) - self.centre_)
        chances = self._chances(odds, expansion)
        links = zip(
            expansion.ids.tolist(), expansion.fresh.tolist(), expansion.links.targets, chances, strict=True
        )
        for number, new, target, chance in links:
            if new:
                self.arms_.add(number, self._arm(urls.host(target)), chance)
                if expansion.verdict.satisfied and self.arms_.arm_of(number) >= 0:
                    self.heirs_[number] = None
        return chances

    def _throw(self) -> None:
        """Let the dice say whether a host comes out of turn, and which."""
        throws = np.array([2 * self.pages_, 2 * self.pages_ + 1], np.uint64)
        whether, which = dice(throws, self.seed).tolist()
        if whether >= self.explore * self.half / (self.half + self.pages_):
            return
        count = len(self.arms_)
        start = int(which * count)
        for step in range(count):
            front = self.arms_[(start + step) % count].front
            waiting = [(rank, -number) for number, (rank, _) in front.items() if number not in self.turns_]
            if waiting:
                rank, minus = max(waiting)
                self.turns_[-minus] = None
                self.arms_.moved[-minus] = rank
                break
        while len(self.turns_) > _TURNS:
            del self.turns_[next(iter(self.turns_))]

    def _rescore(self, numbers: list[int]) -> Rescore | None:
        if not numbers:
            return None
        arms = self.arms_
        parts = np.empty((len(numbers), 4))
        for i, number in enumerate(numbers):
            arm = arms.arm_of(number)
            place = arms[arm].front.get(number)
            rank = place[0] if place is not None else arms.moved[number]
            parts[i] = self._row(number, arm, rank, place is None)
        return Rescore(np.array(numbers, np.int64), parts)

    def _row(self, number: int, arm: int, chance: float, waits: bool) -> tuple[float, float, float, float]:
        if number in self.turns_:
            return 0.0, 0.0, 0.0, 1.0
        pulls, good = (self.arms_[arm].pulls, self.arms_[arm].reward) if arm >= 0 else (0, 0.0)
        rate = (good + 1.0) / (pulls + 2.0)
        return native.log_of(rate), native.log_of(max(chance, _LEAST)), WAITING if waits else 0.0, 0.0

    def _chances(self, odds: Floats, expansion: Expansion) -> list[float]:
        """The chances of links against the common ones, so that early and late links can be compared."""
        chances = sigmoid(odds - self.centre_) * (1.0 - _LITTLE)
        return [float(chance) for chance in chances + _LITTLE * dice(expansion.keys, self.seed)]

    def _odds(self, expansion: Expansion) -> Floats:
        parent = expansion.verdict.satisfied
        return self.model_.odds([self._features(target, parent) for target in expansion.links.targets])

    def _features(self, url: str, parent: bool) -> list[int]:
        start = url.find("/", url.find("//") + 2)
        words = self._hasher.columns(urls.tokens(url[start:])) if start >= 0 else []
        return [_BIAS, *([_PARENT] if parent else []), *words]
