"""`LogFile`: the bytes of a log, unpacked as they are read, and cut into whole lines."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

#: Bytes of a log that are taken in at once.
PIECE = 4 << 20
#: What reading a file raises that is not what it seems to be, or not all there.
UNREADABLE = (OSError, EOFError, zlib.error, zstandard.ZstdError)


class LogFile:
    """A log, plain or packed by gzip or zstd; can be read from its beginning again.

    Parameters: the file; what closes it.
    """

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path = path
        self._stack = stack
        self.rewind()

    def rewind(self) -> None:
        """Begin again."""
        self._stack.close()
        self._raw = self._stack.enter_context(self.path.open("rb"))
        start = self._raw.read(4)
        self._raw.seek(0)
        self._unpacked: io.BufferedReader | gzip.GzipFile | None = None
        self._broken: BaseException | None = None
        if start[:2] == b"\x1f\x8b":
            self._unpacked = self._stack.enter_context(gzip.GzipFile(fileobj=cast(BinaryIO, self._raw)))
        elif start == b"\x28\xb5\x2f\xfd":
            opened = zstandard.ZstdDecompressor(max_window_size=1 << 27)
            reader = self._stack.enter_context(opened.stream_reader(self._raw, read_across_frames=True))
            self._unpacked = io.BufferedReader(cast(io.RawIOBase, reader), PIECE)

    @property
    def packed(self) -> bool:
        """Whether it is not plain."""
        return self._unpacked is not None

    @property
    def at(self) -> int:
        """Bytes of the file that were read."""
        return self._raw.tell()

    def read(self, size: int) -> bytes:
        """So many bytes, fewer at the end alone. What comes before the place where an archive is broken is
        given before the error is raised."""
        if self._unpacked is None:
            return self._raw.read(size)
        if self._broken is not None:
            raise self._broken
        parts: list[bytes] = []
        while size:
            try:
                part = self._unpacked.read1(size)
            except UNREADABLE as error:
                if not parts:
                    raise
                self._broken = error
                break
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def pieces(self, size: int = PIECE) -> Iterator[tuple[bytes, str]]:
        """Whole lines, about `size` bytes at a time, as (bytes, "lines"). A line that is longer comes in
        parts, (bytes, ""), the last of them (bytes, "giant"); one that has no end yet as (bytes, "open")."""
        rest, inside = b"", False
        while more := self.read(size):
            piece = rest + more
            if inside or (len(piece) > size and b"\n" not in piece):
                end = piece.find(b"\n") + 1
                inside = not end
                yield (piece[:end], "giant") if end else (piece, "")
                rest = piece[end:] if end else b""
                continue
            end = piece.rfind(b"\n") + 1
            rest = piece[end:]
            if end:
                yield piece[:end], "lines"
        if inside:
            yield b"", "giant"
        elif rest:
            yield rest, "open"
