"""What an atom is made of, so that a new one is a file of its own and a line in the registry.

The lexer cuts out a `Value` and hands it to the maker that the registry (`FIELDS`) has under its field;
the maker returns an atom, a frozen node that prints as text which gives the same atom again. When a
formula is put to use, `Leaf.matcher` turns each atom into a `Matcher`, which may keep compiled patterns
and caches; the atom itself stays plain data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Literal, NoReturn, Protocol, runtime_checkable

from clew.errors import PredicateSyntaxError
from clew.page import Links, Page
from clew.predicate.formula import Atom
from clew.predicate.view import PageView
from clew.topic import TopicLibrary, TopicScorers


class Clue(Enum):
    """What an anchor text and a URL can tell of an atom before the page is fetched."""

    NONE = "nothing"
    WORDS = "its words may occur in them"
    LINK = "its degree"
    GRADED = "how far their words speak for it"


@dataclass(frozen=True, slots=True)
class Resources:
    """What atoms need from outside the formula."""

    resolve: Callable[[str, str], Callable[[Page], Any]]
    """Finds a function by module and name."""
    topics: TopicLibrary = field(default_factory=TopicLibrary)
    """What `topic:` and `like:` may name."""
    scorers: TopicScorers = field(default_factory=lambda: TopicScorers({}))
    """The topics and places of the formula, read together."""


class Matcher(Protocol):
    """An atom ready for use."""

    def degree(self, view: PageView) -> float:
        """How far the page passes the test, in [0, 1]."""
        ...

    def link(self, anchor: str, url: str) -> float:
        """How far a link passes the test, in [0, 1]; asked only when the atom's clue is `Clue.LINK`."""
        ...


@runtime_checkable
class TellingMatcher(Matcher, Protocol):
    """A matcher of atoms that are about many words, and can say which of them spoke."""

    def words(self, view: PageView) -> tuple[str, ...]:
        """The words of the page that spoke most for the atom."""
        ...


@runtime_checkable
class LinksMatcher(Matcher, Protocol):
    """A matcher that guesses all links of a page at once; asked when the atom's clue is `Clue.GRADED`."""

    def links(self, links: Links) -> Sequence[float]:
        """How far each link speaks for the atom, in [0, 1]."""
        ...


class Leaf(Atom):
    """An atom with the defaults most share: crisp, cheap, and nothing to be told from a link."""

    __slots__ = ()

    #: Rough price of one judgement; cheaper terms are asked first.
    cost: ClassVar[int] = 1
    clue: ClassVar[Clue] = Clue.NONE

    def price(self) -> int:
        """The atom's own price, where it depends on more than its kind."""
        return self.cost

    def hint(self) -> Clue:
        """The atom's own clue, where it depends on more than its kind."""
        return self.clue

    def matcher(self, resources: Resources) -> Matcher:
        """The atom made ready; crisp atoms are their own matcher."""
        raise NotImplementedError(f"{type(self).__name__} must offer matcher()")


class Crisp(Leaf):
    """An atom that a page passes or not, and that needs no preparation."""

    __slots__ = ()

    def holds(self, page: Page) -> bool:
        """Whether the page passes."""
        raise NotImplementedError(f"{type(self).__name__} must offer holds()")

    def degree(self, view: PageView) -> float:
        return 1.0 if self.holds(view.page) else 0.0

    def link(self, anchor: str, url: str) -> float:
        return 0.0

    def matcher(self, resources: Resources) -> Matcher:
        return self


@dataclass(frozen=True, slots=True)
class Value:
    """What stands after a field name (or alone), cut out but not yet understood."""

    kind: Literal["bare", "quoted", "regex"]
    text: str
    """Escapes undone; for a regular expression, the pattern between the slashes."""
    field: str
    formula: str
    position: int
    """Where the value starts in the formula."""
    near: int | None = None
    above: str | None = None
    """The number behind `>`, where one may stand after a closing quotation mark."""
    flags: str = ""
    offsets: tuple[int, ...] = ()
    """For a regular expression: where each character of the pattern stands in the formula."""
    allow_python: bool = False

    def fail(self, problem: str, at: int | None = None) -> NoReturn:
        """Refuse the value, pointing at it or at another position of the formula."""
        raise PredicateSyntaxError(problem, self.formula, self.position if at is None else at)

    def plain(self, example: str) -> str:
        """The text of a value that must be a plain one: no regular expression, no `~3`."""
        if self.kind == "regex":
            self.fail(f"{self.field}: takes no regular expression; write for example {example}")
        if self.near is not None:
            self.fail(f"~{self.near} is for words of a text, not for {self.field}:")
        return self.text


#: A maker of atoms: understands a value or refuses it.
Maker = Callable[[Value], Atom]

#: Text that can stand unquoted as a word, and as the value of a field.
_WORD = re.compile(r"[\w*](?:[\w*'’.-]*[\w*])?")
_VALUE = re.compile(r"[\w*.\[-][\w*.:/%?=&+#@!$;~\[\]-]*")
_OPERATORS = frozenset({"AND", "OR", "NOT", "atleast"})


def quote(text: str) -> str:
    """Text between quotation marks, escaped."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def show_word(text: str) -> str:
    """A word as it may stand in a formula: bare where that is safe, quoted otherwise.

    >>> show_word("turbine"), show_word("AND"), show_word("wind farm")
    ('turbine', '"AND"', '"wind farm"')
    """
    return text if _WORD.fullmatch(text) and text not in _OPERATORS else quote(text)


def show_value(text: str) -> str:
    """The value of a field that is no text, such as `url:`, as a formula would have it."""
    return text if _VALUE.fullmatch(text) else quote(text)


def glob(pattern: str) -> Callable[[str], bool]:
    """A test for a pattern in which `*` stands for any characters. Linear, unlike a regular expression.

    >>> glob("*.example.*")("www.example.org"), glob("a*a")("a")
    (True, False)
    """
    first, *rest = pattern.split("*")
    if not rest:
        return lambda text: text == pattern
    *middle, last = rest

    def test(text: str) -> bool:
        end = len(text) - len(last)
        at = len(first)
        if end < at or not text.startswith(first) or not text.endswith(last):
            return False
        for piece in middle:
            at = text.find(piece, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True

    return test
