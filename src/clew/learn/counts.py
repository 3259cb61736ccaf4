"""`Table`: of how many pages a thing was true, and of how many of those that satisfied the predicate."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.learn.checkpoint import require
from clew.learn.rows import grown
from clew.learn.vocabulary import DictVocabulary, PackedVocabulary, Vocabulary, packed, told, unpacked

_FLOOR = 256
#: Words that are looked at in one go when new ones are put among them.
PIECE = 10_000


class _Alphabet:
    """The order of words by their letters. A table's words only grow in number: what is sorted stays so."""

    __slots__ = ("_sorted",)

    def __init__(self) -> None:
        self._sorted: NDArray[np.int32] = np.zeros(0, np.int32)

    def order(self, names: Sequence[str], count: int) -> NDArray[np.int32]:
        """The numbers of a table's words, or of those it had at some time, by the alphabet."""
        # Another thread may do the same at the same time: each leaves an order that is true.
        numbers = self._sorted
        if len(numbers) > count:
            return numbers[numbers < count]
        words = told(names, np.arange(len(numbers), count))
        places = sorted(range(len(words)), key=words.__getitem__)
        if places:
            new = len(numbers) + np.array(places, np.int32)
            words.sort()
            self._sorted = numbers = np.insert(numbers, self._between(names, numbers, words), new)
        return numbers

    def _between(self, names: Sequence[str], numbers: NDArray[np.int32], new: list[str]) -> list[int]:
        """Where among sorted words new ones belong, which are sorted too."""
        found: list[int] = []
        for at in range(0, len(numbers), PIECE):
            words = told(names, numbers[at : at + PIECE])
            end = bisect_left(new, words[-1], len(found))
            found += [at + bisect_left(words, word) for word in new[len(found) : end]]
        return found + [len(numbers)] * (len(new) - len(found))


@dataclass(frozen=True, slots=True)
class Frozen:
    """A table as it was at one time."""

    names: Sequence[str]
    """The words it had, and those that came since."""
    seen: NDArray[np.float64]
    hits: NDArray[np.float64]
    alphabet: _Alphabet

    def order(self) -> NDArray[np.int32]:
        """The numbers of the words that were counted, by the alphabet."""
        order = self.alphabet.order(self.names, len(self.seen))
        counted = (self.seen != 0.0) | (self.hits != 0.0)
        return order if counted.all() else order[counted[order]]


