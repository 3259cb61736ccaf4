"""The formula: a tree of frozen nodes that prints as text, and the text parses back to an equal tree.

`And`, `Or`, `Not`, `AtLeast` and `Weighted` are here; the leaves are atoms (`clew.predicate.atoms`).
Nodes check themselves when made and raise `ValueError` in words fit for a user, so a tree that exists
can be printed, parsed and evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

#: Bounds of a weight: wide enough for any use, and Python writes all numbers between without an exponent.
WEIGHTS = (0.001, 1000.0)
#: The largest count `atleast` takes.
MAX_COUNT = 1000


class Formula:
    """Any node. `str(formula)` is its canonical text.

    >>> from clew.predicate import parse
    >>> str(parse('wind (farm OR park)^2 -noise'))
    'wind AND (farm OR park)^2 AND NOT noise'
    """

    __slots__ = ()

    #: How tightly the node's text holds together: OR 0, AND 1, NOT 2, a weight 3, everything else 4.
    level: ClassVar[int] = 4


class Atom(Formula):
    """A leaf: one test of a page. See `clew.predicate.atoms.base` for what an atom must offer."""

    __slots__ = ()


def _inside(part: Formula, level: int) -> str:
    text = str(part)
    return text if part.level >= level else f"({text})"


@dataclass(frozen=True, slots=True)
class _Group(Formula):
    parts: tuple[Formula, ...]
    word: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise ValueError(f"{self.word} joins two terms or more")

    def __str__(self) -> str:
        return f" {self.word} ".join([_inside(part, self.level + 1) for part in self.parts])


@dataclass(frozen=True, slots=True)
class And(_Group):
    """All of the parts."""

    level: ClassVar[int] = 1
    word: ClassVar[str] = "AND"
    __str__ = _Group.__str__


@dataclass(frozen=True, slots=True)
class Or(_Group):
    """Any of the parts."""

    level: ClassVar[int] = 0
    word: ClassVar[str] = "OR"
    __str__ = _Group.__str__


@dataclass(frozen=True, slots=True)
class Not(Formula):
    """The opposite of its part."""

    level: ClassVar[int] = 2
    part: Formula

    def __str__(self) -> str:
        return f"NOT {_inside(self.part, self.level)}"


@dataclass(frozen=True, slots=True)
class Weighted(Formula):
    """A part that matters more or less than its neighbours in the group it stands in."""

    level: ClassVar[int] = 3
    part: Formula
    weight: float

    def __post_init__(self) -> None:
        low, high = WEIGHTS
        if not low <= self.weight <= high:
            raise ValueError(f"a weight is between {low:g} and {high:g}, not {self.weight:g}")
        object.__setattr__(self, "weight", float(self.weight))

    def __str__(self) -> str:
        return f"{_inside(self.part, 4)}^{self.weight!r}".removesuffix(".0")


@dataclass(frozen=True, slots=True)
class AtLeast(Formula):
    """So many of the parts; a part with weight n counts as n."""

    count: int
    parts: tuple[Formula, ...]

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MAX_COUNT:
            raise ValueError(f"atleast takes a count between 1 and {MAX_COUNT}, not {self.count}")
        votes = [weight(part) for part in self.parts]
        if any(vote != int(vote) for vote in votes):
            raise ValueError("weights inside atleast must be whole numbers: a term with ^2 counts as two")
        if sum(votes) < self.count:
            raise ValueError(f"atleast({self.count}, …) has only {int(sum(votes))} to choose from")

    def __str__(self) -> str:
        return f"atleast({self.count}, {', '.join([str(part) for part in self.parts])})"


def weight(part: Formula) -> float:
    """The weight of a part within its group: 1 unless it, or what it negates, was given one.

    >>> from clew.predicate import parse
    >>> weight(parse("turbine^3")), weight(parse("-turbine^3")), weight(parse("turbine"))
    (3.0, 3.0, 1.0)
    """
    while isinstance(part, Not):
        part = part.part
    return part.weight if isinstance(part, Weighted) else 1.0


def walk(formula: Formula, negated: bool = False, scale: float = 1.0) -> Iterator[tuple[Atom, bool, float]]:
    """Each atom in the order of the text, whether it stands under an odd number of NOTs, and its weight."""
    if isinstance(formula, Atom):
        yield formula, negated, scale
    elif isinstance(formula, Not):
        yield from walk(formula.part, not negated, scale)
    elif isinstance(formula, Weighted):
        yield from walk(formula.part, negated, scale * formula.weight)
    elif isinstance(formula, And | Or | AtLeast):
        for part in formula.parts:
            yield from walk(part, negated, scale)
