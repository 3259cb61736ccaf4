"""The compiled loops give what their twins in Python give, to the last bit, on any text."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import native
from clew.parse import similar, text
from clew.words import cut

pytestmark = pytest.mark.skipif(
    not native.COMPILED, reason="not compiled here: there was no compiler when clew was installed"
)

#: Blanks of all kinds, marks, quotes, letters that fold to one, to several and to none, and plain words.
PIECES = [
    *" \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2007\u2028\u2029\u202f\u3000\xad\u200b\u200d\u2060\ufeff\u1680\u2000",
    *"'’ʼ_-.aAzZ09ßİſéÉÀ\u0301\u0345ﬁ字カไทยאבгЖ한\u1100𝔘😀\ud800\x00\x01\x7f",
    *[
        "'s",
        "'ll",
        "'t's",
        "l'eau",
        "don't",
        "o'clock's",
        "  ",
        "\n\n",
        " wind ",
        "Farms",
        "rock'n'roll",
        "a" * 9,
    ],
]
#: White space that is left as it is where nothing else in its line needs folding.
STRANGE = set("\x0b\x0c\r\x1c\x1d\x1e\x1f\u1680\u205f") | set(map(chr, range(0x2000, 0x200B)))
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
LONG = st.lists(
    st.sampled_from(["wind", "Farm", "turbine's", "été", "字", "12", "x" * 20]), min_size=30, max_size=1500
)


@settings(max_examples=600)
@given(TEXTS)
def test_white_space_is_folded_the_same(sample: str):
    assert native.fold is not None
    found = native.fold(sample)
    assert found == text._interpreted(sample) or (found is None and set(sample) & STRANGE)


@settings(max_examples=600)
@given(TEXTS)
def test_words_are_cut_the_same_where_the_table_knows_every_character(sample: str):
    expected = cut._interpreted(sample)
    found = cut._table.compiled(sample)
    assert found is None or found == expected
    if sample.isascii():
        assert found == expected


@settings(max_examples=300)
@given(TEXTS, TEXTS)
def test_words_are_the_same_line_by_line_and_by_pattern(first: str, second: str):
    for sample in (first, f"{first}\n{second}", f"{second}\n\n{first}\n"):
        spaced = sample.replace("_", " ")
        plain = cut._pattern(spaced).findall(spaced)
        expected = cut.fold(" ".join(plain)).split(" ") if plain else []
        for found in (cut._interpreted(sample), cut._by_line(sample)):
            assert found is None or (found.text.split(), found.count) == (expected, len(expected))


@pytest.mark.parametrize(
    "sample", ["\u0300'S", "㐀\n\u0300'S", "a'\u0300s", "e\u0301's don't", "\u0300\u0301'll x"]
)
def test_a_mark_without_a_word_has_no_ending_behind_it(sample: str):
    plain = cut._pattern(sample).findall(sample)
    expected = cut.fold(" ".join(plain)).split(" ")
    assert cut.tokens(sample) == expected
    found = cut._by_line(sample)
    assert found is None or found.text.split() == expected


def test_a_text_of_letters_beyond_ascii_is_cut_by_compiled_code_once_they_were_met():
    sample = "L’été à Zürich, Москва’s turbines don’t"
    cut._interpreted(sample)
    assert cut._table.compiled(sample) == cut._interpreted(sample)


@settings(max_examples=200)
@given(LONG, st.sampled_from([" ", "\n", ", "]))
def test_similarity_is_the_same(words: list[str], between: str):
    assert native.sketch is not None
    raw = between.join(words).encode()
    assert native.sketch(raw, 6, 40) == similar._interpreted(raw, 6, 40)


@given(st.binary(max_size=3000))
def test_similarity_of_any_bytes_is_the_same(raw: bytes):
    assert native.sketch is not None
    for bits, fewest in ((6, 40), (5, 1), (8, 0)):
        assert native.sketch(raw, bits, fewest) == similar._interpreted(raw, bits, fewest)


def test_what_is_no_text_is_refused():
    assert native.flat is not None
    assert native.fold is not None
    assert native.sketch is not None
    with pytest.raises(ValueError, match="65,536"):
        native.flat("wind", b"short")
    with pytest.raises(TypeError):
        native.flat(b"wind", bytes(131_072))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        native.fold(b"wind")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        native.sketch("wind", 6, 40)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bits"):
        native.sketch(b"wind", 9, 40)


def test_clew_pure_does_without():
    code = "import clew.native as n, clew.words.cut as c; print(n.COMPILED, c.flat('Wind farm').text)"
    said = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "CLEW_PURE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "False  wind farm \n"


def test_what_was_not_compiled_is_an_error_only_where_that_is_asked_for():
    code = "import sys; sys.modules['clew.native._compiled'] = None; import clew.native"
    found = [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True
        )
        for asked in (
            {"CLEW_PURE": "", "CLEW_REQUIRE_NATIVE": ""},
            {"CLEW_PURE": "", "CLEW_REQUIRE_NATIVE": "1"},
            {"CLEW_PURE": "1", "CLEW_REQUIRE_NATIVE": "1"},
        )
    ]
    assert [one.returncode for one in found] == [0, 1, 0]
    assert "ImportError" in found[1].stderr or "ModuleNotFoundError" in found[1].stderr
