"""The recorded webs that have names: counts, labels, encodings, starting points."""

from __future__ import annotations

from collections import Counter

import pytest

from clew.errors import UsageError
from clew.lab import CORPORA, LabelledWeb, open_web
from clew.lab.corpora import SITE_SUB
from clew.lab.corpus_index import rows
from clew.parse import decode
from clew.url import canonical, host

pytestmark = [pytest.mark.slow, pytest.mark.data]

WIKI = "wikispeedia_pages.jsonl.zst"
WEBKB = "webkb_dev_pages.jsonl.zst"
MINIWEB = "miniweb_pages.jsonl.zst"


@pytest.fixture(autouse=True)
def _there(corpus, monkeypatch):
    """Skip where the corpora are not; otherwise say where they are."""
    monkeypatch.setenv("CLEW_CORPORA", str(corpus(WIKI).parent))


@pytest.mark.parametrize(
    ("name", "pages", "collapsed", "not_http"),
    [
        ("wikispeedia", 5462, 0, 0),
        ("wikispeedia:hard", 5232, 0, 0),
        ("wikispeedia:images", 29949, 0, 0),
        ("webkb", 1674, 1, 19),
        ("webkb:cornell", 857, 1, 9),
        ("webkb:texas", 817, 0, 10),
        ("webkb:washington", 1198, 1, 6),
        ("webkb:misc", 4092, 14, 14),
        ("miniweb", 24821, 0, 0),
        ("miniweb:http", 24821, 0, 0),
    ],
)
def test_every_recorded_page_is_there_or_counted(name, pages, collapsed, not_http):
    web = open_web(name)
    assert isinstance(web, LabelledWeb)
    assert (len(web), web.collapsed, web.not_http) == (pages, collapsed, not_http)
    urls = list(web.urls())
    assert len(set(urls)) == pages
    assert all(canonical(url) == url for url in urls[::50])


@pytest.mark.parametrize("name", sorted(set(CORPORA) - {"webkb:misc"}))
def test_starting_points_are_pages_of_the_web(name):
    web = open_web(name)
    assert web.seeds()
    assert all(web.get(seed) is not None for seed in web.seeds())


def test_wikispeedia_pages_have_their_html_and_subjects(corpus):
    web = open_web("wikispeedia")
    for i, row in enumerate(rows(corpus(WIKI))):
        if i % 100 == 0:
            url = canonical(row["url"])
            assert web.get(url).body.decode() == row["html"]
            assert web.labels(url) == tuple(row["subjects"])


def test_double_encoded_addresses_are_kept():
    web = open_web("wikispeedia")
    odd = [url for url in web.urls() if "%25C3" in url]
    assert len(odd) > 50
    assert all(web.get(url).status == 200 for url in odd[:20])


def test_the_hard_variant_names_no_subject_and_has_no_index():
    web, whole = open_web("wikispeedia:hard"), open_web("wikispeedia")
    assert not [url for url in web.urls() if "/wp/index/" in url]
    stripped = 0
    for url in list(web.urls())[::20]:
        body, original = web.get(url).body, whole.get(url).body
        assert b"siteSub" not in body
        assert body == SITE_SUB.sub(b"", original)
        stripped += body != original
    assert stripped > 200


def test_webkb_replies_with_the_headers_of_1996_and_its_own_bytes(corpus):
    web = open_web("webkb")
    labels: Counter[str] = Counter()
    for row in rows(corpus(WEBKB)):
        url = canonical(row["url"])
        if row["univ"] != "misc" and url is not None:
            labels[web.labels(url)[0]] += 1
    assert set(labels) == {"course", "faculty", "student", "staff", "project", "department", "other"}
    reply = web.get("http://www.cs.cornell.edu/")
    assert (reply.status, reply.header("content-type")) == (200, "text/html")
    assert reply.header("server")
    assert not reply.header("content-length")


def test_miniweb_bodies_are_in_the_encoding_they_are_sent_as_and_so_the_parser_reads_them(corpus):
    web = open_web("miniweb")
    seen: Counter[str] = Counter()
    for i, row in enumerate(rows(corpus(MINIWEB))):
        if i % 40 == 0:
            reply = web.get(canonical(row["url"]))
            charset = reply.header("content-type").partition("charset=")[2]
            assert reply.body.decode(charset) == row["html"]
            assert decode(reply.body, reply.header("content-type"))[0] == row["html"]
            seen[charset] += 1
    assert set(seen) == {"utf-8", "iso-8859-1"}
    assert len({host(url) for url in web.urls()}) == 68


def test_miniweb_over_http_has_no_https_left_and_is_otherwise_the_same():
    web, secure = open_web("miniweb:http"), open_web("miniweb")
    assert {url.partition(":")[0] for url in web.urls()} == {"http"}
    for url in list(secure.urls())[::500]:
        plain = "http" + url[url.index(":") :]
        assert web.get(plain).body == secure.get(url).body.replace(b"https://", b"http://")


def test_what_was_not_recorded_has_no_reply_and_no_labels():
    web = open_web("wikispeedia")
    assert web.get("http://schools-wikipedia.org/robots.txt") is None
    assert web.labels("http://schools-wikipedia.org/robots.txt") == ()


def test_missing_corpora_are_an_error_that_names_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CORPORA", str(tmp_path))
    with pytest.raises(UsageError, match="CLEW_CORPORA"):
        open_web("wikispeedia")
