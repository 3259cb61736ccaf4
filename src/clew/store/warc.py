"""Replies as WARC/1.1 records, each a gzip member of its own, and the file they are counted into.

A record is made whole in memory, so its place in the file is known before a byte is written;
writing is the writer thread's. Bodies are kept as any reader expects them: when a reply was
decompressed on the way, the headers that no longer hold are renamed `X-Archive-Orig-…`.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path

from clew.fetch.base import Response
from clew.messages import Blob

try:
    # Four times as fast as zlib at its lowest level, and smaller.
    from isal.isal_zlib import compress as _deflate

    _LEVEL = 2
except ImportError:  # no wheel for this platform
    _deflate, _LEVEL = zlib.compress, 1

ROTATE_AT = 1 << 30
"""A new file is begun when the current one has reached this length."""
RENDERED_TYPE = "text/html; charset=utf-8"
"""The type of a `conversion` record that holds a page as a browser rendered it."""
_GZIP = 31
_BASE_32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_UNFRAMED = frozenset({"transfer-encoding"})
_DECODED = frozenset({"transfer-encoding", "content-encoding"})
#: Two letters of base 32 for each ten bits: the library's own function goes by single letters.
_PAIRS = [first + second for first in _BASE_32 for second in _BASE_32]
_REASONS = {status.value: status.phrase for status in HTTPStatus}


def response_record(response: Response, fetched_at: float) -> bytes:
    """A reply as one compressed `response` record; if it was rendered, with a `conversion` record behind it.

    >>> zlib.decompress(response_record(Response(url="http://a.example/", status=200), 0.0), 31)[:8]
    b'WARC/1.1'
    """
    payload = response.body if response.raw is None else response.raw
    block = _http_head(response, len(payload)) + payload
    fields = [("WARC-Type", "response"), ("WARC-Target-URI", response.url), ("WARC-Date", _date(fetched_at))]
    if response.address:
        fields.append(("WARC-IP-Address", response.address))
    if response.truncated:
        fields.append(("WARC-Truncated", "length"))
    fields.append(("WARC-Payload-Digest", _digest(payload)))
    if response.rendered is None:
        return _record(fields, "application/http; msgtype=response", block)
    number = _uuid()
    reply = _record(fields, "application/http; msgtype=response", block, number)
    return reply + _conversion(response, fetched_at, number)


def _conversion(response: Response, fetched_at: float, source: str) -> bytes:
    """What a browser made of a reply, as a record of its own right behind it."""
    assert response.rendered is not None
    fields = [
        ("WARC-Type", "conversion"),
        ("WARC-Target-URI", response.url),
        ("WARC-Date", _date(fetched_at)),
        ("WARC-Refers-To", f"<urn:uuid:{source}>"),
    ]
    return _record(fields, RENDERED_TYPE, response.rendered)


def info_record(filename: str, software: str, made_at: float) -> bytes:
    """The `warcinfo` record that opens a file."""
    block = f"software: {software}\r\nformat: WARC File Format 1.1\r\n".encode()
    fields = [("WARC-Type", "warcinfo"), ("WARC-Filename", filename), ("WARC-Date", _date(made_at))]
    return _record(fields, "application/warc-fields", block)


def _record(
    fields: Iterable[tuple[str, str]], content_type: str, block: bytes, number: str | None = None
) -> bytes:
    head = "".join(f"{name}: {_flat(value)}\r\n" for name, value in fields)
    head = (
        f"WARC/1.1\r\n{head}WARC-Record-ID: <urn:uuid:{number or _uuid()}>\r\n"
        f"WARC-Block-Digest: {_digest(block)}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return _deflate(b"".join((_bytes(head), block, b"\r\n\r\n")), _LEVEL, _GZIP)


def _http_head(response: Response, length: int) -> bytes:
    stale = _DECODED if response.raw is None else _UNFRAMED
    lines = [f"HTTP/1.1 {response.status} {_REASONS.get(response.status, 'Unknown')}"]
    for name, value in response.headers:
        lowered = name.lower()
        if lowered == "content-length":
            continue
        prefix = "X-Archive-Orig-" if lowered in stale else ""
        lines.append(f"{prefix}{_flat(name)}: {_flat(value)}")
    lines.append(f"Content-Length: {length}\r\n\r\n")
    return _bytes("\r\n".join(lines))


def _flat(value: str) -> str:
    """A header may not end its own line."""
    if "\n" in value or "\r" in value:
        return " ".join(value.split())
    return value


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _digest(data: bytes) -> str:
    return digest_text(hashlib.sha1(data, usedforsecurity=False).digest())


def digest_text(digest: bytes) -> str:
    """A SHA-1 digest as WARC headers have it."""
    number = int.from_bytes(digest, "big")
    return "sha1:" + "".join([_PAIRS[number >> shift & 1023] for shift in range(150, -10, -10)])


def _date(timestamp: float) -> str:
    return _second(int(timestamp // 1))


@lru_cache(maxsize=64)
def _second(timestamp: int) -> str:
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _uuid() -> str:
    """A random (version 4) UUID as text, without an object for it."""
    raw = bytearray(os.urandom(16))
    raw[6], raw[8] = raw[6] & 0x0F | 0x40, raw[8] & 0x3F | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes to be written at the end of a file of the archive."""

    file: str
    data: bytes


class Shelf:
    """Counts records into the archive's files, so that each record's place is known at once.

    Parameters: the `pages` directory; the last file known and its length, to go on in it.

    >>> shelf = Shelf(Path("/nonexistent"), last=None, software="clew")
    >>> blob, pieces = shelf.place(Response(url="http://a.example/", status=200), 0.0)
    >>> blob.file, blob.offset == len(pieces[0].data), len(pieces)
    ('clew-00000.warc.gz', True, 2)
    """

    def __init__(
        self, directory: Path, last: tuple[str, int] | None, software: str, rotate_at: int = ROTATE_AT
    ) -> None:
        self.directory = directory
        self.software = software
        self.rotate_at = rotate_at
        self._name, self._length = last or ("", rotate_at)

    def place(self, response: Response, fetched_at: float) -> tuple[Blob, list[Piece]]:
        """Where a reply will rest, and what to write to make it so."""
        pieces = []
        if self._length >= self.rotate_at:
            self._name, self._length = self._next(), 0
        if not self._length:
            pieces.append(self._piece(info_record(self._name, self.software, fetched_at)))
        offset = self._length
        piece = self._piece(response_record(response, fetched_at))
        pieces.append(piece)
        return Blob(self._name, offset, len(piece.data)), pieces

    def _piece(self, data: bytes) -> Piece:
        self._length += len(data)
        return Piece(self._name, data)

    def _next(self) -> str:
        return next_file(self.directory, self._name)

    def __repr__(self) -> str:
        return f"Shelf({self._name!r}, {self._length} bytes)"


def next_file(directory: Path, last: str) -> str:
    """The name of the file to begin after one; the first of all where there is none."""
    number = int(last.removeprefix("clew-").partition(".")[0]) + 1 if last else 0
    # A file that nobody registered is not ours to overwrite, nor a link that leads nowhere yet.
    while os.path.lexists(directory / _file_name(number)):
        number += 1
    return _file_name(number)


def _file_name(number: int) -> str:
    return f"clew-{number:05d}.warc.gz"
