"""Scope, budgets and duplicates, each with its reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import ConfigError
from clew.policy import Budget, Duplicates, Scope, Tally


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
    assert Budget(pages=10).room(Tally(pages=7), 2) == 1
    assert Budget(pages=10, requests=8).room(Tally(pages=7, requests=7), 2) == 0


@given(st.integers(1, 2**64 - 1), st.sets(st.integers(0, 63), max_size=8))
def test_near_means_at_most_three_bits(base, flips):
    """Exactly the texts within three bits are found, whichever bits they are."""
    seen = Duplicates()
    seen.add(7, 0, base)
    other = base
    for bit in flips:
        other ^= 1 << bit
    if other:
        assert seen.find(0, other) == ((7, True) if len(flips) <= 3 else None)


def test_the_oldest_of_several_is_named_and_exact_wins():
    seen = Duplicates()
    seen.add(4, 44, 0xF0)
    seen.add(2, 22, 0xF1)
    assert seen.find(0, 0xF0) == (2, True)
    assert seen.find(44, 0xF1) == (4, False)
    assert seen.find(0, 0) is None
