"""`ache`: a link classifier over the words of URL, anchor and surroundings, trained now and then."""

from __future__ import annotations

import json
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew import url as urls
from clew.learn.codec import pack, unpack
from clew.learn.hashing import FeatureHasher
from clew.learn.logistic import fit
from clew.learn.rows import joined
from clew.messages import Rescore
from clew.strategy.base import Capabilities, Expansion, Scored, Setup, Strategy
from clew.strategy.features import TIES, around, tie_breaks
from clew.strategy.options import NumberOption, Option
from clew.words import tokens

Floats = NDArray[np.float64]
_BITS = 16
_FIELDS = 3
_FEW = 5
_WIDTH = 1 + (_FIELDS << _BITS)


class Ache(Strategy):
    """A link classifier in the manner of ACHE (Barbosa, Freire 2007).

    A link is the words of its URL, of its anchor, and of up to 10 words on either side; an example is a
    link and whether the page behind it satisfied the predicate. Score = the model's log odds, by field.
    Until the first model, a link is worth its source page's degree. Models are trained after `first`
    pages, when there are twice as many, and every `every` pages from then on; each gives every queued
    link a new score, in one sparse product.
    """

    name = "ache"
    capabilities = Capabilities(link_columns=frozenset({"contexts"}))
    parts: tuple[str, ...] = ("source", "prior", "url", "anchor", "context", "dice")
    options: ClassVar[Mapping[str, Option]] = {
        "every": NumberOption(1, 1e6, whole=True),
        "first": NumberOption(1, 1e6, whole=True),
        "ridge": NumberOption(1e-6, 1e6),
        "reach": NumberOption(0, 100, whole=True),
        "memory": NumberOption(1, 1e8, whole=True),
        "ties": TIES,
        "examples": NumberOption(10, 1e6, whole=True),
    }

    def __init__(
        self,
        seed: int = 0,
        *,
        every: int = 500,
        first: int = 100,
        ridge: float = 1.0,
        reach: int = 10,
        ties: str = "dice",
        memory: int = 300_000,
        examples: int = 20_000,
    ) -> None:
        self.seed = seed
        self.ties = ties
        self.every = every
        self.first = min(first, every)
        self.ridge = ridge
        self.reach = reach
        self.memory = memory
        self._fields = tuple([FeatureHasher(_BITS, start=1 + (field << _BITS)) for field in range(_FIELDS)])
        self.rows_: dict[int, bytes] = {}
        """Features of the candidates not fetched yet."""
        self.examples_: deque[tuple[bytes, bool]] = deque(maxlen=examples)
        self.weights_: Floats | None = None
        self.pages_ = 0
        self.due_ = self.first

    def __repr__(self) -> str:
        return f"Ache({self.pages_} pages, {len(self.examples_)} examples, {len(self.rows_)} candidates)"

    @classmethod
    def build(cls, setup: Setup) -> Self:
        return cls(setup.seed, **setup.options)

    def seeds(self, keys: NDArray[np.uint64]) -> Floats:
        # Above any link: log odds are seldom far above 0.
        return np.tile([100.0, 0.0, 0.0, 0.0, 0.0, 0.0], (len(keys), 1))

    def score(self, expansion: Expansion) -> Floats:
        if self.weights_ is None:
            return self._untrained(expansion)
        return self._parts(self._features(expansion), self.weights_)

    def observe(self, expansion: Expansion) -> Scored:
        self.pages_ += 1
        row = self.rows_.pop(expansion.source, None)
        if row is not None:
            self.examples_.append((row, expansion.verdict.satisfied))
        features = self._features(expansion)
        self._remember(expansion, features)
        moved = None
        if self.pages_ >= self.due_:
            self.due_ = self.pages_ + min(self.every, self.pages_)
            moved = self._train(expansion)
        if self.weights_ is None:
            return Scored(self._untrained(expansion), moved)
        return Scored(self._parts(features, self.weights_), moved)

    def state(self) -> str:
        ids = np.fromiter(self.rows_, np.int64, len(self.rows_))
        used = np.zeros(0, np.int64) if self.weights_ is None else np.flatnonzero(self.weights_)
        weights = np.zeros(0) if self.weights_ is None else self.weights_[used]
        return json.dumps(
            {
                "pages": self.pages_,
                "due": self.due_,
                "trained": self.weights_ is not None,
                "used": pack(used),
                "weights": pack(weights),
                "rows": {
                    "ids": pack(ids),
                    **_packed(list(self.rows_.values())),
                },
                "examples": _packed([row for row, _ in self.examples_]),
                "labels": pack(np.array([label for _, label in self.examples_], np.uint8)),
            }
        )

    def restore(self, state: str) -> None:
        if not state:
            return
        saved = json.loads(state)
        self.pages_, self.due_ = int(saved["pages"]), int(saved["due"])
        self.weights_ = None
        if saved["trained"]:
            self.weights_ = np.zeros(_WIDTH)
            self.weights_[unpack(saved["used"], np.int64)] = unpack(saved["weights"], np.float64)
        ids = unpack(saved["rows"]["ids"], np.int64).tolist()
        self.rows_ = dict(zip(ids, _unpacked(saved["rows"]), strict=True))
        labels = unpack(saved["labels"], np.uint8).astype(bool).tolist()
        self.examples_.clear()
        self.examples_.extend(zip(_unpacked(saved["examples"]), labels, strict=True))

    def _remember(self, expansion: Expansion, features: list[bytes]) -> None:
        rows = self.rows_
        again = []
        for i, (number, new) in enumerate(zip(expansion.ids.tolist(), expansion.fresh.tolist(), strict=True)):
            if new:
                rows[number] = features[i]
            elif number in rows:
                again.append((i, number))
        if again and self.weights_ is not None:
            # Found again: the link that speaks better for the page stands for it, as in the frontier.
            old = self._parts([rows[number] for _, number in again], self.weights_).sum(axis=1)
            new = self._parts([features[i] for i, _ in again], self.weights_).sum(axis=1)
            for j in np.flatnonzero(new > old).tolist():
                rows[again[j][1]] = features[again[j][0]]
        while len(rows) > self.memory:
            del rows[next(iter(rows))]

    def _train(self, expansion: Expansion) -> Rescore | None:
        labels = np.array([label for _, label in self.examples_], np.float64)
        if min(labels.sum(), (1.0 - labels).sum()) < _FEW:
            # Of one or two finds a model learns their accidents, and then sees nothing else.
            return None
        self.weights_ = fit([row for row, _ in self.examples_], labels, _WIDTH, self.ridge)
        fresh = set(expansion.ids[expansion.fresh].tolist())
        known = [number for number in self.rows_ if number not in fresh]
        if not known:
            return None
        parts = self._parts([self.rows_[number] for number in known], self.weights_)
        return Rescore(np.array(known, np.int64), parts)

    def _untrained(self, expansion: Expansion) -> Floats:
        """Before the first model: the degree of the page the links stand on."""
        parts = np.zeros((len(expansion.ids), len(self.parts)))
        parts[:, 0] = expansion.verdict.score
        parts[:, -1] = tie_breaks(self.ties, expansion.keys, self.seed)
        return parts

    def _features(self, expansion: Expansion) -> list[bytes]:
        links = expansion.links
        in_url, in_anchor, near = self._fields
        found = []
        for target, anchor, words in zip(
            links.targets, links.anchors, around(links, self.reach), strict=True
        ):
            row = [
                0,
                *in_url.columns(urls.tokens(target)),
                *in_anchor.columns(tokens(anchor)),
                *near.columns(words),
            ]
            found.append(array("i", row).tobytes())
        return found

    def _parts(self, rows: Sequence[bytes], weights: Floats) -> Floats:
        """Log odds by field: a sum for each pair of row and field."""
        columns, numbers = joined(rows)
        fields = (columns.astype(np.int64) + (1 << _BITS) - 1) >> _BITS
        slots = len(self.parts)
        found = native.gathered(numbers * slots + fields + 1, columns, weights, len(rows) * slots)
        return found.reshape(len(rows), slots)


def _packed(rows: Sequence[bytes]) -> dict[str, str]:
    lengths = np.fromiter(map(len, rows), np.int32, len(rows))
    return {"columns": pack(np.frombuffer(b"".join(rows), np.int32)), "lengths": pack(lengths)}


def _unpacked(packed: Mapping[str, str]) -> list[bytes]:
    whole = unpack(packed["columns"], np.int32).tobytes()
    ends = np.cumsum(unpack(packed["lengths"], np.int32)).tolist()
    return [whole[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)] if ends else []
