"""`StopRule`: when to stop, as one expression over what a crawl has spent and found.

    matches >= 500 or misses >= 5000 or stale >= 2000 or precision < 0.02 over 500 or best < 0.1

These are the termination criteria of Ester, Groß and Kriegel, section 3.4, each a clause:

    frontier empty                                    exhausted
    so many relevant pages                            matches >= 500
    so many irrelevant pages                          misses >= 5000
    so many irrelevant ones since the last relevant   stale >= 2000
    precision below                                   precision < 0.02 over 500
    best score at the frontier below                  best < 0.1
    tunnelling cannot generalise further              widest
    the finds contain a community                     community

Two more look at how much is left (`clew.policy.recall`): `recall >= 0.9`, by the crawl's own estimate, and
`known >= 0.9`, by targets that were known before. Both mean the lower end of the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any, Protocol

from lark import Lark, Token, UnexpectedInput

from clew.errors import StopSyntaxError
from clew.policy.tally import Tally
from clew.spelling import closest
from clew.units import duration_text, seconds, size, size_text

COUNTS = ("pages", "matches", "requests", "misses", "stale")
"""Whole numbers that can be compared."""
SHARES = ("precision", "recall", "known")
"""Numbers from 0 to 1."""
QUANTITIES = (*COUNTS, "time", "bytes", *SHARES, "best")
FLAGS = ("exhausted", "widest", "community")
OPERATORS = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}
COMMUNITY_SIZE = 10
"""Finds that a `community` has at least."""
FEWEST_PAGES = 50
"""Pages there must be before `precision` without `over` is believed."""

_GRAMMAR = r"""
    start: any
    any: all ("or"i all)*
    all: _part ("and"i _part)*
    _part: "(" any ")" | clause
    clause: NAME [OPERATOR VALUE ["over"i VALUE]]
    NAME: /(?!(or|and|over)\b)[a-zA-Z_-]+/i
    OPERATOR: ">=" | "<=" | ">" | "<"
    VALUE: /-?[0-9][0-9a-zA-Z._]*%?/
    %ignore /\s+/
"""


class Prospects(Protocol):
    """What a rule asks of a crawl beyond its tally."""

    def best(self, enough: float = ...) -> float:
        """The greatest score at the frontier, or one of at least `enough`; -inf when nothing is queued."""

    def exhausted(self) -> bool:
        """Whether nothing is queued and nothing under way."""

    def community(self) -> int:
        """The number of finds in the largest community among them."""

    def recall(self) -> float | None:
        """The lower end of the estimate of recall; None while there is too little to say."""

    def known(self) -> float | None:
        """The lower end of recall by the targets that were known before; None where there are none."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a clause is: its text, the value it looks at, and whether it holds."""

    clause: str
    value: str
    met: bool


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition: a quantity compared with a limit, or a flag."""

    name: str
    operator: str = ""
    limit: float = 0.0
    over: int = 0

    def __str__(self) -> str:
        if not self.operator:
            return self.name
        window = f" over {self.over}" if self.over else ""
        return f"{self.name} {self.operator} {self._exactly(self.limit)}{window}"

    def value(
        self, tally: Tally, elapsed: float, prospects: Prospects, enough: float = math.inf
    ) -> float | None:
        """What the clause looks at; None while there is too little to say. Of `best`, a value of `enough` or
        more need not be exact."""
        match self.name:
            case "time":
                return tally.elapsed + elapsed
            case "bytes":
                return tally.wire
            case "precision":
                return tally.precision(self.over) if tally.pages >= (self.over or FEWEST_PAGES) else None
            case "best":
                return prospects.best(enough) if tally.pages else None
            case "exhausted":
                return float(prospects.exhausted()) if tally.pages else None
            case "community":
                return prospects.community()
            case "recall":
                return prospects.recall()
            case "known":
                return prospects.known()
        return float(getattr(tally, self.name))

    def met(self, tally: Tally, elapsed: float, prospects: Prospects) -> bool:
        """Whether it holds now."""
        # One step beyond the limit decides every comparison as the exact value would.
        value = self.value(tally, elapsed, prospects, math.nextafter(self.limit, math.inf))
        if value is None:
            return False
        match self.operator:
            case ">=":
                return value >= self.limit
            case ">":
                return value > self.limit
            case "<=":
                return value <= self.limit
            case "<":
                return value < self.limit
        return value >= COMMUNITY_SIZE if self.name == "community" else bool(value)

    def standing(self, tally: Tally, elapsed: float, prospects: Prospects) -> Standing:
        """How far it is, in words."""
        value = self.value(tally, elapsed, prospects)
        if value is None:
            shown = "too early to say"
        elif self.name in ("exhausted", "widest"):
            shown = "yes" if value else "no"
        else:
            shown = self._shown(value)
        return Standing(str(self), shown, self.met(tally, elapsed, prospects))

    def _exactly(self, limit: float) -> str:
        """A limit as it is read back to the last bit; in people's units where that loses nothing."""
        if self.name in ("time", "bytes"):
            shown = self._shown(limit)
            if (seconds if self.name == "time" else size)(shown) == limit:
                return shown
        return format(Decimal(repr(limit)), "f").removesuffix(".0")

    def _shown(self, value: float) -> str:
        match self.name:
            case "time":
                return duration_text(value)
            case "bytes":
                return size_text(value).replace(" ", "")
            case "precision" | "recall" | "known" | "best":
                return f"{value:.3g}"
        return str(int(value))


