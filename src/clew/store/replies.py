"""WARC records turned back into replies: HTTP heads parsed, chunks and encodings undone, sizes capped."""

from __future__ import annotations

import re

from clew.fetch.base import Response
from clew.fetch.decode import Decoder

_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
_HEAD_LIMIT = 1 << 20
_GONE = frozenset({"content-encoding", "transfer-encoding", "content-length"})
"""Headers that no longer hold for a body that was decoded."""


def http_reply(
    url: str, block: bytes, limit: int, *, cut: bool = False, address: str = ""
) -> Response | None:
    """The reply in the block of a `response` record; None when it does not begin like one.

    Parameters: the URL it answers; the block; the most bytes of decoded body to keep; whether the
    recorder cut it; the server's address.

    >>> reply = http_reply("http://a.example/", b"HTTP/1.1 200 OK\\r\\nA: b\\r\\n\\r\\nwind", 3)
    >>> reply.status, reply.headers, reply.body, reply.truncated
    (200, (('A', 'b'),), b'win', True)
    """
    status = _STATUS.match(block)
    if status is None:
        return None
    head, payload = _split(block)
    headers = _headers(head)
    wire = len(payload)
    if "chunked" in _value(headers, "transfer-encoding").lower():
        payload, whole = _dechunk(payload, limit)
        cut = cut or not whole
    body, truncated = decode(payload, _value(headers, "content-encoding"), limit)
    return Response(
        url=url,
        status=int(status[1]),
        headers=tuple(item for item in headers if item[0].lower() not in _GONE),
        body=body,
        wire=wire,
        address=address,
        truncated=cut or truncated,
    )


def decode(payload: bytes, encoding: str, limit: int) -> tuple[bytes, bool]:
    """A body with its content encodings undone, and whether something of it is missing.

    Many archives keep the header and store the body decoded; such a body is taken as it is.
    """
    decoder = Decoder(encoding, limit)
    decoder.feed(payload)
    if decoder.useless():
        return payload[:limit], len(payload) > limit
    return decoder.body(), decoder.truncated()


def _split(block: bytes) -> tuple[bytes, bytes]:
    for end in (b"\r\n\r\n", b"\n\n"):
        at = block.find(end, 0, _HEAD_LIMIT)
        if at >= 0:
            return block[:at], block[at + len(end) :]
    return block[:_HEAD_LIMIT], b""


def _headers(head: bytes) -> list[tuple[str, str]]:
    headers: list[tuple[str, str]] = []
    for line in head.splitlines()[1:]:
        text = line.decode("utf-8", "surrogateescape")
        if text[:1] in (" ", "\t") and headers:
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {text.strip()}")
            continue
        name, colon, value = text.partition(":")
        if colon and name.strip():
            headers.append((name.strip(), value.strip()))
    return headers


def _value(headers: list[tuple[str, str]], wanted: str) -> str:
    return ", ".join(value for name, value in headers if name.lower() == wanted)


def _dechunk(payload: bytes, limit: int) -> tuple[bytes, bool]:
    """A chunked body put together, and whether it came to its proper end.

    One that does not even begin with a chunk was put together by the recorder already.
    """
    pieces: list[bytes] = []
    at = size = 0
    while (found := _CHUNK.match(payload, at)) is not None:
        length = int(found[1], 16)
        if length == 0:
            return b"".join(pieces), True
        piece = payload[found.end() : found.end() + length]
        pieces.append(piece)
        size += len(piece)
        at = found.end() + length
        if len(piece) < length or size > limit:
            break
        at += 2 if payload[at : at + 2] == b"\r\n" else payload[at : at + 1] == b"\n"
    return (b"".join(pieces), False) if pieces else (payload, True)
