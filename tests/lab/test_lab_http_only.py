"""A web that was recorded by https, for a proxy that speaks plain HTTP alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.fetch.base import Response
from clew.lab import corpora, open_web
from clew.lab.webs import HttpOnlyWeb
from clew.testing import StaticWeb


def test_every_address_of_such_a_web_is_http_and_has_the_page():
    start = Response(
        url="https://a.example/",
        status=302,
        headers=(("Location", "https://a.example/b"),),
        body=b'<a href="https://a.example/b">',
    )
    web = HttpOnlyWeb(StaticWeb({"https://a.example/": start, "https://a.example/b": "b"}))
    assert web.seeds() == ("http://a.example/",)
    assert list(web.urls()) == ["http://a.example/", "http://a.example/b"]
    reply = web.get("http://a.example/")
    assert (reply.url, reply.body) == ("http://a.example/", b'<a href="http://a.example/b">')
    assert reply.header("location") == "http://a.example/b"
    assert web.get("http://a.example/c") is None


def test_a_corpus_can_be_given_by_its_file(tmp_path: Path):
    name = "webkb_dev_pages.jsonl.zst"
    here = corpora.corpora_home() / name
    if not here.is_file():
        pytest.skip(f"{name} is not there: set CLEW_CORPORA")
    web = open_web(str(here))
    assert (web.name, len(list(web.urls()))) == ("webkb", len(list(open_web("webkb").urls())))
