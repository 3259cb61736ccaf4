"""A text as a vector of its stems: what topics are trained on, and what they score.

A stem that stands n times weighs 1 + log n, and the vector is divided by its length, so that a long page
and a short one on the same subject look alike. The length is taken over all stems, known to a topic or not,
and added up in whole numbers: it is the same to the last bit whatever topics there are, and in whatever
order pages came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from clew import native
from clew.learn.vocabulary import DictVocabulary, told
from clew.page import Links, Page
from clew.words.forms import MAX_FORMS, Forms, Ids

Floats = NDArray[np.float64]

#: Characters of a page that are read.
MAX_TEXT = 50_000
#: A word of the title counts as so many of the text.
TITLE = 3
#: The language assumed of a text that does not tell.
FALLBACK = "en"
#: A text of fewer stems is taken to have so many: one word alone proves little.
SHORTEST = 3

_MOST = 4096
_DAMPED: Floats = np.concatenate(([0.0], 1.0 + native.log(np.arange(1.0, _MOST))))
_UNIT = 1 << 20
_SQUARES: Ids = np.rint(_DAMPED * _DAMPED * _UNIT).astype(np.int64)


@dataclass(frozen=True, slots=True)
class StemVector:
    """The stems of a text by number, ascending, and the weight of each."""

    numbers: Ids
    weights: Floats

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class StemRows:
    """The vectors of many short texts, one after the other: how many stems each has, then all of them."""

    lengths: Ids
    numbers: Ids
    weights: Floats


class TextReader:
    """Turns texts into stem vectors.

    Parameters: stems that get the first numbers; others are numbered as they are met. When too many were
    met, all but the first are forgotten (see `size`), unless it `forgets` none: their numbers mean nothing
    beyond one text.

    >>> reader = TextReader(["wind"])
    >>> found = reader.page(Page(url="http://a.example/", text="The wind and the sea, the wind"))
    >>> reader.names(found.numbers), found.weights.round(2).tolist()
    (['wind', 'sea'], [0.86, 0.51])
    """

    def __init__(self, stems: Sequence[str] = (), *, forgets: bool = True) -> None:
        self._forgets = forgets
        self.size = len(stems)
        """How many stems have a number for good."""
        self._stems = tuple(stems)
        self._numbers = DictVocabulary(self._stems)
        self._forms: dict[str, Forms] = {}

    def page(self, page: Page) -> StemVector:
        """The vector of a page's title and text."""
        forms = self._of(page.language)
        found = [forms.occurrences(page.text[:MAX_TEXT])]
        if page.title:
            found += [forms.occurrences(page.title[:MAX_TEXT])] * TITLE
        numbers, counts = _counted(np.concatenate(found))
        counts = np.minimum(counts, _MOST - 1)
        squares = max(int(_SQUARES[counts].sum()), SHORTEST * _UNIT)
        return StemVector(numbers, _DAMPED[counts] / np.sqrt(squares / _UNIT))

    def links(self, links: Links, language: str = "") -> StemRows:
        """The vectors of what links say: the words of anchor and URL, each once."""
        texts = [f"{anchor} {_path(url)}" for anchor, url in zip(links.anchors, links.targets, strict=True)]
        lengths, numbers = self._of(language).rows(texts)
        norms = np.sqrt(np.maximum(lengths, SHORTEST).astype(np.float64))
        return StemRows(lengths, numbers, np.repeat(1.0 / norms, lengths))

    def names(self, numbers: Ids) -> list[str]:
        """The stems that have some numbers."""
        return told(self._numbers.names, numbers)

    def _of(self, language: str) -> Forms:
        language = language or FALLBACK
        forms = self._forms.get(language)
        full = self._forgets and len(self._numbers) > self.size + MAX_FORMS
        if forms is None or full:
            if full:
                self._numbers = DictVocabulary(self._stems)
                self._forms.clear()
            forms = self._forms[language] = Forms(self._numbers, language)
        return forms


def _path(url: str) -> str:
    """What of a URL is words: all behind the host."""
    path = url.partition("://")[2].partition("/")[2]
    return unquote(path) if "%" in path else path


def _counted(values: Ids) -> tuple[Ids, Ids]:
    """The different numbers, ascending, and how often each is there."""
    values = np.sort(values)
    firsts = np.flatnonzero(np.concatenate((values[:1] >= 0, values[1:] != values[:-1])))
    return values[firsts], np.diff(np.append(firsts, len(values)))
