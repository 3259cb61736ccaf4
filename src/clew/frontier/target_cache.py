"""`TargetCache`: which links lead to candidates, and to which.

The index of the frontier answers by key. Pages of one site link to the same targets over and over, so the
last ones are also remembered by their text: for most links one look-up does for hashing and searching.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from clew import url as urls

#: Targets remembered, at most.
MANY = 50_000

Keys = NDArray[np.uint64]
Numbers = NDArray[np.int64]


class TargetCache:
    """Looks targets up.

    Parameters: `find`, the candidates' numbers by key, -1 for none; `keys`, the keys by number.

    >>> known = TargetCache(lambda keys: np.full(len(keys), -1), lambda numbers: numbers.astype(np.uint64))
    >>> keys, numbers = known.lookup(["http://a.example/"])
    >>> int(keys[0]) == urls.key("http://a.example/"), numbers.tolist()
    (True, [-1])
    """

    def __init__(self, find: Callable[[Keys], Numbers], keys: Callable[[Numbers], Keys]) -> None:
        self._find = find
        self._keys = keys
        self._numbers: dict[str, int] = {}

    def lookup(self, targets: Sequence[str]) -> tuple[Keys, Numbers]:
        """The key and the candidate number of each target; -1 for those never seen."""
        known = self._numbers
        numbers = np.fromiter(map(known.get, targets, repeat(-1)), np.int64, len(targets))
        missing = (numbers < 0).nonzero()[0]
        if not len(missing):
            return self._keys(numbers), numbers
        keys = (
            self._keys(np.maximum(numbers, 0))
            if len(missing) < len(numbers)
            else np.empty(len(numbers), np.uint64)
        )
        places = missing.tolist()
        keys[missing] = urls.keys([targets[place] for place in places])
        found = self._find(keys[missing])
        numbers[missing] = found
        if len(known) > MANY:
            known.clear()
        known.update(
            [
                (targets[place], number)
                for place, number in zip(places, found.tolist(), strict=True)
                if number >= 0
            ]
        )
        return keys, numbers

    def __repr__(self) -> str:
        return f"TargetCache({len(self._numbers)} remembered)"
