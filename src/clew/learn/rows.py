"""Sparse rows: lists of column numbers, each with value 1, end to end in flat arrays (CSR without values).

What can be told of a link comes in parts that many links share: what its host and directory say, what its
file says, what its anchor says. Each part is worked out once and is a row; a page's links are then rows of
numbers of parts, and their columns are gathered by a few array operations, however many links there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.learn.checkpoint import require

Ids = NDArray[np.int64]
Items = NDArray[np.int32]
Floats = NDArray[np.float64]


class SparseRows:
    """Rows of different lengths in two flat arrays, items and where each row starts.

    >>> rows = SparseRows()
    >>> rows.append([5, 6]), rows.append([7], row=3)
    (0, 3)
    >>> rows.sums(np.arange(5), np.arange(10.0)).tolist()
    [11.0, 0.0, 0.0, 7.0, 0.0]
    >>> lengths, items = rows.gather(np.array([[0, 3], [3, 1]]))
    >>> lengths.tolist(), items.tolist()
    ([3, 1], [5, 6, 7, 7])
    """

    def __init__(self) -> None:
        self.clear()

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        return f"SparseRows({self.rows} rows, {self.size} items)"

    def clear(self) -> None:
        """Forget all rows: their numbers are given to others from now on."""
        self._starts: Ids = np.zeros(64, np.int64)
        self._items: Items = np.zeros(256, np.int32)
        self.rows = 0
        self.size = 0

    @property
    def items(self) -> Items:
        """The items of all rows, one row after the other."""
        return self._items[: self.size]

    def kept(self) -> dict[str, Any]:
        return {"starts": self._starts[: self.rows + 1], "items": self.items}

    def recall(self, found: Mapping[str, Any]) -> None:
        starts, items = found["starts"], found["items"]
        require(len(starts) and not starts[0] and starts[-1] == len(items), "rows and items")
        require((np.diff(starts) >= 0).all() and (not len(items) or items.min() >= 0), "rows are in order")
        self._starts, self._items = starts, items
        self.rows, self.size = len(starts) - 1, len(items)

    def append(self, items: Sequence[int] | Ids | Items, row: int | None = None) -> int:
        """Fill the next row, or one beyond all so far: those passed over are empty. Gives its number."""
        row = self.rows if row is None else row
        end = self.size + len(items)
        self._reserve(row, 1, end)
        self._items[self.size : end] = items
        self._starts[row + 1] = self.size = end
        self.rows = row + 1
        return row

    def extend(self, lengths: Ids, items: Ids | Items, first: int | None = None) -> range:
        """Fill consecutive rows from `first` (the next) on, the items of all in one array. Gives their
        numbers.

        >>> rows = SparseRows()
        >>> rows.extend(np.array([2, 0, 1]), np.array([5, 6, 7])), rows.row(2).tolist()
        (range(0, 3), [7])
        """
        first = self.rows if first is None else first
        end, last = self.size + len(items), first + len(lengths)
        self._reserve(first, len(lengths), end)
        self._items[self.size : end] = items
        self._starts[first + 1 : last + 1] = self.size + lengths.cumsum()
        self.size, self.rows = end, last
        return range(first, last)

    def _reserve(self, first: int, count: int, size: int) -> None:
        """Make room; rows between the last and `first` are empty."""
        self._starts = grown(self._starts, first + count + 1)
        self._items = grown(self._items, size)
        self._starts[self.rows : first + 1] = self.size

    def row(self, row: int) -> Items:
        """The items of a row; none of a row beyond the last."""
        if row >= self.rows:
            return self._items[:0]
        return self._items[self._starts[row] : self._starts[row + 1]]

    def span(self, row: int) -> slice:
        """Where the items of a row stand among all: whoever keeps something for each finds it there."""
        row = min(row, self.rows)
        return slice(int(self._starts[row]), int(self._starts[min(row + 1, self.rows)]))

    def retain(self, first: int, last: int, kept: NDArray[np.bool_]) -> None:
        """Of the rows from `first` to before `last`, keep only the items that `kept` says.

        >>> rows = SparseRows()
        >>> _ = rows.extend(np.array([2, 2, 1]), np.array([0, 1, 1, 2, 1]))
        >>> rows.retain(0, 2, np.array([True, False, True]))
        >>> [rows.row(n).tolist() for n in range(3)]
        [[0], [2], [1]]
        """
        begin, end = int(self._starts[first]), int(self._starts[last])
        stays = kept[self._items[begin:end]]
        before = np.append(0, stays.cumsum())
        left = int(before[-1])
        self._starts[first : last + 1] = begin + before[self._starts[first : last + 1] - begin]
        self._starts[last + 1 : self.rows + 1] -= end - begin - left
        moved = self._items[end : self.size].copy()
        self._items[begin : begin + left] = self._items[begin:end][stays]
        self.size -= end - begin - left
        self._items[begin + left : self.size] = moved

    def gather(self, rows: Ids) -> tuple[Ids, Items]:
        """Longer rows made of these: for each row of `rows`, which has numbers of rows here, how many items
        they have together, and the items of all."""
        flat = rows.ravel()
        begins = self._starts[np.minimum(flat, self.rows)]
        lengths = self._starts[np.minimum(flat + 1, self.rows)] - begins
        return lengths.reshape(rows.shape).sum(axis=1), self._items[spans(begins, lengths)]

    def sums(self, rows: Ids, weights: Floats) -> Floats:
        """Of each row, the sum of the weights of its items from first to last; the same number whatever else
        is asked for."""
        return native.sums(self._starts[: self.rows + 1], self._items[: self.size], rows, weights)


def grown(array: Any, size: int) -> Any:
    """The array, with room for `size` rows; new ones are zero."""
    if size <= len(array):
        return array
    shape = (max(size, len(array) + len(array) // 4), *array.shape[1:])
    # Columns are read one at a time.
    new = np.zeros(shape, array.dtype, order="F")
    new[: len(array)] = array
    return new


def spans(begins: Ids, lengths: Ids) -> Ids:
    """The places of runs that begin somewhere and are so long, one run after the other.

    >>> spans(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    ends = lengths.cumsum()
    places: Ids = (begins - ends + lengths).repeat(lengths)
    places += np.arange(len(places))
    return places


def distinct(values: Any) -> Any:
    """The different numbers among some, ascending: `np.unique`, without its detours.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    if len(values) < 2:
        return values
    values = np.sort(values)
    return values[np.concatenate(([True], values[1:] != values[:-1]))]


def joined(rows: Sequence[bytes]) -> tuple[Items, Ids]:
    """Rows kept each as bytes: the columns of all, and the number of the row of each column.

    >>> one, two = np.array([3, 4], np.int32).tobytes(), np.array([7], np.int32).tobytes()
    >>> [part.tolist() for part in joined([one, two])]
    [[3, 4, 7], [0, 0, 1]]
    """
    lengths = np.fromiter(map(len, rows), np.int64, len(rows)) // 4
    return np.frombuffer(b"".join(rows), np.int32), np.arange(len(rows)).repeat(lengths)


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
    begins = whole.cumsum() - whole
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
    owners = np.arange(len(lengths)).repeat(lengths)
    keys = (owners << 32) | items
    alike = np.sort(keys)
    twice = alike[1:][alike[1:] == alike[:-1]]
    if not len(twice):
        return lengths, items
    # Few rows have something twice: only those are looked at closely.
    flagged = np.zeros(len(lengths), np.bool_)
    flagged[twice >> 32] = True
    some = flagged[owners].nonzero()[0]
    order = some[np.argsort(keys[some], kind="stable")]
    alike = keys[order]
    again = order[1:][alike[1:] == alike[:-1]]
    stays = np.ones(len(items), np.bool_)
    stays[again] = False
    return lengths - np.bincount(owners[again], minlength=len(lengths)), items[stays]
