"""Columns found out at once are those found out later, and nothing else of the page depends on it."""

from __future__ import annotations

import io
import itertools
import json
from dataclasses import replace

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.page import Links, Page
from clew.parse import parse_page

BOTH = frozenset({"contexts", "paths"})
PIECES = [
    *("<p>wind ", "</p>", "<a href=/a>one</a>", "<a href=/b> two <b>words</b></a>", "<a href=/d>", "</a>"),
    *(
        "<a href=/c><img alt=pic></a>",
        "<div hidden>",
        "</div>",
        "<ul><li>",
        "<table><tr><td>",
        "&amp;",
        "&#2;",
    ),
    *("text  more\n", "<select>", "</select>", "<area href=/e alt=q>", "<iframe src=/f>", "<br>", "é"),
    *("<main>", "</main>", "<pre> a\n b"),
]


def read(markup: str, wanted: frozenset[str]) -> Page:
    return parse_page(
        markup.encode(), url="http://a.example/", content_type="text/html; charset=utf-8", wanted=wanted
    )


def alike(first: Page, second: Page) -> bool:
    return replace(first, links=Links()) == replace(second, links=Links())


@settings(max_examples=3 * settings().max_examples)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_what_is_wanted_changes_only_when_it_is_found_out(markup: str):
    later, at_once = read(markup, frozenset()), read(markup, BOTH)
    assert alike(later, at_once)
    assert list(later.links) == list(at_once.links)


@pytest.mark.data
def test_the_same_on_real_pages(corpus):
    with corpus("wikispeedia_pages.jsonl.zst").open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        lines = list(itertools.islice(io.TextIOWrapper(reader, "utf-8"), 120))
    for line in lines:
        markup = json.loads(line)["html"]
        later, at_once = read(markup, frozenset()), read(markup, BOTH)
        assert alike(later, at_once)
        assert list(later.links) == list(at_once.links)


def test_a_page_is_not_read_twice_for_what_was_wanted(monkeypatch):
    import turbohtml

    page = read("<p>see <a href=/x>wind farms</a> now", BOTH)
    monkeypatch.setattr(turbohtml, "parse", None)
    assert [(link.context, link.path) for link in page.links] == [("see wind farms now", "html/body/p/a")]
