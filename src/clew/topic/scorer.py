"""`TopicScorers`: several topics' models side by side, so that a page is read once for all of them.

The models' stems are one table, in alphabetical order; each stem has the topics that know it and their
weights (compressed sparse rows). A topic's sum runs over its own stems in that order, whatever other topics
there are, so its degrees are the same to the last bit alone and among others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from clew.learn.logistic import sigmoid
from clew.learn.rows import spans
from clew.page import Links, Page
from clew.topic.document import Floats, StemVector, TextReader
from clew.topic.model import LIKE, TopicModel
from clew.words.forms import Ids


@dataclass(frozen=True, slots=True)
class TopicReading:
    """What topics make of one page: their degrees, and each known stem's part in them."""

    degrees: Floats
    stems: Ids
    topics: Ids
    parts: Floats

    def part_of(self, topic: int) -> tuple[Ids, Floats]:
        """The stems that one topic knows, and what each contributed."""
        mine = self.topics == topic
        return self.stems[mine], self.parts[mine]


class TopicScorers:
    """Scores pages and links for several topics at once.

    Parameters: the models by name; rows and columns of answers follow the order of the names.

    >>> sailing = TopicModel("keyword", ("boat", "sail"), np.array([4.0, 8.0]), -2.0)
    >>> scorers = TopicScorers({"sailing": sailing})
    >>> page = Page(url="http://a.example/", text="Sailing boats for sale")
    >>> scorers.page(page).degrees.round(3).tolist(), scorers.words(scorers.page(page), 0)
    ([0.993], ('sail', 'boat'))
    """

    def __init__(self, models: Mapping[str, TopicModel]) -> None:
        self.names = tuple(models)
        self._bias = np.array([model.bias for model in models.values()], np.float64)
        self._cosine = np.array([model.kind == LIKE for model in models.values()], np.bool_)
        stems = sorted({stem for model in models.values() for stem in model.stems})
        self._reader = TextReader(stems)
        numbers = {stem: number for number, stem in enumerate(stems)}
        rows = np.array([numbers[stem] for model in models.values() for stem in model.stems], np.int64)
        owners = np.repeat(np.arange(len(models)), [len(model.stems) for model in models.values()])
        order = np.lexsort((owners, rows))
        self._topics: Ids = owners[order]
        weights = [model.weights for model in models.values()]
        self._weights: Floats = np.concatenate([np.zeros(0), *weights])[order]
        self._starts: Ids = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(stems)))))
        self._nothing = self._degrees(self._bias)
        self._last: tuple[Links, str, Floats] | None = None
        """The links scored last: a formula asks for them once for each of its topics."""

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"TopicScorers({', '.join(self.names[:5])}{', …' if len(self) > 5 else ''})"

    def page(self, page: Page) -> TopicReading:
        """Every topic's degree for a page, and how it came about."""
        vector = self._reader.page(page)
        stems, topics, parts = self._parts(vector)
        # Counting adds up one after the other, in the order of the stems.
        scores = self._bias + np.bincount(topics, parts, len(self))
        return TopicReading(self._degrees(scores), stems, topics, parts)

    def links(self, links: Links, language: str = "") -> Floats:
        """How far each link speaks for each topic, by anchor and URL alone: a row a link, a column a topic.

        0 where no word is known to the topic, or the known ones speak against it; 1 at most.
        """
        if self._last is not None and self._last[0] is links and self._last[1] == language:
            return self._last[2]
        found = self._scored(links, language)
        self._last = links, language, found
        return found

    def _scored(self, links: Links, language: str) -> Floats:
        rows = self._reader.links(links, language)
        owners = np.repeat(np.arange(len(links)), rows.lengths)
        known = rows.numbers < self._reader.size
        vector = StemVector(rows.numbers[known], rows.weights[known])
        owners = owners[known]
        lengths = self._starts[vector.numbers + 1] - self._starts[vector.numbers]
        _, topics, parts = self._parts(vector)
        cells = np.repeat(owners, lengths) * len(self) + topics
        sums = np.bincount(cells, parts, len(links) * len(self)).reshape(len(links), len(self))
        degrees = self._degrees(self._bias + sums)
        return np.maximum(0.0, (degrees - self._nothing) / (1.0 - self._nothing))

    def words(self, reading: TopicReading, topic: int, limit: int = 3) -> tuple[str, ...]:
        """The stems of a page that spoke most for a topic."""
        stems, parts = reading.part_of(topic)
        order = np.lexsort((stems, -parts))[:limit]
        return tuple(self._reader.names(stems[order[parts[order] > 0]]))

    def _parts(self, vector: StemVector) -> tuple[Ids, Ids, Floats]:
        """Of every stem that a topic knows: the stem, the topic, and its contribution."""
        known = vector.numbers < self._reader.size
        numbers, weights = vector.numbers[known], vector.weights[known]
        starts = self._starts[numbers]
        lengths = self._starts[numbers + 1] - starts
        places = spans(starts, lengths)
        return (
            np.repeat(numbers, lengths),
            self._topics[places],
            self._weights[places] * np.repeat(weights, lengths),
        )

    def _degrees(self, scores: Floats) -> Floats:
        found = sigmoid(scores)
        if self._cosine.any():
            found = np.where(self._cosine, np.clip(scores, 0.0, 1.0), found)
        return found
