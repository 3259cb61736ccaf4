"""Recorded webs: what is good in a WARC file or a crawl directory is replayed, what is broken is told."""

from __future__ import annotations

import contextlib
import gzip
import random
import zlib
from dataclasses import replace
from pathlib import Path

import brotli
import pytest
import zstandard
from fastwarc.warc import ArchiveIterator

from clew.errors import StoreForeign
from clew.fetch.base import Response
from clew.fetch.replay import RecordedWeb
from clew.run.parsing import to_page
from clew.store import SqliteStore
from clew.store.exports import export
from clew.store.recorded import CrawlWeb, WarcWeb
from clew.store.warc import info_record, response_record
from clew.testing.stores import fetched, found

A = "http://a.example/"
HTML = (("Content-Type", "text/html"),)
SUITE = {
    "example-bad-non-chunked.warc.gz": ["http://example.com/"],
    "example-bad.warc.gz.bad": ["http://example.com/?example=1", "http://www.iana.org/domains/example"],
    "example-digest.warc": [],
    "example-iana.org-chunked.warc": ["http://www.iana.org/"],
    "example-resource.warc.gz": ["http://example.com/"],
    "example-space-in-target-uri.warc.gz": [],
    "example-trunc.warc": ["http://example.com/"],
    "example-wget-bad-target-uri.warc.gz": ["http://example.com/"],
    "example-wrong-chunks.warc.gz": ["http://example.com/"],
    "example.warc": ["http://example.com/"],
    "example.warc.gz": ["http://example.com/"],
    "post-test.warc.gz": ["http://httpbin.org/post", "http://httpbin.org/post?foo=bar"],
}


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(SUITE))
def test_files_of_the_suite_give_their_good_records(suite, name: str) -> None:
    web = WarcWeb(suite("warc") / name)
    assert list(web.urls()) == SUITE[name]
    for url in web.urls():
        reply = web.get(url)
        assert reply is not None
        assert reply.body.lstrip()[:1] in (b"<", b"{")
    assert bool(web.problems) == ("trunc" in name)
    web.close()


@pytest.mark.data
def test_every_file_of_the_suite_is_covered(suite) -> None:
    assert sorted(SUITE) == sorted(path.name for path in suite("warc").iterdir())


@pytest.mark.data
def test_whatever_is_done_to_a_file_it_loads_or_is_refused(suite, tmp_path: Path) -> None:
    dice = random.Random(11)
    for source in sorted(suite("warc").iterdir()):
        data = source.read_bytes()
        for _ in range(25):
            broken = bytearray(data[: dice.randrange(len(data))] if dice.random() < 0.4 else data)
            for _ in range(dice.randrange(4)):
                if broken:
                    broken[dice.randrange(len(broken))] = dice.randrange(256)
            path = tmp_path / source.name
            path.write_bytes(broken)
            try:
                web = WarcWeb(path)
            except StoreForeign:
                continue
            for url in web.urls():
                web.get(url)
            web.close()


@pytest.mark.parametrize("data", [b"", b"no warc at all", b"WARC/9\r\n\r\n", b"\x1f\x8b", bytes(1000)])
def test_what_is_no_warc_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.warc").write_bytes(data)
    with pytest.raises(StoreForeign, match=r"x\.warc"):
        WarcWeb(tmp_path / "x.warc")


def test_what_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreForeign, match="does not exist"):
        WarcWeb(tmp_path / "nowhere.warc")
    with pytest.raises(StoreForeign, match="no WARC file there"):
        WarcWeb(tmp_path)


def archive(path: Path, *replies: Response, members: bool = True) -> Path:
    records = [info_record(path.name, "test", 0.0), *(response_record(reply, 0.0) for reply in replies)]
    data = b"".join(records)
    if path.suffix == ".warc":
        data = b"".join(map(gzip.decompress, records))
    elif not members:
        data = gzip.compress(b"".join(map(gzip.decompress, records)))
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(("name", "members"), [("x.warc", True), ("x.warc.gz", True), ("x.warc.gz", False)])
def test_plain_and_compressed_files_read_alike(tmp_path: Path, name: str, members: bool) -> None:
    replies = [Response(url=f"{A}{i}", status=200, body=b"wind %d" % i, wire=6) for i in range(5)]
    web = WarcWeb(archive(tmp_path / name, *replies, members=members))
    assert isinstance(web, RecordedWeb)
    assert [web.get(url) for url in web.urls()] == replies
    assert web.get("http://nowhere.example/") is None
    web.close()


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("br", brotli.compress),
        ("zstd", zstandard.compress),
        ("identity", bytes),
    ],
)
def test_bodies_are_decoded_up_to_the_limit(tmp_path: Path, encoding: str, encode) -> None:
    body = b"wind farm " * 100_000
    headers = (("Content-Encoding", encoding), ("Content-Type", "text/html"))
    reply = Response(url=A, status=200, headers=headers, body=body, raw=encode(body))
    path = archive(tmp_path / "x.warc.gz", reply)
    whole, cut = WarcWeb(path).get(A), WarcWeb(path, limit=1000).get(A)
    assert whole is not None
    assert cut is not None
    assert (whole.body, whole.truncated, whole.headers) == (body, False, (("Content-Type", "text/html"),))
    assert (cut.body, cut.truncated) == (body[:1000], True)


