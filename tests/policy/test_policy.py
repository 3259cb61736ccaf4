"""Scope, budgets and duplicates, each with its reason."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import ConfigError
from clew.parse import alike, sketch
from clew.policy import Budget, Duplicates, Scope, Tally, duplicates


@pytest.mark.parametrize(
    ("mode", "url", "reason"),
    [
        ("all", "http://other.example/", None),
        ("host", "http://www.a.example/x", None),
        ("host", "https://www.a.example:8080/x", None),
        ("host", "http://a.example/x", "scope"),
        ("domain", "http://a.example/x", None),
        ("domain", "http://deep.www.a.example/x", None),
        ("domain", "http://b.example/x", "scope"),
        ("prefix", "http://www.a.example/docs/more/x", None),
        ("prefix", "http://www.a.example/other", "scope"),
    ],
)
def test_scope_modes(mode, url, reason):
    assert Scope(mode, ["http://www.a.example/docs/index.html?q=1"]).check(url, 1) == reason


def test_public_suffixes_do_not_make_neighbours():
    scope = Scope("domain", ["http://a.co.uk/"])
    assert scope.check("http://b.co.uk/", 1) == "scope"


def test_reasons_of_leaving_out():
    scope = Scope("all", include=["*a.example*"], exclude=["/private/", "*?print=*"], depth=2)
    assert scope.check("http://a.example/", 3) == "depth"
    assert scope.check("http://a.example/private/", 1) == "exclude"
    assert scope.check("http://a.example/x?print=1", 1) == "exclude"
    assert scope.check("http://b.example/", 1) == "include"
    assert scope.check("http://a.example/photo.JPG", 1) == "type"
    assert scope.check("http://a.example/photo.JPG?size=2", 1) == "type"
    assert scope.check("http://a.example/page.html", 1) is None


def test_a_host_that_looks_like_a_file_is_a_host():
    assert Scope().check("http://example.zip/", 0) is None


def test_types_by_ending_and_by_media_type():
    assert Scope(types=["html"]).check("http://a.example/x.pdf", 1) == "type"
    assert Scope(types=["pdf"]).check("http://a.example/x.pdf", 1) is None
    assert Scope(types=["html"]).keeps("text/html")
    assert not Scope(types=["html"]).keeps("application/pdf")
    assert Scope(types=["text/csv"]).keeps("text/csv")
    assert Scope(types=["text/csv"]).check("http://a.example/x.csv", 1) is None


def test_a_bad_pattern_or_type_is_said():
    with pytest.raises(ConfigError, match="not a regular expression"):
        Scope(exclude=["/(/"])
    with pytest.raises(ConfigError, match="unknown page type 'htm'"):
        Scope(types=["htm"])


def test_budgets_name_themselves():
    tally = Tally(pages=5, matches=2, requests=9, wire=1000, elapsed=50.0)
    assert Budget().spent(tally, 1e9) is None
    assert Budget(pages=5).spent(tally, 0) == "pages"
    assert Budget(matches=2).spent(tally, 0) == "matches"
    assert Budget(seconds=60).spent(tally, 10) == "time"
    assert Budget(seconds=60).spent(tally, 9) is None
    assert Budget(bytes=1000).spent(tally, 0) == "bytes"
    assert Budget(requests=9).spent(tally, 0) == "requests"


def test_room_counts_what_is_under_way():
    assert Budget(pages=10).remaining(Tally(pages=7), 2) == 1
    assert Budget(pages=10, requests=8).remaining(Tally(pages=7, requests=7), 2) == 0


@given(st.integers(0, 10**6), st.integers(0, 200))
@settings(deadline=None)
def test_near_copies_are_those_whose_sketches_are_alike(seed, edits):
    """Nothing that is not alike is found."""
    words = random.Random(seed).choices([f"word{i}" for i in range(3000)], k=400)
    one = sketch(" ".join(words))
    other = sketch(" ".join(["edited"] * edits + words[edits:]))
    seen = Duplicates()
    seen.add(7, 0, one)
    found = seen.find(0, other)
    assert found in (None, (7, True))
    assert (found is not None) <= alike(one, other)


def test_hardly_a_near_copy_is_missed():
    """A sketch of 64 bytes estimates: of texts that share 96 % of their word fives a few are missed."""
    missed = 0
    for seed in range(300):
        words = random.Random(seed).choices([f"word{i}" for i in range(3000)], k=400)
        seen = Duplicates()
        seen.add(7, 0, sketch(" ".join(words)))
        missed += seen.find(0, sketch(" ".join(["edited"] * 12 + words[12:]))) is None
    assert missed <= 9


def test_pages_under_other_titles_are_not_compared():
    words = " ".join(f"word{i}" for i in range(400))
    seen = Duplicates()
    seen.add(1, 11, sketch(words, title="One"))
    assert seen.find(22, sketch(words, title="Two")) is None
    assert seen.find(22, sketch(words, title="ONE")) == (1, True)
    assert seen.find(11, sketch(words, title="Two")) == (1, False)


def test_a_template_of_many_pages_costs_no_more_than_so_many_comparisons(monkeypatch):
    """Pages that share nearly all text but not the main one are each compared with 256 others at most."""
    compared = []
    monkeypatch.setattr(duplicates, "alike", lambda one, other: compared.append(1) or alike(one, other))
    seen = Duplicates()
    words = " ".join(f"word{i}" for i in range(400))
    for number in range(400):
        own = sketch(words, f"content {number} of its own and nothing else {number * 7} so", "Shop")
        compared.clear()
        assert seen.find(number, own) is None
        assert len(compared) <= 256
        seen.add(number, 0, own)
    assert compared


def test_the_oldest_of_several_is_named_and_exact_wins():
    words = [f"word{i}" for i in range(400)]
    one, other = sketch(" ".join(words)), sketch(" ".join(words[:399]))
    seen = Duplicates()
    seen.add(4, 44, one)
    seen.add(2, 22, other)
    assert seen.find(0, one) == (2, True)
    assert seen.find(44, other) == (4, False)
    assert seen.find(0, b"") is None
