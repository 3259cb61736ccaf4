"""`Examples`: the sparse rows that a model learns from, the latest of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.learn.checkpoint import require, within
from clew.learn.rows import grown


class Examples:
    """Rows of columns with their labels, as a matrix whose columns are numbered in the order met.

    Most columns of a wide hashed matrix never occur: a model works on those that do. Once there are `limit`
    examples, the older half is forgotten; columns keep their numbers.

    Parameters: `width`, how many columns there may be; `labels`, the names of what is known of an example.

    >>> examples = Examples(1000, "alive")
    >>> examples.add(np.array([7, 900], np.int32), alive=True)
    >>> examples.add(np.array([900], np.int32), alive=False)
    >>> examples.items.tolist(), examples.owners.tolist(), examples.columns[:2].tolist(), examples.labels
    ([0, 1, 1], [0, 0, 1], [7, 900], {'alive': [True, False]})
    """

    def __init__(self, width: int, *labels: str, limit: int = 8000) -> None:
        self.limit = limit
        self.labels: dict[str, list[bool]] = {label: [] for label in labels}
        self._compact: NDArray[np.int32] = np.full(width, -1, np.int32)
        self.columns: NDArray[np.int32] = np.zeros(1024, np.int32)
        """The column of the wide matrix that each column here is."""
        self.width = 0
        self._items: NDArray[np.int32] = np.zeros(8192, np.int32)
        self._owners: NDArray[np.int32] = np.zeros(8192, np.int32)
        self._size = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"Examples({self._count} with {self.width} columns)"

    def kept(self) -> dict[str, Any]:
        labels = {f"label {name}": np.array(known, np.bool_) for name, known in self.labels.items()}
        return {"columns": self.columns[: self.width], "items": self.items, "owners": self.owners, **labels}

    def recall(self, found: Mapping[str, Any]) -> None:
        columns, items, owners = found["columns"], found["items"], found["owners"]
        labels = {name: found[f"label {name}"].tolist() for name in self.labels}
        counts = {len(known) for known in labels.values()}
        require(len(counts) == 1, "labels of examples")
        (count,) = counts
        require(within(columns, 0, len(self._compact)) and within(items, 0, len(columns)), "columns")
        require(len(items) == len(owners) and (np.diff(owners) >= 0).all(), "rows of examples")
        require(within(owners, 0, count), "examples")
        self.columns, self.width = columns, len(columns)
        self._compact[columns] = np.arange(len(columns))
        self._items, self._owners, self._size = items, owners, len(items)
        self.labels, self._count = labels, count

    def add(self, row: NDArray[np.int32], **labels: bool) -> None:
        """One more example, with every label."""
        if self._count >= self.limit:
            self._forget()
        new = row[self._compact[row] < 0]
        if len(new):
            top = self.width + len(new)
            self.columns = grown(self.columns, top)
            self.columns[self.width : top] = new
            self._compact[new] = np.arange(self.width, top)
            self.width = top
        end = self._size + len(row)
        self._items, self._owners = grown(self._items, end), grown(self._owners, end)
        self._items[self._size : end] = self._compact[row]
        self._owners[self._size : end] = self._count
        self._size = end
        self._count += 1
        for name, known in self.labels.items():
            known.append(labels[name])

    @property
    def items(self) -> NDArray[np.int32]:
        """The columns of all rows, one row after the other."""
        return self._items[: self._size]

    @property
    def owners(self) -> NDArray[np.int32]:
        """The row that each of `items` belongs to."""
        return self._owners[: self._size]

    def _forget(self) -> None:
        half = self._count // 2
        cut = int(np.searchsorted(self.owners, half))
        kept = self._size - cut
        self._items[:kept] = self._items[cut : self._size]
        self._owners[:kept] = self._owners[cut : self._size] - half
        self._size = kept
        self._count -= half
        for known in self.labels.values():
            del known[:half]
