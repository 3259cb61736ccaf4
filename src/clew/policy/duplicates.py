"""`Duplicates`: has this page been seen before, exactly or nearly?"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator

from clew.parse.similar import SKETCH_BYTES, TITLE, WHOLE, alike

_BAND = 8
_BANDS = WHOLE // _BAND
_KEYS = 1 << 16
#: The most pages that a new one is compared with.
_COMPARED = 256


class Duplicates:
    """The fingerprints of all pages that repeat no other, to find the first page that a new one repeats.

    An exact copy has the same digest. A near copy has a sketch that is `alike` to an earlier one's: two texts
    that share nine tenths of their word fives agree in at least one of eight bands of eight bytes with
    probability 0.99, so only pages that share a band and the title are compared, the newest first, and no
    more than 256 of them. Pages that share a band are chained through arrays: 141 bytes a page.

    >>> from clew.parse import sketch
    >>> words = [f"word{i}" for i in range(200)]
    >>> seen = Duplicates()
    >>> seen.add(1, digest=5, sketch=sketch(" ".join(words)))
    >>> seen.find(digest=5, sketch=b""), seen.find(digest=6, sketch=sketch(" ".join(words[:199])))
    ((1, False), (1, True))
    """

    def __init__(self) -> None:
        self._digests: dict[int, int] = {}
        self._numbers = array("q")
        self._sketches = bytearray()
        self._heads = tuple(array("i", [-1]) * _KEYS for _ in range(_BANDS))
        self._nexts = tuple(array("i") for _ in range(_BANDS))
        self.copies: set[int] = set()
        """Pages that repeat another."""

    def __len__(self) -> int:
        return len(self._digests)

    def __repr__(self) -> str:
        return f"Duplicates({len(self)} texts)"

    def find(self, digest: int, sketch: bytes) -> tuple[int, bool] | None:
        """(page, nearly) of the oldest page this one repeats; None for a new text.

        A digest of 0 and an empty sketch stand for none.
        """
        if digest and digest in self._digests:
            return self._digests[digest], False
        if not sketch:
            return None
        close = [self._numbers[at] for at, other in self._candidates(sketch) if alike(other, sketch)]
        return (min(close), True) if close else None

    def add(self, number: int, digest: int, sketch: bytes) -> None:
        """Remember a page that repeats no other."""
        if digest:
            self._digests.setdefault(digest, number)
        if len(sketch) != SKETCH_BYTES:
            return
        for key, heads, following in zip(_keys(sketch), self._heads, self._nexts, strict=True):
            following.append(heads[key])
            heads[key] = len(self._numbers)
        self._numbers.append(number)
        self._sketches += sketch

    def _candidates(self, sketch: bytes) -> Iterator[tuple[int, bytes]]:
        """Places and sketches of pages that share a band and the title, each once."""
        met: set[int] = set()
        for key, heads, following in zip(_keys(sketch), self._heads, self._nexts, strict=True):
            at = heads[key]
            while at >= 0 and len(met) < _COMPARED:
                end = (at + 1) * SKETCH_BYTES
                if at not in met and self._sketches.endswith(sketch[-TITLE:], end - TITLE, end):
                    met.add(at)
                    yield at, bytes(self._sketches[end - SKETCH_BYTES : end])
                at = following[at]


def _keys(sketch: bytes) -> list[int]:
    """One number under 65,536 for each band of a sketch together with its title."""
    title = int.from_bytes(sketch[-TITLE:], "little")
    bands = struct.unpack_from(f"<{_BANDS}Q", sketch)
    return [((band ^ title) * 0x9E3779B97F4A7C15 >> 48) & (_KEYS - 1) for band in bands]
