"""Whether the records of an archive are whole and what clew wrote, found out in little memory."""

from __future__ import annotations

import hashlib
import zlib
from typing import IO

from clew.store.warc import digest_text
from clew.url import canonical

_STEP = 1 << 18
_LONGEST_HEAD = 1 << 20
_LONGEST = 1 << 30
"""Bytes of a record at most, unpacked: far more than a reply may have, and little time to read."""
_END = b"\r\n\r\n"


class _Record:
    """One record, as its bytes are unpacked."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self._head = b""
        self._tail = b""
        self._left = -1
        self._sha1 = hashlib.sha1(usedforsecurity=False)
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Take in what comes next; `ValueError` says what is wrong with it."""
        self._size += len(data)
        if self._size > _LONGEST:
            raise ValueError("a record is longer than any that clew writes")
        if self._left < 0:
            self._head += data
            head, found, data = self._head.partition(_END)
            if not found:
                if len(self._head) > _LONGEST_HEAD or not b"WARC/1.1\r\n".startswith(self._head[:10]):
                    raise ValueError("what is there is no WARC record")
                return
            self._begin(head)
        block = data[: self._left]
        self._sha1.update(block)
        self._left -= len(block)
        self._tail += data[len(block) : len(block) + 8]

    def _begin(self, head: bytes) -> None:
        version, *lines = head.decode("utf-8", "replace").split("\r\n")
        if version != "WARC/1.1":
            raise ValueError("what is there is no WARC record")
        self.fields = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
        }
        length = self.fields.get("content-length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            raise ValueError("a record does not say how long it is")
        self._left, self._head = int(length), b""

    def end(self) -> None:
        """That there is no more; `ValueError` says what is wrong with the whole."""
        if self._left or self._tail != _END:
            raise ValueError("a record is not as long as it says")
        if self.fields.get("warc-block-digest") != digest_text(self._sha1.digest()):
            raise ValueError("a record's digest is not that of its bytes")


def check_records(
    stream: IO[bytes], size: int, *, url: str = "", file: str = "", first_alone: bool = False
) -> None:
    """Read the records in the next `size` bytes; `ValueError` says what is wrong with the first unsound one.

    Each must be a gzip member of its own, whole, of the length it says, with the digest it says, and the last
    must end where the bytes do.

    Parameters: the stream and how many bytes of it; the `url` that the first record must be a reply of, or
    the name of the `file` that it must open, if it matters; `first_alone`, to read no more than that.
    """
    left, data, first = size, b"", True
    while left or data:
        record, inflate = _Record(), zlib.decompressobj(31)
        while not inflate.eof:
            if not data:
                data = stream.read(min(_STEP, left))
                left -= len(data)
                if not data:
                    raise ValueError("a record is cut short")
            try:
                unpacked = inflate.decompress(data, _STEP)
            except zlib.error as error:
                raise ValueError(f"its bytes are damaged ({error})") from None
            data = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
            record.feed(unpacked)
        record.end()
        if first:
            _require_first(record.fields, url, file)
            if first_alone:
                return
        first = False


def _require_first(fields: dict[str, str], url: str, file: str) -> None:
    if url and canonical(fields.get("warc-target-uri", "")) != url:
        raise ValueError("it is the reply of another page")
    if file and (fields.get("warc-type"), fields.get("warc-filename")) != ("warcinfo", file):
        raise ValueError("it is not the file that clew began here")
