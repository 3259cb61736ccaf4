"""Models from examples: keyword lists, naive Bayes and linear classifiers, calibrated and honestly measured.

Each kind finds a weight for every stem; held-out scores, from cross-validation, then say what a score
means: a logistic curve through them (Platt) gives degrees that are probabilities, for pages of which a
share of `prior` is about the topic. That share is the same for all topics of a taxonomy, so their degrees
are on one scale, which NOT needs (paper 003, section 2.3). What is reported of a model is what it did on
examples it was not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import UsageError
from clew.learn.logistic import DenseDesign, newton, sigmoid
from clew.topic import Example, HeldOut, TopicModel
from clew.topic.document import FALLBACK, Floats, StemVector, TextReader
from clew.topic.model import LIKE
from clew.words import stem, tokens

Bools = NDArray[np.bool_]

#: Positive examples below which a topic is warned of; bench/topics.py judges models of so many.
ENOUGH = 20
#: Stems that a model keeps: those of the largest weights.
KEPT = 2000
#: Words of a keyword list.
KEYWORDS = 100
#: The most negative examples that are used, spread evenly.
MAX_NEGATIVES = 4000
#: A keyword list without negatives: odds for a typical example, and against a text without its words.
_SURE = 19.0
_BINS = 10


@dataclass(frozen=True, slots=True)
class HeldOutDegree:
    """What a model made of an example it was not trained on."""

    example: Example
    positive: bool
    degree: float


@dataclass(frozen=True, slots=True)
class Trained:
    """A model, and the held-out degrees behind what is said of it."""

    model: TopicModel
    held_out: tuple[HeldOutDegree, ...] = ()


class StemVectors:
    """Documents as stem vectors over one table of stems, each read once however many topics it teaches."""

    def __init__(self) -> None:
        self.reader = TextReader(forgets=False)
        self._known: dict[int, StemVector] = {}

    def of(self, example: Example) -> StemVector:
        """The vector of a document."""
        key = example.key
        if key not in self._known:
            self._known[key] = self.reader.page(example.page)
        return self._known[key]


class Rows:
    """The vectors of some examples, one after the other in flat arrays."""

    def __init__(self, examples: Sequence[Example], vectors: StemVectors) -> None:
        self.examples = examples
        found = [vectors.of(example) for example in examples]
        lengths = [len(vector) for vector in found]
        self.owners = np.repeat(np.arange(len(found)), lengths)
        self.numbers = np.concatenate([np.zeros(0, np.int64), *(vector.numbers for vector in found)])
        self.values = np.concatenate([np.zeros(0), *(vector.weights for vector in found)])
        self.ends = np.cumsum([0, *lengths])
        self.size = 1 + int(self.numbers.max(initial=0))

    def __len__(self) -> int:
        return len(self.examples)

    def frequencies(self, chosen: Bools) -> Floats:
        """In how many of the chosen documents each stem is."""
        return np.bincount(self.numbers, chosen[self.owners], self.size).astype(np.float64)

    def scores(self, weights: Floats) -> Floats:
        """The weighted sum of each document."""
        return np.bincount(self.owners, weights[self.numbers] * self.values, len(self)).astype(np.float64)

    def matrix(self, scale: Floats) -> Any:
        """The rows as a sparse matrix, columns scaled."""
        from scipy import sparse

        values = self.values * scale[self.numbers]
        return sparse.csr_matrix((values, self.numbers, self.ends), shape=(len(self), self.size))


def train(
    positives: Sequence[Example],
    negatives: Sequence[Example],
    *,
    kind: str = "linear",
    prior: float = 0.1,
    keywords: Mapping[str, float] | None = None,
    mark: str = "",
    vectors: StemVectors | None = None,
) -> Trained:
    """Learn a topic.

    Parameters: examples of the topic, and of what it is not; the kind of model; the share of pages that are
    about it; and words with weights of the user's own (0 keeps a word out; other weights are for keyword
    lists).
    """
    negatives = _spread(negatives, MAX_NEGATIVES)
    keywords = keywords or {}
    if not positives and not (kind == "keyword" and any(keywords.values())):
        raise UsageError("it has no examples: clew topic add NAME FILE, or keywords with --kind keyword")
    if kind != "keyword" and not negatives:
        raise UsageError(
            f"{kind} learns from what a topic is not, too: add --negative examples or another topic, or use "
            "--kind keyword"
        )
    if kind != "keyword":
        _need_sklearn(kind)
    vectors = vectors or StemVectors()
    rows = Rows([*positives, *negatives], vectors)
    labels = np.arange(len(rows)) < len(positives)
    given = _given(keywords, positives)
    learner = _Learner(kind, rows, given, vectors.reader)
    weights = learner.fit(labels, np.ones(len(rows), np.bool_))
    held, folds = learner.held_out(labels)
    a, b = _curve(held, labels, prior) if held is not None else (0.0, 0.0)
    if not negatives:
        a, b = _alone(held if held is not None else 0.5 * rows.scores(weights), weights)
    evidence = _evidence(held, labels, folds, prior) if held is not None and len(negatives) else None
    model = _model(kind, weights * a, b, learner.names)
    measured = HeldOut(len(positives), len(negatives), *(evidence[1:] if evidence else (None, None)))
    model = replace(model, prior=prior, held_out=measured, examples=mark)
    if evidence is None:
        return Trained(model)
    told = zip(rows.examples, labels.tolist(), evidence[0].tolist(), strict=True)
    return Trained(model, tuple([HeldOutDegree(*one) for one in told]))


def like(examples: Sequence[Example]) -> TopicModel:
    """The mean direction of examples: what `like:` compares pages with, by the cosine."""
    vectors = StemVectors()
    rows = Rows(examples, vectors)
    total = np.bincount(rows.numbers, rows.values, rows.size).astype(np.float64)
    names = vectors.reader.names(np.arange(rows.size))
    kept = np.lexsort((np.arange(rows.size), -total))[:KEPT]
    total /= np.sqrt((total[kept] ** 2).sum()) or 1.0
    return _model(LIKE, np.where(np.isin(np.arange(rows.size), kept), total, 0.0), 0.0, names)


def advice(path: str, model: TopicModel) -> list[str]:
    """What would make a model better, in sentences."""
    held = model.held_out
    if held is None:
        return []
    said = []
    if not held.positives:
        said.append(f"{path} was made of keywords alone: {ENOUGH} examples would tell how good they are")
    elif held.positives < ENOUGH:
        said.append(
            f"{path} has {held.positives} examples: add {ENOUGH - held.positives} more, {ENOUGH} would do"
        )
    if not held.negatives:
        said.append(
            f"{path} was not told what it is not, so its degrees are a guess: {ENOUGH} --negative examples, "
            "or other topics, would do"
        )
    elif held.auc is not None and held.auc < 0.8:
        said.append(
            f"{path} is told from the rest poorly (AUC {held.auc:.2f}): look at its examples with "
            f"clew topic show {path}"
        )
    return said


class _Learner:
    """Fits one kind of model to some of the rows; the features' scale is theirs alone."""

    def __init__(self, kind: str, rows: Rows, given: Mapping[str, float], reader: TextReader) -> None:
        self.kind = kind
        self.rows = rows
        names = reader.names(np.arange(rows.size)) if len(rows) else []
        known = dict(zip(names, range(len(names)), strict=True))
        self.names = [*names, *(word for word in given if word not in known)]
        numbers = {name: number for number, name in enumerate(self.names)}
        rows.size = max(1, len(self.names))
        self.given = {numbers[word]: weight for word, weight in given.items()}

    def fit(self, labels: Bools, chosen: Bools) -> Floats:
        """A weight for every stem, from the chosen rows."""
        found = self._keywords(labels, chosen) if self.kind == "keyword" else self._trained(labels, chosen)
        if self.kind != "keyword":
            for number, weight in self.given.items():
                found[number] = found[number] if weight else 0.0
        kept = np.lexsort((np.arange(len(found)), -np.abs(found)))[:KEPT]
        return np.where(np.isin(np.arange(len(found)), kept), found, 0.0)

    def _keywords(self, labels: Bools, chosen: Bools) -> Floats:
        """Log odds of being in a positive document, for the words that are in at least two of them."""
        hits, misses = (self.rows.frequencies(chosen & side) for side in (labels, ~labels))
        n, m = int((chosen & labels).sum()), int((chosen & ~labels).sum())
        share = hits / max(1, n)
        weights = np.log((hits + 0.5) / (n + 1)) - np.log((misses + 0.5) / (m + 1)) if m else share * share
        weights = (
            np.where(hits >= min(2, n), np.maximum(0.0, weights) * np.sqrt(share), 0.0) if n else 0 * hits
        )
        best = np.lexsort((np.arange(len(weights)), -weights))[:KEYWORDS]
        found = np.zeros(len(weights))
        unit = float(weights[best[:10]].mean()) or 1.0
        found[best] = weights[best] / unit
        for number, weight in self.given.items():
            found[number] = weight
        return found

    def _trained(self, labels: Bools, chosen: Bools) -> Floats:
        """By scikit-learn, on stems in two documents or more, those in few counting more."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import MultinomialNB

        count = int(chosen.sum())
        there = self.rows.frequencies(chosen)
        scale = np.where(there >= (2 if count >= 10 else 1), np.log((count + 1) / (there + 1)) + 1, 0.0)
        columns = np.flatnonzero(scale)
        matrix = self.rows.matrix(scale)[np.flatnonzero(chosen)][:, columns]
        found = np.zeros(len(scale))
        if self.kind == "bayes":
            learned = MultinomialNB(alpha=0.01).fit(matrix, labels[chosen])
            found[columns] = learned.feature_log_prob_[1] - learned.feature_log_prob_[0]
        else:
            learned = LogisticRegression(C=10.0, class_weight="balanced", solver="liblinear")
            found[columns] = learned.fit(matrix, labels[chosen]).coef_[0]
        return found * scale

    def held_out(self, labels: Bools) -> tuple[Floats | None, NDArray[np.int64]]:
        """The score of every row by a model that did not see it, and the fold each was in; None where there
        is too little to leave any out."""
        positives, negatives = int(labels.sum()), int((~labels).sum())
        count = min(5 if positives < 50 else 3, positives, negatives or positives)
        folds = _folds(self.rows.examples, labels, max(1, count))
        if count < 2:
            return None, folds
        scores = np.zeros(len(labels))
        for fold in range(count):
            out = folds == fold
            scores[out] = self.rows.scores(self.fit(labels, ~out))[out]
        return scores, folds


def _folds(examples: Sequence[Example], labels: Bools, count: int) -> NDArray[np.int64]:
    """A fold for each example, by what it says alone: the same examples give the same folds in any order."""
    folds = np.zeros(len(examples), np.int64)
    for side in (labels, ~labels):
        rows = sorted(np.flatnonzero(side).tolist(), key=lambda row: examples[row].key)
        folds[rows] = np.arange(len(rows)) % count
    return folds


def _curve(scores: Floats, labels: Bools, prior: float) -> tuple[float, float]:
    """Slope and offset of the logistic curve through scores and labels (Platt's, with his targets), for pages
    of which a share of `prior` is positive."""
    n, m = int(labels.sum()), int((~labels).sum())
    if not n or not m:
        return 0.0, 0.0
    targets = np.where(labels, (n + 1) / (n + 2), 1 / (m + 2))
    masses = np.where(labels, prior / n, (1 - prior) / m)
    spread = float(scores.std()) or 1.0
    start = np.array([1.0, float(np.log(prior / (1 - prior)))])
    design = DenseDesign(np.array([scores / spread, np.ones(len(scores))]))
    a, b = newton(
        design,
        targets,
        start,
        np.array([1e-6, 1e-9]),
        trust=masses,
        floor=1e-12,
        steps=100,
        still=1e-9,
        leap=2.0,
    ).tolist()
    # A curve that falls says that the held-out examples contradict the rest: nothing is known then.
    return max(a, 1e-3) / spread, b


def _alone(scores: Floats, weights: Floats) -> tuple[float, float]:
    """The curve of a keyword list that knows no negatives: sure of a typical example, sure of a text
    without its words, undecided half way."""
    bound = float(np.log(_SURE))
    typical = float(np.median(scores)) if len(scores) else 0.0
    if typical <= 0.0:
        # Half of the words, once each, on a page of some four hundred others.
        typical = float(weights.sum()) / 40
    return 2 * bound / max(typical, 1e-6), -bound


def _evidence(
    scores: Floats, labels: Bools, folds: NDArray[np.int64], prior: float
) -> tuple[Floats, float, float]:
    """Held-out degrees, each by a curve that did not see it; their ROC-AUC and expected calibration error."""
    degrees = np.zeros(len(scores))
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        a, b = _curve(scores[~out], labels[~out], prior)
        degrees[out] = sigmoid(a * scores[out] + b)
    masses = np.where(labels, prior / max(1, labels.sum()), (1 - prior) / max(1, (~labels).sum()))
    error = sum(abs(degree - share) * mass for degree, share, mass in reliability(degrees, labels, masses))
    return degrees, roc_auc(scores, labels), float(error)


def reliability(
    degrees: Floats, labels: Bools, masses: Floats | None = None
) -> list[tuple[float, float, float]]:
    """Of the examples in each tenth of the scale: mean degree, share of positives, share of all.

    >>> reliability(np.array([0.1, 0.92, 0.98]), np.array([False, True, True]))
    [(0.1, 0.0, 0.333...), (0.95, 1.0, 0.666...)]
    """
    masses = np.ones(len(degrees)) if masses is None else masses
    bins = np.minimum((degrees * _BINS).astype(np.int64), _BINS - 1)
    total = float(masses.sum()) or 1.0
    found = []
    for place in range(_BINS):
        mass = masses[bins == place]
        if mass.sum() > 0:
            weight = float(mass.sum())
            mean = float((mass * degrees[bins == place]).sum()) / weight
            found.append((mean, float((mass * labels[bins == place]).sum()) / weight, weight / total))
    return found


def roc_auc(scores: Floats, labels: Bools) -> float:
    """The chance that a positive scores above a negative; ties count half.

    >>> roc_auc(np.array([3.0, 1.0, 2.0]), np.array([True, False, True]))
    1.0
    """
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    values, inverse = np.unique(scores, return_inverse=True)
    ranks = (
        (np.bincount(inverse, ranks) / np.bincount(inverse))[inverse] if len(values) < len(scores) else ranks
    )
    n, m = int(labels.sum()), int((~labels).sum())
    return float((ranks[labels].sum() - n * (n + 1) / 2) / (n * m)) if n and m else 0.5


def _model(kind: str, weights: Floats, bias: float, names: Sequence[str]) -> TopicModel:
    there = sorted((names[number], number) for number in np.flatnonzero(weights).tolist())
    rounded = [float(f"{weights[number]:.6g}") for _, number in there]
    return TopicModel(
        kind, tuple([name for name, _ in there]), np.array(rounded, np.float64), float(f"{bias:.6g}")
    )


def _given(keywords: Mapping[str, float], examples: Sequence[Example]) -> dict[str, float]:
    """Keywords by their stems, in the language most of the examples are in."""
    languages = sorted([example.page.language or FALLBACK for example in examples])
    language = max(dict.fromkeys(languages), key=languages.count, default=FALLBACK)
    found: dict[str, float] = {}
    for word, weight in keywords.items():
        cut = tokens(word)
        if len(cut) != 1:
            raise UsageError(f"the keyword {word!r} is not one word: give its words one by one")
        found[stem(cut[0], language)] = weight
    return found


def _spread(examples: Sequence[Example], limit: int) -> Sequence[Example]:
    if len(examples) <= limit:
        return examples
    return sorted(examples, key=lambda example: example.key)[:limit]


def _need_sklearn(kind: str) -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise UsageError(
            f"training {kind} needs scikit-learn: pip install 'clew[topics]', or use --kind keyword"
        ) from None
