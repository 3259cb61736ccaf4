"""Pure-Python twins of the compiled functions; each returns the same bits.

They take what the compiled ones take (where those write, these write), but do not check it: arrays that do
not fit raise what numpy raises, or give nonsense.

exp, log and their kin are built from additions, multiplications and divisions alone, which IEEE 754 fixes to
the last bit: the functions of a C library, and numpy's own, differ from one processor to the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Items = NDArray[np.int32]
Keys = NDArray[np.uint64]
_LN2 = float.fromhex("0x1.62e42fefa39efp-1")
#: The first 28 bits of it, whose product with an exponent is exact, and the rest.
_LN2_HIGH = float.fromhex("0x1.62e42fep-1")
_LN2_LOW = float.fromhex("0x1.f473de6af278fp-30")
_LOG2_E = float.fromhex("0x1.71547652b82fep+0")
#: What is added to it and taken away again comes out rounded.
_WHOLE = float.fromhex("0x1.8p52")
_ROOT_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")
#: 1 / n!, from n = 13 to 2.
_EXP = [1.0 / n for n in (6227020800, 479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2)]
#: 2 / n, from n = 23 to 3.
_LOG = [2.0 / n for n in range(23, 2, -2)]


def exp(x: Floats, found: Floats) -> None:
    """Write e to the power of each number to `found`."""
    held = np.where(x > 710.0, 710.0, np.where(x < -746.0, -746.0, x))
    k = (held * _LOG2_E + _WHOLE) - _WHOLE
    r = (held - k * _LN2_HIGH) - k * _LN2_LOW
    p = np.full(x.shape, _EXP[0])
    for coefficient in _EXP[1:]:
        p = p * r + coefficient
    p = 1.0 + (r + r * r * p)
    nan = np.isnan(x)
    with np.errstate(over="ignore", under="ignore"):
        found[...] = np.where(nan, x, np.ldexp(p, np.where(nan, 0.0, k).astype(np.int32)))


def _log_near(f: Floats) -> Floats:
    """log(1 + f) for f between sqrt(1/2) - 1 and sqrt(2) - 1."""
    s = f / (2.0 + f)
    z, square = s * s, 0.5 * f * f
    r = np.full(f.shape, _LOG[0])
    for coefficient in _LOG[1:]:
        r = r * z + coefficient
    return np.asarray(f - (square - s * (square + r * z)), np.float64)


def log(x: Floats, found: Floats) -> None:
    """Write the natural logarithm of each number to `found`: -inf of 0, nan of less."""
    usual = (x > 0.0) & (x < np.inf)
    m, exponent = np.frexp(np.where(usual, x, 1.0))
    low = m < _ROOT_HALF
    k = (exponent - low).astype(np.float64)
    near = _log_near(np.where(low, m * 2.0, m) - 1.0)
    special = np.where(x == 0.0, -np.inf, np.where(x > 0.0, x, np.nan))
    found[...] = np.where(usual, k * _LN2_HIGH + (near + k * _LN2_LOW), special)


def log1p(x: Floats, found: Floats) -> None:
    """Write log(1 + x) of each number to `found`, exact for small ones too."""
    small = (x > -0.25) & (x < 0.375)
    one = 1.0 + x
    log(one, found)
    between = (x > -1.0) & (x < 2.0**60)
    lost = (np.where(between, x, 0.0) - (np.where(between, one, 1.0) - 1.0)) / np.where(between, one, 1.0)
    found[...] = np.where(small, _log_near(np.where(small, x, 0.0)), np.where(between, found + lost, found))


def tanh(x: Floats, found: Floats) -> None:
    """Write the hyperbolic tangent of each number to `found`."""
    e = np.empty(x.shape)
    with np.errstate(over="ignore"):
        exp(-2.0 * np.abs(x), e)
    t = (1.0 - e) / (1.0 + e)
    found[...] = np.where(x < 0.0, -t, t)


def logaddexp(a: Floats, b: Floats, found: Floats) -> None:
    """Write log(e^a + e^b) of each pair to `found`."""
    equal = a == b
    gap = np.where(equal, 0.0, a) - np.where(equal, 0.0, b)
    less, more = np.empty(gap.shape), np.empty(gap.shape)
    exp(-np.abs(gap), less)
    log1p(less, more)
    apart = np.where(np.isnan(gap), gap, np.where(gap > 0.0, a, b) + more)
    found[...] = np.where(equal, a + _LN2, apart)


def exp_of(x: float) -> float:
    """e to the power of one number."""
    return _one(exp, x)


def log_of(x: float) -> float:
    """The natural logarithm of one number."""
    return _one(log, x)


def log1p_of(x: float) -> float:
    """log(1 + x) of one number."""
    return _one(log1p, x)


def tanh_of(x: float) -> float:
    """The hyperbolic tangent of one number."""
    return _one(tanh, x)


def _one(function: Callable[[Floats, Floats], None], x: float) -> float:
    found = np.empty(1)
    function(np.array([x], np.float64), found)
    return float(found[0])


#: From here on an entry of a table of characters is not a character.
_UNSURE = 0xFFFE
#: What an apostrophe may have behind it without ending the word before it.
_ENDINGS = re.compile(r"(?:[stdm]|ll|re|ve)(?: |$)")


def flat(text: str, table: NDArray[np.uint16], lines: list[tuple[int, int]]) -> tuple[str, int]:
    """The folded words of a text between blanks, and their number, by a table of what becomes of a character.
    Lines with characters of which it does not say it are left blank, and the list takes where they begin and
    end."""
    codes = np.frombuffer(f" {text} ".encode("utf-32-le", "surrogatepass"), "<u4")
    folded = np.where(codes < len(table), table.take(codes, mode="clip"), np.uint16(_UNSURE))
    folded[[0, -1]] = ord(" ")
    unsure = folded >= _UNSURE
    if unsure.any():
        breaks = np.flatnonzero(codes == ord("\n"))
        for line in sorted(set(np.searchsorted(breaks, np.flatnonzero(unsure)).tolist())):
            begin = int(breaks[line - 1]) if line else 0
            end = int(breaks[line]) if line < len(breaks) else len(codes) - 1
            folded[begin + 1 : end] = ord(" ")
            lines.append((begin, end - 1))
    words = endings(folded.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass"))
    pieces = words.split(" ")
    return words, len(pieces) - pieces.count("")


def endings(words: str) -> str:
    """Keep the apostrophes of English endings in words between blanks, make the others blank."""
    first, *rest = words.split("'")
    pieces = [first]
    last, ended = first, False
    for piece in rest:
        # An ending ends its word: what follows it after another apostrophe is a word of its own.
        ended = (
            last[-1:] not in ("", " ")
            and not (ended and " " not in last)
            and _ENDINGS.match(piece) is not None
        )
        pieces.append("'" if ended else " ")
        pieces.append(piece)
        last = piece
    return "".join(pieces)


_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_THIRD = np.uint64(0x9E3779B97F4A7C15)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
#: Words in a shingle.
_SHINGLE = 5
#: ASCII letters folded, digits kept, the rest blank. Bytes of other characters count as letters, so every
#: script has words where it has blanks.
_LETTERS = bytes([b if chr(b).isalnum() else 0 for b in range(128)]).lower() + bytes(range(128, 256))
#: The first bytes of eight, by how many belong to the word.
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
_EDGE = bytes(8)


def sketch(text: bytes, bits: int, fewest: int) -> bytes:
    """A byte for each of `2**bits` buckets of the word fives of a text in UTF-8, made of the least hash in
    it, 0 where there is none; empty for fewer words than `fewest`."""
    words = _words(text.translate(_LETTERS))
    if len(words) < max(1, fewest):
        return b""
    size = min(_SHINGLE, len(words))
    count = len(words) - size + 1
    shingles = np.zeros(count, np.uint64)
    for at in range(size):
        shingles *= _THIRD
        shingles += words[at : at + count]
    _mix(shingles)
    rests = shingles & np.uint64((1 << (64 - bits)) - 1)
    none = np.uint64(0xFFFFFFFFFFFFFFFF)
    least = np.full(1 << bits, none)
    np.minimum.at(least, (shingles >> np.uint64(64 - bits)).astype(np.intp), rests)
    return np.where(least == none, 0, 1 + least % np.uint64(255)).astype(np.uint8).tobytes()


def _words(raw: bytes) -> Keys:
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


def _mix(values: Keys) -> None:
    """Spread what differs over all 64 bits, in place."""
    values ^= values >> _SHIFTS[0]
    values *= _FIRST
    values ^= values >> _SHIFTS[1]
    values *= _SECOND
    values ^= values >> _SHIFTS[2]


_EMPTY = -1
#: So many keys are sooner followed one by one than together.
_FEW = 32


def find(keys: Keys, ids: Items, wanted: Keys, found: Ids) -> None:
    """Write the number of each wanted key in a hash table of two arrays to `found`; -1 for none."""
    mask = len(keys) - 1
    places = ((wanted * _THIRD) >> np.uint64(64 - mask.bit_length())).astype(np.int64)
    found[...] = ids[places]
    # Most keys are found, or found missing, where they are looked for first; the others are followed.
    left = np.flatnonzero((keys[places] != wanted) & (found != _EMPTY))
    for _ in range(mask):
        if len(left) <= _FEW:
            break
        places[left] = (places[left] + 1) & mask
        found[left] = ids[places[left]]
        left = left[(keys[places[left]] != wanted[left]) & (found[left] != _EMPTY)]
    for row, key, place in zip(left.tolist(), wanted[left].tolist(), places[left].tolist(), strict=True):
        found[row] = _follow(keys, ids, key, place)


def _follow(keys: Keys, ids: Items, key: int, place: int) -> int:
    """The number of one key that is not where it was looked for; -1 if it is not further on either."""
    mask = len(keys) - 1
    for step in range(1, mask + 1):
        at = (place + step) & mask
        if ids[at] == _EMPTY or keys[at] == key:
            return int(ids[at])
    return _EMPTY


def best(
    host: int,
    used: int,
    hosts: Items,
    numbers: Ids,
    entered: Floats,
    states: NDArray[np.uint8],
    scores: Floats,
) -> int:
    """Of the first `used` entries those of a host whose candidate is in state 0 with the score it was entered
    with: the candidate with the highest score, the lowest number among equals; -1 for none."""
    places = (hosts[:used] == host).nonzero()[0]
    numbers, entered = numbers[places], entered[places]
    holds = (states[numbers] == 0) & (scores[numbers] == entered)
    if not holds.any():
        return -1
    numbers, entered = numbers[holds], entered[holds]
    return int(numbers[entered == entered.max()].min())


def sums(starts: Ids, items: Items, rows: Ids, weights: Floats, found: Floats) -> None:
    """Write the sum of the weights of each row's items to `found`, from first to last; 0 for rows beyond the
    last."""
    last = len(starts) - 1
    begins = starts[np.minimum(rows, last)]
    lengths = starts[np.minimum(rows + 1, last)] - begins
    ends = np.cumsum(lengths)
    places = np.repeat(begins - ends + lengths, lengths) + np.arange(int(lengths.sum()))
    # Counting adds up one after the other; a plain sum of many would not.
    owners = np.repeat(np.arange(len(rows)), lengths)
    found[...] = np.bincount(owners, weights.take(items[places]), len(rows))


def solved(matrix: Floats, target: Floats, found: Floats) -> None:
    """Write x with matrix · x = target to `found`, by elimination without a choice of pivots."""
    size = len(target)
    both = np.concatenate([matrix, target[:, None]], axis=1)
    for i in range(size - 1):
        both[i + 1 :, i:] -= (both[i + 1 :, i] / both[i, i])[:, None] * both[i, i:]
    for i in reversed(range(size)):
        found[i] = (both[i, size] - (both[i, i + 1 : size] * found[i + 1 :]).sum()) / both[i, i]


def gathered(to: Items, of: Items, values: Floats, found: Floats) -> None:
    """Write to each place of `found` the sum of `values[of[i]]` for the `to[i]` that name it, from first to
    last."""
    found[...] = np.bincount(to, values[of], len(found))
