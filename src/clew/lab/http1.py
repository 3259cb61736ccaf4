"""Just enough of HTTP/1.1 to answer crawlers: request heads in, reply heads out, as pure functions.

The target of a request is taken as it was sent, byte for byte: a crawler that mangles percent-encoding
must miss here exactly as it would on the recorded web.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from clew.fetch.base import Response

HEAD_LIMIT = 64 * 1024

#: Headers that speak of one connection, or of a coding that a recorded body no longer has.
HOP = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade"}
HOP |= {"content-length", "content-encoding", "proxy-authenticate"}


class BadRequest(Exception):
    """A request head that is not HTTP/1; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Head:
    """What matters of a request's head."""

    method: str
    url: str
    """Absolute; for the `CONNECT` method, host and port."""
    host: str
    agent: str
    gzip: bool
    keep: bool
    """The connection may carry another request."""


def read_head(data: bytes) -> Head:
    """Understand one request head (without the empty line that ends it).

    >>> read_head(b"GET http://a.example/%25C3 HTTP/1.1\\r\\nHost: a.example").url
    'http://a.example/%25C3'
    >>> read_head(b"GET /x?y HTTP/1.1\\r\\nHost: a.example").url
    'http://a.example/x?y'
    """
    first, *lines = data.decode("utf-8", "replace").split("\r\n")
    try:
        method, target, version = first.split(" ")
    except ValueError:
        raise BadRequest("the request line needs a method, a target and a version") from None
    if version not in ("HTTP/1.1", "HTTP/1.0"):
        raise BadRequest(f"{version} is not HTTP/1.1 or HTTP/1.0")
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            raise BadRequest("a header line needs a name and a colon")
        fields[name.lower()] = value.strip()
    host = fields.get("host", "")
    if target.startswith("/"):
        if not host:
            raise BadRequest("a request for a path alone needs a Host header")
        target = f"http://{host}{target}"
    return Head(
        method=method,
        url=target,
        host=host,
        agent=fields.get("user-agent", ""),
        gzip="gzip" in fields.get("accept-encoding", "").lower(),
        keep=_keep(version, fields),
    )


def _keep(version: str, fields: dict[str, str]) -> bool:
    # A request body is never read, so that what follows it cannot be told from the next request.
    if "transfer-encoding" in fields or fields.get("content-length", "0") != "0":
        return False
    wish = (fields.get("connection") or fields.get("proxy-connection") or "").lower()
    return "keep-alive" in wish if version == "HTTP/1.0" else "close" not in wish


def write_head(response: Response, length: int, *, keep: bool, coding: str = "") -> bytes:
    """The head of a reply that has a body of `length` bytes, with the empty line that ends it.

    >>> write_head(Response(url="http://a.example/", status=404), 0, keep=True)
    b'HTTP/1.1 404 Not Found\\r\\nContent-Length: 0\\r\\n\\r\\n'
    """
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = "Recorded"
    lines = [f"HTTP/1.1 {response.status} {phrase}"]
    lines += [f"{name}: {_one_line(value)}" for name, value in response.headers if name.lower() not in HOP]
    if coding:
        lines += [f"Content-Encoding: {coding}", "Vary: Accept-Encoding"]
    if response.status not in (204, 304):
        lines.append(f"Content-Length: {length}")
    if not keep:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")


def _one_line(value: str) -> str:
    return value if value.isprintable() else " ".join(value.split())


def plain(url: str, status: int, text: str, *headers: tuple[str, str]) -> Response:
    """A reply of the server's own, in plain text."""
    body = text.encode()
    kind = ("Content-Type", "text/plain; charset=utf-8")
    return Response(url=url, status=status, headers=(kind, *headers), body=body, wire=len(body))
