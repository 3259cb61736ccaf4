"""Telling copies: `digest` for exact ones, `simhash` and `hamming` for near ones.

The similarity hash is Charikar's over word triples. Everything is done on arrays: a prefix sum of
characters times powers of an odd base gives every word's polynomial hash as one subtraction, three words
make a triple, and the triples vote on each of the 64 bits.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import xxhash
from numpy.typing import NDArray

#: Fewer words than this are too few to tell.
MIN_WORDS = 40
#: Bytes looked at; what follows changes nothing.
MAX_BYTES = 200_000

_BASE = 0x9E3779B97F4A7C15
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_MASK = (1 << 64) - 1


def digest(text: str) -> int:
    """64-bit hash of a text; 0 for none.

    >>> digest(""), digest("wind farm") == digest("wind farm")
    (0, True)
    """
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) if text else 0


def simhash(text: str) -> int:
    """64-bit similarity hash of a text's words; 0 when it has fewer than 40.

    >>> simhash("too short to tell")
    0
    """
    letters, starts, ends = _words(text)
    if len(starts) < MIN_WORDS:
        return 0
    powers, inverses = _powers()
    sums = np.zeros(len(letters) + 1, dtype=np.uint64)
    np.cumsum(letters * powers[: len(letters)], out=sums[1:])
    words = _mix((sums[ends] - sums[starts]) * inverses[starts])
    triples = _mix(words[:-2] * _FIRST + words[1:-1] * _SECOND + words[2:])
    ballots = np.unpackbits(triples.view(np.uint8).reshape(-1, 8), axis=1)
    # In blocks of 255 a byte is wide enough to count in, and bytes are added many at a time.
    full = len(ballots) // 255 * 255
    votes = ballots[:full].reshape(-1, 255, 64).sum(axis=1, dtype=np.uint8).sum(axis=0, dtype=np.int64)
    votes += ballots[full:].sum(axis=0, dtype=np.uint8)
    bits = np.packbits(votes * 2 > len(triples))
    # All bits against is a hash like any other, but 0 means unknown.
    return int.from_bytes(bits.tobytes(), "big") or 1


def hamming(a: int, b: int) -> int:
    """In how many bits two similarity hashes differ.

    >>> hamming(0b1011, 0b0001)
    2
    """
    return (a ^ b).bit_count()


def _words(text: str) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """The text's bytes folded to lower-case letters and digits, and where each word starts and ends."""
    raw = np.frombuffer(text[:MAX_BYTES].encode("utf-8", "replace")[:MAX_BYTES], dtype=np.uint8)
    letters = _letters().take(raw)
    inside = np.zeros(len(letters) + 2, dtype=np.int8)
    inside[1:-1] = letters != 0
    edges = np.diff(inside)
    return letters.astype(np.uint64), np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the weak low bits of a polynomial hash over all 64."""
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))


@cache
def _letters() -> NDArray[np.uint8]:
    # Bytes of a multi-byte character count as letters, so every script has words where it has spaces.
    table = np.zeros(256, dtype=np.uint8)
    for byte in range(256):
        if byte >= 128 or chr(byte).isalnum():
            table[byte] = ord(chr(byte).lower()) if byte < 128 else byte
    return table


@cache
def _powers() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Powers of the base and of its inverse modulo 2**64, one for each byte looked at."""
    ladders = []
    for base in (_BASE, pow(_BASE, -1, 1 << 64)):
        ladder = np.full(MAX_BYTES + 1, base & _MASK, dtype=np.uint64)
        ladder[0] = 1
        ladders.append(np.cumprod(ladder))
    return ladders[0], ladders[1]
