"""Content encodings undone piece by piece, so that a small reply cannot become a big one in memory.

Bytes off the wire pass through one stage per encoding, last applied first. Every stage hands on at most a
few hundred kilobytes at a time and may give no more than the limit in all, so memory stays bounded *inside*
a chunk, not only between chunks. A stream that breaks off or is damaged leaves what came before.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Protocol

import brotli
import zstandard

ACCEPT_ENCODING = "gzip, deflate, br, zstd"

PIECE = 64 * 1024
"""What a stage hands on at a time, roughly."""

MAX_STAGES = 4
"""Encodings on top of each other; nobody honest uses more than two."""

MAX_RATIO = 50
"""Bytes that one byte off the wire may unfold to, once more than `FLOOR` have: honest pages stay below 20."""

FLOOR = 1 << 20

MAX_MEMBERS = 1000
"""gzip members or zstd frames in one body: a million empty ones would cost time and give nothing."""

# A block of zstd is 128 KiB at most and 4 bytes at least: this many bytes cannot make more than 4 MiB.
_ZSTD_SLICE = 128
_ZSTD_WINDOW = 8 * 1024 * 1024


class Damaged(Exception):
    """A stream that cannot be decoded any further."""


class _Full(Exception):
    """The limit is reached."""


class Stage(Protocol):
    """Undoes one encoding."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What more input gives, in bounded pieces. Raises `Damaged`."""
        ...

    def complete(self) -> bool:
        """Whether the stream has come to its proper end."""
        ...


class Decoder:
    """Collects the decoded body of one reply.

    Parameters: `encoding`, the Content-Encoding header, unknown names in it read as identity; `limit`, the
    most bytes to keep.

    >>> decoder = Decoder("deflate", 5)
    >>> decoder.feed(zlib.compress(b"wind farm"))
    False
    >>> decoder.body(), decoder.full, decoder.truncated()
    (b'wind ', True, True)
    """

    def __init__(self, encoding: str, limit: int) -> None:
        self.limit = limit
        self.full = False
        self.damaged = False
        self._fed = 0
        self._kept = bytearray()
        self._stages = stages(encoding)
        self._given = [0] * len(self._stages)

    @property
    def encoded(self) -> bool:
        """Whether the body differs from the bytes on the wire."""
        return bool(self._stages)

    def feed(self, data: bytes) -> bool:
        """Take bytes off the wire; False when no more are wanted."""
        if data and not self.full and not self.damaged:
            self._fed += len(data)
            try:
                self._flow(0, data)
            except _Full:
                self.full = True
            except Damaged:
                self.damaged = True
        return not self.full and not self.damaged

    def _flow(self, depth: int, data: bytes) -> None:
        if depth == len(self._stages):
            room = self._most() - len(self._kept)
            self._kept += data[:room] if len(data) > room else data
            if len(data) > room:
                raise _Full
            return
        for piece in self._stages[depth].pieces(data):
            self._given[depth] += len(piece)
            self._flow(depth + 1, piece)
            if self._given[depth] > self.limit:
                raise _Full

    def _most(self) -> int:
        """Bytes that may be kept of what has come so far: a bomb is let go off a little way only."""
        return min(self.limit, max(FLOOR, self._fed * MAX_RATIO)) if self._stages else self.limit

    def body(self) -> bytes:
        """What was decoded so far."""
        return bytes(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def truncated(self) -> bool:
        """Whether something is missing: the limit was reached, or a stream is damaged or unfinished."""
        if self.full or self.damaged:
            return True
        return self._fed > 0 and not all(stage.complete() for stage in self._stages)

    def useless(self) -> bool:
        """Whether bytes came and none could be decoded."""
        return self._fed > 0 and not self._kept and self.truncated() and not self.full


def stages(encoding: str) -> list[Stage]:
    """The stages that undo a Content-Encoding header, in the order bytes pass them."""
    found: list[Stage] = []
    for name in reversed(encoding.lower().split(",")):
        match name.strip():
            case "gzip" | "x-gzip":
                found.append(_Gzip())
            case "deflate" | "x-deflate":
                found.append(_Deflate())
            case "br":
                found.append(_Brotli())
            case "zstd":
                found.append(_Zstd())
    return found if len(found) <= MAX_STAGES else [_Refuse()]


class _Refuse:
    """Stands for an absurd stack of encodings."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        raise Damaged

    def complete(self) -> bool:
        return False


def _inflate(stream: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """All that a stream makes of some input, up to its end, piece by piece."""
    while True:
        before = stream.copy()
        try:
            piece = stream.decompress(data, PIECE)
        except zlib.error:
            yield _salvage(before, data)
            raise Damaged from None
        yield piece
        data = stream.unconsumed_tail
        # A full piece may have left output behind even when all input is used up.
        if stream.eof or (not data and len(piece) < PIECE):
            return


def _salvage(stream: zlib._Decompress, data: bytes) -> bytes:
    """What came before the damage.

    zlib drops what it has decoded in the call that fails (because of a wrong checksum at the very end,
    say), so the same input goes through a copy of the stream again, one byte at a time.
    """
    saved = bytearray()
    try:
        for i in range(len(data)):
            saved += stream.decompress(data[i : i + 1], PIECE)
    except zlib.error:
        pass
    return bytes(saved)


class _Gzip:
    """gzip, also of several members; what follows the last member is ignored."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(31)
        self._members = 0
        self._ended = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._stream.eof:
                self._next(data)
            if self._ended:
                return
            yield from _inflate(self._stream, data)
            data = self._stream.unused_data

    def _next(self, data: bytes) -> None:
        self._members += 1
        if self._members >= MAX_MEMBERS:
            raise Damaged
        if data[:1] == b"\x1f":
            self._stream = zlib.decompressobj(31)
        else:
            self._ended = True

    def complete(self) -> bool:
        return self._stream.eof


class _Deflate:
    """zlib as the standard says, or the bare stream that some servers send instead."""

    def __init__(self) -> None:
        self._stream: zlib._Decompress | None = None
        self._start = b""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None:
            data = self._start = self._start + data
            if len(data) < 2:
                return
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
            self._stream = zlib.decompressobj(15 if wrapped else -15)
        if not self._stream.eof:
            yield from _inflate(self._stream, data)

    def complete(self) -> bool:
        return self._stream is not None and self._stream.eof


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while not self._stream.is_finished():
            try:
                piece = self._stream.process(data, output_buffer_limit=PIECE)
            except brotli.error:
                raise Damaged from None
            if piece:
                yield piece
            if self._stream.can_accept_more_data() and not piece:
                return
            data = b""

    def complete(self) -> bool:
        return bool(self._stream.is_finished())


class _Zstd:
    """Zstandard, also of several frames, with the window that RFC 9659 permits."""

    def __init__(self) -> None:
        self._context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._stream = self._context.decompressobj()
        self._frames = 0

    def pieces(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _ZSTD_SLICE):
            rest = data[start : start + _ZSTD_SLICE]
            while rest:
                if self._stream.eof:
                    self._frames += 1
                    if self._frames >= MAX_MEMBERS:
                        raise Damaged
                    self._stream = self._context.decompressobj()
                try:
                    yield self._stream.decompress(rest)
                except zstandard.ZstdError:
                    raise Damaged from None
                rest = self._stream.unused_data

    def complete(self) -> bool:
        return bool(self._stream.eof)
