"""What docs/predicate.md and the docstrings say is so."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import clew.predicate
from clew.errors import PredicateSyntaxError
from clew.page import Page
from clew.predicate import compile, parse  # noqa: A004
from clew.predicate.atoms import fields
from clew.predicate.lexer import MAX_DEPTH, MAX_LENGTH
from clew.predicate.safe_regex import MAX_POSITIONS

DOCS = Path(__file__).parents[2] / "docs" / "predicate.md"
TEXT = DOCS.read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(.+)` \| `(.+)` \| `(.+)` \|$", TEXT, re.MULTILINE)
ERRORS = re.findall(r"^(.+)\n→ (.+) \(column (\d+)\)$", TEXT, re.MULTILINE)
PARTS = {
    "title": "title",
    "url": "url",
    "lang": "language",
    "type": "type",
    "desc": "description",
    "main": "main",
}


def page(cell: str) -> Page:
    fields: dict[str, str | int] = {"url": "https://a.example/", "language": "en"}
    for part in cell.split(" · "):
        name, given, value = part.partition("=")
        if given and name in PARTS:
            fields[PARTS[name]] = value
        elif given and name in ("depth", "status"):
            fields[name] = int(value)
        else:
            fields["text"] = part.replace(" ⏎ ", "\n")
    return Page(**fields)


@pytest.mark.parametrize(("formula", "met", "missed"), ROWS)
def test_a_row_of_the_tables_is_true(formula, met, missed):
    assert compile(formula).judge(page(met)).satisfied
    assert not compile(formula).judge(page(missed)).satisfied
    assert parse(str(parse(formula))) == parse(formula)


@pytest.mark.parametrize(("formula", "problem", "column"), ERRORS)
def test_an_error_of_the_page_reads_as_shown(formula, problem, column):
    with pytest.raises(PredicateSyntaxError) as caught:
        parse(formula)
    assert (caught.value.problem, caught.value.position + 1) == (problem, int(column))


def test_the_page_has_its_tables_and_tells_of_every_field_and_limit():
    assert len(ROWS) > 45
    assert len(ERRORS) == 5
    assert all(f"`{field}:" in TEXT for field in fields() if field)
    for number in (MAX_LENGTH, MAX_DEPTH, MAX_POSITIONS, 200_000):
        assert f"{number:,}" in TEXT


def test_the_degrees_given_are_the_degrees():
    def degree(formula: str, times: int, words: int) -> float:
        text = " ".join(["wind"] * times + ["x"] * (words - times))
        return compile(formula).judge(Page(url="http://a.example/", text=text)).score

    assert degree("wind", 1, 500) == 0.75
    assert round(degree("wind", 5, 500), 2) == 0.92
    assert round(degree("wind", 1, 20_000), 2) == 0.57


MODULES = [
    "clew.words.cut",
    "clew.words.stems",
    *[m.name for m in pkgutil.walk_packages(clew.predicate.__path__, "clew.predicate.")],
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed == 0
