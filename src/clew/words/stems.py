"""Stems of words by language, and the words that carry no topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import Stemmer

from clew.words.cut import fold

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
def stemmer(lang: str) -> Callable[[Iterable[str]], list[str]]:
    """The function that takes tokens to their stems; for a language without one a token is its own.

    >>> stemmer("de")(["windräder"]), stemmer("xx")(["windräder"])
    (['windrad'], ['windräder'])
    """
    name = LANGUAGES.get(lang)
    stems: Callable[[Iterable[str]], list[str]] = Stemmer.Stemmer(name, 0).stemWords if name else list
    # Only the English stemmer knows the ending after an apostrophe.
    return stems if lang == "en" else lambda words: stems([word.partition("'")[0] for word in words])


class Lexicon:
    """The stems of the words met so far in one language, and the other way round: forms of stems asked for.

    Asking again which forms of a stem a page has is then one intersection of sets. When more than `limit`
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
        words = tuple(words)
        for word, stem in zip(words, self._cut(words), strict=True):
            self._stems[word] = stem
            # A set for each of a hundred thousand stems would take more room than all else.
            if stem in self._forms:
                self._forms[stem].add(word)

    def forms(self, stem: str, among: set[str]) -> set[str]:
        """Those of the given tokens that have the stem."""
        unknown = among.difference(self._stems)
        if unknown:
            self.learn(unknown)
            if len(self._stems) == len(unknown):
                # Learning made room by forgetting everything else: the others are not known any more.
                self.learn(among)
        known = self._forms.get(stem)
        if known is None:
            known = {word for word, its in self._stems.items() if its == stem}
            self._forms[stem] = known
        return known & among

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
    return frozenset(fold(word) for word in stopwordsiso.stopwords(code))
