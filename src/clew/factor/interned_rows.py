"""`InternedRows`: short rows of numbers, each kept once and put together to longer ones, many at a time.

What can be told of a link comes in pieces that many links share: what its host and directory say, what its
file says, what its anchor says. Each is worked out once and numbered; a page's links are then rows of
numbers of pieces, and their items are laid out by a few array operations, however many links there are.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clew import native

Ids = NDArray[np.int64]
Items = NDArray[np.int32]

#: Items of a row that are compared each with each.
_SHORT = 200


class InternedRows:
    """Rows of numbers, appended one by one, read many at a time.

    >>> pieces = InternedRows()
    >>> pieces.add([5, 6]), pieces.add([]), pieces.add([7])
    (0, 1, 2)
    >>> lengths, items = pieces.laid_out(np.array([[0, 2], [2, 1]]))
    >>> lengths.tolist(), items.tolist()
    ([3, 1], [5, 6, 7, 7])
    """

    def __init__(self) -> None:
        self._items = array("i")
        self._starts = array("q", [0])

    def __len__(self) -> int:
        return len(self._starts) - 1

    def add(self, items: Sequence[int]) -> int:
        """Keep one more piece; gives its number."""
        self._items.extend(items)
        self._starts.append(len(self._items))
        return len(self._starts) - 2

    def extend(self, lengths: Ids, items: Ids | Items) -> range:
        """Keep many more pieces; gives their numbers.

        >>> pieces = InternedRows()
        >>> pieces.extend(np.array([2, 0, 1]), np.array([5, 6, 7]))
        range(0, 3)
        >>> pieces.row(0), pieces.row(2)
        ([5, 6], [7])
        """
        first, begin = len(self), len(self._items)
        self._items.frombytes(items.astype(np.int32).tobytes())
        self._starts.frombytes((begin + np.cumsum(lengths, dtype=np.int64)).tobytes())
        return range(first, len(self))

    def row(self, number: int) -> list[int]:
        """The items of one piece."""
        return self._items[self._starts[number] : self._starts[number + 1]].tolist()

    def clear(self) -> None:
        """Forget all pieces: their numbers are given to others from now on."""
        self._items, self._starts = array("i"), array("q", [0])

    def laid_out(self, rows: Ids) -> tuple[Ids, Items]:
        """For rows of pieces' numbers (one column a piece), the length of each row and the items of all."""
        starts = np.frombuffer(self._starts, np.int64)
        flat = rows.ravel()
        begins = starts[flat]
        lengths = starts[flat + 1] - begins
        whole = lengths.reshape(rows.shape).sum(axis=1)
        if not len(self._items):
            return whole, np.zeros(0, np.int32)
        return whole, np.frombuffer(self._items, np.int32)[spans(begins, lengths)]


def spans(begins: Ids, lengths: Ids) -> Ids:
    """The places of runs that begin somewhere and are so long, one run after the other.

    >>> spans(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    ends = np.cumsum(lengths)
    places = np.repeat(begins - ends + lengths, lengths)
    places += np.arange(len(places))
    return places


def woven(*threads: tuple[Ids, Items]) -> tuple[Ids, Items]:
    """Rows that begin with those of the first, go on with those of the second, and so on.

    >>> lengths, items = woven((np.array([1, 1]), np.array([1, 2])), (np.array([0, 2]), np.array([3, 4])))
    >>> lengths.tolist(), items.tolist()
    ([1, 3], [1, 2, 3, 4])
    """
    whole = threads[0][0].copy()
    for lengths, _ in threads[1:]:
        whole += lengths
    found = np.empty(sum(len(items) for _, items in threads), np.int32)
    begins = np.cumsum(whole) - whole
    for lengths, items in threads:
        found[spans(begins, lengths)] = items
        begins = begins + lengths
    return whole, found


def first_of_each(lengths: Ids, items: Items) -> tuple[Ids, Items]:
    """Rows without what stands in them a second time; the rest stays in its order.

    >>> lengths, items = first_of_each(np.array([3, 2]), np.array([5, 6, 5, 6, 5], np.int32))
    >>> lengths.tolist(), items.tolist()
    ([2, 2], [5, 6, 6, 5])
    """
    # Row by row each item is held against those before it, which is quick as long as rows are short.
    if native.first_of_each is not None and int(lengths.max(initial=0)) <= _SHORT:
        shorter, kept = np.empty(len(lengths), np.int64), np.empty(len(items), np.int32)
        given = np.ascontiguousarray(lengths, np.int64), np.ascontiguousarray(items, np.int32)
        return shorter, kept[: native.first_of_each(*given, shorter, kept)]
    return single(lengths, items)


def single(lengths: Ids, items: Items) -> tuple[Ids, Items]:
    """`first_of_each` in numpy, for rows of any length and where nothing is compiled."""
    owners = np.repeat(np.arange(len(lengths)), lengths)
    keys = (owners << 32) | items
    alike = np.sort(keys)
    twice = alike[1:][alike[1:] == alike[:-1]]
    if not len(twice):
        return lengths, items
    # Few rows have something twice: only those are looked at closely.
    flagged = np.zeros(len(lengths), np.bool_)
    flagged[twice >> 32] = True
    some = np.flatnonzero(flagged[owners])
    order = some[np.argsort(keys[some], kind="stable")]
    alike = keys[order]
    again = order[1:][alike[1:] == alike[:-1]]
    stays = np.ones(len(items), np.bool_)
    stays[again] = False
    return lengths - np.bincount(owners[again], minlength=len(lengths)), items[stays]


def is_one_token(text: str) -> bool:
    """Whether a part of a URL is plainly one token, however it is cut: small letters and digits.

    >>> is_one_token("p12"), is_one_token("windFarm"), is_one_token("a-b"), is_one_token("")
    (True, False, False, False)
    """
    return text.isalnum() and text.isascii() and text == text.lower()
