"""Predicates ready for use: a formula, any callable of the user's, and `compile`, which takes either.

`FormulaPredicate.judge` gives the score, whether it reaches the threshold, and the terms behind it. Nothing
here is learned or changes with the pages judged; caches only save time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from clew.errors import ConfigError, PredicateSyntaxError, UsageError
from clew.page import Links, Page
from clew.predicate.atoms import LikeAtom, Resources, TellingMatcher, TopicAtom
from clew.predicate.atoms.python import ask, find
from clew.predicate.formula import Formula, walk
from clew.predicate.grammar import parse
from clew.predicate.interests import Interests, formulas, is_named, written
from clew.predicate.link_estimate import LinkEstimate, relaxed
from clew.predicate.logic import SEMANTICS
from clew.predicate.plan import Judging, Plan
from clew.predicate.review import refuse_impossible, refuse_unknown_topics
from clew.predicate.verdict import Predicate, Verdict
from clew.predicate.view import PageView
from clew.topic import TopicLibrary, TopicScorers

#: A verdict gives no more reasons than this.
MAX_REASONS = 12
THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class TermResult:
    """What one term of a formula gave for a page."""

    text: str
    degree: float
    cost: int
    """Rough price of asking; cheaper terms are asked first."""
    negated: bool
    """Stands under NOT, so a high degree counts against the page."""
    weight: float
    words: tuple[str, ...] = ()
    """For a topic: the stems of the page that spoke most for it."""


class FormulaPredicate:
    """A formula that judges pages.

    Parameters: `threshold`, the score that satisfies; `semantics`, `minmax` (AND = min, OR = max),
    `product` or `weighted`; `resolve`, how `py:` finds a function, by module and name; `topics`, what
    `topic:` and `like:` name; `link_formula`, what of the formula a link is held against (see
    `clew.predicate.link_estimate.relaxed`).

    >>> wanted = FormulaPredicate(parse("wind -noise"))
    >>> wanted.judge(Page(url="http://a.example/", text="A wind farm"))
    Verdict(score=0.78..., satisfied=True, reasons=('noise 0.0', 'wind 0.785'))
    """

    __slots__ = (
        "_link_estimate",
        "_plan",
        "_telling",
        "_terms",
        "formula",
        "link_formula",
        "semantics",
        "threshold",
        "topics",
    )

    def __init__(
        self,
        formula: Formula,
        *,
        threshold: float = THRESHOLD,
        semantics: str = "minmax",
        resolve: Callable[[str, str], Callable[[Page], Any]] = find,
        topics: TopicLibrary | None = None,
        link_formula: str = "whole",
    ) -> None:
        self.formula = formula
        self.threshold = _threshold(threshold)
        if semantics not in SEMANTICS:
            raise ConfigError(f"unknown semantics {semantics!r}: choose {' or '.join(SEMANTICS)}")
        self.semantics = semantics
        self.link_formula = link_formula
        self.topics, scorers = _topics_of(formula, topics or TopicLibrary())
        """The part of the topics given that the formula may need."""
        self._plan = Plan(formula, SEMANTICS[semantics], Resources(resolve, self.topics, scorers))
        self._telling = {
            number: matcher
            for number in range(len(self._plan.atoms))
            if isinstance(matcher := self._plan.matcher(number), TellingMatcher)
        }
        self._link_estimate = LinkEstimate(relaxed(formula, link_formula), self._plan, SEMANTICS[semantics])
        self._terms: dict[int, tuple[str, bool, float]] = {}
        numbers: dict[Formula, int] = {atom: number for number, atom in enumerate(self._plan.atoms)}
        for atom, negated, weight in walk(formula):
            self._terms.setdefault(numbers[atom], (str(atom), negated, weight))

    def judge(self, page: Page, *, explain: bool = False) -> Verdict:
        """Say how far a page satisfies the formula. With `explain`, every term is asked and may be a reason;
        without, terms that cannot change the score are left out."""
        judging = Judging(PageView(page), hurry=not explain)
        score = self._plan.root.degree(judging)
        satisfied = score >= self.threshold
        return Verdict(score, satisfied, self._reasons(judging, satisfied))

    def terms(self, page: Page) -> list[TermResult]:
        """Every term, asked, in the order of the formula."""
        judging = Judging(PageView(page), hurry=False)
        self._plan.root.degree(judging)
        return [
            TermResult(
                text,
                judging.degrees[number],
                self._plan.price(number),
                negated,
                weight,
                self._words(number, judging),
            )
            for number, (text, negated, weight) in self._terms.items()
        ]

    def _words(self, number: int, judging: Judging) -> tuple[str, ...]:
        matcher = self._telling.get(number)
        return matcher.words(judging.view) if matcher is not None else ()

    def estimate_links(self, links: Links) -> Sequence[float]:
        """Guess, from anchor text and URL alone, how far each link's target would satisfy the formula."""
        return self._link_estimate.links(links)

    def with_threshold(self, threshold: float) -> FormulaPredicate:
        """This formula, satisfied from another degree on."""
        other = copy.copy(self)
        other.threshold = _threshold(threshold)
        return other

    def another(self, formula: str, *, topics: TopicLibrary | None = None) -> Predicate:
        """The predicate of another formula, or of several by name, with this one's threshold, semantics and
        topics (or those given). What it names is never code: it may come from a crawl that somebody else
        made."""
        known = self.topics if topics is None else topics
        if is_named(formula):
            return Interests({n: self.another(text, topics=known) for n, text in formulas(formula).items()})
        wanted = parse(formula)
        refuse_unknown_topics(formula, known)
        return FormulaPredicate(
            wanted,
            threshold=self.threshold,
            semantics=self.semantics,
            topics=known,
            link_formula=self.link_formula,
        )

    def text(self) -> str:
        """The formula as text."""
        return str(self.formula)

    def _reasons(self, judging: Judging, satisfied: bool) -> tuple[str, ...]:
        """The terms asked: those that speak for the outcome first, of equals the dearer."""
        degrees = judging.degrees

        def rank(number: int) -> tuple[float, int, int]:
            degree = degrees[number]
            favour = 1.0 - degree if self._terms[number][1] else degree
            return (-favour if satisfied else favour, -self._plan.price(number), number)

        first = sorted(degrees, key=rank)[:MAX_REASONS]
        return tuple([_reason(self._terms[n][0], degrees[n], self._words(n, judging)) for n in first])

    def __repr__(self) -> str:
        return f"FormulaPredicate({self.text()!r}, threshold={self.threshold}, semantics={self.semantics!r})"


