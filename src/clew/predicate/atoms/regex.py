"""Regular expressions: `/turbines?\\b/i` on title and text, `url:/\\/20\\d\\d\\//`, `title:/…/`.

Python's syntax without look-around, back-references and atomic groups: what is left can be matched in
time proportional to the text, whatever the pattern and whatever the page (`clew.predicate.safe_regex`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from clew.predicate.atoms.base import Clue, Leaf, Matcher, Resources, Value
from clew.predicate.formula import Atom
from clew.predicate.safe_regex import Search, Unsupported, search
from clew.predicate.view import PageView
from clew.url import host

#: Only so many characters of a text are looked at.
MAX_SCAN = 200_000
#: The longest pattern.
MAX_PATTERN = 1000
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
_PAIR = re.compile(r"\\(.)|/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Regex(Leaf):
    """A pattern to be found somewhere in a field; crisp: found is 1, not found is 0.

    >>> str(Regex("a/b", "i")), str(Regex("a", field="url"))
    ('/a\\\\/b/i', 'url:/a/')
    """

    pattern: str
    flags: str = ""
    field: str = ""

    cost = 80

    def __post_init__(self) -> None:
        # `\/` and `/` mean the same between slashes: keep one spelling, so that equal means equal.
        plain = _PAIR.sub(lambda pair: "/" if pair[0] == r"\/" else pair[0], self.pattern)
        object.__setattr__(self, "pattern", plain)
        object.__setattr__(self, "flags", "".join(sorted(set(self.flags))))
        if not plain:
            raise ValueError("the regular expression is empty")
        if len(plain) > MAX_PATTERN:
            raise ValueError(f"the regular expression is longer than {MAX_PATTERN} characters")
        unknown = [flag for flag in self.flags if flag not in _FLAGS]
        if unknown:
            raise ValueError(
                f"unknown flag {unknown[0]!r} after the regular expression (known: i, m, s); "
                "to look for a text with slashes, put it in quotation marks"
            )
        self.compiled()

    def __str__(self) -> str:
        prefix = f"{self.field}:" if self.field else ""
        body = _PAIR.sub(lambda pair: r"\/" if pair[0] == "/" else pair[0], self.pattern)
        return f"{prefix}/{body}/{self.flags}"

    def compiled(self) -> Search:
        """The search; raises `Unsupported` with the place in the pattern."""
        return search(self.pattern, sum([_FLAGS[flag] for flag in self.flags]))

    def price(self) -> int:
        return 3 if self.field in ("url", "host", "title", "desc") else self.cost

    def hint(self) -> Clue:
        return Clue.LINK if self.field in ("url", "host") else Clue.NONE

    def matcher(self, resources: Resources) -> Matcher:
        return RegexMatcher(self)


class RegexMatcher:
    """The compiled search."""

    __slots__ = ("_field", "_found")

    def __init__(self, atom: Regex) -> None:
        self._field = atom.field
        self._found = atom.compiled()

    def degree(self, view: PageView) -> float:
        if self._field == "host":
            return self.link("", view.page.url)
        found = any(self._found(text[:MAX_SCAN]) for text in view.subjects(self._field))
        return 1.0 if found else 0.0

    def link(self, anchor: str, url: str) -> float:
        if self._field == "host":
            url = host(url) if "//" in url else ""
        return 1.0 if self._found(url[:MAX_SCAN]) else 0.0


def make_regex(value: Value) -> Atom:
    """Understand `/pattern/flags`; refusals point into the pattern."""
    if value.near is not None:
        value.fail("~ is for words between quotation marks")
    try:
        return Regex(value.text, value.flags, value.field)
    except Unsupported as error:
        value.fail(str(error), value.offsets[min(error.position, len(value.offsets) - 1)])
    except ValueError as error:
        value.fail(str(error))
