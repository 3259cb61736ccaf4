"""Loops over texts, held against patterns and plain Python on any text; which of them are in use."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.native import pure
from clew.parse import text
from clew.words import cut

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
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
LONG = st.lists(
    st.sampled_from(["wind", "Farm", "turbine's", "été", "字", "12", "x" * 20]), min_size=30, max_size=1500
)


@settings(max_examples=3 * settings().max_examples)
@given(TEXTS)
def test_white_space_is_folded_once_and_for_all(sample: str):
    folded = text.fold(sample)
    assert text.fold(folded) == folded
    assert folded.split() == text.legible(sample).split()


def by_pattern(sample: str) -> list[str]:
    spaced = sample.replace("_", " ")
    plain = cut._pattern(spaced).findall(spaced)
    return cut.fold(" ".join(plain)).split(" ") if plain else []


@settings(max_examples=6 * settings().max_examples)
@given(TEXTS)
def test_the_table_gives_what_its_twin_gives_on_any_text(loops, sample: str):
    cut._at_once(sample[::2])
    for table in (cut._table._folded, cut._table._spaced):
        found: tuple[list, list] = [], []
        assert loops.flat(sample, table, found[0]) == pure.flat(sample, table, found[1])
        assert found[0] == found[1]


@settings(max_examples=3 * settings().max_examples)
@given(TEXTS, TEXTS)
def test_words_are_the_same_at_once_line_by_line_and_by_pattern(loops, first: str, second: str):
    for sample in (first, f"{first}\n{second}", f"{second}\n\n{first}\n"):
        expected = by_pattern(sample)
        for found in (cut._at_once(sample), cut._by_line(sample)):
            assert found is None or (found.text.split(), found.count) == (expected, len(expected))


@pytest.mark.parametrize(
    "sample", ["\u0300'S", "㐀\n\u0300'S", "a'\u0300s", "e\u0301's don't", "\u0300\u0301'll x"]
)
def test_a_mark_without_a_word_has_no_ending_behind_it(loops, sample: str):
    assert cut.tokens(sample) == by_pattern(sample)
    found = cut._by_line(sample)
    assert found is None or found.text.split() == by_pattern(sample)


def test_a_text_of_letters_beyond_ascii_needs_nothing_but_the_table_once_they_were_met(loops):
    sample = "L’été à Zürich, Москва’s turbines don’t"
    expected = cut._at_once(sample)
    left: list = []
    assert loops.flat(sample, cut._table._folded, left) == (expected.text, expected.count)
    assert not left


def test_lines_that_the_table_does_not_know_are_left_blank(loops):
    table = cut._table._folded.copy()
    table[ord("é")] = 0xFFFF
    left: list = []
    words, count = loops.flat("Wind\nété's 𝔘\n\nfarm's\n\U0001d518", table, left)
    assert (words, count) == (" wind" + " " * 10 + "farm's" + " " * 3, 2)
    assert left == [(5, 12), (21, 22)]


MOST = 2**64 - 1
FIRST, SECOND, THIRD = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15


def mixed(value: int) -> int:
    value = ((value & MOST) ^ (value & MOST) >> 30) * FIRST & MOST
    value = (value ^ value >> 27) * SECOND & MOST
    return value ^ value >> 31


def spelled_out(raw: bytes, bits: int, fewest: int) -> bytes:
    """The sketch of a text, number by number."""
    words = [word for word in re.split(rb"[^a-z0-9\x80-\xff]+", raw.lower()) if word]
    if len(words) < max(1, fewest):
        return b""
    hashes = []
    for word in words:
        tail = int.from_bytes(word[-8:], "little") * SECOND if len(word) > 8 else 0
        hashes.append(mixed(int.from_bytes(word[:8], "little") * THIRD + tail + len(word)))
    size = min(5, len(words))
    least: dict[int, int] = {}
    for at in range(len(words) - size + 1):
        value = 0
        for one in hashes[at : at + size]:
            value = value * THIRD + one
        share, rest = divmod(mixed(value), 1 << (64 - bits))
        least[share] = min(least.get(share, MOST), rest)
    return bytes([1 + least[share] % 255 if share in least else 0 for share in range(1 << bits)])


@given(LONG, st.sampled_from([" ", "\n", ", "]))
def test_similarity_is_what_it_is_said_to_be(loops, words: list[str], between: str):
    raw = between.join(words).encode()
    assert loops.sketch(raw, 6, 40) == spelled_out(raw, 6, 40)


@given(st.binary(max_size=3000))
def test_so_is_that_of_any_bytes(loops, raw: bytes):
    for bits, fewest in ((6, 40), (5, 1), (8, 0)):
        assert loops.sketch(raw, bits, fewest) == spelled_out(raw, bits, fewest)


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
