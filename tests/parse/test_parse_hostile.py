"""Whatever the bytes, parsing returns a page or a ParseError, and in time linear in their number."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import clew.parse
from clew.errors import ParseError
from clew.page import Page
from clew.parse import parse_page

URL = "http://a.example/"
TYPES = [
    "",
    "text/html",
    "text/html; charset=x-sjis",
    "application/xhtml+xml",
    "text/plain",
    "application/rss+xml",
]


def parse(body, content_type):
    """A page, or None for a ParseError; anything else escapes and fails the test."""
    try:
        page = parse_page(body, url=URL, content_type=content_type)
    except ParseError:
        return None
    assert isinstance(page, Page)
    columns = (page.links.anchors, page.links.contexts, page.links.paths, page.links.rels)
    assert all(len(column) == len(page.links.targets) for column in columns)
    assert "\x01" not in "".join((page.text, page.main, *page.links.anchors, *page.links.contexts))
    more = parse_page(body, url=URL, content_type=content_type, more=True)
    assert more.links.targets[: len(page.links)] == page.links.targets
    return page


@given(st.binary(max_size=400), st.sampled_from(TYPES))
@settings(max_examples=3 * settings().max_examples)
def test_random_bytes(body, content_type):
    """Nothing but ParseError."""
    parse(body, content_type)


TAGS = "a p div table td li ul object b i script style select option svg title iframe noscript template h1 br"
TOKENS = st.sampled_from(
    [f"<{tag}>" for tag in TAGS.split()]
    + [f"</{tag}>" for tag in TAGS.split()]
    + [
        "<a href=/x>",
        "<a href='y'> ",
        "<p hidden>",
        "word ",
        " ",
        "\n",
        "&amp;",
        "&#1;",
        "&#2;",
        "\x010\x02",
        "é",
    ]
    + [
        "<meta charset=x>",
        "<base href=/b/>",
        "<img alt=pic>",
        "<area href=/z alt=q>",
        "<![CDATA[",
        "<!--",
        "-->",
    ]
)


@given(st.lists(TOKENS, max_size=60).map("".join))
@example("<a href=/x>\x010\x02</p>\x010\x02")
@settings(max_examples=4 * settings().max_examples)
def test_tag_soup(markup):
    """Contexts hold their anchors, text is folded, and every anchor's words come from the page."""
    page = parse(markup.encode(), "text/html; charset=utf-8")
    assert page is not None
    assert "  " not in page.text
    assert "\n\n" not in page.text
    assert page.text == page.text.strip()
    for link in page.links:
        assert not link.context or link.anchor in link.context


@pytest.mark.data
def test_naughty_strings(suite):
    """Each of them, as a body, as text, as an attribute and as a URL."""
    for text in json.loads(suite("html/blns.json").read_text("utf-8")):
        raw = text.encode("utf-8", "surrogatepass")
        for content_type in TYPES:
            parse(raw, content_type)
        quoted = raw.replace(b'"', b"&quot;")
        parse(b'<a href="%b" title="%b" class="%b">%b</a>' % (quoted, quoted, quoted, raw), "text/html")


HUGE = {
    "nested divs": "<div>" * 100_000 + "<a href=/x>x</a>",
    "angle brackets": "<" * 1_000_000,
    "attributes": "<div " + " ".join(f"a{i}=1" for i in range(200_000)) + ">x",
    "data": "<div " + " ".join(f"data-a{i}=/x" for i in range(100_000)) + ">x",
    "entities": "&amp;" * 200_000,
    "half entities": "&CounterClockwiseContourIntegra" * 30_000,
    "nested links": "<a href=/x><object>" * 50_000 + "word",
    "nested hidden links": "<div hidden>" + "<a href=/x><object>" * 50_000 + "word",
    "nested picture links": "<a href=/x><object><img alt=x>" * 30_000,
    "links in a pre": "<pre>" + "".join(f"<a href=/{i}>l{i}</a> word\n" for i in range(20_000)),
    "links at every depth": "<div><a href=/x>x</a>" * 20_000,
    "unclosed links": "<a href=/x>y" * 80_000,
    "unclosed tags": "<p><b><i><table><tr><td>" * 20_000,
    "unclosed attribute": '<a href="' * 100_000,
    "comments": "<!--" * 200_000,
    "templates": "<template>" * 50_000,
    "one word": "x" * 1_000_000,
    "line breaks": "\n" * 1_000_000,
    "blanks in a pre": "<pre>" + " " * 1_000_000 + "x",
    "marks": "\x01" * 500_000,
    "robots": "<meta name=robots content=a,b,c>" * 30_000,
    "headings": "<h1>" * 100_000 + "x",
    "bases": "<base href=/x>" * 50_000,
    "long link": f"<a href='/{'x' * 900_000}'>x</a>",
    "long class": f"<a class='{'x' * 900_000}' href=/x>x</a>",
    "tables": "<table><tr><td>" * 20_000 + "<a href=/x>x</a>",
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_and_hostile_pages(name):
    """A megabyte made to hurt is read like any other page."""
    page = parse(HUGE[name].encode(), "text/html; charset=utf-8")
    assert page is not None
    assert len(page.links) <= 5_000
    assert sum(map(len, page.links.contexts)) <= 600 * 5_000
    assert max((len(path) for path in page.links.paths), default=0) < 24 * 70


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<rss><channel>" + b"<item><title>" * 50_000, "text/xml"),
        (b"<rss><channel>" + b"<item><title>x</title></item>" * 50_000 + b"</channel></rss>", "text/xml"),
        (b"<rss>" + b"<item><title>" * 50_000 + b"</title></item>" * 50_000 + b"</rss>", "text/xml"),
        (b"<rss><title>" + b"&" * 300_000, "text/xml"),
        (b"<?xml " * 100_000, ""),
        (b"<!DOCTYPE [" * 50_000, ""),
        (b"<!--" * 100_000, ""),
        (b"http://" * 100_000, "text/plain"),
        (b"http://a.example/ " * 50_000, "text/plain"),
        (b"<div " * 100_000 + b"/>", "application/xhtml+xml"),
        (b"<div/>" * 100_000, "application/xhtml+xml"),
    ],
)
def test_huge_and_hostile_other_kinds(body, content_type):
    """The same for XML, text, and the sniffing of types."""
    parse(body, content_type)


def test_only_one_package_knows_the_parser_library():
    """The library is young: replacing it must touch one place."""
    root = Path(clew.parse.__file__).parent.parent
    imports = re.compile(r"^\s*(?:import|from) turbohtml", re.MULTILINE)
    assert {p.parent.name for p in root.rglob("*.py") if imports.search(p.read_text("utf-8"))} == {"html"}


def test_a_flood_of_tags_is_cut_and_nuls_cost_nothing():
    """A parser spends a hundred bytes on a tag and dozens on a NUL: both are bounded before it sees them."""
    flood = b"<title>T</title><p>before" + b"<b>x<i>" * 100_000 + b"after"
    got = parse_page(flood, url="http://a.example/", content_type="text/html")
    assert got.title == "T"
    assert got.text.startswith("before")
    assert "after" not in got.text
    assert got.truncated
    zeros = b"<p>wi\0nd" + bytes(1_000_000) + b" farm"
    assert parse_page(zeros, url="http://a.example/", content_type="text/html").text == "wind farm"
