"""Training and testing the topics of a folder: which examples teach which topic, and what is stale.

A topic learns from its own examples and those of its subtopics (exi), and from what it is not: its
`negative/` examples, those of topics that are not comparable to it, and those of ANY. Only a topic without
a model, or whose own examples, kind or keywords changed, is trained, so a topic that is added changes no
other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xxhash

from clew.errors import UsageError
from clew.topic import ANY, Example
from clew.topic.model import HeldOut
from clew.training.documents import digest_of
from clew.training.folder import TaxonomyFolder
from clew.training.train import StemVectors, Trained, reliability, train


class TopicTrainer:
    """The examples of a taxonomy, read once, and what each topic is trained on."""

    def __init__(self, folder: TaxonomyFolder) -> None:
        self.folder = folder
        self._positive = folder.examples("positive")
        self._negative = folder.examples("negative")
        self._vectors = StemVectors()
        folder.taxonomy.check_disjoint(self._positive)

    def positives(self, path: str) -> list[Example]:
        """exi: a topic's own examples and those of all below it."""
        return _once(self.folder.taxonomy.indirect(path, self._positive))

    def negatives(self, path: str) -> list[Example]:
        """What a topic is not; a document that is a positive example too is left out."""
        own = {example.key for example in self.positives(path)}
        found = [*self._negative.get(path, ()), *self.folder.taxonomy.others(path, self._positive)]
        return [example for example in _once(found) if example.key not in own]

    def is_stale(self, path: str) -> bool:
        """Whether a topic must be trained: it has no model, or one of other examples of its own."""
        model = self.folder.model(path)
        return model is None or not model.examples.startswith(self._mark(path))

    def train(self, path: str, kind: str | None = None) -> Trained:
        """Train one topic, of the kind its file says or another."""
        settings = self.folder.settings(path)
        try:
            trained = train(
                self.positives(path),
                self.negatives(path),
                kind=kind or settings.kind,
                prior=self.folder.prior,
                keywords=settings.keywords,
                mark=self._mark(path),
                vectors=self._vectors,
            )
        except UsageError as error:
            raise UsageError(f"{path}: {str(error).replace('NAME', path)}") from None
        return trained

    def _mark(self, path: str) -> str:
        """What a topic was told itself: the examples of its own tree, its kind and its keywords."""
        settings = self.folder.settings(path)
        own = digest_of([*self.positives(path), *self._negative.get(path, ())])
        words = ",".join(f"{word}={weight:g}" for word, weight in sorted(settings.keywords.items()))
        return f"{own}:{settings.kind}:{_hash(words)}"


@dataclass(frozen=True, slots=True)
class TopicTest:
    """What held-out examples say of some topics together."""

    held_out: Mapping[str, HeldOut]
    confusion: Mapping[tuple[str, str], int]
    """How many examples of the first topic got the highest degree from the second."""
    reliability: Sequence[tuple[float, float, float]]
    """Mean degree, share that is about the topic, share of all, for each tenth of the scale."""


def held_out_tables(trained: Mapping[str, Trained], own: Mapping[str, Sequence[Example]]) -> TopicTest:
    """The confusion and the reliability of trained topics, on examples that the models did not see.

    `own` are the examples of each topic itself, by which an example's topic is known.
    """
    homes = {example.key: path for path, examples in own.items() if path != ANY for example in examples}
    best: dict[int, tuple[float, str]] = {}
    degrees, labels, masses = [], [], []
    for path, one in trained.items():
        positives = sum(told.positive for told in one.held_out)
        prior = one.model.prior
        for told in one.held_out:
            degrees.append(told.degree)
            labels.append(told.positive)
            count = positives if told.positive else len(one.held_out) - positives
            masses.append((prior if told.positive else 1 - prior) / count)
            if homes.get(told.example.key) in trained and own.get(path):
                best[told.example.key] = max(best.get(told.example.key, (-1.0, "")), (told.degree, path))
    confusion: dict[tuple[str, str], int] = {}
    for key, (_, path) in best.items():
        pair = (homes[key], path)
        confusion[pair] = confusion.get(pair, 0) + 1
    return TopicTest(
        {path: one.model.held_out for path, one in trained.items() if one.model.held_out is not None},
        confusion,
        reliability(np.array(degrees), np.array(labels, np.bool_), np.array(masses)) if degrees else [],
    )


def _once(examples: Sequence[Example]) -> list[Example]:
    """Each document once."""
    return list({example.key: example for example in examples}.values())


def _hash(text: str) -> str:
    return f"{xxhash.xxh3_64_intdigest(text.encode('utf-8', 'replace')) & 0xFFFFFFFF:08x}"
