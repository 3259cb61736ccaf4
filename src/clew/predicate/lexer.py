"""Cuts the text of a formula into lexemes and makes the atoms; the structure is the grammar's business.

Every problem found here is one of spelling, and its message says what was meant and how to write it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from clew.errors import PredicateSyntaxError
from clew.predicate.atoms import ALIASES, Value, fields, number, topic
from clew.predicate.formula import Formula
from clew.spelling import closest

#: The longest formula, in characters.
MAX_LENGTH = 10_000
#: How deep parentheses, NOTs and groups may nest.
MAX_DEPTH = 64

_SPACE = re.compile(r"\s*")
_FIELD = re.compile(r"([^\W\d_]+):")
_BARE = re.compile(r'(?:\\.|[^\s"“”„«»(),^\\])+', re.DOTALL)
#: Between straight marks, or between those a word processor makes of them.
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)"|[“”„«»]((?:\\.|[^"“”„«»\\])*)["“”«»]', re.DOTALL)
_QUOTES = frozenset('"“”„«»')
_NEAR = re.compile(r"~(\d*)")
_REGEX = re.compile(r"/((?:\\.|[^/\\])*)/(\w*)", re.DOTALL)
_WEIGHT = re.compile(r"\^(\d{1,6}(?:\.\d{1,20})?)(?![\w.])")
_ATLEAST = re.compile(r"atleast\s*\(\s*(\d{1,9})\s*,")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_FOREIGN = {"&&": "AND", "&": "AND", "||": "OR", "|": "OR", "!": "NOT"}
_PUNCTUATION = {"(": "LPAR", ")": "RPAR", ",": "COMMA"}


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A piece of the formula: its kind, where it starts, and what it carries (an atom, a number)."""

    kind: str
    start: int
    load: Formula | int | float | None = None