class Table:
    """Two counts per word: `seen` and, of these, `hits`. Words are numbered in the order first met.

    With `many`, words take little room, and looking up a single one more time. With `like`, words and their
    numbers are those of another table: what is numbered in one is in both. A checkpoint has them once, with
    the other table, which comes before this one.

    >>> table = Table()
    >>> numbers = table.numbers(["wind", "farm"])
    >>> table.count(numbers, satisfied=True)
    >>> table.row("wind")
    (1.0, 1.0)
    """

    __slots__ = ("_alphabet", "_hits", "_index", "_owns_words", "_seen", "names")

    def __init__(self, *, many: bool = False, like: Table | None = None) -> None:
        own: Vocabulary = PackedVocabulary() if many else DictVocabulary()
        self._owns_words = like is None
        self._index: Vocabulary = own if like is None else like._index
        self._alphabet: _Alphabet = _Alphabet() if like is None else like._alphabet
        self.names: Sequence[str] = self._index.names
        self._seen: NDArray[np.float64] = np.zeros(_FLOOR)
        self._hits: NDArray[np.float64] = np.zeros(_FLOOR)

    @property
    def seen(self) -> NDArray[np.float64]:
        """By number: pages on which a word stood; there is room for every word."""
        if len(self._seen) < len(self.names):
            self._seen = grown(self._seen, len(self.names))
        return self._seen

    @property
    def hits(self) -> NDArray[np.float64]:
        """By number: those of them that satisfied."""
        if len(self._hits) < len(self.names):
            self._hits = grown(self._hits, len(self.names))
        return self._hits

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Table({len(self)} words)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and dict(self.rows()) == dict(other.rows())

    __hash__ = None  # type: ignore[assignment]

    def kept(self) -> dict[str, Any]:
        words = packed(self.names) if self._owns_words else {}
        return {**words, "seen": self.seen[: len(self)], "hits": self.hits[: len(self)]}

    def recall(self, found: Mapping[str, Any]) -> None:
        words = unpacked(found) if self._owns_words else list(self.names)
        begun = len(self)
        require(len(words) == len(found["seen"]) == len(found["hits"]), "the columns of a table")
        # What was known before the crawl began was numbered when this table was made.
        require(words[:begun] == list(self.names) and len(set(words)) == len(words), "the words of a table")
        require(all(np.isfinite(found[name]).all() for name in ("seen", "hits")), "counts")
        self.listed(words[begun:])
        self.seen[: len(words)], self.hits[: len(words)] = found["seen"], found["hits"]

    def numbers(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of words, given to them on first sight."""
        return np.array(self.listed(words), np.int64)

    def listed(self, words: Iterable[str]) -> list[int]:
        """The numbers of words as a plain list, which is quicker for a few words at a time."""
        return self._index.listed(words)

    def admitted(self, words: Sequence[str], limit: int) -> list[int]:
        """The numbers of words; new ones get numbers while there are fewer than `limit`, and -1 from then on.

        A web has new words without end, and most stand on one page: what comes after so many tells little.

        >>> table = Table()
        >>> table.admitted(["wind", "farm", "sea", "wind"], 2), table.admitted(["farm", "sea"], 2)
        ([0, 1, -1, 0], [1, -1])
        """
        if len(self) + len(words) <= limit:
            return self.listed(words)
        found = self._index.found(words)
        new = dict.fromkeys([word for word, number in zip(words, found, strict=True) if number < 0])
        some = list(new)[: max(0, limit - len(self))]
        given = dict(zip(some, self.listed(some), strict=True))
        return [
            given.get(word, -1) if number < 0 else number for word, number in zip(words, found, strict=True)
        ]

    def find(self, word: str) -> int:
        """The number of a word; -1 when it was never met."""
        return self._index.found((word,))[0]

    def count(self, numbers: NDArray[np.int64] | NDArray[np.int32], satisfied: bool) -> None:
        """One more page on which these words (distinct) stood."""
        self.seen[numbers] += 1.0
        if satisfied:
            self.hits[numbers] += 1.0

    def row(self, word: str) -> tuple[float, float]:
        """(seen, hits) of a word; zeros when it was never met."""
        number = self.find(word)
        return (0.0, 0.0) if number < 0 else (float(self.seen[number]), float(self.hits[number]))

    def rows(self) -> Iterator[tuple[str, tuple[float, float]]]:
        """Every word that was counted, with its counts."""
        n = len(self)
        for name, seen, hits in zip(self.names, self.seen[:n].tolist(), self.hits[:n].tolist(), strict=True):
            if seen or hits:
                yield name, (seen, hits)

    def frozen(self) -> Frozen:
        """The table as it is now."""
        n = len(self)
        # Without the sign that a zero may have.
        return Frozen(self.names, self.seen[:n] + 0.0, self.hits[:n] + 0.0, self._alphabet)

    def add(self, words: Sequence[str], seen: NDArray[np.float64], hits: NDArray[np.float64]) -> None:
        """Add counts of distinct words."""
        numbers = self.numbers(words)
        self.seen[numbers] += seen
        self.hits[numbers] += hits

    def plus(self, other: Table, sign: float = 1.0) -> Table:
        """A new table with the sum of both."""
        out = Table()
        for table, factor in ((self, 1.0), (other, sign)):
            n = len(table)
            out.add(table.names, table.seen[:n] * factor, table.hits[:n] * factor)
        return out

    def scaled(self, factor: float) -> Table:
        """A new table with every count multiplied."""
        out = Table()
        n = len(self)
        out.add(self.names, self.seen[:n] * factor, self.hits[:n] * factor)
        return out
