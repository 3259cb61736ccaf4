"""The text of a formula: what parses, to what, what it prints as, and what is said of what does not."""

from __future__ import annotations

import json
import random

import pytest
from formulas import atoms, formulas
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew.errors import PredicateSyntaxError
from clew.predicate import And, AtLeast, Not, Or, Weighted, parse
from clew.predicate.atoms import HostAtom, Lang, Number, Python, Regex, Text, Type, Url, fields
from clew.predicate.lexer import MAX_DEPTH, MAX_LENGTH

A, B, C = Text("a"), Text("b"), Text("c")


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("a", A),
        ("a b", And((A, B))),
        ("a AND b c", And((A, B, C))),
        ("a OR b c", Or((A, And((B, C))))),
        ("a b OR c", Or((And((A, B)), C))),
        ("(a OR b) c", And((Or((A, B)), C))),
        ("a (b c)", And((A, And((B, C))))),
        ("((a))", A),
        ("NOT a b", And((Not(A), B))),
        ("-a", Not(A)),
        ("--a", Not(Not(A))),
        ("-(a OR b)", Not(Or((A, B)))),
        ("NOT(a)", Not(A)),
        ("a^2", Weighted(A, 2)),
        ("NOT a^0.5", Not(Weighted(A, 0.5))),
        ("(NOT a)^2", Weighted(Not(A), 2)),
        ("a ^2 b", And((Weighted(A, 2), B))),
        ("atleast(2, a, b, c)", AtLeast(2, (A, B, C))),
        ("atleast ( 2 , a b, c OR a )", AtLeast(2, (And((A, B)), Or((C, A))))),
        ("atleast(3, a^2, b)", AtLeast(3, (Weighted(A, 2), B))),
        ('"wind farm"', Text("wind farm")),
        ('"wind\n  farm"', Text("wind farm")),
        ('"a"', A),
        ('"wind farm"~3', Text("wind farm", near=3)),
        (r'"say \"hi\" \\o"', Text('say "hi" \\o')),
        ("wind-farm", Text("wind-farm")),
        ("turbin*", Text("turbin*")),
        (r"a\:b", Text("a:b")),
        ("10:30", Text("10:30")),
        ("and", Text("and")),
        ("and/or", Text("and/or")),
        ("title:wind", Text("wind", "title")),
        ("TITLE:wind", Text("wind", "title")),
        ('title:"wind farm"~2', Text("wind farm", "title", 2)),
        ("title:AND", Text("AND", "title")),
        ("host:*.Example.ORG", HostAtom("*.example.org")),
        ("host:bücher.example", HostAtom("xn--bcher-kva.example")),
        ("url:*/~user/*", Url("*/~user/*")),
        ("url:https://a.example/x?y=1:2", Url("https://a.example/x?y=1:2")),
        (r"url:/a\/b/i", Regex("a/b", "i", "url")),
        (r"/\d+\//", Regex(r"\d+/")),
        ("words:>300", Number("words", ">", 300)),
        ("words:=300", Number("words", "=", 300)),
        ("depth:<=3", Number("depth", "<=", 3)),
        ("words:200..2000", Number("words", "..", 200, 2000)),
        ("status:200", Number("status", "=", 200)),
        ("lang:en-GB", Lang("en")),
        ("type:text/*", Type("text/*")),
        ("a(b)c", And((A, B, C))),
        ('a"b"c', And((A, B, C))),
    ],
)
def test_text_parses_to_the_formula(text, formula):
    assert parse(text) == formula
    assert parse(str(formula)) == formula


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", 1, "the formula is empty"),
        ("   ", 4, "the formula is empty"),
        ("a AND", 6, "expected a term after AND"),
        ("a OR OR b", 6, "expected a term after OR"),
        ("NOT", 4, "expected a term after NOT"),
        ("AND a", 1, "expected a term before AND"),
        ("(OR a)", 2, "expected a term before OR"),
        ("a (b OR c", 3, "missing closing parenthesis"),
        ("a) b", 2, "closing parenthesis without an opening one"),
        ("a ()", 3, "nothing between these parentheses"),
        ("a - b", 3, "'-' must touch the term"),
        ('a "b', 3, "missing closing quotation mark"),
        ('a ""', 3, "nothing between the quotation marks"),
        ("a /b", 3, "missing closing / of the regular expression"),
        ("a //", 3, "the regular expression is empty"),
        ("tilte:x", 1, "unknown field 'tilte': did you mean 'title'?"),
        ("a hots:x", 3, "unknown field 'hots': did you mean 'host'?"),
        ("zzzzzz:x", 1, "unknown field 'zzzzzz' (known: "),
        ("see http://a.example/", 5, "write url: before it"),
        ("title: x", 7, "expected a value directly after title:"),
        ("title:(a OR b)", 7, "title:a OR title:b"),
        ("^2", 1, "a weight must follow the term"),
        ("a^", 2, "a weight is a number after ^"),
        ("a^x", 2, "a weight is a number after ^"),
        ("a^2x", 2, "a weight is a number after ^"),
        ("a^0", 2, "a weight is between"),
        ("a^2^3", 4, "one weight is enough"),
        ("a, b", 2, "a comma only separates"),
        ("atleast(a, b)", 1, "atleast(2, a, b, c)"),
        ("atleast(3, a, b)", 1, "has only 2 to choose from"),
        ("atleast(0, a)", 1, "a count between 1 and"),
        ("atleast(2, a^1.5, b)", 1, "whole numbers"),
        ("atleast(1, a,)", 14, "expected a term before the closing parenthesis"),
        ("atleast(2, a, b", 1, "missing closing parenthesis"),
        ("wind~3", 5, '"wind farm"~3'),
        ('"wind farm"~', 12, '"wind farm"~3'),
        ('"wind"~3', 1, "two words or more"),
        ("a && b", 3, "write AND in capitals"),
        ("a || b", 3, "write OR in capitals"),
        ("!a", 1, "write NOT in capitals"),
        ("a ☺", 3, "there is no word in"),
        ("words:many", 7, "needs a number"),
        ("words:500..200", 7, "write words:200..500"),
        ("words:99999999999999999", 7, "needs a number"),
        ("lang:german", 6, "such as lang:de"),
        ("lang:/de/", 6, "takes no regular expression"),
        ("host:a/b", 6, "needs a host name"),
        (r"x /(a)\1/", 7, "back-references are not supported"),
        (r"/a\/b(?=c)/", 6, "look-ahead and look-behind"),
        ("/a(b/", 3, "missing )"),
        (r"/\/\/[a/", 6, "unterminated character set"),
        ("/a/x", 1, "unknown flag 'x'"),
        ("url:/blog/2020", 5, "unknown flag"),
        ("/(?:a{500}){500}/", 2, "too large"),
        ("py:m:f", 4, "only on the command line and in local configuration"),
        ("\\", 1, "a backslash must stand before"),
        ("a \ud800", 3, "not valid text"),
    ],
)
def test_an_error_says_what_is_wrong_and_where(text, column, problem):
    with pytest.raises(PredicateSyntaxError) as caught:
        parse(text)
    assert problem in caught.value.problem
    assert caught.value.position + 1 == column
    assert caught.value.formula == text


