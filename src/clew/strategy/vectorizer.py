"""`Vectorizer`: what a page and its links say, as numbers in the tables of a `Knowledge`.

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

from clew import native
from clew import url as urls
from clew.factor.cutting import MANY, cut
from clew.factor.interned_rows import InternedRows, first_of_each, is_one_token
from clew.factor.link_graph import distinct
from clew.knowledge import Knowledge, Table
from clew.page import Page
from clew.url.index import KeyIndex
from clew.words import lexicon, stemmer, stopwords, tokens
from clew.words.cut import flat

Ids = NDArray[np.int64]

#: Characters of a page whose words are learned from.
_TEXT = 50_000
#: Forms of a language, and anchors, that are remembered.
_FORMS = 500_000
_ANCHORS = 50_000
#: Parts of URLs that are remembered.
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
        # Not the lexicon, which remembers: each form is asked for once, and numbers are remembered here.
        self._stem = stemmer(language)
        # There are more forms than anything else: a small table, in which keys are a few steps away.
        self._known = KeyIndex(load=0.8)
        self._short: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._known)

    def numbers(self, text: str) -> Ids:
        """Numbers of the distinct stems of a text, ascending."""
        plain = flat(text) if len(text) >= _LONG else None
        if plain is None:
            return np.array(self.listed(text), np.int64)
        raw = plain.text.encode("utf-8", "surrogatepass")
        found = distinct(self._looked_up(raw, *hashed(raw)))
        return np.asarray(found[1:] if len(found) and found[0] == _IDLE else found, np.int64)

    def rows(self, texts: Sequence[str]) -> tuple[Ids, Ids]:
        """Of each text how many distinct stems it has, and the numbers of all, each text's ascending.

        >>> lengths, numbers = Forms(Table(), "en").rows(["Wind farms", "the", "farms: wind, wind"])
        >>> lengths.tolist(), numbers.tolist()
        ([2, 0, 2], [0, 1, 0, 1])
        """
        plain, ends = _lines(texts)
        hashes, starts, stops = hashed(plain)
        numbers = self._looked_up(plain, hashes, starts, stops)
        there = numbers != _IDLE
        owners = np.searchsorted(ends, starts[there], "right")
        pairs = distinct((owners << 32) | numbers[there])
        return np.bincount(pairs >> 32, minlength=len(texts)), pairs & 0xFFFFFFFF

    def listed(self, text: str) -> list[int]:
        """Numbers of the distinct stems of a short text, found word by word."""
        if len(self._short) > _FORMS:
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
        unknown = np.flatnonzero(found < 0)
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
        idle, stem = self._idle, self._stem
        # As `is_telling` has it.
        there = [len(form) > 2 and not form.isdigit() and form not in idle for form in forms]
        found = self.table.listed([stem(form) for form, kept in zip(forms, there, strict=True) if kept])
        numbers = iter(found)
        return [next(numbers) if kept else _IDLE for kept in there]


def _lines(texts: Sequence[str]) -> tuple[bytes, Ids]:
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
    if native.hashed is None:
        return spelled(padded)
    room = len(padded) // 2
    found, starts, ends = np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int64)
    words = native.hashed(padded, found, starts, ends)
    return _long_ones(padded, found[:words], starts[:words], ends[:words])


def spelled(padded: bytes) -> tuple[NDArray[np.uint64], Ids, Ids]:
    """`hashed` in numpy, of a text that has blanks around it already."""
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
    return _long_ones(padded, found, starts, ends)


def _long_ones(
    padded: bytes, found: NDArray[np.uint64], starts: Ids, ends: Ids
) -> tuple[NDArray[np.uint64], Ids, Ids]:
    """Words of more than sixteen bytes are hashed whole; places count from where the text begins."""
    for place in np.flatnonzero(ends - starts > 16).tolist():
        found[place] = xxhash.xxh3_64_intdigest(padded[starts[place] : ends[place]])
    return found, starts - len(_EDGE), ends - len(_EDGE)


class Addresses:
    """The tokens of URLs. Each segment is read for itself: no token goes beyond a slash, and sites repeat
    their folders; so hosts, folders and files are put together once each.

    >>> table = Table()
    >>> lengths, numbers = Addresses(table, "words").read(["http://a.example/wind/farms-at-sea"])
    >>> [table.names[n] for n in numbers.tolist()]
    ['a', 'example', 'wind', 'farms', 'at', 'sea']
    """

    def __init__(self, table: Table, style: str) -> None:
        self.table = table
        self._style: Literal["words", "paper"] = "paper" if style == "paper" else "words"
        self._pieces = InternedRows()
        self._known: dict[str, int] = {}

    def read(self, targets: Sequence[str]) -> tuple[Ids, NDArray[np.int32]]:
        """Of each URL how many distinct tokens it has, and the numbers of all, one after the other."""
        if len(self._pieces) > _SEGMENTS:
            self._pieces.clear()
            self._known.clear()
        rows = self._together(targets) if len(targets) >= MANY and self._style == "words" else None
        if rows is None:
            known, piece = self._known, self._piece
            parts = [part for target in targets for part in _parts(target)]
            rows = np.array([known[part] if part in known else piece(part) for part in parts], np.int64)
        return first_of_each(*self._pieces.laid_out(rows.reshape(-1, 3)))

    def _together(self, targets: Sequence[str]) -> Ids | None:
        """Of each of many URLs the pieces of host, folder and file; None if one has nothing but a host."""
        ends = [target.rfind("/") + 1 for target in targets]
        heads = [target[:end] for target, end in zip(targets, ends, strict=True)]
        files = [target[end:] for target, end in zip(targets, ends, strict=True)]
        above: dict[str, int] = {}
        pairs: list[str] = []
        # In the order they stand, so that a crawl numbers its tokens alike every time.
        met: list[str] = []
        for head, file in zip(heads, files, strict=True):
            if head not in above:
                if head.endswith("//"):
                    return None
                above[head] = len(above)
                pairs += _parts(head)[:2]
                met += pairs[-2:]
            met.append(file)
        known = self._known
        if new := [part for part in dict.fromkeys(met) if part not in known]:
            lengths, words = cut(new)
            known.update(zip(new, self._pieces.extend(lengths, self.table.numbers(words)), strict=True))
        found = np.empty((len(targets), 3), np.int64)
        found[:, :2] = np.array([known[part] for part in pairs]).reshape(-1, 2)[
            [above[head] for head in heads]
        ]
        found[:, 2] = [known[file] for file in files]
        return found

    def one(self, target: str) -> list[int]:
        """The numbers of the distinct tokens of one URL: arrays do not pay for so few."""
        known, kept = self._known, self._pieces
        numbers = [known[part] if part in known else self._piece(part) for part in _parts(target)]
        return list(dict.fromkeys([item for number in numbers for item in kept.row(number)]))

    def _piece(self, part: str) -> int:
        if is_one_token(part):
            words = [part]
        else:
            words = [word for segment in part.split("/") for word in urls.tokens(segment, self._style)]
        number = self._known[part] = self._pieces.add(self.table.listed(words))
        return number


def _parts(url: str) -> tuple[str, str, str]:
    """Host, folder and file of a URL."""
    host, _, path = url.partition("://")[2].partition("/")
    folder, _, file = path.rpartition("/")
    return host, folder, file


class Vectorizer:
    """Turns pages, URLs and anchors into rows of numbers in the tables of one knowledge."""

    def __init__(self, knowledge: Knowledge, style: str = "words") -> None:
        self.knowledge = knowledge
        self.cut: Callable[[Page], Sequence[str]] | None = None
        """Another way to cut a page into distinct stems: one that remembers, say."""
        self._forms: dict[tuple[str, str], Forms] = {}
        self._addresses = Addresses(knowledge.tokens, style)
        # Not lists: a page may have thousands of anchors, and so many lists keep the collector busy.
        self._said = InternedRows()
        self._anchors: dict[str, dict[str, int]] = {}

    def page(self, page: Page) -> Ids:
        """Numbers of the distinct stems of a page's words that can carry a topic, ascending."""
        table = self.knowledge.words
        if self.cut is not None:
            return np.sort(table.numbers(self.cut(page)))
        return self._of("words", table, page.language or "en").numbers(page.text[:_TEXT])

    def urls(self, targets: Sequence[str]) -> tuple[Ids, NDArray[np.int32]]:
        """Of each URL how many distinct tokens it has, and the numbers of all, one after the other."""
        return self._addresses.read(targets)

    def url(self, target: str) -> Ids:
        """Numbers of the distinct tokens of one URL."""
        return np.array(self._addresses.one(target), np.int64)

    def anchors(self, texts: Sequence[str], language: str) -> tuple[Ids, NDArray[np.int32]]:
        """Of each anchor how many distinct words it has, and the numbers of all, one after the other.

        A site has few different anchors: each is cut once.
        """
        if len(self._said) >= _ANCHORS:
            self._said.clear()
            self._anchors.clear()
        known = self._anchors.setdefault(language, {})
        forms = self._of("anchors", self.knowledge.anchors, language)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if len(new) >= MANY:
            known.update(zip(new, self._said.extend(*forms.rows(new)), strict=True))
        else:
            for text in new:
                short = len(text) < _LONG
                known[text] = self._said.add(forms.listed(text) if short else forms.numbers(text).tolist())
        rows = np.array([known[text] for text in texts], np.int64)
        return self._said.laid_out(rows.reshape(-1, 1))

    def _of(self, name: str, table: Table, language: str) -> Forms:
        """The forms of one language in one table."""
        forms = self._forms.get((name, language))
        if forms is None or len(forms) > _FORMS:
            forms = self._forms[name, language] = Forms(table, language)
        return forms


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
