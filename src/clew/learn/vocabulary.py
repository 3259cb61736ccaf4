"""Words and their numbers: as Python objects where there are few, in flat arrays where there are many.

A word in a dictionary takes two hundred bytes with all that belongs to it, and a crawl of a few thousand
pages meets more words than there are in a lexicon. In arrays it takes its letters and some twenty bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from clew.learn.checkpoint import require
from clew.learn.rows import grown
from clew.url import keys
from clew.url.index import KeyIndex

Ids = NDArray[np.int64]

#: The share of places of the hash table that may be taken: words are looked up here once, when they are new.
_LOAD = 0.8
_BREAK = "\n"
#: Of more words than this, those that are new are numbered together.
_SOME = 32


class PackedWords(Sequence[str]):
    """Words by number, their letters end to end in one array. Words are added and never changed, so that
    another thread may read those it knows the numbers of.

    >>> names = PackedWords()
    >>> names.extend(["wind", "été"])
    >>> names[1], names.many(np.array([1, 0])), list(names), len(names)
    ('été', ['été', 'wind'], ['wind', 'été'], 2)
    """

    def __init__(self) -> None:
        self._text: NDArray[np.uint8] = np.zeros(4096, np.uint8)
        self._ends: Ids = np.zeros(256, np.int64)
        """Where each word ends; the first place is where the first begins."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> str: ...

    @overload
    def __getitem__(self, number: slice) -> list[str]: ...

    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return self.many(np.arange(*number.indices(self._count)))
        place = range(self._count)[number]
        begin, end = self._ends[place : place + 2].tolist()
        return self._text[begin:end].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])

    def __repr__(self) -> str:
        return f"PackedWords({self._count} words)"

    def extend(self, words: Sequence[str]) -> None:
        """Give the next numbers to words."""
        raw = [word.encode("utf-8", "surrogatepass") for word in words]
        begin, last = int(self._ends[self._count]), self._count + len(raw)
        ends = begin + np.cumsum([len(word) for word in raw], dtype=np.int64)
        letters = np.frombuffer(b"".join(raw), np.uint8)
        self._text = grown(self._text, begin + len(letters))
        self._ends = grown(self._ends, last + 1)
        self._text[begin : begin + len(letters)] = letters
        self._ends[self._count + 1 : last + 1] = ends
        self._count = last

    def many(self, numbers: NDArray[np.int64] | NDArray[np.int32]) -> list[str]:
        """The words of some numbers, all at once."""
        if not len(numbers):
            return []
        text, begins = self._text, self._ends[numbers]
        lengths = self._ends[numbers + 1] - begins
        # Each with a break after it; where it would stand if all stood where they are taken from.
        ends = (lengths + 1).cumsum()
        whole = np.full(int(ends[-1]), ord(_BREAK), np.uint8)
        to = (ends - 1 - lengths.cumsum()).repeat(lengths) + np.arange(int(lengths.sum()))
        whole[to] = text[(begins - lengths.cumsum() + lengths).repeat(lengths) + np.arange(len(to))]
        found = whole[:-1].tobytes().decode("utf-8", "surrogatepass").split(_BREAK)
        # A word with a break in it is none that clew cuts, but may be given.
        return found if len(found) == len(numbers) else [self[i] for i in numbers.tolist()]


def packed(names: Sequence[str]) -> dict[str, Any]:
    """Words as two arrays, for a checkpoint.

    >>> unpacked(packed(["wind", "été", ""]))
    ['wind', 'été', '']
    """
    words = names if isinstance(names, PackedWords) else PackedWords()
    if words is not names:
        words.extend(names)
    return {"text": words._text[: words._ends[words._count]], "ends": words._ends[1 : words._count + 1]}


def unpacked(found: Mapping[str, Any]) -> list[str]:
    """The words of two arrays that `packed` gave; `ValueError` for other arrays."""
    text, ends = found["text"], found["ends"]
    require((np.diff(ends, prepend=0) >= 0).all() and (ends[-1] if len(ends) else 0) == len(text), "words")
    words = PackedWords()
    words._text, words._ends, words._count = text, np.concatenate([[0], ends]), len(ends)
    return words[:]


class Vocabulary(Protocol):
    """The numbers of words; a word met for the first time gets the next."""

    @property
    def names(self) -> Sequence[str]: ...

    def listed(self, words: Iterable[str]) -> list[int]:
        """The numbers of words, given to them on first sight."""
        ...

    def found(self, words: Sequence[str]) -> list[int]:
        """The numbers of words; -1 for those never met."""
        ...


class DictVocabulary(dict[str, int]):
    """A dictionary: the soonest way to the number of a single word. Words it is given have the first numbers.

    >>> index = DictVocabulary()
    >>> index.listed(["wind", "farm", "wind"]), index.found(["farm", "sea"]), index.names
    ([0, 1, 0], [1, -1], ['wind', 'farm'])
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__()
        self.names: list[str] = []
        self.listed(names)

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.names)
        self.names.append(word)
        return number

    def listed(self, words: Iterable[str]) -> list[int]:
        if isinstance(words, list) and len(words) > _SOME:
            new = [word for word in dict.fromkeys(words) if word not in self]
            self.update(zip(new, range(len(self.names), len(self.names) + len(new)), strict=True))
            self.names += new
        return list(map(self.__getitem__, words))

    def found(self, words: Sequence[str]) -> list[int]:
        return [self.get(word, -1) for word in words]


class PackedVocabulary:
    """Arrays: a tenth of the room, for words that are asked for many at a time.

    >>> index = PackedVocabulary()
    >>> index.listed(["wind", "farm", "wind"]), index.found(["farm", "sea"]), list(index.names)
    ([0, 1, 0], [1, -1], ['wind', 'farm'])
    """

    def __init__(self) -> None:
        self.names = PackedWords()
        self._known = KeyIndex(load=_LOAD)

    def listed(self, words: Iterable[str]) -> list[int]:
        asked = list(words)
        hashes = keys(asked)
        found = self._known.find(hashes)
        unknown = (found < 0).nonzero()[0]
        if len(unknown):
            first, wanted = len(self.names), hashes[unknown].tolist()
            new: dict[int, int] = {}
            fresh = []
            for key, place in zip(wanted, unknown.tolist(), strict=True):
                if key not in new:
                    new[key] = first + len(new)
                    fresh.append(asked[place])
            self.names.extend(fresh)
            self._known.insert(np.array(list(new), np.uint64), np.array(list(new.values()), np.int64))
            found[unknown] = [new[key] for key in wanted]
        numbers: list[int] = found.tolist()
        return numbers

    def found(self, words: Sequence[str]) -> list[int]:
        numbers: list[int] = self._known.find(keys(words)).tolist()
        return numbers


def told(names: Sequence[str], numbers: NDArray[np.int64] | NDArray[np.int32]) -> list[str]:
    """The words of some numbers.

    >>> told(["wind", "farm"], np.array([1, 1]))
    ['farm', 'farm']
    """
    return names.many(numbers) if isinstance(names, PackedWords) else [names[i] for i in numbers.tolist()]
