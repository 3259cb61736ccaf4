"""Reading by arrays gives the same words as reading one by one, whatever the text and in whatever order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.knowledge import Knowledge
from clew.page import Page
from clew.strategy import vectorizer
from clew.strategy.vectorizer import Vectorizer, telling
from clew.words import forms
from clew.words.forms import hashed

words = st.one_of(
    st.sampled_from(["the", "wind", "winds", "Turbine's", "12", "été", "風車", "counterrevolutionaries"]),
    st.text(min_size=1, max_size=24),
    st.sampled_from(["abcdefgh" + "x" * n + "abcdefgh" for n in range(4)]),
)


@given(st.lists(st.lists(words, max_size=60), max_size=4))
def test_a_page_is_read_as_one_word_after_the_other(texts):
    """Short texts word by word, long ones by arrays: here all of them by arrays."""
    before, forms._LONG = forms._LONG, 0
    try:
        known = Knowledge()
        reader = Vectorizer(known)
        for text in texts:
            page = Page(url="http://a.example/", text=" ".join(text), language="en")
            numbers = reader.page(page)
            assert numbers.tolist() == sorted(set(numbers.tolist()))
            assert {known.words.names[i] for i in numbers} == set(telling(page.text, "en"))
    finally:
        forms._LONG = before


def test_words_that_begin_and_end_alike_are_kept_apart():
    """Sixteen bytes are compared as they are; of longer words every byte counts."""
    plain = b" abcdefghijklmnop abcdefghXijklmnop abcdefghYijklmnop abcdefgh abcdefg "
    hashes, starts, ends = hashed(plain)
    assert len(set(hashes.tolist())) == 5
    assert [plain[a:b] for a, b in zip(starts, ends, strict=True)] == plain.split()


@pytest.mark.parametrize("long", [0, 10**9])
def test_forgetting_changes_no_number(monkeypatch, long):
    monkeypatch.setattr(forms, "_LONG", long)
    reader = Vectorizer(Knowledge())
    text = "wind turbines stand at sea where the wind blows " * 3
    page = Page(url="http://a.example/", text=text, language="en")
    first = reader.page(page)
    said = reader.anchors([text, "wind"], "en")
    monkeypatch.setattr(vectorizer, "MAX_FORMS", 0)
    monkeypatch.setattr(vectorizer, "_ANCHORS", 0)
    assert np.array_equal(reader.page(page), first)
    again = reader.anchors([text, "wind"], "en")
    assert again[0].tolist() == said[0].tolist()
    assert again[1].tolist() == said[1].tolist()


def test_languages_do_not_share_stems():
    known = Knowledge()
    reader = Vectorizer(known)
    for language in ("en", "de"):
        reader.page(Page(url="http://a.example/", text="windräder farms", language=language))
    assert "windrad" in known.words.names
    assert "windräder" in known.words.names


def test_one_url_is_read_as_many_are():
    knowledge = Knowledge()
    reading = Vectorizer(knowledge)
    for url in (
        "http://a.example/wind/farms-at-sea/wind",
        "http://a.example",
        "http://b.example/x/",
        "http:///",
    ):
        one, many = reading.url(url).tolist(), reading.urls([url])[1].tolist()
        assert one == many


URL = st.builds(
    "{}://{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.example", "www.b.example", "c.example:81"]),
    st.one_of(st.just(""), st.text(alphabet="abAB1/-_.?=%é", max_size=12).map("/{}".format)),
)


@given(st.lists(URL, max_size=12), st.lists(URL, max_size=12))
@pytest.mark.parametrize("style", ["words", "paper"])
def test_urls_read_together_are_those_read_one_by_one(style, first, then):
    known = [Knowledge(), Knowledge()]
    together, alone = (Vectorizer(knowledge, style) for knowledge in known)
    for targets in (first, then):
        before, vectorizer.MANY = vectorizer.MANY, 1
        try:
            lengths, numbers = together.urls(targets)
        finally:
            vectorizer.MANY = before
        each = [alone.urls([target]) for target in targets]
        assert lengths.tolist() == [n for one, _ in each for n in one.tolist()]
        assert numbers.tolist() == [n for _, of in each for n in of.tolist()]
        assert [alone.url(t).tolist() for t in targets] == [of.tolist() for _, of in each]
    assert list(known[0].tokens.names) == list(known[1].tokens.names)


@given(st.lists(st.lists(words, max_size=5).map(" ".join), max_size=12))
def test_anchors_read_together_are_those_read_one_by_one(texts):
    known = [Knowledge(), Knowledge()]
    together, alone = (Vectorizer(knowledge) for knowledge in known)
    before, vectorizer.MANY = vectorizer.MANY, 1
    try:
        lengths, numbers = together.anchors(texts, "en")
    finally:
        vectorizer.MANY = before
    each = [alone.anchors([text], "en") for text in texts]
    assert lengths.tolist() == [n for one, _ in each for n in one.tolist()]
    assert numbers.tolist() == [n for _, of in each for n in of.tolist()]
    assert known[0].anchors.names == known[1].anchors.names


def test_plain_anchors_keep_to_themselves():
    """An apostrophe at the end of one and a letter at the beginning of the next are no word's ending."""
    reader = Vectorizer(Knowledge())
    texts = ["dogs'", "s day", "", "turbine's", "l'eau"] * 8 + [f"farm {i}" for i in range(vectorizer.MANY)]
    lengths, numbers = reader.anchors(texts, "en")
    names = reader.knowledge.anchors.names
    rows = [[names[n] for n in part] for part in np.split(numbers, np.cumsum(lengths)[:-1])]
    assert rows[:5] == rows[5:10]
    assert rows[:3] == [["dog"], ["day"], []]
    assert rows[3] == ["turbin"]
    assert rows[-1] == ["farm"]
