"""Guesses about links, from anchor text and URL alone."""

from __future__ import annotations

import pytest
from formulas import formulas, prose
from hypothesis import given
from hypothesis import strategies as st

from clew.page import Link, Links
from clew.predicate import FormulaPredicate, compile  # noqa: A004


def guess(formula: str, anchor: str = "", url: str = "http://a.example/") -> float:
    links = Links.of("http://s.example/", [Link("http://s.example/", url, anchor)])
    return compile(formula).estimate_links(links)[0]


@pytest.mark.parametrize(
    ("formula", "anchor", "url", "expected"),
    [
        ("turbine", "Turbines", "http://a.example/", 1.0),
        ("turbine", "home", "http://a.example/", 0.0),
        ("turbine", "", "http://a.example/allAboutTurbines.html", 1.0),
        ("turbine", "", "http://a.example/x?q=old_turbine", 1.0),
        ("turbine", "", "http://turbine.example/", 1.0),
        ("windrad", "Unsere Windräder", "http://a.example/", 1.0),
        ("rückbau", "", "http://a.example/r%C3%BCckbau/", 1.0),
        ("ветер", "", "http://a.example/%D0%92%D0%B5%D1%82%D0%B5%D1%80", 1.0),
        ("风力", "风力发电", "http://a.example/", 1.0),
        ("turb*", "turbofan", "http://a.example/", 1.0),
        ("*fan", "turbofan", "http://a.example/", 1.0),
        ('"wind farm"', "farms and wind", "http://a.example/", 1.0),
        ('"wind farm"', "wind", "http://a.example/", 0.25),
        ('"bank of england"', "England bank", "http://a.example/", 1.0),
        ("wind farm", "wind", "http://a.example/", 0.25),
        ("wind OR farm", "wind", "http://a.example/", 0.75),
        ("wind farm", "the wind farm", "http://a.example/", 1.0),
        ("wind lang:en words:>300 /x/ depth:3 type:pdf", "wind", "http://a.example/", 1.0),
        ("wind host:a.example", "wind", "http://a.example/", 1.0),
        ("wind host:a.example", "wind", "http://b.example/", 0.0),  # ruled out
        ("wind -host:*.b.example", "wind", "http://x.b.example/", 0.0),
        ("wind OR host:a.example", "calm", "http://a.example/", 0.5),
        ("wind OR host:a.example", "wind", "http://b.example/", 1.0),
        ("host:a.example", "", "http://a.example/", 1.0),
        ("host:a.example", "", "http://b.example/", 0.0),
        ("url:/blog/", "", "http://b.example/blog", 1.0),
        ("wind -noise", "wind", "http://a.example/", 1.0),  # unknown is not against it
        ("wind -noise", "wind noise", "http://a.example/", 0.5),
        ("-noise", "wind", "http://a.example/", 0.0),  # nothing known
        ("lang:en", "wind", "http://a.example/", 0.0),
        ("the", "the", "http://a.example/", 1.0),
        ("the wind", "the", "http://a.example/", 0.0),  # no evidence
        ("the wind", "wind", "http://a.example/", 1.0),
        ("atleast(2, wind, farm, sea)", "wind farm", "http://a.example/", 0.5 + 0.5 * 2 / 3),
        ("atleast(2, wind, sea, lang:en)", "wind", "http://a.example/", 0.75),  # the language may be English
        ("wind^3 sea", "wind", "http://a.example/", 0.5 * 0.5 + 0.5 * 0.75),
    ],
)
def test_the_guess_for_a_link(formula, anchor, url, expected):
    assert guess(formula, anchor, url) == pytest.approx(expected)


def test_the_language_named_in_the_formula_is_the_one_words_are_compared_in():
    assert guess("lang:ru ветра", "ветру") == 1.0
    assert guess("ветра", "ветру") == 0.0


def test_the_text_around_an_anchor_is_not_looked_at():
    links = Links("http://s.example/", ("http://a.example/",), ("home",), ("wind home",), ("a",), ("",))
    assert compile("wind").estimate_links(links) == [0.0]


targets = st.sampled_from(
    ["http://a.example/", "https://x.a.example/blog/windFarm", "http://b.example:80/t%C3%BC?q=turbine"]
)
some = st.lists(st.tuples(prose, targets), max_size=6)


@given(formulas(), some, st.sampled_from(["minmax", "product", "weighted"]))
def test_guesses_are_degrees_one_a_link_and_depend_on_the_link_alone(formula, rows, how):
    predicate = FormulaPredicate(formula, semantics=how)
    links = Links.of("http://s.example/", [Link("http://s.example/", url, anchor) for anchor, url in rows])
    guesses = predicate.estimate_links(links)
    assert len(guesses) == len(rows)
    assert all(0.0 <= guess <= 1.0 for guess in guesses)
    assert list(guesses) == [
        predicate.estimate_links(Links.of("http://s.example/", [link]))[0] for link in links
    ]
    assert list(FormulaPredicate(formula, semantics=how).estimate_links(links)) == list(guesses)


@given(
    st.lists(st.text(st.sampled_from("mMuUsSiIcC%eéx "), max_size=12), max_size=8),
    st.sampled_from(["music", "Musée mu*", "the music of x", "a", "e* OR museum"]),
)
def test_texts_that_may_have_a_word_are_found_together_as_one_by_one(texts, formula):
    words = compile(formula)._link_estimate._words
    one_by_one = {number for number, text in enumerate(texts) if words.candidates([text])}
    assert words.candidates(texts) == one_by_one
    # A letter beyond ASCII in another text changes nothing.
    assert words.candidates([*texts, "я"]) - {len(texts)} == one_by_one
