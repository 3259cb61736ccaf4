"""Opening a web by name or by path."""

from __future__ import annotations

import pytest

import clew
from clew.errors import UsageError
from clew.fetch import ReplayFetcher
from clew.lab import DemoWeb, PlainWeb, names, open_web
from clew.testing import StaticWeb, VirtualClock, link_page


def test_an_unknown_name_is_told_the_nearest_and_all():
    with pytest.raises(UsageError) as caught:
        open_web("wikispedia")
    assert "'wikispeedia'" in str(caught.value)
    assert all(name in str(caught.value) for name in names())


def test_demo_is_the_demo_web():
    assert isinstance(open_web("demo"), DemoWeb)


def test_a_folder_that_is_no_crawl_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"clew\.db"):
        open_web(str(tmp_path))


def test_a_warc_becomes_a_web(tmp_path):
    path = tmp_path / "one.warc"
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>A</title>"
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/x\r\n"
        "WARC-Date: 2024-01-01T00:00:00Z\r\n"
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(page)}\r\n\r\n"
    )
    path.write_bytes(head.encode() + page + b"\r\n\r\n")
    web = open_web(str(path))
    assert isinstance(web, PlainWeb)
    assert (list(web.urls()), web.seeds()) == (["http://a.example/x"], ("http://a.example/x",))
    assert web.get("http://a.example/x").body == b"<title>A</title>"
    assert web.labels("http://a.example/x") == ()


def test_a_crawl_becomes_a_web_that_can_be_crawled_again(tmp_path):
    web = StaticWeb(
        {
            "http://a.example/": link_page("A", "the start", next_page="http://b.example/"),
            "http://b.example/": link_page("B", "a wind farm at sea"),
        }
    )

    def crawl(over, directory=None):
        run = clew.crawl(
            ["http://a.example/"],
            match='"wind farm"',
            directory=directory,
            fetcher=ReplayFetcher(over),
            clock=VirtualClock(),
            parse_workers=0,
        )
        with run:
            return [find.url for find in run]

    assert crawl(web, tmp_path / "first") == ["http://b.example/"]
    again = open_web(str(tmp_path / "first"))
    assert again.seeds() == ("http://a.example/",)
    assert again.get("http://b.example/").body == web.get("http://b.example/").body
    assert crawl(again) == ["http://b.example/"]
