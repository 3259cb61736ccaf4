"""Words: how a text is cut into them, their stems, and the words that carry no topic.

A token is a run of letters and digits, case-folded and composed (NFC). An English ending after an
apostrophe stays with its word (`turbine's`, `don't`), any other apostrophe separates (`l'eau`). Scripts
written without spaces (Chinese, Japanese, Thai, …) give one token a character, so that a word of such
a script is a phrase of tokens. Everything that needs words asks `tokens`; nothing else cuts text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import Stemmer

#: Scripts written without spaces between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)


def _marks() -> str:
    """Combining marks as ranges of a character class: `\\w` does not have them, words do."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x10000):
        if unicodedata.category(chr(code)) in ("Mn", "Mc"):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)


_ENDING = r"(?:['’](?:[sStTdDmM]|[lL][lL]|[rRvV][eE])\b)?"
_SIMPLE = re.compile(rf"\w+{_ENDING}")


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """(finds a character that needs the full pattern, the full pattern); built on the first such need."""
    marks = _marks()
    letter = rf"[^\W{_UNSPACED}]"
    full = rf"(?=\w)[{_UNSPACED}][{marks}]*|{letter}+(?:[{marks}]+{letter}*)*{_ENDING}"
    return re.compile(f"[{_UNSPACED}{marks}]"), re.compile(full)


def _pattern(text: str) -> re.Pattern[str]:
    if text.isascii():
        return _SIMPLE
    special, full = _patterns()
    return full if special.search(text) else _SIMPLE


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = text.casefold().replace("’", "'").replace("ʼ", "'")
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def tokens(text: str) -> list[str]:
    """The words of a text, folded, in order.

    >>> tokens("Wind-farms: the TURBINE’s 3 blades, l'été")
    ['wind', 'farms', 'the', "turbine's", '3', 'blades', 'l', 'été']
    """
    plain = flat(text)
    if plain is not None:
        return plain.text.split()
    text = text.replace("_", " ")
    found: list[str] = _pattern(text).findall(text)
    # Folding the joined words at once is far faster than one by one, and gives the same: folding
    # looks at one character at a time, and no word begins with a mark that could join the space.
    return _fold(" ".join(found)).split(" ") if found else found


#: Byte by byte: ASCII letters folded, digits and apostrophes kept, other ASCII made blank, and the bytes of
#: other characters left to `_simple`.
_ASCII = bytes([b if b == 39 or chr(b).isalnum() else 32 for b in range(128)]).lower() + bytes(
    range(128, 256)
)
_ALL_ASCII = bytes(range(128))
#: Texts shorter than this are anchors and titles, not pages.
_SHORT = 1000
_ENDINGS = re.compile(rb"(?:[stdm]|ll|re|ve)(?: |$)")


@dataclass(frozen=True, slots=True)
class Flat:
    """The words of a text, folded: each stands between blanks. And how many there are."""

    text: str
    count: int


@lru_cache(maxsize=4096)
def _simple(character: str) -> str | None:
    """What a character beyond ASCII that is no mark becomes; None when that depends on its neighbours."""
    if character == "’":
        return "'"
    special, _ = _patterns()
    # Hangul letters that are not syllables yet join what stands before them.
    hangul = (
        "\u1100" <= character <= "\u11ff"
        or "\ua960" <= character <= "\ua97f"
        or "\ud7b0" <= character <= "\ud7ff"
    )
    if hangul:
        return None
    if not character.isalnum():
        return " "
    folded = unicodedata.normalize("NFC", character.casefold())
    if "ʼ" in folded:
        return None
    return f" {folded} " if special.match(character) else folded


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc") and character <= "\uffff"


class _Latin(dict[str, bool]):
    """Which characters can be handled one byte each; found out once for each."""

    def __contains__(self, character: object) -> bool:
        known = self.get(str(character))
        if known is None:
            known = self[str(character)] = self._ask(str(character))
        return known

    @staticmethod
    def _ask(character: str) -> bool:
        if character == "’":
            return True
        folded = None if _is_mark(character) else _simple(character)
        return folded == " " or (
            folded is not None and len(folded) == 1 and max(character, folded) < "\u0100"
        )

    @staticmethod
    @cache
    def table() -> bytes:
        """Each byte of Latin-1 folded; bytes that no character in it stands for are never looked up."""
        found = [_simple(chr(byte)) for byte in range(128, 256)]
        folded = [f if f is not None and len(f) == 1 and f < "\u0100" else " " for f in found]
        return _ASCII[:128] + "".join(folded).encode("latin-1")


