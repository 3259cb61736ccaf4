"""Formulas as people type them who know other search engines: taken, asked back or refused, never misread."""

from __future__ import annotations

import pytest
from formulas import formulas, pages
from hypothesis import given

from clew.errors import PredicateSyntaxError
from clew.predicate import FormulaPredicate, compile, notes, parse  # noqa: A004
from clew.predicate.review import refuse_impossible


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("“wind farm” sea", '"wind farm" AND sea'),
        ("„wind farm“", '"wind farm"'),
        ("«wind farm»~3", '"wind farm"~3'),
        ("title:“wind farm”", 'title:"wind farm"'),
        ('"he said “wind”"', '"he said “wind”"'),
        ("words: > 5", "words:>5"),
        ("words:> 5 sea", "words:>5 AND sea"),
        ("words: 200 .. 300", "words:200..300"),
        ("(depth: 2)", "depth:2"),
        ("site:example.org", "host:*.example.org"),
        ("site:*.Example.org/", "host:*.example.org"),
        ("intitle:wind inurl:blog", "title:wind AND url:blog"),
        ("language:en filetype:pdf", "lang:en AND type:pdf"),
    ],
)
def test_what_can_mean_one_thing_only_is_taken(typed, read):
    assert str(parse(typed)) == read
    assert notes(typed) == ()


@pytest.mark.parametrize(
    ("typed", "column", "says"),
    [
        ("wind and farm", 6, "AND joins"),
        ("wind or farm", 6, "OR joins"),
        ("wind not farm", 6, "NOT excludes"),
        ("wind NEAR farm", 6, '"one other"~5'),
        ("wind NEAR/3 farm", 6, '"one other"~5'),
        ("wind words>5", 6, "words:>5"),
        ("licen[cs]e", 1, "/licen[cs]e/"),
        ("colou?r", 1, "/colou?r/"),
        ("a 'wind farm'", 3, "single quotation marks"),
        ("sea lang:xx", 5, "no language has the code 'xx'"),
        ("lang:jp", 1, "did you mean lang:ja?"),
    ],
)
def test_what_may_mean_something_else_is_asked_back_with_the_column(typed, column, says):
    (note,) = notes(typed)
    assert says in str(note)
    assert str(note).endswith(f"(column {column})")


@pytest.mark.parametrize(
    "plain",
    ['"this and that"', "don't", "'tis", "what?", "c++", "AND*", "lang:*", "lang:en-GB", "/colou?r/", "x.y"],
)
def test_what_is_meant_as_it_stands_is_not_asked_back(plain):
    assert notes(plain) == ()


@pytest.mark.parametrize(
    ("typed", "column", "says"),
    [
        ("wind -wind", 7, "wind is wanted and excluded"),
        ("a (b AND NOT a)", 14, "a is wanted and excluded"),
        ("a -(a OR b)", 5, "a is wanted and excluded"),
        ("lang:en lang:de", 9, "a page has one language; write lang:en OR lang:de"),
        ("host:a.example host:b.example", 16, "a page has one host"),
        ("words:>5 sea words:<3", 14, "words:>5 AND words:<3 leaves no number"),
        ("depth:<0", 1, "leaves no number"),
        ("(a -a) OR (b -b)", 5, "a is wanted and excluded"),
        ("atleast(2, a, b -b)", 18, "b is wanted and excluded"),
    ],
)
def test_a_formula_that_can_never_hold_is_refused_with_the_column(typed, column, says):
    with pytest.raises(PredicateSyntaxError) as caught:
        compile(typed)
    assert says in caught.value.problem
    assert caught.value.position + 1 == column


@pytest.mark.parametrize(
    "typed",
    ["a^2 -a", "a OR -a", "lang:en OR lang:de", "lang:en lang:*", "host:*.a.example host:www.a.example",
     "words:>5 words:<7", "atleast(1, a, b -b)", "a -title:a"],
)  # fmt: skip
def test_a_formula_that_may_hold_is_taken(typed):
    compile(typed)


def test_below_half_a_contradiction_may_hold_and_is_taken():
    compile("wind -wind", threshold=0.3)


@given(formulas(), pages)
def test_whatever_some_page_satisfies_is_not_refused(formula, page):
    if FormulaPredicate(formula).judge(page).satisfied:
        refuse_impossible(str(formula), formula)


@given(formulas())
def test_a_second_reading_never_fails(formula):
    assert isinstance(notes(str(formula)), tuple)
