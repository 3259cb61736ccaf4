"""`KeyIndex`: which keys (of URLs, of words) are known, as a hash table of two flat arrays.

A dict of a million Python integers costs over 100 bytes an entry; this costs 12 bytes divided by
the load factor, and looks up a whole page's links in a few vectorised steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew import native

_EMPTY = -1
#: So many keys are sooner followed one by one than together.
_FEW = 32
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class KeyIndex:
    """A map from 64-bit keys to numbers ≥ 0, by open addressing with linear probing.

    >>> index = KeyIndex()
    >>> index.insert(np.array([7, 9], np.uint64), np.array([0, 1]))
    >>> index.find(np.array([9, 8], np.uint64)).tolist()
    [1, -1]
    """

    def __init__(self, capacity: int = 1024, load: float = 0.6) -> None:
        self._load = load
        """The share of places that are taken, at most; with fewer, keys are found sooner."""
        self._bits = max(4, (capacity - 1).bit_length())
        self._keys: NDArray[np.uint64] = np.zeros(1 << self._bits, np.uint64)
        self._ids: NDArray[np.int32] = np.full(1 << self._bits, _EMPTY, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"KeyIndex({self._count} keys in {len(self._keys)} places)"

    def find(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The number of each key; -1 where it is not known."""
        return native.find(self._keys, self._ids, keys)

    def insert(self, keys: NDArray[np.uint64], ids: NDArray[np.int64]) -> None:
        """Add keys that are not known yet, each once."""
        if self._count + len(keys) > len(self._keys) * self._load:
            self._grow(self._count + len(keys))
        self._put(keys, ids.astype(np.int32))
        self._count += len(keys)

    def _places(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        shift = np.uint64(64 - self._bits)
        return ((keys * _SPREAD) >> shift).astype(np.int64)

    def _put(self, keys: NDArray[np.uint64], ids: NDArray[np.int32]) -> None:
        mask = len(self._keys) - 1
        places = self._places(keys)
        while len(keys) > _FEW:
            free = self._ids[places] == _EMPTY
            # Several keys may want one free place: the last to be written there has it, the others probe on.
            turns = np.arange(len(keys), dtype=np.int32)
            self._ids[places[free]] = turns[free]
            won = free & (self._ids[places] == turns)
            self._keys[places[won]] = keys[won]
            self._ids[places[won]] = ids[won]
            lost = ~won
            keys, ids, places = keys[lost], ids[lost], (places[lost] + 1) & mask
        taken = self._ids
        for key, number, place in zip(keys.tolist(), ids.tolist(), places.tolist(), strict=True):
            while taken[place] != _EMPTY:
                place = (place + 1) & mask
            self._keys[place], taken[place] = key, number

    def _grow(self, wanted: int) -> None:
        kept = self._ids != _EMPTY
        keys = self._keys[kept]
        ids = self._ids[kept]
        while wanted > (1 << self._bits) * self._load:
            self._bits += 1
        self._keys = np.zeros(1 << self._bits, np.uint64)
        self._ids = np.full(1 << self._bits, _EMPTY, np.int32)
        self._put(keys, ids)
