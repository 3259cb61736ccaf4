"""Request heads in, reply heads out."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.fetch import Response
from clew.lab.http1 import BadRequest, read_head, write_head


@pytest.mark.parametrize(
    "target",
    [
        "http://a.example/%25C3%2581?q=%7e&b=%2F",
        "HTTP://A.example:80//x/../y/",
        "https://a.example/",
        "http://a.example/ü|<>",
    ],
)
def test_an_absolute_target_is_taken_as_sent(target):
    assert read_head(f"GET {target} HTTP/1.1\r\nHost: other.example".encode()).url == target


def test_a_path_alone_takes_its_host_from_the_header():
    head = read_head(b"GET /a%2Fb?c HTTP/1.1\r\nHOST:  a.example:8080 ")
    assert head.url == "http://a.example:8080/a%2Fb?c"


@pytest.mark.parametrize(
    ("version", "header", "keep"),
    [
        ("1.1", "X: y", True),
        ("1.1", "Connection: close", False),
        ("1.1", "Proxy-Connection: keep-alive", True),
        ("1.0", "X: y", False),
        ("1.0", "Connection: Keep-Alive", True),
        ("1.1", "Content-Length: 5", False),
        ("1.1", "Transfer-Encoding: chunked", False),
    ],
)
def test_a_connection_is_kept_only_where_the_next_request_can_be_told(version, header, keep):
    assert read_head(f"GET http://a.example/ HTTP/{version}\r\n{header}".encode()).keep is keep


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET",
        b"GET /",
        b"GET / HTTP/1.1",
        b"GET http://a.example/ HTTP/2",
        b"GET / x HTTP/1.1\r\nHost: a",
        b"GET / HTTP/1.1\r\nHost a",
        b"GET / HTTP/1.1\r\nHost : a.example",
    ],
)
def test_what_is_not_a_request_is_refused_with_a_reason(data):
    with pytest.raises(BadRequest, match=r"\w+ \w+"):
        read_head(data)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data):
    with contextlib.suppress(BadRequest):
        read_head(data)


def test_headers_of_the_connection_and_lost_codings_are_not_passed_on():
    names = ("Content-Type", "Content-Encoding", "Transfer-Encoding", "Connection", "Content-Length", "X-A")
    reply = Response(url="http://a.example/", status=200, headers=tuple((name, "v") for name in names))
    lines = write_head(reply, 7, keep=True).decode().split("\r\n")
    assert lines == ["HTTP/1.1 200 OK", "Content-Type: v", "X-A: v", "Content-Length: 7", "", ""]


def test_a_recorded_header_cannot_break_out_of_its_line():
    reply = Response(url="http://a.example/", status=299, headers=(("X-A", "b\r\nSet-Cookie: c=d"),))
    assert write_head(reply, 0, keep=False).decode().split("\r\n") == [
        "HTTP/1.1 299 Recorded",
        "X-A: b Set-Cookie: c=d",
        "Content-Length: 0",
        "Connection: close",
        "",
        "",
    ]
