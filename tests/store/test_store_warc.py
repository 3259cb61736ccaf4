"""Records that any reader of WARC files understands."""

from __future__ import annotations

import base64
import gzip
import hashlib
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from clew.fetch.base import Response
from clew.store import warc
from clew.store.replies import http_reply
from clew.store.warc import Shelf, info_record, response_record

A = "http://a.example/"


def parsed(data: bytes):
    """The one record in some bytes, as warcio reads it: head, HTTP head, body."""
    (record,) = [
        (record.rec_headers, record.http_headers, record.content_stream().read())
        for record in ArchiveIterator(BytesIO(data), check_digests="raise")
    ]
    return record


def test_a_reply_is_a_response_record_with_digests() -> None:
    response = Response(url=A, status=404, headers=(("X-A", "b"),), body=b"gone", address="192.0.2.1")
    head, http, body = parsed(response_record(response, 1_700_000_000.0))
    assert head.get_header("WARC-Target-URI") == A
    assert head.get_header("WARC-Date") == "2023-11-14T22:13:20Z"
    assert head.get_header("WARC-IP-Address") == "192.0.2.1"
    assert head.get_header("WARC-Truncated") is None
    assert head.get_header("WARC-Payload-Digest").startswith("sha1:")
    assert http.get_statuscode() == "404"
    assert (http.get_header("X-A"), http.get_header("Content-Length")) == ("b", "4")
    assert body == b"gone"


def test_a_decompressed_body_no_longer_claims_to_be_compressed() -> None:
    headers = (("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"), ("Content-Length", "9"))
    _, http, body = parsed(response_record(Response(url=A, status=200, headers=headers, body=b"wind"), 0.0))
    assert http.get_header("Content-Encoding") is None
    assert http.get_header("X-Archive-Orig-Content-Encoding") == "gzip"
    assert http.get_header("X-Archive-Orig-Transfer-Encoding") == "chunked"
    assert (http.get_header("Content-Length"), body) == ("4", b"wind")


def test_a_body_kept_as_sent_still_says_how_it_is_compressed() -> None:
    raw = gzip.compress(b"wind")
    headers = (("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"))
    response = Response(url=A, status=200, headers=headers, body=b"wind", raw=raw)
    _, http, body = parsed(response_record(response, 0.0))
    assert (http.get_header("Content-Encoding"), http.get_header("Transfer-Encoding")) == ("gzip", None)
    assert body == b"wind"


def test_a_cut_body_is_marked() -> None:
    head, _, _ = parsed(response_record(Response(url=A, status=200, truncated=True), 0.0))
    assert head.get_header("WARC-Truncated") == "length"


def test_a_header_cannot_bring_another_line() -> None:
    headers = (("X-A", "b\r\nWARC-Type: warcinfo\r\n\r\nbody"),)
    _, http, body = parsed(response_record(Response(url=A, status=200, headers=headers), 0.0))
    assert http.get_header("X-A") == "b WARC-Type: warcinfo body"
    assert body == b""


NAMES = st.text("abcXYZ-", min_size=1).filter(
    lambda name: name.lower() not in {"content-length", "content-encoding", "transfer-encoding"}
)
VALUES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp", "Zs"]))


@given(st.integers(100, 599), st.lists(st.tuples(NAMES, VALUES)), st.binary())
def test_a_reply_comes_back_as_it_went_in(status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    response = Response(url=A, status=status, headers=tuple(headers), body=body, wire=len(body))
    data = gzip.decompress(response_record(response, 0.0))
    block = data.split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n\r\n")
    assert http_reply(A, block, 1 << 20) == response


def test_each_record_is_a_member_of_its_own() -> None:
    """So that a reader can begin at any record's offset."""
    shelf = Shelf(Path("/nonexistent"), None, "clew")
    data = b""
    blobs = []
    for number in range(3):
        blob, pieces = shelf.place(Response(url=f"{A}{number}", status=200), 0.0)
        data += b"".join(piece.data for piece in pieces)
        blobs.append(blob)
    for number, blob in enumerate(blobs):
        head, _, _ = parsed(data[blob.offset : blob.offset + blob.length])
        assert head.get_header("WARC-Target-URI") == f"{A}{number}"
    kinds = [record.rec_type for record in ArchiveIterator(BytesIO(data))]
    assert kinds == ["warcinfo", "response", "response", "response"]


def test_a_file_begins_with_who_made_it() -> None:
    head, _, body = parsed(info_record("clew-00000.warc.gz", "clew 1.0", 0.0))
    assert head.get_header("WARC-Filename") == "clew-00000.warc.gz"
    assert b"software: clew 1.0" in body


@pytest.mark.parametrize(
    ("payload", "body", "truncated"),
    [
        (b"4\r\nwind\r\n5;x=y\r\n farm\r\n0\r\n\r\n", b"wind farm", False),
        (b"4\nwind\n0\n\n", b"wind", False),
        (b"9\r\nwind", b"wind", True),
        (b"4\r\nwind\r\nzz\r\n", b"wind", True),
        (b"<p>not chunked", b"<p>not chunked", False),
        (b"0\r\n\r\n", b"", False),
        (b"FFFFFFFFFFFFFFFF\r\nx", b"x", True),
    ],
)
def test_chunks_are_put_together_as_far_as_they_go(payload: bytes, body: bytes, truncated: bool) -> None:
    reply = http_reply(A, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + payload, 1 << 20)
    assert reply is not None
    assert (reply.body, reply.truncated) == (body, truncated)


@given(st.binary())
def test_no_block_of_bytes_is_too_odd(block: bytes) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200\r\nContent-Encoding: gzip, br\r\n\r\n"):
        reply = http_reply(A, start + block, 1000)
        assert reply is None or len(reply.body) <= 1000


def test_a_digest_is_written_in_base_32() -> None:
    for data in (b"", b"wind", bytes(range(256)) * 9):
        plain = base64.b32encode(hashlib.sha1(data).digest()).decode()
        assert warc._digest(data) == f"sha1:{plain}"
