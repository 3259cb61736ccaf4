"""`CsrRows`: sparse rows as compressed sparse rows, and the weighted sums of their items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.factor.interned_rows import spans

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

_NO: Ids = np.zeros(0, np.int64)


class CsrRows:
    """Rows of different lengths in two flat arrays, items and where each row starts; appended in row order.

    >>> rows = CsrRows()
    >>> rows.append(1, np.array([5, 6])); rows.append(3, np.array([7]))
    >>> rows.sums(np.arange(4), np.arange(10.0)).tolist()
    [0.0, 11.0, 0.0, 7.0]
    """

    def __init__(self) -> None:
        self._starts: NDArray[np.int64] = np.zeros(1024, np.int64)
        self._items: NDArray[np.int32] = np.zeros(8192, np.int32)
        self.rows = 0
        self.size = 0
        self._last: tuple[Ids | None, int, tuple[Ids, Ids]] = (None, 0, (_NO, _NO))

    def append(self, row: int, items: NDArray[np.int64] | NDArray[np.int32]) -> None:
        """Fill a row beyond all rows so far; rows passed over are empty."""
        self._starts = grown(self._starts, row + 2)
        self._items = grown(self._items, self.size + len(items))
        self._starts[self.rows : row + 1] = self.size
        self._items[self.size : self.size + len(items)] = items
        self.size += len(items)
        self.rows = row + 1
        self._starts[self.rows] = self.size

    def extend(self, first: int, lengths: Ids, items: NDArray[np.int64] | NDArray[np.int32]) -> None:
        """Fill consecutive rows beyond all rows so far, the items of all of them in one array."""
        n = len(lengths)
        self._starts = grown(self._starts, first + n + 1)
        self._items = grown(self._items, self.size + len(items))
        self._starts[self.rows : first + 1] = self.size
        self._items[self.size : self.size + len(items)] = items
        self._starts[first + 1 : first + n + 1] = self.size + np.cumsum(lengths)
        self.size += len(items)
        self.rows = first + n

    def row(self, row: int) -> NDArray[np.int32]:
        """The items of a row."""
        if row >= self.rows:
            return self._items[:0]
        return self._items[self._starts[row] : self._starts[row + 1]]

    def sums(self, rows: Ids, weights: Floats) -> Floats:
        """Of each row, the sum of the weights of its items from first to last; the same number whatever else
        is asked for."""
        if native.sums is None:
            return self.summed(rows, weights)
        found = np.empty(len(rows))
        rows = np.ascontiguousarray(rows, np.int64)
        native.sums(self._starts[: self.rows + 1], self._items[: self.size], rows, weights, found)
        return found

    def summed(self, rows: Ids, weights: Floats) -> Floats:
        """`sums` in numpy, where nothing is compiled: one after the other, so that the bits agree."""
        owners, items = self._layout(rows)
        # Counting adds up one after the other; a plain sum of many would not.
        return np.asarray(np.bincount(owners, weights.take(items), len(rows)), np.float64)

    def _layout(self, rows: Ids) -> tuple[Ids, Ids]:
        """The items of rows, and which row each belongs to. Two factors may weigh the same rows one after the
        other: the last answer is kept for the second."""
        asked, known, laid = self._last
        if asked is rows and known == self.rows:
            return laid
        # Rows beyond the last are empty, as are those passed over.
        starts = self._starts[np.minimum(rows, self.rows)]
        lengths = self._starts[np.minimum(rows + 1, self.rows)] - starts
        laid = np.repeat(np.arange(len(rows)), lengths), self._items[spans(starts, lengths)].astype(np.int64)
        self._last = (rows, self.rows, laid)
        return laid


def grown(array: Any, size: int) -> Any:
    """The array, with room for `size` rows; new ones are zero."""
    if size <= len(array):
        return array
    shape = (max(size, len(array) + len(array) // 2), *array.shape[1:])
    # Columns are read one at a time.
    new = np.zeros(shape, array.dtype, order="F")
    new[: len(array)] = array
    return new
