"""The language of a page: what it declares, unless its text plainly says otherwise.

Many sites ship `lang="en"` with their template and write in another language. So a declaration is believed
unless the text is full of another language's small words, or a detector is sure of another language and the
small words do not speak against it. Small words come first because looking for them takes microseconds.
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
_ALL = frozenset().union(*_SETS.values())
#: Characters looked at: a sample from the middle of the text, where boilerplate is rarer.
_SAMPLE = 1_600
#: Fewer characters than this prove nothing; from twice as many on, the detector is asked to prove itself.
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
    hits = _hits(sample)
    leader = max(hits, key=hits.__getitem__)
    if _leads(hits, leader):
        return leader
    if len(sample) >= _TOO_SHORT:
        detected, confidence = html.detect_language(sample)
        if detected and confidence >= _SURE and _plausible(detected, hits, len(sample)):
            return detected
    return stated or (leader if hits[leader] > 1 or sum(hits.values()) == 1 else "")


def _hits(sample: str) -> dict[str, int]:
    words = _ALL.intersection(sample.split())
    return {name: len(words & small) for name, small in _SETS.items()}


def _leads(hits: dict[str, int], leader: str) -> bool:
    """Whether one language's small words abound and no other's do."""
    return hits[leader] >= 4 and all(hits[leader] >= n + 3 for name, n in hits.items() if name != leader)


def _plausible(detected: str, hits: dict[str, int], length: int) -> bool:
    """Whether the small words bear the detector out, which on lists and program text is sure of oddities."""
    most = max(hits.values())
    if detected in hits:
        return hits[detected] == most and (most > 0 or length < 2 * _TOO_SHORT)
    return most < 2


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
