"""`FeatureHasher`: features by name as columns of a wide sparse matrix."""

from __future__ import annotations

from collections.abc import Iterable

import xxhash


class FeatureHasher(dict[str, int]):
    """Features as columns `start` to `start` + 2^`bits` - 1, by a hash of their names.

    A column is the same number in every run and on every machine, so that learned weights can be kept without
    the names. Two features may share one, which is rare while there are far fewer of them than columns.

    Parameters: `bits`; `start`, the first column; `remembered`, how many features are kept with their columns
    (forgetting costs time, never another number); `named`, whether `names` is kept.

    Weinberger, Dasgupta, Langford, Smola and Attenberg, "Feature hashing for large scale multitask learning",
    ICML 2009, section 2.

    >>> hasher = FeatureHasher(4, start=100)
    >>> hasher["wind"] == FeatureHasher(4, start=100)["wind"], hasher["wind"] in range(100, 116)
    (True, True)
    """

    __slots__ = ("_mask", "_remembered", "_start", "names")

    def __init__(self, bits: int, *, start: int = 0, remembered: int = 200_000, named: bool = False) -> None:
        super().__init__()
        self._mask = (1 << bits) - 1
        self._start = start
        self._remembered = remembered
        self.names: dict[int, str] | None = {} if named else None
        """What the columns stand for; of features that share one, the first that was hashed."""

    def __missing__(self, feature: str) -> int:
        if len(self) >= self._remembered:
            self.clear()
        column = self[feature] = self.column(feature)
        return column

    def column(self, feature: str) -> int:
        """The column of a feature that need not be remembered."""
        hashed = xxhash.xxh3_64_intdigest(feature.encode("utf-8", "surrogatepass"))
        column = self._start + (hashed & self._mask)
        if self.names is not None:
            self.names.setdefault(column, feature)
        return column

    def columns(self, features: Iterable[str]) -> list[int]:
        """The columns of features, each column once, in order.

        >>> len(FeatureHasher(16).columns(["wind", "farm", "wind"]))
        2
        """
        return list(dict.fromkeys(map(self.__getitem__, features)))
