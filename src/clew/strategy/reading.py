"""What a page and its links say, as numbers in the tables of a `Knowledge`.

Every word form is cut to its stem and looked up in its table once; from then on a form is a number, and the
words of a page are found by arrays: their bytes give hashes, and their hashes the numbers, all at once. What
is remembered is bounded, and forgetting costs time, never a different number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import xxhash
from numpy.typing import NDArray

from clew import url as urls
from clew.factor.memory import distinct
from clew.factor.pieces import Pieces, first_of_each
from clew.knowledge import Knowledge, Table
from clew.page import Page
from clew.url.index import KeyIndex
from clew.words import lexicon, stopwords, tokens
from clew.words.cut import flat

Ids = NDArray[np.int64]

#: Characters of a page whose words are learned from.
_TEXT = 50_000
#: Forms of a language, and anchors, that are remembered.
_FORMS = 500_000
_ANCHORS = 50_000
#: Segments of URLs that are remembered.
_SEGMENTS = 200_000
_IDLE = -1
#: From this length on, a text's words are looked up all at once.
_LONG = 1000

_BLANK = 32
_EDGE = b" " * 8
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_THIRD = np.uint64(0x9E3779B97F4A7C15)
#: The first bytes of eight, by how many belong to the word.
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


class Forms:
    """The number of each word form's stem in a table; none for forms that carry no topic.

    >>> forms = Forms(Table(), "en")
    >>> forms.numbers("The turbines of 12 wind turbines: wind").tolist()
    [0, 1]
    >>> forms.table.names
    ['turbin', 'wind']
    """

    def __init__(self, table: Table, language: str) -> None:
        self.table = table
        self._idle = stopwords(language)
        self._stem = lexicon(language).stem
        self._known = KeyIndex()

    def __len__(self) -> int:
        return len(self._known)

    def numbers(self, text: str) -> Ids:
        """Numbers of the distinct stems of a text, ascending."""
        plain = flat(text) if len(text) >= _LONG else None
        if plain is None:
            found = distinct(np.array([self._number(form) for form in dict.fromkeys(tokens(text))], np.int64))
        else:
            found = distinct(self._looked_up(plain.text.encode("utf-8", "surrogatepass")))
        return np.asarray(found[1:] if len(found) and found[0] == _IDLE else found, np.int64)

    def _looked_up(self, plain: bytes) -> Ids:
        """Numbers of the distinct words between the blanks of a text."""
        hashes, starts, ends = hashed(plain)
        wanted = distinct(hashes)
        found = self._known.find(wanted)
        unknown = wanted[found < 0]
        if len(unknown):
            # In the order they stand in the text, so that a crawl numbers its words alike every time.
            first = np.sort(_first(hashes, unknown))
            spans = zip(starts[first].tolist(), ends[first].tolist(), strict=True)
            forms = [plain[start:end].decode("utf-8", "surrogatepass") for start, end in spans]
            numbers = np.array([self._number(form) for form in forms], np.int64)
            self._known.insert(hashes[first], numbers - _IDLE)
            found = self._known.find(wanted)
        return found + _IDLE

    def _number(self, form: str) -> int:
        if is_telling(form) and form not in self._idle:
            return int(self.table.numbers((self._stem(form),))[0])
        return _IDLE


def hashed(plain: bytes) -> tuple[NDArray[np.uint64], Ids, Ids]:
    """For each word between blanks a hash, where it starts and where it ends.

    A word of up to sixteen bytes is its first and last eight and its length; longer ones are hashed whole.
    """
    padded = b"".join((_EDGE, plain, _EDGE))
    inside = np.frombuffer(padded, np.uint8) != _BLANK
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]
    lengths = ends - starts
    # Eight bytes from every place on, overlapping, without copying.
    eights = np.ndarray((len(padded) - 7,), "<u8", padded, 0, (1,))
    heads = eights[starts] & _FIRST_BYTES[np.minimum(lengths, 8)]
    tails = eights[ends - 8] * (lengths > 8)
    found = (heads * _FIRST) ^ ((tails + lengths.astype(np.uint64)) * _SECOND)
    found = (found ^ (found >> np.uint64(29))) * _THIRD
    found ^= found >> np.uint64(32)
    for place in np.flatnonzero(lengths > 16).tolist():
        found[place] = xxhash.xxh3_64_intdigest(padded[starts[place] : ends[place]])
    return found, starts - len(_EDGE), ends - len(_EDGE)


def _first(hashes: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> Ids:
    """Where each of some hashes (ascending) stands first."""
    order = np.argsort(hashes, kind="stable")
    return order[np.searchsorted(hashes[order], wanted)]


class Segments(dict[str, list[int]]):
    """Numbers of the tokens of a segment of a URL: what stands between two slashes."""

    def __init__(self, table: Table, style: str) -> None:
        super().__init__()
        self.table = table
        self._style: Literal["words", "paper"] = "paper" if style == "paper" else "words"

    def __missing__(self, segment: str) -> list[int]:
        found: list[int] = self.table.numbers(urls.tokens(segment, self._style)).tolist()
        self[segment] = found
        return found


class Addresses:
    """The tokens of URLs. Each segment is read for itself: no token goes beyond a slash, and sites repeat
    their folders; so hosts, folders and files are put together once each."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments
        self._pieces = Pieces()
        self._known: dict[str, int] = {}

    def read(self, targets: Sequence[str]) -> tuple[Ids, NDArray[np.int32]]:
        """Of each URL how many distinct tokens it has, and the numbers of all, one after the other."""
        if len(self._pieces) > _SEGMENTS:
            self._pieces.clear()
            self._known.clear()
        known, piece = self._known, self._piece
        rows = []
        for target in targets:
            host, _, path = target.partition("://")[2].partition("/")
            folder, _, file = path.rpartition("/")
            for part in (host, folder, file):
                number = known.get(part)
                rows.append(piece(part) if number is None else number)
        return first_of_each(*self._pieces.laid_out(np.array(rows, np.int64).reshape(-1, 3)))

    def _piece(self, part: str) -> int:
        found = [number for segment in part.split("/") for number in self._segments[segment]]
        number = self._known[part] = self._pieces.add(found)
        return number


