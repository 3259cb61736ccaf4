"""What learning strategies read off pages and links: words that tell, hashed columns, a topic by example.

Nothing here decides what a link is worth. Words are cut by `clew.words`; a column is the same number in
every run, so that learned weights can be saved without their words.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from clew import native
from clew.page import Links
from clew.predicate.atoms import Text
from clew.predicate.atoms.text import pieces
from clew.predicate.formula import Formula, walk
from clew.predicate.verdict import Predicate
from clew.strategy.options import ChoiceOption
from clew.strategy.random_order import dice
from clew.words import stopwords, tokens

#: Who comes first among links of one worth: the oldest, or whom the dice choose.
TIES = ChoiceOption(("dice", "age"))
#: What the dice are worth where they decide between equals: less than any difference that tells.
_LITTLE = 1e-6
_REMEMBERED = 200_000


def tie_breaks(ties: str, keys: NDArray[np.uint64], seed: int) -> NDArray[np.float64]:
    """A very small number for each key; nothing where the oldest is to come first.

    >>> tie_breaks("age", np.array([1, 2], np.uint64), 0).tolist()
    [0.0, 0.0]
    """
    return dice(keys, seed) * _LITTLE if ties == "dice" else np.zeros(len(keys))


def telling(text: str, language: str = "") -> Counter[str]:
    """How often each word of a text occurs, words without a topic left out; no language counts as English.

    >>> telling("The farm of the farms")
    Counter({'farm': 1, 'farms': 1})
    """
    idle = stopwords(language or "en")
    return Counter([word for word in tokens(text) if word not in idle])


def topic_words(predicate: Predicate) -> tuple[str, ...]:
    """The words a predicate wants, as tokens; none when it is a black box.

    What a predicate's `formula` is (a formula, or a predicate that has one) says what it wants.

    >>> from clew.predicate import compile
    >>> topic_words(compile('"wind farm" AND turbine -noise AND lang:en'))
    ('wind', 'farm', 'turbine')
    """
    formula = getattr(predicate, "formula", None)
    if isinstance(formula, Predicate):
        return topic_words(formula)
    if not isinstance(formula, Formula):
        return ()
    idle = stopwords("en")
    found = [
        word
        for atom, negated, _ in walk(formula)
        if isinstance(atom, Text) and not negated
        for word in pieces(atom.text)
        if "*" not in word and word not in idle
    ]
    return tuple(dict.fromkeys(found))


class TopicVector:
    """A topic by example: the mean of the word vectors of texts, each scaled to length 1.

    `limit` bounds the words held: when there are twice as many, the lightest half is forgotten.

    >>> topic = TopicVector()
    >>> topic.add({"wind": 3, "farm": 4})
    >>> round(topic.cosine({"wind": 1}), 12), topic.cosine({"bread": 1})
    (0.6, 0.0)
    """

    __slots__ = ("_length2", "_weights", "limit")

    def __init__(self, limit: int = 20_000) -> None:
        self.limit = limit
        self._weights: dict[str, float] = {}
        self._length2 = 0.0

    def __bool__(self) -> bool:
        return bool(self._weights)

    def __repr__(self) -> str:
        return f"TopicVector({len(self._weights)} words)"

    def add(self, counts: Mapping[str, int]) -> None:
        """Take in one example."""
        length = math.sqrt(sum([n * n for n in counts.values()]))
        weights = self._weights
        for word, n in counts.items():
            old = weights.get(word, 0.0)
            new = old + n / length
            self._length2 += new * new - old * old
            weights[word] = new
        if len(weights) > 2 * self.limit:
            self._prune()

    def cosine(self, counts: Mapping[str, int]) -> float:
        """How alike a text and the topic are, 0 to 1."""
        if not counts or not self._weights:
            return 0.0
        get = self._weights.get
        inner = native.left_sum([n * get(word, 0.0) for word, n in counts.items()])
        if not inner:
            return 0.0
        length2 = sum([n * n for n in counts.values()]) * self._length2
        return min(1.0, inner / math.sqrt(length2))

    def state(self) -> dict[str, Any]:
        """As plain data."""
        return {"weights": self._weights, "length2": self._length2}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The opposite of `state`."""
        self._weights = {str(word): float(weight) for word, weight in state["weights"].items()}
        self._length2 = float(state["length2"])

    def _prune(self) -> None:
        heaviest = sorted(self._weights.items(), key=lambda item: (-item[1], item[0]))[: self.limit]
        self._weights = dict(heaviest)
        self._length2 = math.fsum([weight * weight for _, weight in heaviest])


class Columns(dict[str, int]):
    """Words as columns `start` to `start` + 2^`bits` - 1, by hash; two words rarely share one.

    A dict that knows every word: it remembers the words it was asked for, up to a bound.

    >>> Columns(16)["wind"] == Columns(16)["wind"], Columns(4, start=100)["wind"] in range(100, 116)
    (True, True)
    """

    __slots__ = ("_mask", "_start")

    def __init__(self, bits: int, start: int = 0) -> None:
        super().__init__()
        self._mask = (1 << bits) - 1
        self._start = start

    def __missing__(self, word: str) -> int:
        if len(self) > _REMEMBERED:
            self.clear()
        hashed = xxhash.xxh3_64_intdigest(word.encode("utf-8", "surrogatepass"))
        column = self[word] = self._start + (hashed & self._mask)
        return column

    def of(self, words: Iterable[str]) -> list[int]:
        """The columns of words, each column once, in order."""
        return list(dict.fromkeys(map(self.__getitem__, words)))


def around(links: Links, reach: int = 10) -> list[list[str]]:
    """For each link the words before and after its anchor, at most `reach` on either side.

    >>> links = Links("", ("http://b.example/",), ("wind farms",), ("one two wind farms three four",))
    >>> around(links, 1)
    [['two', 'three']]
    """
    found = []
    for anchor, context in zip(links.anchors, links.contexts, strict=True):
        before, _, after = context.partition(anchor) if anchor else (context, "", "")
        words = tokens(before)[-reach:] if reach and before else []
        if after:
            words += tokens(after)[:reach]
        found.append(words)
    return found


def pack(numbers: NDArray[Any]) -> str:
    """An array as text: little-endian bytes, compressed, base64.

    >>> unpack(pack(np.array([1, 2, 3])), np.int64).tolist()
    [1, 2, 3]
    """
    plain = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False)
    return base64.b64encode(zlib.compress(plain.tobytes(), 1)).decode("ascii")


def unpack(text: str, dtype: type[np.generic]) -> NDArray[Any]:
    """The opposite of `pack`."""
    raw = zlib.decompress(base64.b64decode(text))
    return np.frombuffer(raw, np.dtype(dtype).newbyteorder("<")).astype(dtype)