def test_python_parses_only_when_allowed():
    assert parse("py:a.b:f", allow_python=True) == Python("a.b", "f")
    for text in ("py:a", "py:a:b:c", "py:a.b:1", "py:a b:c"):
        with pytest.raises(PredicateSyntaxError):
            parse(text, allow_python=True)


@given(formulas(atoms))
@example(Text("AND"))
@example(Regex(r"a\/b"))
@example(Weighted(Weighted(Not(A), 2), 0.1))
def test_a_formula_prints_as_text_that_parses_back_equal(formula):
    text = str(formula)
    again = parse(text, allow_python=True)
    assert again == formula
    assert str(again) == text
    assert hash(again) == hash(formula)


def test_every_field_is_a_name_the_lexer_can_read():
    assert all(field.isalpha() and field.islower() for field in fields() if field)
    assert {"url", "host", "title", "lang", "type", "words", "depth"} <= set(fields())


def _nothing_but_a_syntax_error(text: str) -> None:
    try:
        formula = parse(text)
    except PredicateSyntaxError as error:
        at, message = error.position, str(error)
    else:
        at, message = 0, "fine"
        assert parse(str(formula)) == formula
    assert message
    assert 0 <= at <= len(text)


def test_20000_random_strings_raise_nothing_but_a_syntax_error():
    dice = random.Random(20_000)
    bits = [
        "AND",
        "OR",
        "NOT",
        " ",
        " ",
        " ",
        "(",
        ")",
        '"',
        "/",
        "-",
        "^",
        "^2",
        "~3",
        ",",
        ":",
        "\\",
        "*",
        "a",
        "wind",
    ]
    bits += [
        "title:",
        "url:",
        "host:",
        "words:",
        "lang:",
        "py:",
        "type:",
        "atleast(",
        "atleast(2,",
        "..",
        ">",
        "<=",
        "7",
    ]
    bits += [
        "[",
        "]",
        "{",
        "}",
        "|",
        "+",
        "?",
        ".",
        "$",
        "\x00",
        "\n",
        "é",
        "风",
        "\u0301",
        "☺",
        "\ud800",
        "(?",
        "\\1",
        "'",
    ]
    for _ in range(20_000):
        _nothing_but_a_syntax_error("".join(dice.choices(bits, k=dice.randint(0, 12))))


