"""Digests and similarity sketches, by which copies are told."""

from __future__ import annotations

import io
import itertools
import json
import random

import pytest
import zstandard

from clew.parse import alike, digest, parse_page, sketch
from clew.policy import Duplicates

WORDS = [f"word{i}" for i in range(3000)]
HEAD = "<!doctype html><title>{title}</title><body>"


def prose(seed, count=500):
    return random.Random(seed).choices(WORDS, k=count)


def text(seed, count=500):
    return " ".join(prose(seed, count))


def page(body, title="A manual"):
    return parse_page((HEAD.format(title=title) + body).encode(), url="http://a.example/")


def called(*pages):
    """What is said of the last of some pages: (number of the page it repeats, whether nearly), or None."""
    seen = Duplicates()
    for number, one in enumerate(pages[:-1]):
        seen.add(number, one.digest, one.sketch)
    return seen.find(pages[-1].digest, pages[-1].sketch)


def test_equal_texts_have_equal_fingerprints_and_short_ones_no_sketch():
    """Nothing is kept for what cannot be told."""
    one = text(1)
    assert digest(one) == digest(str(one)) != 0
    assert sketch(one) == sketch(one.upper() + "!!") != b""
    assert (digest(""), sketch(""), sketch(" ".join(WORDS[:39]))) == (0, b"", b"")
    assert len(sketch(" ".join(WORDS[:40]))) == 101


def test_fingerprints_never_change():
    """They are stored with every page, so their values are pinned."""
    assert digest("wind farm") == 10699823659248907374
    assert (
        digest(sketch(" ".join(WORDS[:300]), " ".join(WORDS[:50]), "The Title").hex()) == 1216750392923489599
    )


def test_small_edits_make_near_copies_and_other_texts_do_not():
    for seed in range(60):
        words = prose(seed)
        edited = [*words[:250], "edited", *words[251:]]
        assert alike(sketch(" ".join(words)), sketch(" ".join(edited)))
        assert not alike(sketch(" ".join(words)), sketch(text(seed + 1000)))
        assert not alike(sketch(" ".join(words)), sketch(" ".join([*words[:375], *prose(seed + 1000, 125)])))


@pytest.mark.parametrize("odd", ["ß" * 300_000, "a " * 300_000, "\ud800 x " * 100, "語 " * 100])
def test_any_text_has_fingerprints(odd):
    """Long, lopsided and broken ones too."""
    assert 0 < digest(odd) < 2**64
    assert len(sketch(odd, odd, odd)) in (0, 101)


def test_what_stands_at_the_end_of_a_long_text_counts():
    """All of a text counts, however long it is."""
    same = text(1, 40_000)
    assert not alike(sketch(f"{same} {text(2, 12_000)}"), sketch(f"{same} {text(3, 12_000)}"))


LIST = "<ul>" + "".join(f"<li>a list that stands on many pages, item {i}</li>" for i in range(12)) + "</ul>"


def test_pages_that_share_a_block_are_no_copies():
    """A block of a few hundred characters that is taken for the main text does not make two manuals one."""
    block = f"<article><p>{text(0, 60)}</p>{LIST}</article>"

    def manual(seed):
        entries = "".join(f"<li><a href={i}>{text(1000 * seed + i, 8)}</a></li>" for i in range(150))
        return page(f"<ul>{entries}</ul>{block}")

    one, other = manual(1), manual(2)
    assert len(set(one.text.split()) & set(other.text.split())) < len(set(one.text.split()))
    assert called(one, other) is None
    assert one.main == one.text  # a part of a tenth does not speak for the page
    assert called(one, manual(1)) == (0, False)


def test_pages_with_the_same_main_text_and_another_rest_are_no_copies():
    article = f"<article><p>{text(1, 100)}</p><p>{text(2, 100)}</p></article>"
    one = page(f"{article}<footer>{text(3, 400)}</footer>")
    other = page(f"{article}<footer>{text(4, 400)}</footer>")
    assert called(one, other) is None


def navigation(count=1500):
    return "<nav><ul>" + "".join(f"<li><a href={w}>{w}</a></li>" for w in prose(9, count)) + "</ul></nav>"


def test_much_navigation_around_short_contents_makes_no_copies():
    """Nineteen twentieths of the text in common, but another content."""
    one = page(f"{navigation()}<main><article><p>{text(1, 60)}</p></article></main>")
    other = page(f"{navigation()}<main><article><p>{text(2, 60)}</p></article></main>")
    assert called(one, other) is None


def test_pages_of_a_template_that_differ_in_title_and_a_number_are_no_copies():
    """A reference page for each of many identifiers: what differs is what the page is about."""
    one = page(f"{navigation(300)}<p>Storage.CT = 1.2.840.10008.5.1</p>", "Storage.CT")
    other = page(f"{navigation(300)}<p>Storage.MR = 1.2.840.10008.7.4</p>", "Storage.MR")
    assert called(one, other) is None


def test_pages_of_a_template_that_differ_in_one_table_are_no_copies():
    def team(seed):
        cells = "".join(f"<tr><td>{w}</td><td>{n}</td></tr>" for n, w in enumerate(prose(seed, 40)))
        return page(f"{navigation(200)}<main><p>{text(5, 80)}</p><table>{cells}</table></main>", "Season")

    assert called(team(1), team(2)) is None


def test_a_page_with_another_date_or_counter_is_a_near_copy():
    body = f"<main><p>{text(1, 400)}</p></main><p>{{}} visitors</p>"
    one, other = page(body.format(17)), page(body.format(18))
    assert called(one, other) == (0, True)


def test_a_version_to_print_is_a_near_copy():
    article = f"<article><h1>Wind</h1><p>{text(1, 200)}</p><p>{text(2, 150)}</p></article>"
    one = page(f"<nav>{text(3, 10)}</nav>{article}<footer>{text(4, 20)}</footer>", "Wind")
    assert called(one, page(f"{article}<p>Printed version.</p>", "Wind")) == (0, True)


@pytest.mark.data
def test_real_articles_differ_and_their_edits_do_not(corpus):
    """200 encyclopaedia articles: no pair alike, edited copies alike."""
    texts = []
    with corpus("wikispeedia_pages.jsonl.zst").open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        for line in itertools.islice(io.TextIOWrapper(reader, "utf-8"), 200):
            row = json.loads(line)
            if row["kind"] == "article":
                texts.append(parse_page(row["html"].encode(), url=row["url"]).text)
    long = [one for one in texts if len(one.split()) > 300]
    sketches = [sketch(one) for one in long]
    assert len(sketches) > 100
    assert not any(alike(a, b) for a, b in itertools.combinations(sketches, 2))
    edited = [f"{one.replace(' the ', ' some ', 1)} Retrieved today." for one in long]
    assert all(alike(sketch(one), known) for one, known in zip(edited, sketches, strict=True))
