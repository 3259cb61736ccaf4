"""`TopicLibrary`: a taxonomy with its models, and the examples that `like:` names: all a formula may refer
to.

It is read from folders at the edge (`clew.training`); here it is plain data, which a crawl keeps a copy of,
so that a crawl that is resumed judges as it began, whatever became of the folders.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import xxhash

from clew.errors import StoreForeign, UsageError
from clew.topic.model import TopicModel, as_data, from_data
from clew.topic.scorer import TopicScorers
from clew.topic.taxonomy import ANY, Taxonomy

_MAX_TOPICS = 10_000


@dataclass(frozen=True, slots=True)
class TopicLibrary:
    """Topics by path, and what `like:` stands for by the place it names.

    >>> library = TopicLibrary(Taxonomy(["sports.sailing"]))
    >>> library.topic("sailing")
    Traceback (most recent call last):
    clew.errors.UsageError: the topic sports.sailing has no model yet: clew topic train sports.sailing
    """

    taxonomy: Taxonomy = field(default_factory=lambda: Taxonomy(()))
    models: Mapping[str, TopicModel] = field(default_factory=dict)
    likes: Mapping[str, TopicModel] = field(default_factory=dict)
    source: str = ""
    """The folder it was read from; empty when there was none."""

    def topic(self, name: str) -> str:
        """The path of a topic that can score; an error says what to do."""
        if not self.source and not self.taxonomy.topics and name != ANY:
            raise UsageError(
                f"topic:{name} needs topics, and there are none here: make one with clew topic new {name}, "
                "or say where yours are with --topics DIR"
            )
        path = self.taxonomy.find(name)
        if path != ANY and path not in self.models:
            raise UsageError(f"the topic {path} has no model yet: clew topic train {path}")
        return path

    def scorers(self, topics: Iterable[str], likes: Iterable[str] = ()) -> TopicScorers:
        """Scorers of some topics, by path, and of some places, by `like:PLACE`."""
        found = {path: self.models[path] for path in sorted(set(topics)) if path != ANY}
        return TopicScorers(found | {f"like:{place}": self.likes[place] for place in sorted(set(likes))})

    def pick(self, topics: Iterable[str], likes: Iterable[str] = ()) -> TopicLibrary:
        """The part that some topics need: they, and all above them, which a crawl may widen its interest
        to."""
        wanted = {one for path in topics for one in (path, *self.taxonomy.above(path)) if path != ANY}
        return TopicLibrary(
            Taxonomy(wanted),
            {path: model for path, model in self.models.items() if path in wanted},
            {place: self.likes[place] for place in sorted(set(likes))},
            self.source,
        )

    @property
    def digest(self) -> str:
        """Equal for libraries that give equal degrees; empty for an empty one."""
        told = [f"{path} {model.digest}" for path, model in sorted(self.models.items())]
        told += [f"like:{place} {model.digest}" for place, model in sorted(self.likes.items())]
        return f"{xxhash.xxh3_64_intdigest(chr(10).join(told).encode()):016x}" if told else ""

    def as_data(self) -> dict[str, Any]:
        """The library as plain data."""
        return {
            "source": self.source,
            "topics": list(self.taxonomy.topics),
            "models": {path: as_data(model) for path, model in self.models.items()},
            "likes": {place: as_data(model) for place, model in self.likes.items()},
        }

    @classmethod
    def from_data(cls, data: Any, place: str) -> TopicLibrary:
        """A library from plain data that a stranger may have written."""
        damaged = StoreForeign(f"the topics kept in {place} are damaged: restore it from a copy")
        if not isinstance(data, Mapping):
            raise damaged
        parts = []
        for name in ("models", "likes"):
            part = data.get(name)
            if not isinstance(part, Mapping) or len(part) > _MAX_TOPICS:
                raise damaged
            parts.append({str(key): from_data(it, f"the topic {key} of {place}") for key, it in part.items()})
        try:
            taxonomy = Taxonomy([*parts[0], *map(str, data.get("topics") or ())])
        except (UsageError, TypeError):
            raise damaged from None
        return cls(taxonomy, parts[0], parts[1], str(data.get("source", "")))
