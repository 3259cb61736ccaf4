"""`TopicModel`: what was learned of one topic, as plain numbers; and its file, as plain text.

A model is a weight for each of some stems and a bias; a text's degree is the logistic function of the bias
plus the weighted sum of its stem vector (`clew.topic.document`). Keyword lists, naive Bayes and linear
classifiers all come to this; they differ in how the weights were found. A model knows nothing of other
topics, so adding one changes none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import xxhash

from clew.errors import StoreForeign
from clew.topic.document import Floats

#: Kinds that are trained, and `like`, whose score is the cosine to examples as it stands.
KINDS = ("keyword", "bayes", "linear")
LIKE = "like"
VERSION = 1
#: The largest model file, in characters, and the most stems of a model.
MAX_TEXT = 4_000_000
MAX_STEMS = 50_000
#: No trained weight comes near this; a larger one would only overflow.
_LARGEST = 1e6


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How well a topic was told from others on examples it was not trained on (cross-validation)."""

    positives: int
    negatives: int
    auc: float | None = None
    """ROC-AUC; None where there was nothing to tell the topic from."""
    calibration_error: float | None = None
    """Expected calibration error."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicModel:
    """One topic's scorer.

    Parameters: `kind`; `stems`, in order, and the weight of each; `bias`; `prior`, the share of pages on
    the topic that the degrees reckon with; `held_out`, the estimate made when it was trained.

    >>> model = TopicModel("keyword", ("sail",), np.array([4.0]), -2.0)
    >>> loads(dumps(model), "x").digest == model.digest
    True
    """

    kind: str
    stems: tuple[str, ...]
    weights: Floats
    bias: float
    prior: float = 0.1
    held_out: HeldOut | None = None
    examples: str = ""
    """A mark of what it was trained on, to tell whether that has changed."""

    @property
    def digest(self) -> str:
        """Equal for models that give equal degrees."""
        told = json.dumps([self.kind, self.bias, self.stems, self.weights.tolist()], ensure_ascii=True)
        return f"{xxhash.xxh3_64_intdigest(told.encode()):016x}"

    def telling(self, limit: int) -> list[tuple[str, float]]:
        """The stems that speak most for the topic, and their weights."""
        ranked = sorted(zip((-self.weights).tolist(), self.stems, strict=True))
        return [(stem, -weight) for weight, stem in ranked[:limit] if weight < 0]


def as_data(model: TopicModel) -> dict[str, Any]:
    """A model as plain data."""
    held = model.held_out
    return {
        "clew-topic-model": VERSION,
        "kind": model.kind,
        "prior": model.prior,
        "held-out": None
        if held is None
        else {
            "positives": held.positives,
            "negatives": held.negatives,
            "auc": held.auc,
            "calibration-error": held.calibration_error,
        },
        "examples": model.examples,
        "bias": model.bias,
        "weights": dict(zip(model.stems, model.weights.tolist(), strict=True)),
    }


def dumps(model: TopicModel) -> str:
    """A model as text: JSON, one stem a line, so that versions of it can be compared."""
    return json.dumps(as_data(model), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def loads(text: str, place: str) -> TopicModel:
    """A model from text; what is no model is refused in a sentence that names the place."""
    if len(text) > MAX_TEXT:
        _refuse(place, f"has more than {MAX_TEXT // 10**6} MB")
    try:
        data = json.loads(
            text, parse_constant=lambda name: _refuse(place, f"holds {name}, which is no number")
        )
    except (ValueError, RecursionError):
        _refuse(place, "is damaged")
    return from_data(data, place)


def from_data(data: Any, place: str) -> TopicModel:
    """A model from plain data, checked."""
    if not isinstance(data, Mapping) or "clew-topic-model" not in data:
        _refuse(place, "is no topic model")
    if data["clew-topic-model"] != VERSION:
        _refuse(
            place,
            f"is of version {str(data['clew-topic-model'])[:20]}, and this clew reads version {VERSION}",
        )
    weights, kind = data.get("weights"), data.get("kind")
    if kind not in (*KINDS, LIKE) or not isinstance(weights, Mapping) or len(weights) > MAX_STEMS:
        _refuse(place, "is damaged")
    numbers = [data.get("bias"), *weights.values()]
    if not all(_is_number(value) and abs(value) <= _LARGEST for value in numbers):
        _refuse(place, "has a weight that is no number")
    stems = sorted(weights)
    prior = data.get("prior", 0.1)
    if not _is_number(prior) or not 0.0 < prior < 1.0:
        _refuse(place, "is damaged")
    return TopicModel(
        kind=str(kind),
        stems=tuple(stems),
        weights=np.array([weights[stem] for stem in stems], np.float64),
        bias=float(data["bias"]),
        prior=float(prior),
        held_out=_held_out(data.get("held-out")),
        examples=str(data.get("examples", ""))[:64],
    )


def _held_out(data: Any) -> HeldOut | None:
    if not isinstance(data, Mapping):
        return None
    counts = [data.get(name) for name in ("positives", "negatives")]
    shares = [data.get(name) for name in ("auc", "calibration-error")]
    if not all(isinstance(n, int) for n in counts) or not all(s is None or _is_number(s) for s in shares):
        return None
    return HeldOut(counts[0] or 0, counts[1] or 0, shares[0], shares[1])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _refuse(place: str, why: str) -> NoReturn:
    raise StoreForeign(f"{place} {why}: train the topic again with clew topic train")
