"""Word forms as numbers of their stems, found for a whole text at once.

Every form is cut to its stem and numbered once; from then on the words of a text are found by arrays: their
bytes give hashes, and their hashes the numbers. Forgetting what is remembered costs time, never a different
stem.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import xxhash
from numpy.typing import NDArray

from clew.learn.rows import distinct
from clew.url.index import KeyIndex
from clew.words.cut import flat, tokens
from clew.words.stems import stemmer, stopwords

Ids = NDArray[np.int64]

#: Forms of a language that are remembered.
MAX_FORMS = 500_000
#: Forms of anchors that are remembered: as Python objects they take more room.
_SHORT_FORMS = 100_000
_IDLE = -1
#: From this length on, a text's words are looked up all at once.
_LONG = 1000

_BLANK = 32
_EDGE = b" " * 8
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_THIRD = np.uint64(0x9E3779B97F4A7C15)
#: The first bytes of eight, by how many belong to the word.
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)


class Numbering(Protocol):
    """Anything that gives names numbers: a `clew.knowledge.Table`, or a vocabulary."""

    def listed(self, names: Sequence[str]) -> list[int]:
        """The number of each name; new names get the next ones."""
        ...


def is_telling(form: str) -> bool:
    """Whether a form is more than a letter or two, and no number."""
    return len(form) > 2 and not form.isdigit()


class Forms:
    """The number of each word form's stem in a table; none for forms that carry no topic.

    >>> from clew.learn.vocabulary import DictVocabulary
    >>> forms = Forms(DictVocabulary(), "en")
    >>> forms.numbers("The turbines of 12 wind turbines: wind").tolist()
    [0, 1]
    >>> forms.table.names
    ['turbin', 'wind']
    """

    def __init__(self, table: Numbering, language: str) -> None:
        self.table = table
        self._idle = stopwords(language)
        # Not the lexicon, which remembers: each form is asked for once, and numbers are remembered here.
        self._cut = stemmer(language)
        # There are more forms than anything else: a small table, in which keys are a few steps away.
        self._known = KeyIndex(load=0.8)
        self._short: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._known)

    def numbers(self, text: str) -> Ids:
        """Numbers of the distinct stems of a text, ascending."""
        if len(text) < _LONG:
            return np.array(self.listed(text), np.int64)
        return np.asarray(distinct(self.occurrences(text)), np.int64)

    def occurrences(self, text: str) -> Ids:
        """The number of every word of a text that may carry a topic, one for each time it stands there.

        >>> from clew.learn.vocabulary import DictVocabulary
        >>> Forms(DictVocabulary(), "en").occurrences("The turbines of 12 wind turbines: wind").tolist()
        [0, 1, 0, 1]
        """
        plain = flat(text)
        words = " ".join(tokens(text)) if plain is None else plain.text
        raw = words.encode("utf-8", "surrogatepass")
        found = self._looked_up(raw, *hashed(raw))
        return np.asarray(found[found != _IDLE], np.int64)

    def rows(self, texts: Sequence[str]) -> tuple[Ids, Ids]:
        """Of each text how many distinct stems it has, and the numbers of all, each text's ascending.

        >>> from clew.learn.vocabulary import DictVocabulary
        >>> lengths, numbers = Forms(DictVocabulary(), "en").rows(["Wind farms", "the", "farms: wind, wind"])
        >>> lengths.tolist(), numbers.tolist()
        ([2, 0, 2], [0, 1, 0, 1])
        """
        plain, ends = lines_of(texts)
        hashes, starts, stops = hashed(plain)
        numbers = self._looked_up(plain, hashes, starts, stops)
        there = numbers != _IDLE
        owners = np.searchsorted(ends, starts[there], "right")
        pairs = distinct((owners << 32) | numbers[there])
        return np.bincount(pairs >> 32, minlength=len(texts)), pairs & 0xFFFFFFFF

    def listed(self, text: str) -> list[int]:
        """Numbers of the distinct stems of a short text, found word by word."""
        if len(self._short) > _SHORT_FORMS:
            self._short.clear()
        known = self._short
        words = tokens(text)
        if new := [form for form in dict.fromkeys(words) if form not in known]:
            known.update(zip(new, self._numbers(new), strict=True))
        found = {known[form] for form in words}
        found.discard(_IDLE)
        return sorted(found)

    def _looked_up(self, plain: bytes, hashes: NDArray[np.uint64], starts: Ids, ends: Ids) -> Ids:
        """The number of each word of a text."""
        found = self._known.find(hashes)
        unknown = (found < 0).nonzero()[0]
        if len(unknown):
            # In the order they stand in the text, so that a crawl numbers its words alike every time.
            places: dict[int, int] = {}
            wanted = hashes[unknown].tolist()
            for key, place in zip(wanted, unknown.tolist(), strict=True):
                places.setdefault(key, place)
            at = np.array(list(places.values()), np.int64)
            forms = [
                plain[start:end].decode("utf-8", "surrogatepass")
                for start, end in zip(starts[at].tolist(), ends[at].tolist(), strict=True)
            ]
            known = dict(zip(places, [number - _IDLE for number in self._numbers(forms)], strict=True))
            self._known.insert(np.array(list(known), np.uint64), np.array(list(known.values()), np.int64))
            found[unknown] = [known[key] for key in wanted]
        return found + _IDLE

    def _numbers(self, forms: Sequence[str]) -> list[int]:
        """The numbers of forms never met before."""
        idle = self._idle
        # As `is_telling` has it.
        there = [len(form) > 2 and not form.isdigit() and form not in idle for form in forms]
        found = self.table.listed(self._cut([form for form, kept in zip(forms, there, strict=True) if kept]))
        numbers = iter(found)
        return [next(numbers) if kept else _IDLE for kept in there]


def lines_of(texts: Sequence[str]) -> tuple[bytes, Ids]:
    """The words of texts between blanks, one text after the other, and where each ends."""
    whole = "\n".join(texts)
    plain = flat(whole) if whole.isascii() else None
    if plain is not None:
        # Letter by letter the same, with a blank before and after.
        return plain.text.encode(), np.cumsum([len(text) + 1 for text in texts])
    raw = [" ".join(tokens(text)).encode("utf-8", "surrogatepass") for text in texts]
    return b" ".join(raw), np.cumsum([len(text) + 1 for text in raw])


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
    # Places count from where the text begins.
    return found, starts - len(_EDGE), ends - len(_EDGE)
