"""A first guess about a link from its anchor text and URL, before its page is fetched.

Three-valued: a word of the formula is there or not; `host:` and `url:` are known; everything else (`lang:`,
`words:`, a regular expression on the text, a word under NOT that is not there) is unknown and left out. An
anchor rarely has all the words of an AND, so the guess is the mean of two numbers: the formula's degree
over what is known, and the share of its wanted words that are there. It is 0 where `host:` and `url:` alone
already rule the page out. A topic speaks by the words it knows, and where a link has none of them it says
nothing.

Paper 003, section 3.2, proposes to hold a link against A ∨ B for A ∧ B, or against the rarer of the two
alone: that is another formula, `relaxed`. Ours, the mean, is between the whole and A ∨ B.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from clew import native
from clew import url as urls
from clew.errors import ConfigError
from clew.page import Links
from clew.predicate.atoms import Clue, Lang, LinksMatcher, Matcher, Text
from clew.predicate.atoms.base import glob
from clew.predicate.atoms.text import pieces
from clew.predicate.formula import And, AtLeast, Formula, Not, Or, Weighted, walk, weight
from clew.predicate.logic import Rule, Semantics, weigh
from clew.predicate.plan import Plan
from clew.words import stem, stopwords, tokens

#: A link does not tell its page's language: words are compared by their stems in each of these, unless the
#: formula names languages itself.
LANGUAGES = ("en", "de", "fr", "es", "it")
_REMEMBERED = 100_000
#: Letters that take an accent in another form of the same word.
_ACCENTS = {"a": "[aäáàâ]", "e": "[eéèêë]", "i": "[iíìîï]", "o": "[oöóòô]", "u": "[uüúùû]", "n": "[nñ]"}


#: What of a formula a link may be held against.
LINK_FORMULAS = ("whole", "any", "rarer")


def relaxed(
    formula: Formula, how: str = "whole", commonness: Callable[[Formula], float] | None = None
) -> Formula:
    """The formula that links are held against (paper 003, section 3.2).

    `whole` is the formula itself; `any` has OR for every AND that is not under NOT; `rarer` keeps of every
    AND the part that is met least often. How often is for the caller to say, from the pages crawled;
    without that it is the part of the greatest weight, and of equals the first: what the user knows of the
    subject.

    >>> from clew.predicate import parse
    >>> wanted = parse("sailing AND rügen^2 AND NOT hotel")
    >>> str(relaxed(wanted, "any")), str(relaxed(wanted, "rarer"))
    ('sailing OR rügen^2', 'rügen^2')
    """
    if how not in LINK_FORMULAS:
        raise ConfigError(f"unknown link formula {how!r}: choose {', '.join(LINK_FORMULAS)}")
    if how == "whole":
        return formula
    match formula:
        case Weighted():
            return Weighted(relaxed(formula.part, how, commonness), formula.weight)
        case Or():
            return Or(tuple([relaxed(part, how, commonness) for part in formula.parts]))
        case And():
            # What is excluded is no reason to follow a link.
            wanted = [part for part in formula.parts if not isinstance(part, Not)] or list(formula.parts)
            parts = [relaxed(part, how, commonness) for part in wanted]
            if how == "any":
                return Or(tuple(parts)) if len(parts) > 1 else parts[0]
            seen = commonness or (lambda part: -weight(part))
            return min(zip([seen(part) for part in wanted], range(len(parts)), parts, strict=True))[2]
    return formula


class LinkEstimate:
    """Guesses for the links of pages; words and outcomes met before are remembered."""

    __slots__ = ("_atoms", "_formula", "_graded", "_outcomes", "_semantics", "_tested", "_wanted", "_words")

    def __init__(self, formula: Formula, plan: Plan, semantics: Semantics) -> None:
        self._formula = formula
        self._semantics = semantics
        self._atoms: dict[Formula, int] = {atom: number for number, atom in enumerate(plan.atoms)}
        self._tested: dict[int, Matcher] = {
            number: plan.matcher(number) for number, atom in enumerate(plan.atoms) if atom.hint() is Clue.LINK
        }
        here = {self._atoms[atom] for atom, _, _ in walk(formula)}
        self._graded: dict[int, LinksMatcher] = {
            number: matcher
            for number in sorted(here)
            if plan.atoms[number].hint() is Clue.GRADED
            and isinstance(matcher := plan.matcher(number), LinksMatcher)
        }
        self._words = _Words(formula, self._atoms)
        self._wanted = [
            (self._atoms[atom], scale)
            for atom, negated, scale in walk(formula)
            if not negated and (self._atoms[atom] in self._words.masks or self._atoms[atom] in self._graded)
        ]
        self._outcomes: dict[tuple[int, tuple[float, ...], tuple[float, ...]], float] = {}

    def links(self, links: Links) -> list[float]:
        """One guess a link."""
        hits = self._words.candidates(links.anchors) | self._words.candidates(links.targets)
        columns = [matcher.links(links) for matcher in self._graded.values()]
        grades = list(zip(*columns, strict=True)) if columns else [()] * len(links)
        if not self._tested:
            guesses = [0.0] * len(links)
            for i in hits.union([i for i, row in enumerate(grades) if any(row)] if columns else ()):
                guesses[i] = self._link(links.anchors[i], links.targets[i], i in hits, grades[i])
            return guesses
        return [
            self._link(anchor, url, i in hits, grades[i])
            for i, (anchor, url) in enumerate(zip(links.anchors, links.targets, strict=True))
        ]

    def _link(self, anchor: str, url: str, has_words: bool, grades: tuple[float, ...]) -> float:
        mask = self._words.seen(anchor, url) if has_words else 0
        if not mask and not self._tested and not any(grades):
            return 0.0
        key = (mask, tuple([matcher.link(anchor, url) for matcher in self._tested.values()]), grades)
        found = self._outcomes.get(key)
        if found is None:
            if len(self._outcomes) > _REMEMBERED:
                self._outcomes.clear()
            found = self._outcomes[key] = self._outcome(*key)
        return found

    def _outcome(self, mask: int, tested: Sequence[float], grades: Sequence[float]) -> float:
        known = dict(zip(self._tested, tested, strict=True))
        if known and self._value(self._formula, known, best=True, negated=False) == 0.0:
            return 0.0
        shares = self._words.shares(mask)
        graded = dict(zip(self._graded, grades, strict=True))
        held = known | {number: 1.0 if share == 1.0 else 0.0 for number, share in shares.items()} | graded
        shares |= graded
        strict = self._value(self._formula, held, best=False, negated=False) or 0.0
        if not self._wanted:
            return strict
        total = native.left_sum([scale for _, scale in self._wanted])
        share = native.left_sum([scale * shares[number] for number, scale in self._wanted]) / total
        return min(1.0, 0.5 * strict + 0.5 * share)

    def _value(self, node: Formula, held: dict[int, float], best: bool, negated: bool) -> float | None:
        """A node's degree over what is known, or None; with `best`, the unknown does its best."""
        match node:
            case Not():
                inner = self._value(node.part, held, best, not negated)
                return None if inner is None else 1.0 - inner
            case Weighted():
                return self._value(node.part, held, best, negated)
            case And():
                return self._group(node, self._semantics.conj, held, best, negated)
            case Or():
                return self._group(node, self._semantics.disj, held, best, negated)
            case AtLeast():
                return self._quorum(node, held, best, negated)
        number = self._atoms[node]
        degree = held.get(number)
        if best and degree is None:
            return 0.0 if negated else 1.0
        # That a word is missing in an anchor does not mean that it is missing on the page.
        if negated and degree == 0.0 and number not in self._tested:
            return None
        return degree

    def _group(
        self, node: And | Or, rule: Rule, held: dict[int, float], best: bool, negated: bool
    ) -> float | None:
        found = [(weight(part), self._value(part, held, best, negated)) for part in node.parts]
        known = [(heft, degree) for heft, degree in found if degree is not None]
        return weigh(rule, known) if known else None

    def _quorum(self, node: AtLeast, held: dict[int, float], best: bool, negated: bool) -> float | None:
        found = [(self._value(part, held, best, negated), int(weight(part))) for part in node.parts]
        votes = [(degree, number) for degree, number in found if degree is not None]
        # What is unknown may hold: count it as if it did.
        left = node.count - sum([number for degree, number in found if degree is None])
        return self._semantics.atleast(left, votes) if votes and left > 0 else None


