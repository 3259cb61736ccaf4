"""What a page is about: `topic:sailing`, `topic:tourism.rügen>0.6`, `like:examples/`, `like:page.html>0.3`.

A topic's degree is its model's (`clew.topic`); `like:` is the cosine to the examples at a place. With `>`
and a number the degree is 1 above it and 0 otherwise. Both can be told of a link, by the words of its
anchor and URL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from clew.errors import UsageError
from clew.page import Links
from clew.predicate.atoms.base import Clue, Leaf, Maker, Matcher, Resources, Value, show_value
from clew.predicate.formula import Atom
from clew.predicate.view import PageView
from clew.topic import ANY, TopicScorers, topic_path
from clew.topic.scorer import TopicReading

#: What may follow the name of a topic or a place.
ABOVE = re.compile(r"\s*>\s*(\d+(?:\.\d+)?|\.\d+)(?![\w.])")


@dataclass(frozen=True, slots=True)
class AboutAtom(Leaf):
    """What the page is about, by a name; with `above`, whether the degree is above that."""

    name: str
    above: float | None = None

    field: ClassVar[str]
    clue = Clue.GRADED
    cost = 80

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.named(self.name))
        if self.above is not None:
            if not 0.0 <= self.above < 1.0:
                raise ValueError(
                    f"a degree is between 0 and 1: > takes a number from 0 to below 1, not {self.above:g}"
                )
            object.__setattr__(self, "above", round(self.above, 6))

    def __str__(self) -> str:
        above = "" if self.above is None else f">{self.above:.6f}".rstrip("0").rstrip(".")
        return f"{self.field}:{show_value(self.name)}{above}"

    @staticmethod
    def named(name: str) -> str:
        """The name in its one way to be written; an error for what is none."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class TopicAtom(AboutAtom):
    """How far the page is about a topic of the taxonomy, by its path.

    >>> str(TopicAtom("Tourism.Rügen", 0.6))
    'topic:tourism.rügen>0.6'
    """

    field = "topic"

    @staticmethod
    def named(name: str) -> str:
        return ANY if name.strip().casefold() == ANY else topic_path(name)

    def matcher(self, resources: Resources) -> Matcher:
        path = resources.topics.topic(self.name)
        if path == ANY:
            return _Any()
        return TopicMatcher(resources.scorers, resources.scorers.names.index(path), self.above)


@dataclass(frozen=True, slots=True)
class LikeAtom(AboutAtom):
    """How much the page is like the examples at a place: a folder, a file, or a URL.

    >>> str(LikeAtom("good pages", 0.3))
    'like:"good pages">0.3'
    """

    field = "like"

    @staticmethod
    def named(name: str) -> str:
        if not name.strip():
            raise ValueError("like: needs a folder, a file or a URL of examples")
        return name.strip()

    def matcher(self, resources: Resources) -> Matcher:
        if self.name not in resources.topics.likes:
            raise UsageError(f"the examples of {self} were not read: the formula was made without them")
        names = resources.scorers.names
        return TopicMatcher(resources.scorers, names.index(f"like:{self.name}"), self.above)


class TopicMatcher:
    """One column of the scorers that the topics of a formula share: a page is read once for all of them."""

    __slots__ = ("_above", "_column", "_scorers")

    def __init__(self, scorers: TopicScorers, column: int, above: float | None) -> None:
        self._scorers = scorers
        self._column = column
        self._above = above

    def degree(self, view: PageView) -> float:
        found = float(self._reading(view).degrees[self._column])
        return found if self._above is None else float(found > self._above)

    def words(self, view: PageView) -> tuple[str, ...]:
        """The stems that spoke most for the topic."""
        return self._scorers.words(self._reading(view), self._column)

    def link(self, anchor: str, url: str) -> float:
        return self.links(Links("", (url,), (anchor,), ("",), ("",), ("",)))[0]

    def links(self, links: Links) -> Sequence[float]:
        """How far each link speaks for the topic; rounded, so that equal guesses are worked out once."""
        found: list[float] = (self._scorers.links(links)[:, self._column] * 64).round().tolist()
        return [value / 64 for value in found]

    def _reading(self, view: PageView) -> TopicReading:
        return view.once(self._scorers, lambda: self._scorers.page(view.page))


class _Any:
    """The root of every taxonomy: all pages are about it."""

    __slots__ = ()

    def degree(self, view: PageView) -> float:
        return 1.0

    def link(self, anchor: str, url: str) -> float:
        return 1.0

    def links(self, links: Links) -> Sequence[float]:
        return [1.0] * len(links)


def _make(kind: type[TopicAtom] | type[LikeAtom]) -> Maker:
    example = "topic:sailing>0.6" if kind is TopicAtom else "like:examples/"

    def make(value: Value) -> Atom:
        text, above = value.plain(example), value.above
        found = re.search(r"^(.+?)>([\d.]*)$", text) if value.kind == "bare" else None
        if found:
            text, above = found[1], found[2]
        elif ">" in text and value.kind == "bare":
            value.fail(f"> takes a number, as in {example}")
        try:
            return kind(text, None if above is None else _number(above))
        except (ValueError, UsageError) as error:
            value.fail(str(error))

    return make


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("> takes a number from 0 to below 1, as in topic:sailing>0.6") from None


FIELDS: dict[str, Maker] = {"topic": _make(TopicAtom), "like": _make(LikeAtom)}