class CallablePredicate:
    """Any callable Page -> bool | float as a predicate. It has nothing to say of links.

    >>> CallablePredicate(lambda page: "wind" in page.text, "mine").judge(Page(url="http://a.example/"))
    Verdict(score=0.0, satisfied=False, reasons=('mine 0.0',))
    """

    __slots__ = ("_function", "name", "threshold")

    def __init__(
        self, function: Callable[[Page], Any], name: str = "", *, threshold: float = THRESHOLD
    ) -> None:
        self._function = function
        self.name = name or _name(function)
        self.threshold = _threshold(threshold)

    def with_threshold(self, threshold: float) -> CallablePredicate:
        """This callable, satisfied from another degree on."""
        return CallablePredicate(self._function, self.name, threshold=threshold)

    def judge(self, page: Page) -> Verdict:
        """What the callable says."""
        degree = ask(self._function, self.name, page)
        return Verdict(degree, degree >= self.threshold, (_reason(self.name, degree),))

    def estimate_links(self, links: Links) -> Sequence[float]:
        """Nothing."""
        return [0.0] * len(links)

    def text(self) -> str:
        """The callable's name, as `py:module:function` where it has one."""
        return self.name

    def __repr__(self) -> str:
        return f"CallablePredicate({self.name!r}, threshold={self.threshold})"


