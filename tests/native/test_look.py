"""Compiled look-ups give what their twins give; what they do not take is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import native
from clew.page import Links
from clew.parse.html import document
from clew.predicate import parse, view
from clew.predicate.judge import FormulaPredicate
from clew.url import canonical, canonical_many, many

pytestmark = pytest.mark.skipif(native.joined is None, reason="not compiled here")

PIECE = st.sampled_from(
    [
        "a",
        "b.htm",
        "..",
        "../",
        "../../",
        "./",
        "/",
        "//",
        "#",
        "#x",
        "?q",
        "%41",
        "ü",
        "x y",
        "http://c.example/",
        "\ud800",
    ]
)
HREF = st.lists(PIECE, max_size=5).map("".join)
BASE = st.sampled_from(
    ["http://a.example/", "http://a.example/x/y/z.htm", "http://a.example/x/?q", "http://a.example/%zz/"]
)


@given(st.lists(st.tuples(BASE, st.lists(HREF, max_size=12)), max_size=4))
def test_hrefs_come_to_the_same_with_and_without_compiled_code(pages):
    compiled, interpreted = many._Memory(), many._Memory()
    for base, hrefs in pages:
        place, twin = compiled.at(base), interpreted.at(base)
        for one in (place, twin):
            one.base, one.join = base, None
        assert native.joined(place, place.above, tuple(hrefs)) == [twin[href] for href in hrefs]
        assert dict(place) == dict(twin)


@given(BASE, st.lists(HREF, max_size=12))
def test_many_hrefs_come_to_what_each_comes_to(base, hrefs):
    for href, found in zip(hrefs, canonical_many(hrefs, base), strict=True):
        assert found is None or found == canonical(href, base)


def test_hrefs_that_are_no_texts_are_refused():
    for wrong in (([], (), ("a",)), ({}, [], ("a",)), ({}, (), ["a"]), ({}, ([],), ("a",))):
        with pytest.raises(TypeError):
            native.joined(*wrong)
    with pytest.raises(KeyError):
        native.joined({}, ({},), ("a",))
    with pytest.raises(TypeError):
        native.joined({}, ({},), ([],))


@given(st.lists(st.text(st.sampled_from("ab \t\n\x1c\x7f\xa0é\u3000"), max_size=8), max_size=8))
def test_texts_are_tidied_as_by_the_twin(texts):
    assert document._tidy(list(texts)) == [" ".join(text.split()) for text in texts]


def test_only_lists_of_texts_are_tidied():
    for wrong in ("ab", ["a", 1], ("a",)):
        with pytest.raises(TypeError):
            native.lines(wrong)


WORDS = st.text(st.sampled_from("mMuUsSiIcC%eéx "), max_size=12)


@given(
    st.lists(WORDS, max_size=8),
    st.sampled_from(["music", "Musée mu*", "the music of x", "a", "e* OR museum"]),
)
def test_links_with_a_word_of_the_formula_are_found_as_by_the_twin(texts, formula):
    words = FormulaPredicate(parse(formula))._link_estimate._words
    found = words.candidates(texts)
    words._few = False
    assert found == words.candidates(texts)


def test_a_formula_of_very_many_words_is_left_to_the_twin():
    formula = " OR ".join(f"{a}{b}word" for a in "abcdefghijklm" for b in "abcdefghijkl")
    predicate = FormulaPredicate(parse(formula))
    links = Links("http://a.example/", ("http://a.example/1",), ("a caword here",), ("",), ("",), ("",))
    assert predicate.estimate_links(links)[0] > 0.0
    assert not predicate._link_estimate._words._few


def test_letters_beyond_ascii_or_none_are_refused():
    for wrong in (("é",), ("",), ("x" * 257,), (1,)):
        with pytest.raises(ValueError):
            native.having(("a",), wrong, [])
    for wrong in ((["a"], ("a",), []), (("a",), ["a"], []), ((1,), ("a",), []), (("a",), ("a",), ())):
        with pytest.raises(TypeError):
            native.having(*wrong)
    beyond = []
    assert native.having(("é", "bA", "x"), ("a",), beyond) == {1}
    assert beyond == [0]


@given(
    st.lists(st.text(st.sampled_from("mu'éя"), max_size=4), max_size=30).map(
        lambda words: f" {' '.join(words)} "
    ),
    st.sampled_from(["m", "mu", "mum", "é", "я", "x"]),
)
def test_words_are_found_by_their_beginning_as_by_the_twin(flat, prefix):
    found = native.beginning(flat, prefix)
    wide = max(map(ord, flat + prefix)) > 255
    assert found is None if wide else found == view._beginning(flat, prefix)
    if found is not None:
        assert list(found) == list(view._beginning(flat, prefix))


def test_a_beginning_is_a_text_and_not_nothing():
    assert native.beginning(" mu ", "") is None
    assert native.beginning("", "mu") == native.beginning(" ", "mu") == native.beginning(" m", "mu") == {}
    assert native.beginning("mu mum", "mu") == {"mum": 1}
    for wrong in ((b" mu ", "mu"), (" mu ", b"mu"), (" mu ",)):
        with pytest.raises(TypeError):
            native.beginning(*wrong)
