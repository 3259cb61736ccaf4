"""`Taxonomy`: topics as a tree, with ANY at its root (paper 003, section 2.2).

A topic is known by its path, `tourism.rügen`: it lies under `tourism`, and both under ANY. Paths cannot run
in a circle, so a taxonomy that exists is a tree. Topics are comparable when one lies under the other;
examples of topics that are not must be different documents (section 2.3), or the same page would teach a
topic what it is and what it is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import xxhash

from clew.errors import UsageError
from clew.page import Page
from clew.spelling import closest

#: The root: every page is about it.
ANY = "any"
#: The longest path, in topics.
MAX_DEPTH = 20
_NAME = re.compile(r"[^\W_](?:[\w-]{0,62}[^\W_])?")
#: Folders of a topic that are no topics.
RESERVED = frozenset({ANY, "positive", "negative"})


def topic_path(text: str) -> str:
    """A path as topics have it: lower case, composed; an error says what a name may be.

    >>> topic_path("Tourism.Rügen")
    'tourism.rügen'
    """
    path = unicodedata.normalize("NFC", text.strip().casefold())
    names = path.split(".")
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no name of a topic: use letters, digits, - and _, and a dot between a topic "
                "and its subtopic, as in tourism.rügen"
            )
        if name in RESERVED:
            raise UsageError(f"a topic cannot be called {name!r}: choose another name")
    if len(names) > MAX_DEPTH:
        raise UsageError(f"a topic lies at most {MAX_DEPTH} levels deep: {text[:80]!r} has {len(names)}")
    return path


@dataclass(frozen=True, slots=True)
class Example:
    """A document that shows what a topic is, or what it is not, and where it lies."""

    place: str
    page: Page

    @property
    def key(self) -> int:
        """Equal for equal documents."""
        text = f"{self.page.title}\n{self.page.text}"
        return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


class Taxonomy:
    """The tree of some topics; those above a topic belong to it even if they were not named.

    >>> tree = Taxonomy(["tourism.rügen", "sports.sailing"])
    >>> tree.topics
    ('sports', 'sports.sailing', 'tourism', 'tourism.rügen')
    >>> tree.find("rügen"), tree.parent("tourism.rügen"), tree.parent("tourism")
    ('tourism.rügen', 'tourism', 'any')
    """

    __slots__ = ("_set", "topics")

    def __init__(self, paths: Iterable[str]) -> None:
        found = {topic_path(path) for path in paths}
        self._set = {above for path in found for above in _line(path)}
        self.topics = tuple(sorted(self._set))
        """Every path but ANY, in order."""

    def __contains__(self, path: object) -> bool:
        return path == ANY or path in self._set

    def __repr__(self) -> str:
        return f"Taxonomy({len(self.topics)} topics)"

    def find(self, name: str) -> str:
        """The path of a topic by its path or the end of it; an error names the nearest."""
        wanted = unicodedata.normalize("NFC", name.strip().casefold())
        if wanted in self:
            return wanted
        ends = [path for path in self.topics if path.endswith("." + wanted)]
        if len(ends) == 1:
            return ends[0]
        if ends:
            raise UsageError(f"{name!r} may be {' or '.join(ends)}: write it so")
        if not self.topics:
            raise UsageError(
                f"there is no topic {name!r}, nor any other: make one with clew topic new {name}"
            )
        names = {path.rpartition(".")[2]: path for path in reversed(self.topics)}
        near = closest(wanted, [*self.topics, *names])
        hint = f"did you mean {names.get(near, near)!r}?" if near else f"there are {_few(self.topics)}"
        raise UsageError(f"there is no topic {name!r}: {hint}")

    def parent(self, path: str) -> str:
        """The topic right above; ANY above the first level."""
        return path.rpartition(".")[0] or ANY

    def above(self, path: str) -> tuple[str, ...]:
        """The topics above, the nearest first, without ANY."""
        return tuple(reversed(_line(path)[:-1])) if path != ANY else ()

    def below(self, path: str) -> tuple[str, ...]:
        """The topics below, in order."""
        if path == ANY:
            return self.topics
        return tuple([topic for topic in self.topics if topic.startswith(path + ".")])

    def comparable(self, one: str, other: str) -> bool:
        """Whether one is the other or lies under it."""
        return ANY in (one, other) or one == other or _under(one, other) or _under(other, one)

    def indirect(self, path: str, examples: Mapping[str, Sequence[Example]]) -> list[Example]:
        """exi: the examples of a topic and of all below it."""
        return [example for topic in (path, *self.below(path)) for example in examples.get(topic, ())]

    def others(self, path: str, examples: Mapping[str, Sequence[Example]]) -> list[Example]:
        """What a topic is not: examples of topics that are not comparable to it, and those of ANY itself."""
        away = [topic for topic in self.topics if not self.comparable(topic, path)]
        return [example for topic in (ANY, *away) for example in examples.get(topic, ())]

    def check_disjoint(self, examples: Mapping[str, Sequence[Example]]) -> None:
        """Refuse a document that is an example of two topics that are not comparable; names the files."""
        met: dict[int, list[tuple[str, str]]] = {}
        for topic in self.topics:
            for example in examples.get(topic, ()):
                for other, place in met.setdefault(example.key, []):
                    if not self.comparable(topic, other):
                        raise UsageError(
                            f"one document is an example of {other} and of {topic}, which cannot share one: "
                            f"{place} and {example.place}; remove one of them"
                        )
                met[example.key].append((topic, example.place))


def _line(path: str) -> list[str]:
    """A topic and all above it, from the first level down."""
    names = path.split(".")
    return [".".join(names[:length]) for length in range(1, len(names) + 1)]


def _under(path: str, above: str) -> bool:
    return path.startswith(above + ".")


def _few(names: Sequence[str], limit: int = 8) -> str:
    return ", ".join(names[:limit]) + (", …" if len(names) > limit else "")


def walk_down(taxonomy: Taxonomy, path: str = ANY, depth: int = 0) -> Iterator[tuple[str, int]]:
    """Each topic below one, parents before children, with its depth."""
    for topic in taxonomy.topics:
        if taxonomy.parent(topic) == path:
            yield topic, depth
            yield from walk_down(taxonomy, topic, depth + 1)
