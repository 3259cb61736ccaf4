"""Comparisons: `words:>300`, `depth:<=3`, `words:200..2000`, `status:200`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from clew.predicate.atoms.base import Leaf, Maker, Matcher, Resources, Value
from clew.predicate.formula import Atom
from clew.predicate.view import PageView

Operator = Literal["=", "<", "<=", ">", ">=", ".."]
#: Counts above this are a slip of the finger.
LIMIT = 10**12
_COMPARISON = re.compile(r"(=|<=?|>=?)?(\d{1,13})")
_RANGE = re.compile(r"(\d{1,13})\.\.(\d{1,13})")
#: A comparison as people write it, with spaces.
SPACED = re.compile(r"\s*(?:[<>]=?|=)?\s*\d+(?:\s*\.\.\s*\d+)?(?=[\s),^]|$)")


@dataclass(frozen=True, slots=True)
class Number(Leaf):
    """A count of the page compared with a number, or between two (both included).

    >>> str(Number("words", ">", 300)), str(Number("words", "..", 200, 2000)), str(Number("status", "=", 200))
    ('words:>300', 'words:200..2000', 'status:200')
    """

    field: str
    op: Operator
    low: int
    high: int | None = None

    def __post_init__(self) -> None:
        if (self.high is None) == (self.op == ".."):
            raise ValueError(f"{self.field}: a range has two ends: {self.field}:200..2000")
        if not 0 <= self.low <= LIMIT or (self.high is not None and self.high > LIMIT):
            raise ValueError(f"{self.field}: takes whole numbers from 0 to {LIMIT}")
        if self.high is not None and self.high < self.low:
            raise ValueError(
                f"nothing is between {self.low} and {self.high}: write {self.field}:{self.high}..{self.low}"
            )

    def __str__(self) -> str:
        if self.op == "..":
            return f"{self.field}:{self.low}..{self.high}"
        return f"{self.field}:{'' if self.op == '=' else self.op}{self.low}"

    def price(self) -> int:
        # Counting words means cutting the page into them.
        return 45 if self.field == "words" else 1

    def bounds(self) -> tuple[float, float]:
        """The least and the greatest count that passes."""
        match self.op:
            case "=":
                return self.low, self.low
            case "<":
                return 0, self.low - 1
            case "<=":
                return 0, self.low
            case ">":
                return self.low + 1, float("inf")
            case ">=":
                return self.low, float("inf")
            case "..":
                return self.low, self.high or 0

    def matcher(self, resources: Resources) -> Matcher:
        return NumberMatcher(self)


class NumberMatcher:
    """Every comparison as a range."""

    __slots__ = ("_field", "_high", "_low")

    def __init__(self, atom: Number) -> None:
        self._field = atom.field
        self._low, self._high = atom.bounds()

    def degree(self, view: PageView) -> float:
        match self._field:
            case "depth":
                number = view.page.depth
            case "status":
                number = view.page.status
            case _:
                number = view.index("text").length
        return 1.0 if self._low <= number <= self._high else 0.0

    def link(self, anchor: str, url: str) -> float:
        return 0.0


def make(value: Value) -> Atom:
    """Understand a comparison."""
    field = value.field
    text = "".join(value.plain(f"{field}:>300").split())
    found = _COMPARISON.fullmatch(text)
    span = _RANGE.fullmatch(text)
    try:
        if found:
            op: Operator = found[1] or "="  # type: ignore[assignment]  # the pattern has no others
            return Number(field, op, int(found[2]))
        if span:
            return Number(field, "..", int(span[1]), int(span[2]))
    except ValueError as error:
        value.fail(str(error))
    value.fail(f"{field}: needs a number, such as {field}:>300, {field}:<=300 or {field}:200..2000")


FIELDS: dict[str, Maker] = {"words": make, "depth": make, "status": make}
