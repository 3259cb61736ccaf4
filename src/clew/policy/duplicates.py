"""`Duplicates`: has this text been seen before, exactly or nearly?"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

_BANDS = 4
_WIDTH = 16
_MASK = (1 << _WIDTH) - 1
_NEAR = 3


class Duplicates:
    """Finds the first page that a new one repeats.

    Two similarity hashes that differ in at most three of 64 bits agree in at least one of four
    16-bit bands, so only pages that share a band are compared. Pages that share one are chained through
    arrays, newest first: 28 bytes a page, where lists of tuples would take 800.

    >>> seen = Duplicates()
    >>> seen.add(1, digest=5, simhash=0xFF00FF00FF00FF00)
    >>> seen.find(digest=5, simhash=0), seen.find(digest=6, simhash=0xFF00FF00FF00FF03)
    ((1, False), (1, True))
    """

    def __init__(self, near: int = _NEAR) -> None:
        self.near = near
        self._digests: dict[int, int] = {}
        self._numbers = array("q")
        self._hashes = array("Q")
        self._heads = tuple(array("i", [-1]) * (_MASK + 1) for _ in range(_BANDS))
        self._nexts = tuple(array("i") for _ in range(_BANDS))

    def __len__(self) -> int:
        return len(self._digests)

    def __repr__(self) -> str:
        return f"Duplicates({len(self)} texts)"

    def find(self, digest: int, simhash: int) -> tuple[int, bool] | None:
        """(page, nearly) of the oldest page this one repeats; None for a new text. 0 stands for no hash."""
        if digest and digest in self._digests:
            return self._digests[digest], False
        if not simhash:
            return None
        close = [
            self._numbers[i]
            for i in self._alike(simhash)
            if (self._hashes[i] ^ simhash).bit_count() <= self.near
        ]
        return (min(close), True) if close else None

    def add(self, number: int, digest: int, simhash: int) -> None:
        """Remember a page that repeats no other."""
        if digest:
            self._digests.setdefault(digest, number)
        if not simhash:
            return
        for band, (heads, following) in enumerate(zip(self._heads, self._nexts, strict=True)):
            key = simhash >> (band * _WIDTH) & _MASK
            following.append(heads[key])
            heads[key] = len(self._numbers)
        self._numbers.append(number)
        self._hashes.append(simhash)

    def _alike(self, simhash: int) -> Iterator[int]:
        """Places of the pages that share a band; one that shares several comes several times."""
        for band, (heads, following) in enumerate(zip(self._heads, self._nexts, strict=True)):
            at = heads[simhash >> (band * _WIDTH) & _MASK]
            while at >= 0:
                yield at
                at = following[at]