class Reading:
    """Reads pages, URLs and anchors into the tables of one knowledge."""

    def __init__(self, knowledge: Knowledge, style: str = "words") -> None:
        self.knowledge = knowledge
        self.cut: Callable[[Page], Sequence[str]] | None = None
        """Another way to cut a page into distinct stems: one that remembers, say."""
        self._forms: dict[tuple[str, str], Forms] = {}
        self._segments = Segments(knowledge.tokens, style)
        self._addresses = Addresses(self._segments)
        self._anchors: dict[tuple[str, str], list[int]] = {}

    def page(self, page: Page) -> Ids:
        """Numbers of the distinct stems of a page's words that can carry a topic, ascending."""
        table = self.knowledge.words
        if self.cut is not None:
            return np.sort(table.numbers(self.cut(page)))
        return self._numbers("words", table, page.text[:_TEXT], page.language or "en")

    def urls(self, targets: Sequence[str]) -> tuple[Ids, NDArray[np.int32]]:
        """Of each URL how many distinct tokens it has, and the numbers of all, one after the other."""
        return self._addresses.read(targets)

    def url(self, target: str) -> Ids:
        """Numbers of the distinct tokens of one URL."""
        if len(self._segments) > _SEGMENTS:
            self._segments.clear()
        found = [n for segment in target.partition("://")[2].split("/") for n in self._segments[segment]]
        return np.array(list(dict.fromkeys(found)), np.int64)

    def anchors(self, texts: Sequence[str], language: str) -> tuple[Ids, Ids]:
        """The same as `urls` for the words of anchors, of which a site has few different ones."""
        rows = [self._anchor(text, language) for text in texts]
        flat = np.array([n for row in rows for n in row], np.int64)
        return np.array([len(row) for row in rows], np.int64), flat

    def _anchor(self, text: str, language: str) -> list[int]:
        found = self._anchors.get((text, language))
        if found is None:
            if len(self._anchors) >= _ANCHORS:
                self._anchors.clear()
            numbers = self._numbers("anchors", self.knowledge.anchors, text, language)
            found = self._anchors[text, language] = numbers.tolist()
        return found

    def _numbers(self, name: str, table: Table, text: str, language: str) -> Ids:
        forms = self._forms.get((name, language))
        if forms is None or len(forms) > _FORMS:
            forms = self._forms[name, language] = Forms(table, language)
        return forms.numbers(text)


def is_telling(form: str) -> bool:
    """Whether a form is more than a letter or two, and no number."""
    return len(form) > 2 and not form.isdigit()


def distinct_words(page: Page) -> list[str]:
    """The distinct stems of a page's words that can carry a topic."""
    return telling(page.text[:_TEXT], page.language or "en")


def telling(text: str, language: str) -> list[str]:
    """Distinct stems of the words of a text, without stop words, numbers and single letters.

    >>> telling("The turbines of 12 wind farms", "en")
    ['turbin', 'wind', 'farm']
    """
    if not text:
        return []
    idle, cut = stopwords(language), lexicon(language).stem
    words = dict.fromkeys(tokens(text))
    return list(dict.fromkeys([cut(w) for w in words if is_telling(w) and w not in idle]))
