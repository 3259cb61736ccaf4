"""Which word was meant: for errors that name the nearest of the words there are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

#: Letters that a part of a name must have to mean it.
_TELLING = 3


def closest(word: str, known: Iterable[str]) -> str | None:
    """The word of `known` that fewest slips of the hand lead to `word` from; None where that takes too many.

    A slip is a letter left out, put in or changed, or two neighbours in the wrong order. Of equals the one
    that begins and ends most alike is meant, then the first. A part of one name alone means that name.

    >>> closest("max", ("minmax", "product"))
    'minmax'
    >>> closest("pagse", ["pages", "use", "types"]), closest("verbose", ["browser", "own"])
    ('pages', None)
    """
    known = tuple(known)
    typed, best, least = word.lower(), None, (max(1, len(word) // 3) + 1, 0)
    for name in known:
        lower = name.lower()
        if abs(len(lower) - len(typed)) < least[0] + 1:
            found = (slips(typed, lower), -_alike(typed, lower))
            if found < least:
                best, least = name, found
    if best is None and len(typed) >= _TELLING:
        holding = [name for name in known if typed in name.lower()]
        return holding[0] if len(holding) == 1 else None
    return best


def slips(one: str, other: str) -> int:
    """Slips of the hand between two words: the restricted Damerau-Levenshtein distance.

    >>> slips("pagse", "pages"), slips("sed", "seed")
    (1, 1)
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _alike(one: str, other: str) -> int:
    """Letters that two words have in common at their beginnings and at their ends."""
    pairs = (zip(one, other, strict=False), zip(reversed(one), reversed(other), strict=False))
    return sum(1 for pair in pairs for _ in takewhile(lambda letters: letters[0] == letters[1], pair))
