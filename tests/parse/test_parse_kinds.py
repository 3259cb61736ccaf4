"""Other than HTML: media types, feeds, XML, plain text, PDF, and what is not read at all."""

from __future__ import annotations

import sys

import pytest

from clew.errors import ParseError
from clew.parse import parse_page
from clew.parse.limits import Limits
from clew.parse.media import Kind, classify
from clew.parse.pdf import read_pdf

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
    assert (page.type, page.text, page.digest, page.sketch, len(page.links)) == ("image/png", "", 0, b"", 0)


def test_pdf_without_the_extra_is_a_page_without_text(monkeypatch):
    """The type is right, the text empty."""
    monkeypatch.setitem(sys.modules, "pypdf", None)
    page = parse_page(_pdf("wind farms at sea"), url=URL)
    assert (page.type, page.text) == ("application/pdf", "")


def _pdf(*texts: str, title: str = "Wind farms") -> bytes:
    """A document of one page for each text, written object by object as the format has it."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(texts)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(texts):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    body = b"%PDF-1.4\n"
    places = []
    for number, item in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{item}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        body
        + (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
            f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n"
            f"startxref\n{len(body)}\n%%EOF\n"
        ).encode()
    )


def test_pdf_with_the_extra():
    """Title and text of all pages are read; a broken file is a parse error, one cut short says so."""
    page = parse_page(_pdf("twelve turbines at sea", "and their noise"), url=URL)
    assert (page.title, page.text) == ("Wind farms", "twelve turbines at sea\nand their noise")
    assert not page.truncated
    with pytest.raises(ParseError, match="PDF"):
        parse_page(b"%PDF-1.4 broken", url=URL)


def test_a_broken_pdf_writes_nothing_into_the_progress_of_a_crawl(caplog):
    with pytest.raises(ParseError):
        parse_page(b"%PDF-1.4 broken", url=URL)
    assert caplog.text == ""


def test_only_the_first_pages_of_a_long_pdf_are_read():
    found = read_pdf(_pdf("one", "two", "three"), Limits(pdf_pages=2))
    assert (found.text, found.truncated) == ("one\ntwo", True)
