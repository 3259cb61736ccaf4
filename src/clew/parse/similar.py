"""Telling copies: `digest` for exact ones, `simhash` and `hamming` for near ones.

The similarity hash is Charikar's over word triples. Everything is done on arrays: a word is known by its
first and last eight bytes and its length, which are read straight from the text, three words make a triple,
and the triples vote on each of the 64 bits. In a long text only triples whose hash ends in two zeros vote:
the same ones in a copy.
"""

from __future__ import annotations

import numpy as np
import xxhash
from numpy.typing import NDArray

from clew import native

#: Fewer words than this are too few to tell.
MIN_WORDS = 40
#: Bytes looked at; what follows changes nothing.
MAX_BYTES = 200_000
#: From this many triples on, a quarter of them is enough.
MANY = 1024

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_THIRD = np.uint64(0x9E3779B97F4A7C15)
_THREE = np.uint64(3)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
#: ASCII letters folded, digits kept, the rest blank. Bytes of other characters count as letters, so every
#: script has words where it has blanks.
_LETTERS = bytes([b if chr(b).isalnum() else 0 for b in range(128)]).lower() + bytes(range(128, 256))
#: The first bytes of eight, by how many belong to the word.
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
_EDGE = bytes(8)


def digest(text: str) -> int:
    """64-bit hash of a text; 0 for none.

    >>> digest(""), digest("wind farm") == digest("wind farm")
    (0, True)
    """
    return xxhash.xxh3_64_intdigest(_encoded(text)[0]) if text else 0


def simhash(text: str) -> int:
    """64-bit similarity hash of a text's words; 0 when it has fewer than 40.

    >>> simhash("too short to tell")
    0
    """
    return _similar(_encoded(text)[1])


def hashes(text: str) -> tuple[int, int]:
    """`digest` and `simhash`, for the price of encoding the text once."""
    if not text:
        return 0, 0
    whole, beginning = _encoded(text)
    return xxhash.xxh3_64_intdigest(whole), _similar(beginning)


def _encoded(text: str) -> tuple[bytes, bytes]:
    """All of a text for the one hash, the beginning of it for the other."""
    try:
        whole = text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-8", "surrogatepass")
        return whole, text[:MAX_BYTES].encode("utf-8", "replace")[:MAX_BYTES]
    return whole, whole[:MAX_BYTES]


def _similar(beginning: bytes) -> int:
    return native.simhash(beginning) if native.simhash is not None else _interpreted(beginning)


def _interpreted(beginning: bytes) -> int:
    """The similarity hash without compiled code."""
    words = _words(beginning.translate(_LETTERS))
    if len(words) < MIN_WORDS:
        return 0
    triples = words[:-2] * _FIRST
    triples += words[1:-1] * _SECOND
    triples += words[2:]
    _mix(triples)
    if len(triples) >= MANY:
        triples = triples[triples & _THREE == 0]
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


def _words(raw: bytes) -> NDArray[np.uint64]:
    """One hash a word between zero bytes, in order."""
    padded = b"".join((_EDGE, raw, _EDGE))
    inside = np.frombuffer(padded, np.uint8) != 0
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    edges += 1
    starts, ends = edges[0::2], edges[1::2]
    # Eight bytes from every place on, overlapping, without copying.
    eights = np.ndarray((len(padded) - 7,), "<u8", padded, 0, (1,))
    lengths = ends - starts
    hashes = eights[starts]
    hashes &= _FIRST_BYTES.take(lengths, mode="clip")
    hashes *= _THIRD
    long = np.flatnonzero(lengths > 8)
    hashes[long] += eights[ends[long] - 8] * _SECOND
    hashes += lengths.view(np.uint64)
    _mix(hashes)
    return hashes


def _mix(values: NDArray[np.uint64]) -> None:
    """Spread what differs over all 64 bits, in place."""
    values ^= values >> _SHIFTS[0]
    values *= _FIRST
    values ^= values >> _SHIFTS[1]
    values *= _SECOND
    values ^= values >> _SHIFTS[2]
