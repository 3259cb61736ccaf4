"""The language of a page: what it declares, unless its text plainly says otherwise.

Many sites ship `lang="en"` with their template and write in another language. So a declaration is believed
when the text has that language's small words in it, or when the detector does not contradict it clearly;
otherwise the detector is believed. Small words are looked for first because that takes microseconds.
"""

from __future__ import annotations

from clew.parse import html

_SMALL_WORDS = {
    "en": "the and of to in is that for was with",
    "de": "der die und das ist nicht mit von den ein",
    "fr": "les des est dans une que pour par sur avec",
    "es": "los las una por para con del que como más",
    "it": "di che della per una sono nel con il gli",
    "pt": "uma não para com dos das que mais como são",
    "nl": "het een van dat niet zijn voor met op aan",
    "sv": "och att som det för är på av inte med",
    "pl": "się nie jest na że do to przez jako oraz",
}
_SETS = {name: frozenset(words.split()) for name, words in _SMALL_WORDS.items()}
#: Characters looked at: a sample from the middle of the text, where boilerplate is rarer.
_SAMPLE = 1_600
#: Fewer characters than this prove nothing against a declaration.
_TOO_SHORT = 100
_SURE = 0.5


def language(text: str, declared: str = "") -> str:
    """Two-letter code of a text's language, or empty when nobody can tell.

    >>> language("der Wind und die See, das ist nicht ein Haus mit einem Dach von Stein", "en")
    'de'
    >>> language("", "en-GB")
    'en'
    """
    stated = code(declared)
    sample = _sample(text)
    if len(sample) < _TOO_SHORT // 2:
        return stated
    found = _by_small_words(sample)
    if found:
        return found
    if stated and len(sample) < _TOO_SHORT:
        return stated
    detected, confidence = html.detect_language(sample)
    if stated and (confidence < _SURE or not detected):
        return stated
    return detected if confidence > 0.05 or not detected else ""


def code(tag: str) -> str:
    """The two-letter code of a language tag; empty when it is none.

    >>> code("en-GB"), code("de_DE"), code("english")
    ('en', 'de', '')
    """
    primary = tag.strip().lower().replace("_", "-").partition(",")[0].partition("-")[0].strip()
    return primary if len(primary) == 2 and primary.isascii() and primary.isalpha() else ""


def _sample(text: str) -> str:
    if len(text) > _SAMPLE:
        start = (len(text) - _SAMPLE) // 2
        text = text[start : start + _SAMPLE]
    return text.replace("\n", " ").lower()


def _by_small_words(sample: str) -> str:
    """The language whose small words abound in a sample, when one clearly leads."""
    words = set(sample.split())
    counts = {name: len(words & small) for name, small in _SETS.items()}
    ranked = sorted(counts.values())
    best = max(counts, key=counts.__getitem__)
    return best if ranked[-1] >= 4 and ranked[-1] >= ranked[-2] + 3 else ""
