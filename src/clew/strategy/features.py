"""What learning strategies read off pages, links and predicates: words that tell, words around a link.

Nothing here decides what a link is worth. Words are cut by `clew.words`.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

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