@settings(max_examples=3 * settings().max_examples)
@given(st.text(max_size=40) | st.text(alphabet='aNOTRD ()"/\\^~-:*,.[]{}+?|$', max_size=40))
def test_any_text_raises_nothing_but_a_syntax_error(text):
    _nothing_but_a_syntax_error(text)


@pytest.mark.data
def test_naughty_strings_raise_nothing_but_a_syntax_error(suite):
    for text in json.loads(suite("html/blns.json").read_text()):
        _nothing_but_a_syntax_error(text)
        _nothing_but_a_syntax_error(
            'title:"' + text.replace("\\", "\\\\").replace('"', '\\"') + '" OR ' + text
        )


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        ")" * 5000,
        "(" * 4000 + "a" + ")" * 4000,
        "-" * 9000 + "a",
        "NOT " * 2000 + "a",
        "(a OR -" * 60 + "a" + ")" * 60,
        "atleast(1," * 900 + "a" + ")" * 900,
        '"' * 9999,
        "\\" * 9999,
        "/" * 9999,
        "a" * (MAX_LENGTH + 1),
    ],
    ids=lambda text: text[:12],
)
def test_hostile_shapes_are_refused(text):
    with pytest.raises(PredicateSyntaxError) as caught:
        parse(text)
    assert caught.value.problem


@pytest.mark.parametrize(
    "text", ["a OR " * 1900 + "a", "(" * 64 + "a" + ")" * 64, "-" * 63 + "a", "a" * MAX_LENGTH]
)
def test_large_formulas_within_the_limits_parse_and_print(text):
    formula = parse(text)
    assert parse(str(formula)) == formula


def test_nesting_is_limited_with_a_clear_message():
    with pytest.raises(PredicateSyntaxError, match=f"nested more than {MAX_DEPTH} levels"):
        parse("-" * 70 + "a")
    with pytest.raises(PredicateSyntaxError, match=f"nested more than {MAX_DEPTH} levels"):
        parse("(a OR -" * 40 + "a" + ")" * 40)


@pytest.mark.parametrize(
    "make",
    [
        lambda: And((A,)),
        lambda: Or(()),
        lambda: Weighted(A, 0),
        lambda: Weighted(A, float("nan")),
        lambda: AtLeast(2, (A,)),
        lambda: Text("--"),
        lambda: Text("a", near=3),
        lambda: Number("words", "..", 3),
        lambda: HostAtom(""),
        lambda: Url(" "),
        lambda: Lang("english"),
        lambda: Regex("(?<=a)b"),
        lambda: Python("a b", "c"),
    ],
)
def test_a_node_that_could_not_be_printed_cannot_be_made(make):
    with pytest.raises(ValueError):
        make()