@dataclass(frozen=True, slots=True)
class StopRule:
    """Clauses joined by `or` and `and`; `and` binds closer.

    >>> rule = StopRule.parse("matches >= 500 or stale>=2_000 and time > 1h30m")
    >>> str(rule)
    'matches >= 500 or stale >= 2000 and time > 1h30m'
    """

    alternatives: tuple[tuple[Clause | StopRule, ...], ...]
    """What `or` joins, each of them what `and` joins."""

    @staticmethod
    def parse(text: str) -> StopRule:
        """Read a rule; raises `StopSyntaxError`, which knows the column."""
        return _parse(text)

    def __str__(self) -> str:
        return " or ".join(
            " and ".join(f"({part})" if isinstance(part, StopRule) else str(part) for part in parts)
            for parts in self.alternatives
        )

    def clauses(self) -> list[Clause]:
        """Every condition, from left to right."""
        found: list[Clause] = []
        for parts in self.alternatives:
            for part in parts:
                found += part.clauses() if isinstance(part, StopRule) else [part]
        return found

    def needs(self, name: str) -> bool:
        """Whether a clause looks at this."""
        return any(clause.name == name for clause in self.clauses())

    def met(self, tally: Tally, elapsed: float, prospects: Prospects) -> str | None:
        """The alternative that holds, in words; None while none does."""
        for parts in self.alternatives:
            held = [_held(part, tally, elapsed, prospects) for part in parts]
            if None not in held:
                return " and ".join(word for word in held if word)
        return None


def _held(part: Clause | StopRule, tally: Tally, elapsed: float, prospects: Prospects) -> str | None:
    if isinstance(part, StopRule):
        return part.met(tally, elapsed, prospects)
    return str(part) if part.met(tally, elapsed, prospects) else None


@cache
def _grammar() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", lexer="contextual")


@lru_cache(64)
def _parse(text: str) -> StopRule:
    if len(text) > 2000:
        raise StopSyntaxError("a stop rule has at most 2,000 characters", text, 2000)
    if not text.strip():
        raise StopSyntaxError("say when to stop, such as 'matches >= 500 or stale >= 2000'", text, 0)
    if text.count("(") > 50:
        raise StopSyntaxError("a stop rule has at most 50 parentheses", text, text.index("("))
    try:
        tree = _grammar().parse(text)
    except UnexpectedInput as error:
        ended = getattr(getattr(error, "token", None), "type", "") == "$END"
        at = len(text) if ended else (error.pos_in_stream or 0)
        wanted = "expected a clause such as matches >= 500, 'or' or 'and'"
        if at < len(text) and text[at] == "=":
            wanted = "write >= or <=: a limit that is passed between two looks would never be equal"
        raise StopSyntaxError(wanted, text, at) from None
    return _any(text, tree.children[0])


def _any(text: str, tree: Any) -> StopRule:
    return StopRule(
        tuple(
            tuple(_any(text, part) if part.data == "any" else _clause(text, part) for part in parts.children)
            for parts in tree.children
        )
    )


def _clause(text: str, tree: Any) -> Clause:
    word, operator, value, over = tree.children
    name, at = word.lower(), word.start_pos
    if name not in QUANTITIES + FLAGS:
        close = closest(name, QUANTITIES + FLAGS)
        hint = f"did you mean {close!r}?" if close else f"choose from {', '.join(QUANTITIES + FLAGS)}"
        raise StopSyntaxError(f"unknown clause {name!r}: {hint}", text, at)
    if name in FLAGS:
        if operator is not None and name != "community":
            raise StopSyntaxError(f"{name!r} stands alone: it holds or it does not", text, at)
        if operator is None:
            return Clause(name)
    if operator is None or value is None:
        raise StopSyntaxError(f"{name!r} needs a limit, such as {_EXAMPLES[name]}", text, at)
    if over is not None and name != "precision":
        raise StopSyntaxError(f"'over' goes with precision, not with {name!r}", text, over.start_pos)
    if name in ("recall", "known") and operator not in (">=", ">"):
        raise StopSyntaxError(f"{name!r} is the lower end of an interval: write {_EXAMPLES[name]}", text, at)
    limit = _limit(text, name, value)
    window = _whole(text, over) if over is not None else 0
    return Clause(name, str(operator), limit, window)


_EXAMPLES = {
    "pages": "pages >= 1000", "matches": "matches >= 500", "requests": "requests >= 5000",
    "misses": "misses >= 5000", "stale": "stale >= 2000", "time": "time >= 2h", "bytes": "bytes >= 500MB",
    "precision": "precision < 0.02 over 500", "recall": "recall >= 0.9",
    "known": "known >= 0.9", "best": "best < 0.1", "community": "community >= 20",
}  # fmt: skip


def _limit(text: str, name: str, token: Token) -> float:
    at = token.start_pos or 0
    if name in COUNTS or name == "community":
        return _whole(text, token)
    try:
        if name == "time":
            return seconds(str(token))
        if name == "bytes":
            return size(str(token))
        number = float(token.rstrip("%")) / (100 if token.endswith("%") else 1)
    except ValueError as error:
        raise StopSyntaxError(f"{name}: {error}", text, at) from None
    if name in SHARES and not 0 <= number <= 1:
        raise StopSyntaxError(f"{name} is a share: write 0.02 or 2%", text, at)
    return number


def _whole(text: str, token: Token) -> int:
    at = token.start_pos or 0
    plain = token.replace("_", "")
    if not plain.isascii() or not plain.isdigit() or len(plain) > 15:
        raise StopSyntaxError(f"{str(token)!r} is not a whole number", text, at)
    return int(plain)
