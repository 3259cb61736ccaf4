"""Regular expressions in linear time: the same answers as `re`, without its worst case."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew.predicate import safe_regex
from clew.predicate.safe_regex import Unsupported, search

_parser = safe_regex._parser

atoms = st.sampled_from(
    ["a", "b", "c", ".", "[ab]", "[^a]", r"\w", r"\s", r"\d", r"\b", r"\B", "^", "$", r"\A", r"\Z", "é"]
)


def _more(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = parts.map(lambda part: f"(?:{part})")
    return (
        st.lists(parts, min_size=1, max_size=3).map("".join)
        | st.lists(parts, min_size=2, max_size=3).map("|".join).map(lambda part: f"({part})")
        | st.tuples(group, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,3}", "{2,}", "{0}"])).map("".join)
        | parts.map(lambda part: f"(?i:{part})")
    )


patterns = st.recursive(atoms, _more, max_leaves=6)
texts = st.text(alphabet="aAbBc \né_1", max_size=12)


@settings(max_examples=5 * settings().max_examples)
@given(patterns, texts, st.sampled_from([0, re.I, re.M, re.S, re.M | re.I]))
@example("a$", "a\n", 0)
@example("a$", "a\n\n", re.M)
@example(r"(?:a?){3}a{3}$", "aaa", 0)
@example("(?:)*b", "b", 0)
@example(r"\Z", "\n", 0)
def test_the_machine_finds_what_re_finds(pattern, text, flags):
    try:
        compiled = re.compile(pattern, flags)
    except re.error:
        return
    if r"\B" in pattern and not text:
        return  # an old quirk of `re`: nowhere in an empty text is there no boundary
    expected = compiled.search(text) is not None
    machine = safe_regex._Machine(_parser.parse(pattern, flags))
    assert machine.search(text) == expected
    assert machine.search(text) == expected  # from memory
    assert search(pattern, flags)(text) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a|a)+$",
        r"(a|aa)+$",
        r"(.*a){12}x",
        r"a.*a.*a.*a.*x",
        r"(\w+\s?)+$",
        r"([a-z]+)*=",
        "(a?){30}a{30}b",
    ],
)
def test_patterns_that_hang_re_are_answered(pattern):
    text = "a" * 20_000 + "!"
    found = search(pattern)
    assert isinstance(found.__self__, safe_regex._Machine)
    assert found(text) is False


def test_a_search_gives_up_after_a_fixed_amount_of_work():
    text = "".join("ab"[(i * i // 7) % 2] for i in range(50_000))
    assert search(r"(a|b)*a(a|b){150}c")(text) is False
    assert search(r"(a|b)*a(a|b){15}c")("a" * 16 + "c") is True


def test_what_is_remembered_is_bounded():
    machine = safe_regex._Machine(_parser.parse(r"x.*[0-9].{40}y"))
    machine.search("".join(chr(0x4E00 + i % 7000) for i in range(20_000)))
    machine.search("x1" * 5000)
    assert len(machine._states) <= safe_regex._STATES
    assert all(len(state) <= 5000 for state in machine._states.values())


def test_simple_patterns_are_left_to_re():
    for pattern in ("turbines?", r"\bwind\b", "[0-9]{4}", "a|b|c"):
        assert not hasattr(search(pattern), "__self__")


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        (r"(a)\1", 3),
        ("(?P<x>a)(?P=x)", 8),
        ("(a)?(?(1)b|c)", 4),
        ("a(?=b)", 1),
        ("a(?!b)", 1),
        ("(?<=a)b", 0),
        ("(?<!a)b", 0),
        ("(?>a)", 0),
        ("ba*+", 2),
        ("(?a)b", 0),
        ("a[", 1),
        ("a**", 2),
        ("(?:a{1000}){1000}b*", 0),
        ("(" * 480 + ")" * 480, 0),
        ("a{99999999999999}", 0),
    ],
)
def test_what_cannot_be_matched_in_linear_time_is_refused_with_its_place(pattern, position):
    with pytest.raises(Unsupported) as caught:
        search(pattern)
    assert caught.value.position == position
    assert str(caught.value)


@pytest.mark.parametrize(
    "pattern", [r"[\1(?=]x", r"\(?=", r"\++", "a{2}", "[*+]+", "(?:){99999999}x", "((?:){9999}){9999}x*"]
)
def test_what_only_looks_forbidden_is_allowed(pattern):
    search(pattern)("x=")
