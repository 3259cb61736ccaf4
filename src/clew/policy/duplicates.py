"""`Duplicates`: has this text been seen before, exactly or nearly?"""

from __future__ import annotations

_BANDS = 4
_WIDTH = 16
_MASK = (1 << _WIDTH) - 1
_NEAR = 3


class Duplicates:
    """Finds the first page that a new one repeats.

    Two similarity hashes that differ in at most three of 64 bits agree in at least one of four
    16-bit bands, so only pages that share a band are compared.

    >>> seen = Duplicates()
    >>> seen.add(1, digest=5, simhash=0xFF00FF00FF00FF00)
    >>> seen.find(digest=5, simhash=0), seen.find(digest=6, simhash=0xFF00FF00FF00FF03)
    ((1, False), (1, True))
    """

    def __init__(self, near: int = _NEAR) -> None:
        self.near = near
        self._digests: dict[int, int] = {}
        self._bands: tuple[dict[int, list[tuple[int, int]]], ...] = tuple({} for _ in range(_BANDS))

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
            number
            for band, table in enumerate(self._bands)
            for number, other in table.get(simhash >> (band * _WIDTH) & _MASK, ())
            if (other ^ simhash).bit_count() <= self.near
        ]
        return (min(close), True) if close else None

    def add(self, number: int, digest: int, simhash: int) -> None:
        """Remember a page that repeats no other."""
        if digest:
            self._digests.setdefault(digest, number)
        if simhash:
            for band, table in enumerate(self._bands):
                table.setdefault(simhash >> (band * _WIDTH) & _MASK, []).append((number, simhash))
