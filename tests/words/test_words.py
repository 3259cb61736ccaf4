"""Words: cutting, folding, stems and stop words."""

from __future__ import annotations

import subprocess
import sys

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from clew.words import Lexicon, forms, lexicon, spans, stem, stemmer, stopwords, tokens
from clew.words import cut as words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n\t — … ", []),
        ("Wind farm", ["wind", "farm"]),
        ("wind-farm/turbine_noise", ["wind", "farm", "turbine", "noise"]),
        ("The turbine's blades don't turn", ["the", "turbine's", "blades", "don't", "turn"]),
        ("The turbine’s blades don’t", ["the", "turbine's", "blades", "don't"]),
        ("l'été d’Anne, rock'n'roll", ["l", "été", "d", "anne", "rock", "n", "roll"]),
        ("GROẞE Straße", ["grosse", "strasse"]),
        ("3,000 MW; 1.5", ["3", "000", "mw", "1", "5"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("风力发电 wind", ["风", "力", "发", "电", "wind"]),
        ("हिन्दी", ["हिन्दी"]),
        ("энергия ветра", ["энергия", "ветра"]),
    ],
)
def test_text_is_cut_into_folded_words(text, expected):
    assert tokens(text) == expected


@given(st.text())
def test_spans_are_the_tokens_with_their_places(text):
    found = list(spans(text))
    assert [token for token, _, _ in found] == tokens(text)
    places = [place for _, start, end in found for place in (start, end)]
    assert places == sorted(places)
    assert all(start < end <= len(text) for _, start, end in found)


@given(st.text(), st.text())
def test_a_space_separates_whatever_stands_around_it(left, right):
    assert tokens(f"{left} {right}") == tokens(left) + tokens(right)


@given(st.text(alphabet="abcXYZäöüÄÖÜßéèñ ,.'’-_09", max_size=50))
def test_tokens_are_stable_under_case(text):
    assert tokens(text) == tokens(text.lower()) == [t for token in tokens(text) for t in tokens(token)]


@pytest.mark.parametrize(
    ("lang", "one", "other"),
    [
        ("en", "turbines", "turbine"),
        ("en", "turbine's", "turbine"),
        ("de", "windräder", "windrad"),
        ("de", "anlagen", "anlage"),
        ("fr", "éoliennes", "éolienne"),
        ("es", "molinos", "molino"),
        ("it", "turbine", "turbina"),
        ("nl", "turbines", "turbine"),
        ("pt", "turbinas", "turbina"),
        ("sv", "kvarnar", "kvarn"),
        ("da", "møllerne", "møller"),
        ("no", "møllene", "møller"),
        ("fi", "myllyn", "mylly"),
        ("ru", "ветра", "ветру"),
        ("hu", "házak", "házat"),
        ("ro", "morile", "mori"),
        ("tr", "rüzgarlar", "rüzgar"),
    ],
)
def test_two_forms_of_a_word_share_a_stem(lang, one, other):
    assert stem(one, lang) == stem(other, lang)


def test_an_unknown_language_is_not_stemmed():
    assert stem("turbines", "xx") == "turbines"
    assert stem("turbines", "") == "turbines"
    assert stemmer("zz")(["turbine's"]) == ["turbine"]
    assert lexicon("xx") is lexicon("zz")


def test_forms_are_found_among_the_given_words_only():
    lex = Lexicon("en")
    assert lex.forms("turbin", {"turbine", "wind"}) == {"turbine"}
    assert lex.forms("turbin", {"turbines", "wind"}) == {"turbines"}
    assert lex.forms("gone", {"turbines"}) == set()


@given(st.lists(st.sets(st.sampled_from(["wind", "winds", "farm", "farms", "farming", "sea"]))))
def test_a_lexicon_that_forgets_gives_the_same_answers(pages):
    small, large = Lexicon("en", limit=2), Lexicon("en")
    for page in pages:
        for word in ("wind", "farm", "sea"):
            assert small.forms(word, page) == large.forms(word, page)
            assert small.stem(word) == large.stem(word)
        assert len(small._stems) <= 2 + len(page) + 6


def test_stop_words_are_tokens_and_words_with_a_topic_are_not_among_them():
    assert {"the", "of", "don't"} <= stopwords("en")
    assert {"und", "der", "über", "dass"} <= stopwords("de")
    assert not {"computer", "research", "fire", "wind"} & stopwords("en")
    assert stopwords("xx") == frozenset()
    assert stopwords("nb") == stopwords("no")


def test_importing_words_does_not_read_the_stop_words():
    code = "import sys, clew.words; print('stopwordsiso' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_pattern_for_simple_text_is_a_shortcut_of_the_full_one():
    text = "The turbine’s naïve café — don't l'eau 3.000 x_y"
    _, full = words._patterns()
    plain = text.replace("_", " ")
    assert full.findall(plain) == words._SIMPLE.findall(plain)


@pytest.mark.data
def test_every_form_of_an_english_stem_begins_with_its_prefix(corpus):
    """So a search for the prefix finds them all: 50,000 different words of real pages, none left out."""
    seen: set[str] = set()
    with corpus("wikispeedia_pages.jsonl.zst").open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        while len(seen) < 50_000 and (piece := reader.read(1 << 20)):
            seen.update(tokens(piece.decode("utf-8", "replace")))
    english = Lexicon("en")
    exceptions = [
        "dying",
        "lying",
        "tying",
        "skies",
        "skis",
        "idly",
        "gently",
        "ugly",
        "early",
        "only",
        "singly",
        "news",
    ]
    assert [w for w in [*seen, *exceptions] if not w.startswith(english.prefix(english.stem(w)))] == []


@given(
    st.text(
        alphabet=st.one_of(
            st.characters(),
            st.sampled_from("\u0301\u0307\u093f\u0e49\u0e01中한\u1161가abSTdm'’ʼ_- \nßİÅÉ…–“ll"),
        )
    )
)
def test_the_flat_text_has_the_words_that_the_pattern_finds(text):
    """The fast way and the pattern agree on whatever text the fast way takes."""
    plain = words.flat(text)
    found = [token for token, _, _ in spans(text)]
    if plain is not None:
        assert plain.text.split() == found
        assert plain.count == len(found)


@given(st.lists(st.sampled_from(["wind", "é", "a" * 8, "b" * 9, "c" * 16, "d" * 17, "", "x" * 40, "x" * 41])))
def test_words_that_are_hashed_are_found_again_and_told_apart(sample):
    raw = " ".join(sample).encode()
    hashes, starts, ends = forms.hashed(raw)
    expected = raw.split()
    assert [raw[start:end] for start, end in zip(starts, ends, strict=True)] == expected
    assert (
        len(set(zip(hashes.tolist(), expected, strict=True)))
        == len(set(hashes.tolist()))
        == len(set(expected))
    )