class _Words:
    """Which words of a formula a link has, as bits; `masks` has those of each atom made of telling words."""

    __slots__ = ("_bits", "_globs", "_known", "_langs", "_letters", "_prefix", "_stems", "masks")

    def __init__(self, formula: Formula, atoms: dict[Formula, int]) -> None:
        named = [
            a.code for a, negated, _ in walk(formula) if isinstance(a, Lang) and not negated and a.code != "*"
        ]
        self._langs = tuple(dict.fromkeys(named or LANGUAGES))
        idle = stopwords("en").union(*[stopwords(lang) for lang in named])
        texts = {number: pieces(atom.text) for atom, number in atoms.items() if isinstance(atom, Text)}
        # Words without a topic are no evidence, unless the formula has no others.
        telling = {
            n: [word for word in found if word not in idle and word != "*"] for n, found in texts.items()
        }
        if not any(telling.values()):
            telling = {n: list(found) for n, found in texts.items()}
        self._bits: dict[str, int] = {}
        self.masks = {n: self._mask(found) for n, found in telling.items() if found}
        self._known: dict[str, int] = {}
        self._globs = {word: bit for word, bit in self._bits.items() if "*" in word}
        self._stems: dict[str, dict[str, int]] = {lang: {} for lang in self._langs}
        for word, bit in self._bits.items():
            for lang, stems in self._stems.items() if "*" not in word else ():
                stems[stem(word, lang)] = stems.get(stem(word, lang), 0) | bit
        prefixes = {_prefix(word) for word in self._bits}
        self._letters = tuple(sorted({text for word in self._bits for text in _plain(word)}))
        self._prefix = None if "" in prefixes else re.compile("|".join(sorted(prefixes)) or r"(?!)")

    def candidates(self, texts: Sequence[str]) -> set[int]:
        """The numbers of the texts that may have a word of the formula."""
        if self._prefix is None:
            return set(range(len(texts)))
        search = self._prefix.search
        joined = "\n".join(texts)
        if joined.isascii():
            places = self._places(joined.lower())
            if not places:
                return set()
            starts = list(accumulate([len(text) + 1 for text in texts], initial=0))
            return {bisect_right(starts, place) - 1 for place in places}
        return {number for number, text in enumerate(texts) if search(text.lower())}

    def _places(self, joined: str) -> list[int]:
        """Where plain text (lower case) may have a word: found by its first letters, without a pattern."""
        places = []
        for letters in self._letters:
            at = joined.find(letters)
            while at >= 0:
                places.append(at)
                at = joined.find(letters, at + 1)
        return places

    def _mask(self, found: list[str]) -> int:
        mask = 0
        for word in found:
            mask |= self._bits.setdefault(word, 1 << len(self._bits))
        return mask

    def seen(self, anchor: str, url: str) -> int:
        """The bits of the words in anchor and URL."""
        found = urls.tokens(url)
        if not url.isascii() or "%" in url:
            found = tokens(" ".join(found))
        mask = 0
        known = self._known
        for token in tokens(anchor) + found:
            bits = known.get(token)
            if bits is None:
                bits = self._learn(token)
            mask |= bits
        return mask

    def shares(self, mask: int) -> dict[int, float]:
        """For each atom made of words, the share of its words among the bits."""
        return {n: (mask & bits).bit_count() / bits.bit_count() for n, bits in self.masks.items()}

    def _learn(self, token: str) -> int:
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        bits = self._bits.get(token, 0)
        for word, bit in self._globs.items():
            if glob(word)(token):
                bits |= bit
        # Numbers, of which URLs have many, have one form.
        for lang, stems in self._stems.items() if not token.isdecimal() else ():
            bits |= stems.get(stem(token, lang), 0)
        self._known[token] = bits
        return bits


def _letters(word: str) -> str:
    """The first letters of a word, which its other forms have too."""
    letters = word.partition("*")[0][:4]
    return word[: max(2, min(4, len(word) - 1))] if letters == word[:4] else letters


def _plain(word: str) -> list[str]:
    """What the pattern of a word comes to in text without accents."""
    letters = _letters(word)
    bases = "".join([unicodedata.normalize("NFD", letter)[0] for letter in letters])
    escaped = [] if letters.isascii() else ["%c", "%d", "%e", "%f"]
    return [bases, *escaped] if bases.isascii() else escaped


def _prefix(word: str) -> str:
    """A pattern that every form of a word has, as good as always: its first letters, accents aside."""
    letters = _letters(word)
    bases = [unicodedata.normalize("NFD", letter)[0] for letter in letters]
    found = "".join(
        [_ACCENTS.get(base, re.escape(letter)) for base, letter in zip(bases, letters, strict=True)]
    )
    # In a URL, other letters are mostly percent-encoded.
    return found if letters.isascii() else f"{found}|%[c-f]"
