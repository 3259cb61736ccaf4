"""Sitemaps of every kind are read; whatever could reach out of the file is refused."""

import gzip
import socket
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import ParseError
from clew.parse.sitemap import SIZE_LIMIT, URL_LIMIT, parse_sitemap

HERE = "http://www.example.com/sitemap.xml"
LISTED = {
    "atom.xml": 1,
    "do-not-visit.txt": 1,
    "hebdenbridgetimes-articles-sitemap.xml": 74,
    "pagemaps-sitemap.xml": 2,
    "shinpaideshou-news-sitemap.xml": 3,
    "sitemap-images.xml": 1,
    "sitemap-links.xml": 3,
    "sitemap-mobile.xml": 3,
    "sitemap-news.xml": 2,
    "sitemap-videos-tvshow.xml": 1,
    "sitemap-videos.xml": 3,
    "sitemap-with-bom.txt": 2,
    "sitemap.badns.xml": 2,
    "sitemap.index.xml": 15,
    "sitemap.ns.xml": 2,
    "sitemap.txt": 2,
    "sitemap.txt.gz": 5,
    "xmlSitemap.gz": 5,
}


def read(body, **more):
    return parse_sitemap(body, url=HERE, **more)


@pytest.mark.data
def test_every_public_sitemap_gives_all_its_addresses(suite):
    folder = suite("sitemaps")
    files = [f for f in sorted(folder.iterdir()) if not f.name.startswith("hostile")]
    found = {f.name: read(f.read_bytes()) for f in files}
    assert {name: len(s.urls) + len(s.children) for name, s in found.items()} == LISTED
    assert not found["sitemap.index.xml"].urls
    assert found["sitemap-news.xml"].titles[0] == "Companies A, B in Merger Talks"


@pytest.mark.data
def test_every_hostile_file_is_refused_without_touching_network_or_disk(suite, monkeypatch):
    bodies = {f.name: f.read_bytes() for f in suite("sitemaps").glob("hostile-*.xml")}
    assert len(bodies) >= 7

    def touched(*args, **more):
        raise AssertionError(f"reached out: {args}")

    monkeypatch.setattr(socket, "socket", touched)
    monkeypatch.setattr(socket, "getaddrinfo", touched)
    monkeypatch.setattr("builtins.open", touched)
    for body in bodies.values():
        with pytest.raises(ParseError, match="document type"):
            read(body)


@pytest.mark.parametrize(
    "body",
    [
        b"<!doctype html><html><body>not found</body></html>",
        b"<html><body>not found</body></html>",
        b"",
        b"nothing of interest",
        b"\x1f\x8b broken",
        b"<!DOCTYPE urlset [<!ENTITY a 'b'>]><urlset><url><loc>&a;</loc></url></urlset>",
        b"<urlset><!entity x SYSTEM 'file:///etc/passwd'></urlset>",
    ],
)
def test_what_is_no_sitemap_is_refused(body):
    with pytest.raises(ParseError):
        read(body)


def test_an_entity_of_a_files_own_stays_text():
    assert read(b"<urlset><url><loc>http://a.example/&x;</loc></url></urlset>").urls == (
        "http://a.example/&x;",
    )


def test_escapes_cdata_comments_and_spaces():
    body = b"""<?xml version="1.0"?><!-- <url><loc>http://no.example/</loc></url> -->
    <urlset><url><loc> http://a.example/?a=1&amp;b=&#50; </loc></url>
    <url><loc><![CDATA[http://a.example/<x>]]></loc></url></urlset>"""
    assert read(body).urls == ("http://a.example/?a=1&b=2", "http://a.example/%3Cx%3E")


def test_rss_gives_links_and_titles():
    body = b"<rss><channel><link>http://a.example/</link><item><title>One &amp; two</title>"
    body += b"<link>http://a.example/1</link></item></channel></rss>"
    found = read(body)
    assert (found.urls, found.titles) == (("http://a.example/1",), ("One & two",))


def test_a_file_cut_short_gives_what_it_has():
    body = b"<urlset><url><loc>http://a.example/1</loc></url><url><loc>http://a.example/2</loc></ur"
    assert len(read(body, truncated=True).urls) == 2
    packed = gzip.compress(b"http://a.example/1\n" * 1000)
    found = read(packed[: len(packed) - 20])
    assert found.truncated
    assert found.urls == ("http://a.example/1",)


def test_a_bomb_is_not_unfolded():
    bomb = gzip.compress(b"http://a.example/1\n" + b"\n" * (SIZE_LIMIT * 4), 1)
    found = read(bomb)
    assert found.truncated
    assert found.urls == ("http://a.example/1",)


def test_a_small_file_that_unfolds_far_is_read_in_part():
    packed = gzip.compress(b"<urlset>" + b"<url><loc>/a</loc></url>" * 1_000_000)
    taken = parse_sitemap(packed, url="http://a.example/map.gz")
    assert taken.truncated
    assert taken.urls == ("http://a.example/a",)
    members = gzip.compress(b"http://a.example/1\n", mtime=0) * 1001
    assert parse_sitemap(members, url="http://a.example/map.gz").truncated


def test_tags_are_counted(monkeypatch):
    monkeypatch.setattr("clew.parse.sitemap.TAGS_LIMIT", 7)
    body = b"<urlset>" + b"<url><loc>/%d</loc></url>" * 3 % (1, 2, 3)
    assert len(parse_sitemap(body, url="http://a.example/map.xml").urls) == 2


def test_at_most_fifty_thousand_addresses():
    lines = "\n".join(f"http://a.example/{i}" for i in range(URL_LIMIT + 10))
    assert len(read(lines.encode()).urls) == URL_LIMIT
    xml = "".join(f"<url><loc>http://a.example/{i}</loc></url>" for i in range(URL_LIMIT + 10))
    assert len(read(f"<urlset>{xml}</urlset>".encode()).urls) == URL_LIMIT


@pytest.mark.parametrize(
    "piece", ["<", "<a", "<!--", "<![CDATA[", "<url>", "&#", "<link href='", "<loc", "</"]
)
def test_a_megabyte_of_any_unfinished_thing_is_read_in_one_pass(piece):
    """Were the reading quadratic, this would not end today."""
    with suppress(ParseError):
        assert read(b"<urlset>" + piece.encode() * (1_000_000 // len(piece))).urls == ()


@given(
    st.binary(max_size=400) | st.text(alphabet="<>/!?-[]CDAT&;#xurlsetoc :'\"=", max_size=300).map(str.encode)
)
def test_any_bytes_give_a_sitemap_or_a_parse_error(body):
    for start in (b"", b"<urlset>", b"<feed><entry>"):
        try:
            found = read(start + body)
        except ParseError:
            continue
        assert len(found.urls) == len(found.titles)
        assert all(u.startswith(("http://", "https://")) for u in (*found.urls, *found.children))
