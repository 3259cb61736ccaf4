"""Digests and similarity hashes."""

from __future__ import annotations

import io
import itertools
import json
import random

import pytest
import zstandard

from clew.parse import digest, hamming, parse_page, simhash

WORDS = [f"word{i}" for i in range(3000)]


def prose(seed, count=500):
    return random.Random(seed).choices(WORDS, k=count)


def test_equal_texts_have_equal_hashes_and_short_ones_none():
    """0 is kept for what cannot be told."""
    text = " ".join(prose(1))
    assert digest(text) == digest(str(text)) != 0
    assert simhash(text) == simhash(text.upper() + "!!") != 0
    assert digest("") == simhash("") == simhash(" ".join(WORDS[:39])) == 0
    assert simhash(" ".join(WORDS[:40])) != 0


def test_hashes_never_change():
    """They are stored with every page, so their values are pinned."""
    assert digest("wind farm") == 10699823659248907374
    assert simhash(" ".join(WORDS[:100])) == 5535769140320045419


def test_small_edits_move_few_bits_and_other_texts_many():
    """One word of 500 changed: 3 bits or fewer, as a rule. Another text: more than 10, always."""
    near, far = [], []
    for seed in range(60):
        words = prose(seed)
        edited = [*words[:250], "edited", *words[251:]]
        near.append(hamming(simhash(" ".join(words)), simhash(" ".join(edited))))
        far.append(hamming(simhash(" ".join(words)), simhash(" ".join(prose(seed + 1000)))))
    assert sorted(near)[len(near) // 2] <= 3
    assert max(near) <= 10
    assert min(far) > 10


@pytest.mark.parametrize("text", ["ß" * 300_000, "a " * 300_000, "\ud800 x " * 100, "語 " * 100])
def test_any_text_has_a_similarity_hash(text):
    """Long, lopsided and broken ones too."""
    assert 0 <= simhash(text) < 2**64


@pytest.mark.data
def test_real_articles_differ_and_their_edits_do_not(corpus):
    """200 encyclopaedia articles: all pairs more than 10 bits apart, edited copies close by."""
    texts = []
    with corpus("wikispeedia_pages.jsonl.zst").open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        for line in itertools.islice(io.TextIOWrapper(reader, "utf-8"), 200):
            row = json.loads(line)
            if row["kind"] == "article":
                texts.append(parse_page(row["html"].encode(), url=row["url"]).main)
    long = [text for text in texts if len(text.split()) > 300]
    hashes = [simhash(text) for text in long]
    assert len(hashes) > 100
    assert min(hamming(a, b) for a, b in itertools.combinations(hashes, 2)) > 10
    edited = [f"{text.replace(' the ', ' some ', 1)} Retrieved today." for text in long]
    edits = sorted(hamming(simhash(text), known) for text, known in zip(edited, hashes, strict=True))
    assert edits[len(edits) // 2] <= 3
    assert edits[-1] <= 10