def compile(  # noqa: A001  # re.compile's name, for the same thing
    match: str | Formula | Predicate | Callable[[Page], Any] | Mapping[str, Any],
    *,
    threshold: float = THRESHOLD,
    semantics: str = "minmax",
    allow_python: bool = False,
    resolve: Callable[[str, str], Callable[[Page], Any]] = find,
    topics: TopicLibrary | None = None,
    link_formula: str = "whole",
) -> Predicate:
    """A predicate from whatever the user gave: text of a formula, a formula, a predicate, a callable, or any
    of these by name (`Interests`).

    Parameters: `threshold`, `semantics`, `resolve`, `topics` and `link_formula` as for `FormulaPredicate`;
    `allow_python` as for `parse`.

    >>> compile("wind farm").text()
    'wind AND farm'
    """
    if isinstance(match, Mapping) or (isinstance(match, str) and is_named(match)):
        each: dict[str, Predicate] = {}
        for name, one in (formulas(match) if isinstance(match, str) else match).items():
            with _named(name):
                each[name] = compile(
                    one,
                    threshold=threshold,
                    semantics=semantics,
                    allow_python=allow_python,
                    resolve=resolve,
                    topics=topics,
                    link_formula=link_formula,
                )
        return Interests(each)
    if isinstance(match, str):
        formula = parse(match, allow_python=allow_python)
        if threshold >= THRESHOLD:
            refuse_impossible(match, formula)
        refuse_unknown_topics(match, topics or TopicLibrary())
        match = formula
    if isinstance(match, Formula):
        return FormulaPredicate(
            match,
            threshold=threshold,
            semantics=semantics,
            resolve=resolve,
            topics=topics,
            link_formula=link_formula,
        )
    if isinstance(match, Predicate):
        return match
    if callable(match):
        return CallablePredicate(match, threshold=threshold)
    raise UsageError(f"match must be the text of a formula or a callable, not {type(match).__name__}")


def canonical(text: str, *, allow_python: bool = False) -> str:
    """The text of a formula, or of several by name, as a predicate of it gives it.

    >>> canonical("wind farm")
    'wind AND farm'
    """
    each = parse_each(text, allow_python=allow_python)
    return str(each[""]) if "" in each else written({name: str(one) for name, one in each.items()})


def parse_each(text: str, *, allow_python: bool = False) -> dict[str, Formula]:
    """The formulas of a text, by name; a single one without a name has an empty one.

    >>> {name: str(one) for name, one in parse_each("wind=turbine\\nsolar=panel roof").items()}
    {'wind': 'turbine', 'solar': 'panel AND roof'}
    """
    found: dict[str, Formula] = {}
    for name, one in formulas(text).items():
        with _named(name):
            found[name] = parse(one, allow_python=allow_python)
    return found


@contextmanager
def _named(name: str) -> Iterator[None]:
    """What is wrong with a formula is told with the name of the interest."""
    try:
        yield
    except PredicateSyntaxError as error:
        if not name:
            raise
        raise PredicateSyntaxError(f"{name}: {error.problem}", error.formula, error.position) from None


def _threshold(value: float) -> float:
    if not 0.0 < value <= 1.0:
        raise ConfigError(f"the threshold must be above 0 and at most 1, not {value}")
    return float(value)


def _topics_of(formula: Formula, library: TopicLibrary) -> tuple[TopicLibrary, TopicScorers]:
    """The part of a library that a formula may need, and the scorers of the topics and places it names."""
    atoms = [atom for atom, _, _ in walk(formula)]
    paths = [library.topic(atom.name) for atom in atoms if isinstance(atom, TopicAtom)]
    places = [atom.name for atom in atoms if isinstance(atom, LikeAtom) and atom.name in library.likes]
    return library.pick(paths, places), library.scorers(paths, places)


def _reason(term: str, degree: float, words: Sequence[str] = ()) -> str:
    return f"{term} {round(degree, 3)}" + (f" ({', '.join(words)})" if words else "")


def _name(function: Callable[[Page], Any]) -> str:
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    if module and name and "<" not in name:
        return f"py:{module}:{name}"
    return str(name or repr(function))