def flat(text: str) -> Flat | None:
    """The words of a text in one string, to be searched without cutting it up; None where only `tokens` can.

    A text is turned byte by byte, with one table look-up each, after the few characters beyond ASCII that it
    has were dealt with one kind at a time: many times as fast as a pattern over the text. The last few texts
    of pages are remembered, because judging a page and learning from it both ask.

    >>> flat("Wind-farms: TURBINES")
    Flat(text=' wind farms  turbines ', count=3)
    """
    return _flat(text) if len(text) < _SHORT else _remembered(text)


def _flat(text: str) -> Flat | None:
    if text.isascii():
        plain = b" %b " % text.encode().translate(_ASCII)
        if b"'" in plain:
            plain = _endings(plain)
        words = plain.decode()
    else:
        raw = text.encode("utf-8", "surrogatepass")
        others = set(raw.translate(None, _ALL_ASCII).decode("utf-8", "surrogatepass"))
        if all(map(_latin.__contains__, others)):
            plain = b" %b " % text.replace("’", "'").encode("latin-1", "replace").translate(_latin.table())
            if b"'" in plain:
                plain = _endings(plain)
            words = plain.decode("latin-1")
        else:
            found = _replaced(raw, others)
            if found is None:
                return None
            plain, words = found
    inside = np.frombuffer(plain, np.uint8) != 32
    return Flat(words, int(np.count_nonzero(inside[1:] > inside[:-1])))


def _replaced(raw: bytes, others: set[str]) -> tuple[bytes, str] | None:
    """Words of a text in UTF-8 that has such characters beyond ASCII, one kind at a time."""
    marks = sorted(filter(_is_mark, others))
    if any(mark.casefold() != mark for mark in marks):
        return None
    unspaced = False
    for character in sorted(others.difference(marks)):
        folded = _simple(character)
        unspaced = unspaced or folded is None or folded[:1] == " " != folded
        if folded is None or (unspaced and marks):
            return None
        if folded != character:
            raw = raw.replace(character.encode("utf-8", "surrogatepass"), folded.encode())
    plain = b" %b " % raw.translate(_ASCII)
    if b"'" in plain:
        plain = _endings(plain)
    if not marks:
        return plain, plain.decode()
    # A mark belongs to the word before it. One that has none before it is no part of any.
    stray = re.compile(b" (?:%b)+" % b"|".join([mark.encode() for mark in marks]))
    plain = stray.sub(b" ", plain)
    words = unicodedata.normalize("NFC", plain.decode())
    return plain, words


#: Characters beyond ASCII that can be handled one byte each: letters that fold to one letter of Latin-1, and
#: what is no part of a word and stands for itself alone.
_latin = _Latin()


_remembered = lru_cache(maxsize=4)(_flat)


def _endings(plain: bytes) -> bytes:
    """Keep the apostrophes of English endings, make the others blank."""
    first, *rest = plain.split(b"'")
    pieces = [first]
    last, ended = first, False
    for piece in rest:
        # An ending ends its word: what follows it after another apostrophe is a word of its own.
        ended = (
            last[-1:] not in (b"", b" ")
            and not (ended and b" " not in last)
            and _ENDINGS.match(piece) is not None
        )
        pieces.append(b"'" if ended else b" ")
        pieces.append(piece)
        last = piece
    return b"".join(pieces)


def spans(text: str) -> Iterator[tuple[str, int, int]]:
    """(token, start, end) for each word of a text: the same tokens, with where they stand.

    >>> list(spans("Wind farm"))
    [('wind', 0, 4), ('farm', 5, 9)]
    """
    text = text.replace("_", " ")
    for match in _pattern(text).finditer(text):
        yield _fold(match.group()), match.start(), match.end()


#: The languages with a stemmer, by ISO 639-1 code.
LANGUAGES: dict[str, str] = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


@cache
def stemmer(lang: str) -> Callable[[str], str]:
    """The function that takes a token to its stem; the identity for a language without one.

    >>> stemmer("de")("windräder"), stemmer("xx")("windräder")
    ('windrad', 'windräder')
    """
    name = LANGUAGES.get(lang)
    snowball = Stemmer.Stemmer(name, 0) if name else None

    def cut(word: str) -> str:
        # Only the English stemmer knows the ending after an apostrophe.
        if "'" in word and lang != "en":
            word = word.partition("'")[0]
        return str(snowball.stemWord(word)) if snowball else word

    return cut


