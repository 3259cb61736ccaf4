"""What was learned as plain arrays, so that a crawl goes on with it instead of learning it again.

A part of a strategy says what it keeps (`kept`) and takes it back (`recall`). A checkpoint is read *into* a
strategy that was just built: names, kinds and dimensions are those of the strategy's own parts, the file has
nothing but numbers and letters for them, and each part checks what it is given. What is not as it should be
raises `ValueError`, and is learned again from the archive instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import xxhash
from numpy.typing import NDArray

MAGIC = b"clew-learned\n"
VERSION = 4
_SIZE = 8
_DIGEST = 16
#: Bytes of the list of arrays at most; some hundred are written.
_LONGEST_HEAD = 1 << 20
_KINDS = frozenset({"|b1", "|u1", "|i1", "<i4", "<i8", "<u8", "<f4", "<f8"})

Array = NDArray[Any]


@runtime_checkable
class Keeps(Protocol):
    """A part of what was learned that can be put down and taken up again."""

    def kept(self) -> dict[str, Any]:
        """What it keeps, by name: arrays, numbers, and parts that keep something themselves. Nothing in it is
        changed by who reads it."""
        ...

    def recall(self, found: Mapping[str, Any]) -> None:
        """Go on from arrays and numbers that another such part kept; its own parts have taken theirs.

        `ValueError` for what no such part can have kept.
        """
        ...


class KeptAttributes:
    """A part that keeps some of its attributes as they are.

    >>> class Counter(KeptAttributes):
    ...     KEPT = ("count",)
    ...     count = 0
    >>> one, another = Counter(), Counter()
    >>> one.count = 3
    >>> fill(another, dict(arrays_of(one)))
    >>> another.count
    3
    """

    KEPT: ClassVar[tuple[str, ...]] = ()
    """Arrays, numbers and parts that keep something themselves."""

    def kept(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.KEPT}

    def recall(self, found: Mapping[str, Any]) -> None:
        for name, value in found.items():
            setattr(self, name, value)


def arrays_of(part: Keeps, path: str = "") -> Iterator[tuple[str, Array]]:
    """All that a part and its parts keep, as arrays by path."""
    for name, value in part.kept().items():
        if isinstance(value, Keeps):
            yield from arrays_of(value, f"{path}{name}/")
        else:
            yield path + name, np.asarray(value)


def fill(part: Keeps, arrays: dict[str, Array], path: str = "") -> None:
    """Have a part, and its parts before it, take what arrays have for them; what was taken is removed."""
    found: dict[str, Any] = {}
    for name, like in part.kept().items():
        if isinstance(like, Keeps):
            fill(like, arrays, f"{path}{name}/")
        else:
            found[name] = _checked(arrays.pop(path + name, None), like, path + name)
    part.recall(found)


def _checked(array: Array | None, like: object, where: str) -> object:
    """An array of the kind that is expected there; a number where a number is."""
    expected = np.asarray(like)
    if array is None or array.dtype != expected.dtype or array.shape[1:] != expected.shape[1:]:
        raise ValueError(f"{where} is missing, or not of its kind")
    if array.ndim != expected.ndim:
        raise ValueError(f"{where} has other dimensions")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"{where} is not a number")
    # A copy of its own, to be written to; columns one after the other.
    return array.copy(order="F") if isinstance(like, np.ndarray) else array.item()


def require(holds: Any, what: str) -> None:
    """`ValueError` unless something holds of what a checkpoint says."""
    if not bool(holds):
        raise ValueError(f"what was learned does not fit together: {what}")


def within(array: Array, least: int, end: int) -> bool:
    """Whether all numbers of an array are from `least` to below `end`.

    >>> within(np.array([0, 3]), 0, 4), within(np.array([0, 3]), 0, 3), within(np.zeros(0), 0, 0)
    (True, False, True)
    """
    return not array.size or (int(array.min()) >= least and int(array.max()) < end)


def dumps(about: Mapping[str, Any], part: Keeps) -> Iterator[bytes | memoryview]:
    """A checkpoint piece by piece: what it is about, the arrays that a part keeps, and a digest of all.

    >>> data = b"".join(dumps({"after": 3}, KeptAttributes()))
    >>> loads(memoryview(data))
    ({'after': 3}, {})
    """
    listed = list(arrays_of(part))
    names = [[name, array.dtype.str, array.shape] for name, array in listed]
    head = json.dumps({"version": VERSION, "about": dict(about), "arrays": names}).encode()
    digest = xxhash.xxh3_128()
    for piece in (MAGIC, len(head).to_bytes(_SIZE, "little"), head):
        digest.update(piece)
        yield piece
    for _, array in listed:
        # Columns one after the other: that is how tables lie in memory here.
        data = np.ascontiguousarray(array.T).data.cast("B") if array.size else memoryview(b"")
        digest.update(data)
        yield data
    yield digest.digest()


def loads(data: memoryview) -> tuple[dict[str, Any], dict[str, Array]]:
    """What a checkpoint is about, and its arrays, as views of the data: nothing larger is made of them.

    `ValueError` for anything that `dumps` cannot have written.
    """
    begin = len(MAGIC) + _SIZE
    size = int.from_bytes(data[len(MAGIC) : begin], "little")
    if data[: len(MAGIC)] != MAGIC or size > _LONGEST_HEAD or begin + size + _DIGEST > len(data):
        raise ValueError("it is no checkpoint of clew's")
    if xxhash.xxh3_128(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise ValueError("it is damaged")
    head = json.loads(bytes(data[begin : begin + size]))
    if not isinstance(head, dict) or head.get("version") != VERSION:
        raise ValueError("it is of another version")
    about, listed = head.get("about"), head.get("arrays")
    if not isinstance(about, dict) or not isinstance(listed, list):
        raise ValueError("it does not say what it is about")
    found: dict[str, Array] = {}
    at, end = begin + size, len(data) - _DIGEST
    for row in listed:
        name, array, at = _array(row, data[:end], at)
        found[name] = array
    if at != end:
        raise ValueError("there is more in it than it says")
    return about, found


def _array(row: object, data: memoryview, at: int) -> tuple[str, Array, int]:
    """An array of the list, and where the next begins."""
    match row:
        case [str(name), str(kind), list(shape)] if kind in _KINDS and len(shape) <= 2:
            sizes = [n for n in shape if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 40]
        case _:
            raise ValueError("an array is of no known kind")
    if len(sizes) != len(shape):
        raise ValueError(f"{name} has no size")
    count = 1
    for n in sizes:
        count *= n
    stop = at + count * np.dtype(kind).itemsize
    if stop > len(data):
        raise ValueError(f"{name} is cut short")
    return name, np.frombuffer(data[at:stop], kind).reshape(sizes[::-1]).T, stop
