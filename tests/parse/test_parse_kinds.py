"""Other than HTML: media types, feeds, XML, plain text, PDF, and what is not read at all."""

from __future__ import annotations

import importlib.util

import pytest

from clew.errors import ParseError
from clew.parse import parse_page
from clew.parse.media import Kind, classify

URL = "http://a.example/feed"
RSS = b"""<?xml version="1.0" encoding="utf-8"?><rss version="0.91"><channel><title>News</title>
<link>http://a.example/</link><description>All the news</description>
<item><title>Wind &amp;amp; sea</title><link>/1</link>
<description>&lt;p&gt;A wind &lt;b&gt;farm&lt;/b&gt;</description></item>
<item><description>no title</description><guid>http://b.example/2</guid></item>
<item><title>not a link</title><guid isPermaLink="false">urn:3</guid></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>Atom</title><link rel="self" href="/feed"/>
<link href="/"/><entry><title>One</title><link rel="edit" href="/e"/><link rel="alternate" href="/1"/>
<summary>first</summary></entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="http://a.example/"><title>Rdf</title></channel>
<item rdf:about="http://a.example/1"><title>One</title><link>http://a.example/1</link></item></rdf:RDF>"""


@pytest.mark.parametrize(
    ("body", "declared", "expected", "kind"),
    [
        (b"<!DOCTYPE html><p>", "", "text/html", Kind.HTML),
        (b"<p>no type", "TEXT/HTML; charset=x", "text/html", Kind.HTML),
        (b" <!-- c --> <html>", "text/plain", "text/html", Kind.HTML),
        (b"plain words", "", "text/plain", Kind.TEXT),
        (b"plain words", "application/octet-stream", "text/plain", Kind.TEXT),
        (b"\x00\x01\x02binary", "application/octet-stream", "application/octet-stream", Kind.OTHER),
        (b"\x00\x01\x02binary", "text/plain", "application/octet-stream", Kind.OTHER),
        (b"# title", "text/markdown", "text/markdown", Kind.TEXT),
        (b"%PDF-1.7", "text/html", "application/pdf", Kind.PDF),
        (b"GIF89a", "text/html", "image/gif", Kind.OTHER),
        (b"{}", "application/json", "application/json", Kind.OTHER),
        (b"a{}", "text/css", "text/css", Kind.OTHER),
        (b"<svg/>", "image/svg+xml", "image/svg+xml", Kind.OTHER),
        (RSS, "text/html", "application/rss+xml", Kind.XML),
        (ATOM, "application/xml", "application/xml", Kind.XML),
        (RDF, "", "application/rdf+xml", Kind.XML),
        (b"<?xml version='1.0'?><doc/>", "", "application/xml", Kind.XML),
        (b"", "", "text/plain", Kind.TEXT),
        (b"x", "nonsense", "text/plain", Kind.TEXT),
    ],
)
def test_bytes_overrule_labels_where_they_are_unmistakable(body, declared, expected, kind):
    """The declared type, a missing one, and a wrong one."""
    assert classify(body, declared) == (expected, kind)


def test_rss_entries_are_links():
    """Titles are anchors, summaries are contexts and text, relative links are resolved."""
    page = parse_page(RSS, url=URL, content_type="text/xml")
    assert (page.title, page.description, page.type) == ("News", "All the news", "text/xml")
    assert [(x.target, x.anchor, x.context) for x in page.links] == [
        ("http://a.example/", "News", ""),
        ("http://a.example/1", "Wind & sea", "Wind & sea A wind farm"),
        ("http://b.example/2", "", "no title"),
    ]
    assert page.text == "News\nAll the news\nWind & sea\nA wind farm\nno title\nnot a link"


@pytest.mark.parametrize(("body", "title"), [(ATOM, "Atom"), (RDF, "Rdf")])
def test_atom_and_rdf_entries_are_links(body, title):
    """The same for the other two formats."""
    page = parse_page(body, url=URL, content_type="application/xml")
    assert page.title == title
    assert page.links[len(page.links) - 1].target == "http://a.example/1"
    assert page.links[len(page.links) - 1].anchor == "One"


def test_a_feed_with_html_entities_and_bare_ampersands_is_read():
    """Not well-formed, but common."""
    body = b"<rss><channel><title>A &nbsp; B & C &bogus; &lt;</title><item><link>http://b.example/?a=1&b=2</link>"
    page = parse_page(body + b"</item></channel></rss>", url=URL)
    assert page.title == "A B & C &bogus; <"
    assert page.links.targets == ("http://b.example/?a=1&b=2",)


def test_other_xml_is_its_text():
    """No links, no markup."""
    page = parse_page(b"<doc><p>wind</p> <p>farm</p></doc>", url=URL, content_type="application/xml")
    assert (page.text, len(page.links)) == ("wind farm", 0)


def test_broken_xml_is_a_parse_error():
    """It says what is wrong."""
    with pytest.raises(ParseError, match="not well-formed"):
        parse_page(b"<rss><channel>", url=URL)


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["cyclic", "dtd", "external", "external_file", "quadratic", "xmlbomb", "xmlbomb2"]
)
def test_hostile_xml_expands_nothing_and_opens_nothing(suite, name):
    """Entity bombs and external entities: refused, or read without what they point at."""
    body = suite(f"sitemaps/hostile-{name}.xml").read_bytes()
    try:
        page = parse_page(body, url=URL, content_type="application/xml")
    except ParseError:
        return
    assert len(page.text) < len(body)
    assert "root:" not in page.text


def test_plain_text_has_lines_and_links():
    """The first line is the title; URLs in the text are links with context."""
    page = parse_page(b"A title\r\n\r\nsee  http://b.example/x. Or not.", url=URL, content_type="text/plain")
    assert (page.title, page.text) == ("A title", "A title\nsee http://b.example/x. Or not.")
    assert [(x.target, x.context) for x in page.links] == [
        ("http://b.example/x", "A title see http://b.example/x. Or not.")
    ]


def test_what_is_not_read_is_a_page_without_text():
    """Images and the like give their type and nothing else."""
    page = parse_page(b"\x89PNG\r\n\x1a\n", url=URL, content_type="image/png")
    assert (page.type, page.text, page.digest, page.simhash, len(page.links)) == ("image/png", "", 0, 0, 0)


@pytest.mark.skipif(importlib.util.find_spec("pypdf") is not None, reason="pypdf is installed")
def test_pdf_without_the_extra_is_a_page_without_text():
    """The type is right, the text empty."""
    page = parse_page(b"%PDF-1.4", url=URL)
    assert (page.type, page.text) == ("application/pdf", "")


def test_pdf_with_the_extra():
    """A blank document is read, a broken one is a parse error."""
    pypdf = pytest.importorskip("pypdf")
    import io

    writer = pypdf.PdfWriter()
    writer.add_blank_page(72, 72)
    writer.add_metadata({"/Title": "Wind farms"})
    target = io.BytesIO()
    writer.write(target)
    assert parse_page(target.getvalue(), url=URL).title == "Wind farms"
    with pytest.raises(ParseError, match="PDF"):
        parse_page(b"%PDF-1.4 broken", url=URL)