class Lexicon:
    """The stems of the words met so far in one language, and the other way round: a stem's forms.

    Asking which forms of a stem a page has is then one intersection of sets. When more than `limit`
    words are held, all are forgotten; that costs time, never a different answer.

    >>> Lexicon("en").forms("turbin", {"turbines", "wind", "turbine"}) == {"turbine", "turbines"}
    True
    """

    __slots__ = ("_cut", "_forms", "_stems", "lang", "limit")

    def __init__(self, lang: str, limit: int = 200_000) -> None:
        self.lang = lang
        self.limit = limit
        self._cut = stemmer(lang)
        self._stems: dict[str, str] = {}
        self._forms: dict[str, set[str]] = {}

    def stem(self, word: str) -> str:
        """The stem of a token."""
        found = self._stems.get(word)
        if found is None:
            self.learn((word,))
            found = self._stems[word]
        return found

    def learn(self, words: Iterable[str]) -> None:
        """Take in words, so that `forms` knows them."""
        if len(self._stems) > self.limit:
            self._stems.clear()
            self._forms.clear()
        for word in words:
            stem = self._stems[word] = self._cut(word)
            self._forms.setdefault(stem, set()).add(word)

    def forms(self, stem: str, among: set[str]) -> set[str]:
        """Those of the given tokens that have the stem."""
        unknown = among.difference(self._stems)
        if unknown:
            self.learn(unknown)
            if len(self._stems) == len(unknown):
                # Learning made room by forgetting everything else: the others are not known any more.
                self.learn(among)
        known = self._forms.get(stem)
        return known & among if known else set()

    def prefix(self, stem: str) -> str:
        """Letters that every form of a stem begins with; empty when there may be none.

        The English stemmer changes the last two letters of a stem at most (`dying` has the stem `die`), and
        where there is no stemmer a word is its own stem. Others change vowels, or cut at the beginning.
        """
        if self.lang == "en":
            return stem[: max(1, len(stem) - 2)]
        return "" if self.lang in LANGUAGES else stem

    def __repr__(self) -> str:
        return f"Lexicon({self.lang!r}, {len(self._stems)} words)"


@cache
def lexicon(lang: str) -> Lexicon:
    """The shared lexicon of a language; languages without a stemmer share one where each word is its stem."""
    return Lexicon(lang) if lang in LANGUAGES or not lang else lexicon("")


def stem(word: str, lang: str) -> str:
    """The stem of a token, remembered.

    >>> stem("turbines", "en")
    'turbin'
    """
    return lexicon(lang).stem(word)


#: English words without a topic. The public list for English also has words people search for
#: (computer, fire, research, system, world), so it is not used.
_ENGLISH = """
    a about above across after again against all almost along already also although always am among an
    and another any anyone anything are aren't around as at away back be became because become becomes been
    before behind being below between both but by can can't cannot could couldn't d did didn't do does
    doesn't doing don't done down during each either else enough etc even ever every everyone everything few
    for from further get gets got had hadn't has hasn't have haven't having he he'd he'll he's hence her here
    here's hers herself him himself his how however i i'd i'll i'm i've if in indeed instead into is isn't it
    it's its itself just least less let let's ll m made many may maybe me might mine more moreover most much
    must mustn't my myself neither never next no nobody none nor not nothing now nowhere of off often on once
    one only onto or other others otherwise our ours ourselves out over own per perhaps quite rather re really
    s same shall shan't she she'd she'll she's should shouldn't since so some someone something sometimes
    still such t than that that's the their theirs them themselves then there there's therefore these they
    they'd they'll they're they've this those though through thus to together too toward towards under until
    up upon us ve very via was wasn't we we'd we'll we're we've well were weren't what what's whatever when
    where where's whether which while who who's whoever whole whom whose why will with within without won't
    would wouldn't yes yet you you'd you'll you're you've your yours yourself yourselves
"""


@cache
def stopwords(lang: str) -> frozenset[str]:
    """The words of a language that carry no topic, as tokens; empty for a language without a list.

    >>> "the" in stopwords("en"), "und" in stopwords("de"), stopwords("xx")
    (True, True, frozenset())
    """
    if lang == "en":
        return frozenset(_ENGLISH.split())
    import stopwordsiso  # reads a large file: only when asked for

    code = "no" if lang in ("nb", "nn") else lang
    if not stopwordsiso.has_lang(code):
        return frozenset()
    return frozenset(_fold(word) for word in stopwordsiso.stopwords(code))
