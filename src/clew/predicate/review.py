"""A second reading of a formula: what may have been meant otherwise, and what no page can satisfy.

The first gives notes, for the formula is valid as it stands; the second is an error. Both know the column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from clew.errors import PredicateSyntaxError, UsageError
from clew.predicate.atoms import HostAtom, Lang, Number, Text, TopicAtom
from clew.predicate.atoms.number import FIELDS as COUNTS
from clew.predicate.formula import And, AtLeast, Formula, Not, Or, Weighted, weight
from clew.predicate.interests import formulas
from clew.predicate.lexer import Lexeme, Lexer
from clew.topic import TopicLibrary

_BARE = re.compile(r"[^\s(),^]+")
_COMPARED = re.compile(rf"({'|'.join(COUNTS)})([<>=]=?)(\d*)")
_PATTERN = re.compile(r"\w\[[^]]+\]|\w[?+]\w|\.[*+]|\w\{\d|\w\|\w|\\[dws]")
_NEARNESS = re.compile(r"(?:NEAR|ADJ|WITHIN)(?:/\d+)?")
#: ISO 639-1, two letters each.
_CODES = frozenset(
    re.findall(
        "..",
        "aaabaeafakamanarasavayazbabebgbhbibmbnbobrbscacechcocrcscucvcydadedvdzeeeleneoeseteufafffifjfofrfyga"
        "gdglgngugvhahehihohrhthuhyhziaidieigiiikioisitiujajvkakgkikjkkklkmknkokrkskukvkwkylalblglilnloltlulv"
        "mgmhmimkmlmnmrmsmtmynanbndnengnlnnnonrnvnyocojomorospapiplpsptqurmrnrorurwsascsdsesgshsiskslsmsnsosq"
        "srssstsusvswtatetgthtitktltntotrtstttwtyugukuruzvevivowawoxhyiyozazhzu",
    )
)
#: Codes of countries that are taken for those of languages.
_COUNTRIES = {"jp": "ja", "cn": "zh", "gr": "el", "dk": "da", "cz": "cs", "us": "en", "gb": "en", "at": "de"}


@dataclass(frozen=True, slots=True)
class Note:
    """Something in a formula that may have been meant otherwise."""

    text: str
    position: int

    def __str__(self) -> str:
        return f"{self.text} (column {self.position + 1})"


def notes(text: str) -> tuple[Note, ...]:
    """What in the text of a valid formula may have been meant otherwise, from left to right.

    >>> [str(note) for note in notes("wind and farm")]
    ["'and' is looked for as a word: in capitals, AND joins two terms (column 6)"]
    """
    each = formulas(text)
    if len(each) == 1 and "" not in each:
        (name,) = each
        said = f"{name!r} is the name of what is looked for: to look for this as a text, put it in quotes"
        return (Note(said, 0), *_notes(each[name], f"{name}: "))
    return tuple([note for name, one in each.items() for note in _notes(one, f"{name}: " if name else "")])


def _notes(text: str, before: str) -> Iterator[Note]:
    for lexeme in Lexer(text, True).run():
        if lexeme.kind == "ATOM":
            yield from [Note(before + said, lexeme.start) for said in _doubts(text, lexeme)]


def _doubts(text: str, lexeme: Lexeme) -> Iterator[str]:
    atom = lexeme.load
    if isinstance(atom, Lang) and atom.code not in _CODES and atom.code != "*":
        hint = f"; did you mean lang:{_COUNTRIES[atom.code]}?" if atom.code in _COUNTRIES else ""
        yield f"no language has the code {atom.code!r}{hint}"
    found = _BARE.match(text, lexeme.start)
    if not isinstance(atom, Text) or atom.field or not found or text[lexeme.start] in '"“”„«»':
        return
    raw = found.group()
    if raw.upper() in ("AND", "OR", "NOT"):
        what = "excludes the next term" if raw.upper() == "NOT" else "joins two terms"
        yield f"{raw!r} is looked for as a word: in capitals, {raw.upper()} {what}"
    elif _NEARNESS.fullmatch(raw):
        yield f'{raw!r} is looked for as a word: for words near each other write "one other"~5'
    elif compared := _COMPARED.fullmatch(raw):
        yield f"{raw!r} is looked for as a text: to compare, write {compared[1]}:{compared[2]}{compared[3]}"
    elif _PATTERN.search(raw):
        yield f"{raw!r} is looked for as it stands: a regular expression is written between slashes, /{raw}/"
    elif raw[0] in "'‘" and raw[-1] not in "'’" and re.search(r"['’](?=[\s),^]|$)", text[found.end() :]):
        yield 'single quotation marks hold no phrase together: write "…"'


def refuse_impossible(text: str, formula: Formula) -> None:
    """Raise `PredicateSyntaxError` for a formula that no page can satisfy at a threshold of 0.5 or more."""
    why = _never(formula)
    if why:
        problem, culprit = why
        starts = [lexeme.start for lexeme in Lexer(text, True).run() if lexeme.load == culprit]
        raise PredicateSyntaxError(f"no page can satisfy this: {problem}", text, starts[-1] if starts else 0)


def refuse_unknown_topics(text: str, topics: TopicLibrary) -> None:
    """Raise `PredicateSyntaxError`, with the column, for a topic that is not there or cannot score yet."""
    for lexeme in Lexer(text, True).run():
        if isinstance(lexeme.load, TopicAtom):
            try:
                topics.topic(lexeme.load.name)
            except UsageError as error:
                raise PredicateSyntaxError(str(error), text, lexeme.start) from None


def _never(formula: Formula, negated: bool = False) -> tuple[str, Formula] | None:
    """Why a formula, or its negation, can never hold, and which atom to point at; None if it may."""
    if isinstance(formula, Not):
        return _never(formula.part, not negated)
    if isinstance(formula, Weighted):
        return _never(formula.part, negated)
    if isinstance(formula, Number) and not negated and formula.bounds()[0] > formula.bounds()[1]:
        return f"{formula} leaves no number", formula
    if isinstance(formula, AtLeast) and not negated:
        whys = [(_never(part), weight(part)) for part in formula.parts]
        left = sum(votes for why, votes in whys if why is None)
        return next((why for why, _ in whys if why), None) if left < formula.count else None
    if not isinstance(formula, And | Or):
        return None
    whys_ = [_never(part, negated) for part in formula.parts]
    if isinstance(formula, Or) != negated:  # one part is enough
        return whys_[0] if all(whys_) else None
    if len({weight(part) for part in formula.parts}) > 1:  # a light part need not hold
        return None
    return next(filter(None, whys_), None) or _clash(list(_literals(formula, negated)))


def _literals(formula: Formula, negated: bool) -> Iterator[tuple[Formula, bool]]:
    """What must hold all at once: each part, and whether it is excluded."""
    while isinstance(formula, Not):
        formula, negated = formula.part, not negated
    if isinstance(formula, Or if negated else And) and len({weight(part) for part in formula.parts}) == 1:
        for part in formula.parts:
            yield from _literals(part, negated)
    else:
        yield formula, negated


def _clash(literals: list[tuple[Formula, bool]]) -> tuple[str, Formula] | None:
    wanted = [part for part, negated in literals if not negated]
    for part in wanted:
        if (part, True) in literals:
            return f"{part} is wanted and excluded", part
    languages = [part for part in wanted if isinstance(part, Lang) and part.code != "*"]
    hosts = [part for part in wanted if isinstance(part, HostAtom) and "*" not in part.pattern]
    for what, found in (("language", languages), ("host", hosts)):
        if len(set(found)) > 1:
            return f"a page has one {what}; write {' OR '.join(map(str, dict.fromkeys(found)))}", found[-1]
    for field in COUNTS:
        counts = [part for part in wanted if isinstance(part, Number) and part.field == field]
        bounds = [part.bounds() for part in counts]
        if bounds and max(low for low, _ in bounds) > min(high for _, high in bounds):
            return f"{' AND '.join(map(str, counts))} leaves no number", counts[-1]
    return None
