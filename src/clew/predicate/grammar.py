"""The structure of a formula: lexemes to a tree, and a plain word for what is wrong with it.

    OR binds loosest, then AND (or nothing at all between two terms), then NOT and `-`, then `^weight`.

The grammar is LALR, so a formula is read in one pass, whatever it holds.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NoReturn

from lark import Lark, Token, Tree, UnexpectedToken

from clew.errors import PredicateSyntaxError
from clew.predicate.formula import And, AtLeast, Formula, Not, Or, Weighted
from clew.predicate.lexer import MAX_DEPTH, Lexeme, Lexer

_GRAMMAR = """
    start: _any
    _any: _all | any
    any: _all (OR _all)+
    _all: _term | all
    all: _term (AND? _term)+
    _term: _part | negation
    negation: (NOT | MINUS) _term
    _part: _unit | weighted
    weighted: _unit WEIGHT
    _unit: ATOM | group | atleast
    group: LPAR _any RPAR
    atleast: ATLEAST _any (COMMA _any)* RPAR
    %declare ATOM AND OR NOT MINUS WEIGHT LPAR RPAR ATLEAST COMMA
"""

_OPERATORS = {"AND": "AND", "OR": "OR", "NOT": "NOT", "MINUS": "-"}


def parse(text: str, *, allow_python: bool = False) -> Formula:
    """Read a formula; raises `PredicateSyntaxError`, which knows the column, and nothing else.

    Parameters: `allow_python` permits `py:module:function`, which runs code. Say so only for text that the
    user of this machine wrote.

    >>> parse('"wind farm" -lang:de')
    And(parts=(Text(text='wind farm', field='', near=None), Not(part=Lang(code='de'))))
    """
    lexemes = Lexer(text, allow_python).run()
    _check_nesting(text, lexemes)
    reader = _lark().parse_interactive("")
    try:
        for i, lexeme in enumerate(lexemes):
            reader.feed_token(Token(lexeme.kind, str(i)))
        tree = reader.feed_token(Token("$END", str(len(lexemes))))
    except UnexpectedToken as error:
        _explain(text, lexemes, int(error.token))
    return _Builder(text, lexemes).build(tree.children[0])[0]


@cache
def _lark() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", lexer="basic")


def _check_nesting(text: str, lexemes: list[Lexeme]) -> None:
    """Refuse deep nesting before anything recursive sees it, and parentheses that do not pair."""
    opened: list[int] = []
    denials = 0
    for lexeme in lexemes:
        denials = denials + 1 if lexeme.kind in ("NOT", "MINUS") else 0
        if lexeme.kind in ("LPAR", "ATLEAST"):
            opened.append(lexeme.start)
        elif lexeme.kind == "RPAR":
            if not opened:
                raise PredicateSyntaxError("closing parenthesis without an opening one", text, lexeme.start)
            opened.pop()
        if len(opened) > MAX_DEPTH or denials > MAX_DEPTH:
            _too_deep(text, lexeme.start)


def _too_deep(text: str, at: int) -> NoReturn:
    raise PredicateSyntaxError(f"the formula is nested more than {MAX_DEPTH} levels deep", text, at)


class _Builder:
    """Turns lark's tree into a formula, minding the depth and the position of what is wrong."""

    def __init__(self, text: str, lexemes: list[Lexeme]) -> None:
        self._text = text
        self._lexemes = lexemes

    def build(self, tree: Any) -> tuple[Formula, int, int]:
        """(formula, its depth, where it starts)."""
        if isinstance(tree, Token):
            atom = self._lexemes[int(tree)]
            assert isinstance(atom.load, Formula)
            return atom.load, 1, atom.start
        first = self._lexeme(tree.children[0])
        last = self._lexeme(tree.children[-1])
        built = [
            self.build(child) for child in tree.children if isinstance(child, Tree) or child.type == "ATOM"
        ]
        parts = tuple([part for part, _, _ in built])
        depth = 1 + max([depth for _, depth, _ in built])
        start = first.start if first else built[0][2]
        if tree.data == "group":
            return parts[0], depth - 1, start
        if depth > MAX_DEPTH:
            _too_deep(self._text, start)
        at = last.start if last and tree.data == "weighted" else start
        try:
            return self._node(tree.data, parts, first, last), depth, start
        except ValueError as error:
            raise PredicateSyntaxError(str(error), self._text, at) from None

    def _lexeme(self, child: Any) -> Lexeme | None:
        return self._lexemes[int(child)] if isinstance(child, Token) else None

    def _node(
        self, rule: str, parts: tuple[Formula, ...], first: Lexeme | None, last: Lexeme | None
    ) -> Formula:
        match rule:
            case "any":
                return Or(parts)
            case "all":
                return And(parts)
            case "negation":
                return Not(parts[0])
            case "weighted":
                assert last is not None
                assert isinstance(last.load, float)
                return Weighted(parts[0], last.load)
            case _:
                assert first is not None
                assert isinstance(first.load, int)
                return AtLeast(first.load, parts)


def _explain(text: str, lexemes: list[Lexeme], index: int) -> NoReturn:
    """Say in plain words why the lexeme at `index` cannot stand there."""
    here = lexemes[index] if index < len(lexemes) else Lexeme("END", len(text))
    before = lexemes[index - 1] if index else Lexeme("BEGIN", 0)
    at = here.start
    if before.kind in _OPERATORS:
        problem = f"expected a term after {_OPERATORS[before.kind]}"
    elif not lexemes:
        problem = "the formula is empty: write a word to look for"
    elif before.kind == "LPAR" and here.kind == "RPAR":
        problem, at = "there is nothing between these parentheses", before.start
    elif before.kind in ("LPAR", "ATLEAST", "COMMA", "BEGIN") and here.kind != "END":
        problem = _MISPLACED[here.kind]
    elif here.kind == "COMMA":
        problem = "a comma only separates the terms of atleast(…); if it is part of a text, quote the text"
    elif here.kind == "WEIGHT":
        problem = "one weight is enough"
    else:
        problem, at = "missing closing parenthesis", _opened(lexemes)
    raise PredicateSyntaxError(problem, text, at)


_MISPLACED = {
    "AND": "expected a term before AND",
    "OR": "expected a term before OR",
    "WEIGHT": "a weight must follow the term it belongs to",
    "COMMA": "expected a term before the comma",
    "RPAR": "expected a term before the closing parenthesis",
}


def _opened(lexemes: list[Lexeme]) -> int:
    """Where the innermost parenthesis that is never closed stands."""
    opened: list[int] = []
    for lexeme in lexemes:
        if lexeme.kind in ("LPAR", "ATLEAST"):
            opened.append(lexeme.start)
        elif lexeme.kind == "RPAR":
            opened.pop()
    return opened[-1]
