"""`Interests`: several predicates of one crawl, each by its name.

As text, a formula a line: `wind=turbine AND farm`, `solar=panel AND roof`. A formula that begins with a name
and an equals sign itself is put between quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from clew.errors import ConfigError, UsageError
from clew.page import Links, Page
from clew.predicate.verdict import Predicate, Verdict
from clew.topic import TopicLibrary
from clew.topic.taxonomy import Taxonomy

#: The longest name of an interest, and how many there may be.
MAX_NAME, MAX_INTERESTS = 40, 20
_NAME = re.compile(r"[^\W\d_][\w-]*")
_NAMED = re.compile(r"\s*([^\W\d_][\w-]*)=(?!=)")
_BREAK = re.compile(r"\s*\n\s*")


class Interests:
    """Predicates by name. A page satisfies them if it satisfies one; the verdict has each one's.

    >>> from clew.predicate import compile
    >>> both = compile({"wind": "turbine", "solar": "panel"})
    >>> both.judge(Page(url="http://a.example/", text="A turbine of 3 MW")).interests
    ('wind',)
    >>> print(both.text())
    wind=turbine
    solar=panel
    """

    __slots__ = ("each",)

    def __init__(self, each: Mapping[str, Predicate]) -> None:
        if not each:
            raise ConfigError("say which pages to find: name=FORMULA for each interest")
        if len(each) > MAX_INTERESTS:
            raise ConfigError(f"a crawl has at most {MAX_INTERESTS} interests, not {len(each)}")
        for name in each:
            checked_name(name)
        self.each = dict(each)

    @property
    def names(self) -> tuple[str, ...]:
        """What the interests are called, in the order they were given."""
        return tuple(self.each)

    @property
    def threshold(self) -> float:
        """The degree that satisfies any of them."""
        return min([getattr(one, "threshold", 1.0) for one in self.each.values()])

    @property
    def topics(self) -> TopicLibrary:
        """What any of them may need of topics."""
        kept = [one.topics for one in self.each.values() if hasattr(one, "topics")]
        return TopicLibrary(
            Taxonomy([path for library in kept for path in library.taxonomy.topics]),
            {path: model for library in kept for path, model in library.models.items()},
            {place: model for library in kept for place, model in library.likes.items()},
            next((library.source for library in kept if library.source), ""),
        )

    def judge(self, page: Page) -> Verdict:
        """The verdict of each, and the best degree of those."""
        return joined({name: one.judge(page) for name, one in self.each.items()})

    def estimate_links(self, links: Links) -> Sequence[float]:
        """How far each link's target would satisfy the interest that it suits best."""
        estimates = [one.estimate_links(links) for one in self.each.values()]
        return [max(row) for row in zip(*estimates, strict=True)]

    def said(self, page: Page, yes: bool, reasons: tuple[str, ...] = ()) -> Verdict:
        """The verdict when a person says that a page is a find, or is none: a find of the interests whose
        formulas it satisfies, or of all where it satisfies none."""
        each = {name: one.judge(page).satisfied for name, one in self.each.items()} if yes else {}
        whose = {name for name in self.each if yes and (each[name] or not any(each.values()))}
        told = {name: Verdict(float(name in whose), name in whose) for name in self.each}
        return replace(joined(told), reasons=reasons)

    def another(self, text: str) -> Predicate:
        """The predicate of another text, with the threshold, semantics and topics of these."""
        for one in self.each.values():
            if (another := getattr(one, "another", None)) is not None:
                made: Predicate = another(text, topics=self.topics)
                return made
        raise UsageError("functions cannot be exchanged for formulas: begin another crawl")

    def with_threshold(self, threshold: float) -> Interests:
        """These, satisfied from another degree on."""
        changed = {
            name: change(threshold) if (change := getattr(one, "with_threshold", None)) else one
            for name, one in self.each.items()
        }
        return Interests(changed)

    def text(self) -> str:
        """A line for each: its name, an equals sign, its text."""
        return written({name: one.text() for name, one in self.each.items()})

    def __repr__(self) -> str:
        return f"Interests({', '.join(f'{name}={one.text()!r}' for name, one in self.each.items())})"


def joined(each: Mapping[str, Verdict]) -> Verdict:
    """One verdict of several by name: the best degree, of a satisfied one where there is one."""
    satisfied = [name for name, verdict in each.items() if verdict.satisfied]
    heard = satisfied or list(each)
    return Verdict(
        max([each[name].score for name in heard]),
        bool(satisfied),
        tuple([f"{name}: {reason}" for name in heard for reason in each[name].reasons]),
        tuple(each.items()),
    )


def verdict_of(verdict: Verdict, name: str) -> Verdict:
    """What one interest makes of a page that all judged; where nobody did (a fetch that gave nothing, what a
    person said), what was said of the page."""
    return dict(verdict.each).get(name, verdict) if verdict.each else verdict


def is_named(text: str) -> bool:
    """Whether a text is of named formulas.

    >>> is_named("wind=turbine"), is_named('"wind=turbine"'), is_named("wind AND url:/a=b/")
    (True, False, False)
    """
    return _NAMED.match(text) is not None


def formulas(text: str) -> dict[str, str]:
    """The formulas of a text, by name; a single one without a name has an empty one.

    >>> formulas("wind=turbine AND farm\\nsolar=panel")
    {'wind': 'turbine AND farm', 'solar': 'panel'}
    """
    if not is_named(text):
        return {"": text}
    return _by_name([line for line in text.split("\n") if line.strip()])


def written(match: object) -> str:
    """The text of what a user gave to find: a formula, several (`name=FORMULA`), or formulas by name.

    >>> written({"wind": "turbine", "solar": "panel"})
    'wind=turbine\\nsolar=panel'
    """
    if isinstance(match, Mapping):
        return _lines({checked_name(str(name)): _formula(name, text) for name, text in match.items()})
    if isinstance(match, list | tuple):
        if len(match) != 1:
            return _lines(_by_name([str(one) for one in match]))
        match = match[0]
    text = str(match)
    return _lines(formulas(text)) if is_named(text) else text


def checked_name(name: str) -> str:
    """A name of an interest; a `ConfigError` for one that cannot be."""
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise ConfigError(
            f"{name[:60]!r} cannot name an interest: a name is a letter, then letters, digits, - or _, "
            f"at most {MAX_NAME}"
        )
    return name


def _by_name(given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        if not text.strip():
            continue
        head = _NAMED.match(text)
        if head is None:
            raise ConfigError(
                f"{text.strip()[:60]!r} has no name: several formulas are told apart by names, such as "
                "wind=FORMULA and solar=FORMULA (or join them with OR, for one interest)"
            )
        name = checked_name(head[1])
        if name in found:
            raise ConfigError(f"the interest {name!r} is there twice: give each formula a name of its own")
        found[name] = _formula(name, text[head.end() :])
    return found


def _formula(name: object, text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"the interest {str(name)!r} has no formula: write {name}=FORMULA")
    return _BREAK.sub(" ", text.strip())


def _lines(each: Mapping[str, str]) -> str:
    return "\n".join([f"{name}={text}" for name, text in each.items()])