def test_of_several_replies_to_one_url_the_last_counts(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "x.warc.gz",
        Response(url=f"{A}robots.txt", status=404),
        Response(url=A, status=503),
        Response(url=f"{A}#part", status=200),
    )
    web = WarcWeb([path])
    assert list(web.urls()) == [A, f"{A}robots.txt"]
    reply = web.get(A)
    assert reply is not None
    assert reply.status == 200


def test_a_folder_of_files_is_one_web(tmp_path: Path) -> None:
    archive(tmp_path / "1.warc.gz", Response(url=A, status=200))
    archive(tmp_path / "2.warc", Response(url=f"{A}2", status=301, headers=(("Location", A),)))
    web = WarcWeb(tmp_path)
    assert list(web.urls()) == [A, f"{A}2"]
    reply = web.get(f"{A}2")
    assert reply is not None
    assert (reply.status, reply.header("location")) == (301, A)


def test_a_crawl_can_be_replayed_while_it_runs_and_after_it_was_torn(tmp_path: Path) -> None:
    replies = [
        Response(url=f"{A}robots.txt", status=404, body=b"none"),
        Response(url=A, status=200, headers=(("Content-Encoding", "gzip"),), body=b"wind", wire=4),
        Response(url=f"{A}moved", status=301, headers=(("Location", A),)),
    ]
    with SqliteStore(tmp_path / "crawl") as store:
        store.save([found(0, [A])])
        for reply in replies:
            blob = store.append(reply, 0.0)
            store.save(fetched(0, A, blob=blob) if reply.url == A else [])
        store.flush()
        (file,) = (tmp_path / "crawl" / "pages").iterdir()
        with file.open("ab") as stream:
            stream.write(response_record(Response(url=f"{A}torn", status=200), 0.0)[:-9])
        web = CrawlWeb(tmp_path / "crawl")
    assert list(web.urls()) == [A, f"{A}moved", f"{A}robots.txt"]
    assert (web.name, web.problems) == ("crawl", [])
    found_reply = web.get(A)
    assert found_reply is not None
    assert (found_reply.body, found_reply.header("X-Archive-Orig-Content-Encoding")) == (b"wind", "gzip")


def test_a_crawl_that_lost_its_archive_is_refused(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "crawl") as store:
        store.append(Response(url=A, status=200), 0.0)
        store.save([])
    (file,) = (tmp_path / "crawl" / "pages").iterdir()
    file.unlink()
    with pytest.raises(StoreForeign, match="no reply that can be read"):
        CrawlWeb(tmp_path / "crawl")


def test_a_rendered_page_comes_back_with_what_the_browser_made_of_it(tmp_path):
    plain = Response(url=f"{A}1", status=200, headers=HTML, body=b"<p>plain</p>")
    shell = Response(
        url=f"{A}2", status=200, headers=HTML, body=b"<div id=app></div>", rendered=b"<p>wind &amp; sea</p>"
    )
    with SqliteStore(tmp_path / "crawl") as store:
        blobs = []
        for number, reply in enumerate((plain, shell, replace(plain, url=f"{A}3"))):
            blobs.append(store.append(reply, 0.0))
            store.save([found(number, [reply.url]), *fetched(number, reply.url, blob=blobs[-1])])
        store.flush()
    with contextlib.closing(CrawlWeb(tmp_path / "crawl")) as web:
        assert [web.get(f"{A}{i}").rendered for i in (1, 2, 3)] == [None, b"<p>wind &amp; sea</p>", None]
        assert web.get(f"{A}2").body == b"<div id=app></div>"
        assert to_page(web.get(f"{A}2"), 0).text == "wind & sea"
        assert to_page(web.get(f"{A}2"), 0).rendered
    file = next((tmp_path / "crawl" / "pages").iterdir())
    with file.open("rb") as stream:
        kinds = [record.headers["WARC-Type"] for record in ArchiveIterator(stream)]
    assert kinds == ["warcinfo", "response", "response", "conversion", "response"]
    assert blobs[1].offset + blobs[1].length == blobs[2].offset
    assert export(tmp_path / "crawl", tmp_path / "all.warc.gz", "warc") == 3
    with contextlib.closing(WarcWeb(tmp_path / "all.warc.gz")) as web:
        assert web.get(f"{A}2").rendered == b"<p>wind &amp; sea</p>"


def test_an_archive_of_which_nothing_can_be_read_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "x.warc.gz").write_bytes(b"\x1f\x8b\x08" + b"rotten" * 100)
    with pytest.raises(StoreForeign, match=r"nothing in it can be read; restore it from a copy"):
        WarcWeb(tmp_path / "x.warc.gz")