class Lexer:
    """Walks over one formula.

    >>> [lexeme.kind for lexeme in Lexer("a AND -b^2", False).run()]
    ['ATOM', 'AND', 'MINUS', 'ATOM', 'WEIGHT']
    """

    __slots__ = ("_allow_python", "_at", "_text")

    def __init__(self, text: str, allow_python: bool) -> None:
        self._text = text
        self._allow_python = allow_python
        self._at = 0

    def run(self) -> list[Lexeme]:
        """All the lexemes, in order."""
        if len(self._text) > MAX_LENGTH:
            self._fail(f"the formula is longer than {MAX_LENGTH} characters", MAX_LENGTH)
        try:
            self._text.encode()
        except UnicodeEncodeError as error:
            self._fail("this is not valid text", error.start)
        found: list[Lexeme] = []
        while True:
            self._at += len(self._take(_SPACE))
            if self._at >= len(self._text):
                return found
            found.append(self._next())

    def _next(self) -> Lexeme:
        start, char = self._at, self._text[self._at]
        if char in _PUNCTUATION:
            self._at += 1
            return Lexeme(_PUNCTUATION[char], start)
        if char == "^":
            return self._weight(start)
        if char == "-":
            self._at += 1
            if self._text[self._at : self._at + 1].strip() in ("", ")", ","):
                self._fail("'-' must touch the term it excludes, as in -noise", start)
            return Lexeme("MINUS", start)
        counted = _ATLEAST.match(self._text, start)
        if counted:
            self._at = counted.end()
            return Lexeme("ATLEAST", start, int(counted[1]))
        field = _FIELD.match(self._text, start)
        if field:
            return self._field(field)
        if char == "/" or char in _QUOTES:
            return Lexeme("ATOM", start, self._atom("", start))
        return self._word(start)

    def _weight(self, start: int) -> Lexeme:
        found = _WEIGHT.match(self._text, start)
        if not found:
            self._fail("a weight is a number after ^, such as ^2 or ^0.5", start)
        self._at = found.end()
        return Lexeme("WEIGHT", start, float(found[1]))

    def _word(self, start: int) -> Lexeme:
        raw = self._take(_BARE)
        if raw in ("AND", "OR", "NOT"):
            self._at += len(raw)
            return Lexeme(raw, start)
        if raw == "atleast" and re.match(r"\s*\(", self._text[start + len(raw) :]):
            self._fail("atleast begins with how many: atleast(2, a, b, c)", start)
        foreign = _FOREIGN.get(raw) or ("NOT" if raw.startswith("!") else None)
        if foreign:
            self._fail(f"write {foreign} in capitals instead of {raw if raw in _FOREIGN else '!'!r}", start)
        return Lexeme("ATOM", start, self._atom("", start))

    def _field(self, match: re.Match[str]) -> Lexeme:
        start, name = match.start(), match[1].lower()
        name = ALIASES.get(name, name)
        if name not in fields():
            self._fail(self._unknown(match[1], match.end()), start)
        self._at = match.end()
        spaced = number.SPACED.match(self._text, self._at) if name in number.FIELDS else None
        if spaced:
            self._at = spaced.end()
            return Lexeme(
                "ATOM", start, fields()[name](self._value("bare", spaced.group(), name, match.end()))
            )
        rest = self._text[self._at : self._at + 1]
        if not rest.strip() or rest in "),^":
            self._fail(f"expected a value directly after {name}:", self._at)
        if rest == "(":
            self._fail(f"{name}: takes one value; repeat it: {name}:a OR {name}:b", self._at)
        return Lexeme("ATOM", start, self._atom(name, self._at))

    def _unknown(self, name: str, end: int) -> str:
        if name.lower() in ("http", "https") or self._text.startswith("//", end):
            return "to look for an address, write url: before it, or put it in quotation marks"
        known = [field for field in fields() if field]
        near = closest(name, known)
        if near:
            return f"unknown field {name!r}: did you mean {near!r}?"
        return f"unknown field {name!r} (known: {', '.join(sorted(known))}); to look for the text, quote it"

    def _atom(self, field: str, start: int) -> Formula:
        """Read a value at `start` and have the field's maker understand it."""
        char = self._text[start]
        if char in _QUOTES:
            value = self._quoted(field, start)
        elif char == "/" and field not in topic.FIELDS:
            value = self._regex(field, start)
        else:
            value = self._bare(field, start)
        return fields()[field](value)

    def _bare(self, field: str, start: int) -> Value:
        self._at = start
        raw = self._take(_BARE)
        if not raw:
            self._fail("a backslash must stand before the character it escapes", start)
        self._at += len(raw)
        if "~" in raw and field not in ("url", "host", "type", "py", "like"):
            self._fail('~ belongs behind quotation marks, as in "wind farm"~3', start + raw.index("~"))
        return self._value("bare", _ESCAPE.sub(r"\1", raw), field, start)

    def _quoted(self, field: str, start: int) -> Value:
        found = _QUOTED.match(self._text, start)
        if not found:
            self._fail("missing closing quotation mark", start)
        self._at = found.end()
        near = _NEAR.match(self._text, self._at)
        distance = None
        if near:
            if not 1 <= len(near[1]) <= 6:
                self._fail('~ needs a number, as in "wind farm"~3', self._at)
            distance = int(near[1])
            self._at = near.end()
        above = topic.ABOVE.match(self._text, self._at) if field in topic.FIELDS else None
        if above:
            self._at = above.end()
        text = _ESCAPE.sub(r"\1", found[1] or found[2] or "")
        if not text.strip():
            self._fail("there is nothing between the quotation marks", start)
        return self._value("quoted", text, field, start, near=distance, above=above[1] if above else None)

    def _regex(self, field: str, start: int) -> Value:
        found = _REGEX.match(self._text, start)
        if not found:
            self._fail("missing closing / of the regular expression", start)
        self._at = found.end()
        raw, base = found[1], found.start(1)
        # `\/` becomes `/`, so from there on the pattern and the formula are out of step.
        kept = [i for i in range(len(raw)) if not _escapes_slash(raw, i)]
        pattern = "".join([raw[i] for i in kept])
        offsets = (*[base + i for i in kept], base + len(raw))
        return self._value("regex", pattern, field, start, flags=found[2], offsets=offsets)

    def _value(self, kind: str, text: str, field: str, start: int, **more: object) -> Value:
        return Value(kind, text, field, self._text, start, allow_python=self._allow_python, **more)  # type: ignore[arg-type]

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        return found.group() if found else ""

    def _fail(self, problem: str, at: int) -> NoReturn:
        raise PredicateSyntaxError(problem, self._text, at)


def _escapes_slash(raw: str, at: int) -> bool:
    """Whether this character is a backslash that stands for nothing but the slash behind it."""
    if raw[at : at + 2] != "\\/":
        return False
    run = len(raw[: at + 1]) - len(raw[: at + 1].rstrip("\\"))
    return run % 2 == 1
