"""`CandidateTerms`: the contributions that candidates were last said to have, by number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.learn.checkpoint import KeptAttributes, require

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


class CandidateTerms(KeptAttributes):
    """One row of contributions a candidate, and of which candidates something was said.

    Parameters: how many contributions there are; how many candidates to begin with.

    >>> terms = CandidateTerms(2)
    >>> terms.set(np.array([3]), np.array([[1.0, 2.0]]))
    >>> terms.rows[3].tolist(), terms.told.tolist()
    ([1.0, 2.0], [False, False, False, True])
    """

    KEPT = ("_rows", "_told", "met")

    def __init__(self, width: int, count: int = 0) -> None:
        self._rows: Floats = np.zeros((count, width), order="F")
        self._told = np.zeros(count, np.bool_)
        self._size = count
        self.met = 0
        """Beyond the last candidate that something was said of."""

    def kept(self) -> dict[str, object]:
        return {"_rows": self.rows, "_told": self.told, "met": self.met}

    def recall(self, found: dict[str, object]) -> None:  # type: ignore[override]
        super().recall(found)
        require(len(self._rows) == len(self._told) and self.met <= len(self._told), "worth of candidates")
        require(np.isfinite(self._rows).all(), "worth of candidates")
        self._size = len(self._told)

    @property
    def rows(self) -> Floats:
        """One a candidate; what nothing was said of is worth nothing."""
        return self._rows[: self._size]

    @property
    def told(self) -> NDArray[np.bool_]:
        """Of which candidates something was said."""
        return self._told[: self._size]

    def set(self, ids: Ids, terms: Floats) -> None:
        """Candidates have these contributions from now on."""
        if not len(ids):
            return
        self.reserve(int(ids.max()) + 1)
        self._rows[ids] = terms
        self._told[ids] = True
        self.met = max(self.met, int(ids.max()) + 1)

    def reserve(self, count: int) -> None:
        """Have rows for so many candidates."""
        if count > len(self._told):
            grown = max(count, len(self._told) * 3 // 2)
            rows: Floats = np.zeros((grown, self._rows.shape[1]), order="F")
            rows[: self._size] = self.rows
            told = np.zeros(grown, np.bool_)
            told[: self._size] = self.told
            self._rows, self._told = rows, told
        self._size = max(self._size, count)
