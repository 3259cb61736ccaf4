"""Words: how a text is cut into them, their stems, and the words that carry no topic.

Text comes in, words come out, folded: `cut` finds them, `stems` says which belong together and which mean
nothing. Everything that needs words asks here; nothing else cuts text, so that a word of a page, of an anchor
and of a formula is always the same word.
"""

from __future__ import annotations

from clew.words.cut import Flat, flat, spans, tokens
from clew.words.stems import LANGUAGES, Lexicon, lexicon, stem, stemmer, stopwords

__all__ = [
    "LANGUAGES",
    "Flat",
    "Lexicon",
    "flat",
    "lexicon",
    "spans",
    "stem",
    "stemmer",
    "stopwords",
    "tokens",
]
