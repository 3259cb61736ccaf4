"""Words, phrases, and words near each other: `turbine`, `"wind farm"`, `"wind farm"~3`, `turbin*`.

A word matches every word of the page with the same stem, in the page's language; with a `*` it is matched
as written. A bare word that is several tokens (`wind-farm`) is a phrase. The degree of a phrase that
occurs is above 0.5 and grows with the number of occurrences, towards 1; see `saturation`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from clew.predicate.atoms.base import Clue, Leaf, Maker, Matcher, Resources, Value, glob, quote, show_word
from clew.predicate.atoms.regex import make_regex
from clew.predicate.formula import Atom
from clew.predicate.view import Index, PageView
from clew.words import lexicon, spans

#: An occurrence in the title counts as so many in the text.
TITLE = 3
#: The largest distance `~` takes.
MAX_NEAR = 1000


def saturation(hits: float, words: int) -> float:
    """The degree of something that occurs `hits` times in a text of so many words.

    Above 0.5 as soon as it occurs, 0.75 for one occurrence in 500 words, closer to 1 the more there are
    and the shorter the text. (The shape is BM25's; only the present has a degree above 0.5, only the
    absent has 0, so at the usual threshold a formula behaves like a Boolean search.)

    >>> saturation(0, 500), saturation(1, 500), round(saturation(5, 500), 3), round(saturation(1, 10**6), 3)
    (0.0, 0.75, 0.917, 0.574)
    """
    if not hits:
        return 0.0
    half = 0.75 + min(words, 10_000) / 2000
    return 0.5 + 0.5 * hits / (hits + half)


def pieces(text: str) -> tuple[str, ...]:
    """The tokens of a term; a `*` that touches a token belongs to it, one that touches none is any word.

    >>> pieces("Wind-turb* of *")
    ('wind', 'turb*', 'of', '*')
    """
    marks = [(token, start, end) for token, start, end in spans(text)]
    marks += [("*", at, at + 1) for at, char in enumerate(text) if char == "*"]
    found: list[str] = []
    last = -1
    for token, start, end in sorted(marks, key=lambda mark: mark[1]):
        if start == last and ("*" in found[-1] or token == "*"):
            found[-1] = (found[-1] + token).replace("**", "*")
        else:
            found.append(token)
        last = end
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Text(Leaf):
    """A word, a phrase, or words near each other, in one field; the nameless field is title and text.

    >>> str(Text("wind  farm", "title")), str(Text("wind farm", near=3)), str(Text("turbine"))
    ('title:"wind farm"', '"wind farm"~3', 'turbine')
    """

    text: str
    field: str = ""
    near: int | None = None

    clue = Clue.WORDS

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", " ".join(self.text.split()))
        found = pieces(self.text)
        if not found:
            raise ValueError(
                f"there is no word in {quote(self.text)}; to look for signs, use a regular expression: /…/"
            )
        if self.near is not None and not 0 <= self.near <= MAX_NEAR:
            raise ValueError(f"the distance after ~ is between 0 and {MAX_NEAR}")
        if self.near is not None and len(found) < 2:
            raise ValueError("~ needs two words or more between the quotation marks")

    def __str__(self) -> str:
        prefix = f"{self.field}:" if self.field else ""
        if self.near is not None:
            return f"{prefix}{quote(self.text)}~{self.near}"
        return prefix + show_word(self.text)

    def price(self) -> int:
        return (5 if self.field in ("title", "desc") else 50) + 5 * len(pieces(self.text))

    def matcher(self, resources: Resources) -> Matcher:
        return TextMatcher(self)


class TextMatcher:
    """Counts a term's occurrences; remembers its stems by language."""

    __slots__ = ("_pieces", "_stems", "_tests", "atom")

    def __init__(self, atom: Text) -> None:
        self.atom = atom
        self._pieces = pieces(atom.text)
        self._tests: dict[str, Callable[[str], bool]] = {p: glob(p) for p in self._pieces if "*" in p}
        self._stems: dict[str, tuple[str, ...]] = {}

    def degree(self, view: PageView) -> float:
        field = self.atom.field
        if field in ("title", "desc"):
            # A title or description says a thing once; saying it again adds nothing.
            return 1.0 if self._hits(view.index(field)) else 0.0
        if field:
            index = view.index(field)
            return saturation(self._hits(index), index.length)
        title, text = view.index("title"), view.index("text")
        hits = TITLE * self._hits(title) + self._hits(text)
        return saturation(hits, title.length + text.length)

    def link(self, anchor: str, url: str) -> float:
        return 0.0

    def _hits(self, index: Index) -> int:
        if index.length < len(self._pieces):
            return 0
        forms: list[set[str]] = []
        for piece, stem in zip(self._pieces, self._stemmed(index.lexicon.lang), strict=True):
            test = self._tests.get(piece)
            found = index.matching(test) if test else index.forms(stem)
            if not found:
                return 0
            forms.append(found)
        if len(forms) == 1:
            return index.count(forms[0])
        if self.atom.near is None:
            hits = index.sequences(forms)
            return _phrases(index, forms, self._pieces) if hits is None else hits
        return _windows(index, forms, self._pieces, self.atom.near)

    def _stemmed(self, lang: str) -> tuple[str, ...]:
        stems = self._stems.get(lang)
        if stems is None:
            stem = lexicon(lang).stem
            stems = self._stems[lang] = tuple([p if "*" in p else stem(p) for p in self._pieces])
        return stems


def _phrases(index: Index, forms: list[set[str]], names: tuple[str, ...]) -> int:
    """How often the forms stand one after the other."""
    tokens = index.tokens
    # Start from the longest word: long words are rare, so few places are left to look at.
    anchor = max(range(len(names)), key=lambda i: 0 if "*" in names[i] else len(names[i]))
    last = len(tokens) - len(forms)
    starts = [at - anchor for at in index.positions(forms[anchor]) if 0 <= at - anchor <= last]
    for offset, wanted in enumerate(forms):
        if offset != anchor and starts:
            starts = [at for at in starts if tokens[at + offset] in wanted]
    return len(starts)


def _windows(index: Index, forms: list[set[str]], names: tuple[str, ...], near: int) -> int:
    """How many separate stretches hold all the words, in any order, with at most `near` others between."""
    need = Counter(names)
    width = len(names) + near
    places = {name: index.positions(found) for name, found in zip(names, forms, strict=True)}
    events = sorted([(at, name) for name, where in places.items() for at in where])
    have: Counter[str] = Counter()
    missing = len(names)
    left = hits = 0
    for right, (at, name) in enumerate(events):
        have[name] += 1
        missing -= have[name] <= need[name]
        while at - events[left][0] >= width or have[events[left][1]] > need[events[left][1]]:
            gone = events[left][1]
            have[gone] -= 1
            missing += have[gone] < need[gone]
            left += 1
        if not missing and _separate(events[left : right + 1], names):
            hits += 1
            have.clear()
            missing = len(names)
            left = right + 1
    return hits


def _separate(stretch: list[tuple[int, str]], names: tuple[str, ...]) -> bool:
    """Whether there is a word of the page for each name: with `*`, one word may answer to two names."""
    return len({at for at, _ in stretch}) >= len(names)


def _make(field: str) -> Maker:
    def make(value: Value) -> Atom:
        if value.kind == "regex":
            return make_regex(value)
        try:
            return Text(value.text, field, value.near)
        except ValueError as error:
            value.fail(str(error))

    return make


FIELDS: dict[str, Maker] = {field: _make(field) for field in ("", "title", "text", "main", "desc")}
