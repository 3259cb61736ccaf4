"""`Tunnel`: widening what is sought when finds become rare, and narrowing it again when they come back.

Ester, Groß and Kriegel 2001, section 3.3. After every session of N pages the share of finds in it, s, is held
against the share in the whole crawl, r: below a·r the focus is generalised by a step, above b·r the last step
is undone. Only what is *sought* changes; what is judged stays what the user asked for.

By that rule alone (`paper`) a crawl stays as wide as it got once little is left to be found: s never comes
back to what r was at the start. So there is another (`lost`), the default: every wider focus is a trial. It
is kept while it finds more than the narrower one did last; when the widest has found nothing more, the crawl
goes back to what is judged, and waits twice as long before it tries again. And while finds still come, be
they fewer than before, it does not begin.

There are three ways to generalise. In each, the *critical* part of a conjunction is the one that is rare:

    climb      the critical topic or the one above it in the taxonomy
    drop       the most frequent part is left out, until the critical one is left
    reweight   the critical part's weight is doubled (Fagin and Wimmers), three times
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clew.policy.tally import Tally
from clew.predicate.atoms.topic import TopicAtom
from clew.predicate.formula import And, AtLeast, Formula, Not, Or, Weighted, weight

WAYS = ("climb", "drop", "reweight")
READINGS = ("visited", "lowered")
WHEN = ("lost", "paper")
_DOUBLINGS = 3
#: A session with this share of finds has not lost the scent, whatever there was before: one find in a hundred
#: pages may be chance, two are a way.
_SCENT = 0.02


@dataclass(frozen=True, slots=True)
class TunnelRules:
    """How a crawl tunnels.

    Parameters:
        way: how the focus is generalised: `climb`, `drop` or `reweight`.
        session: pages between two looks (the paper's N).
        a, b: the shares of the crawl's precision below which the focus widens and above which it narrows.
        reading: which part is rare: the one that the fewest pages were relevant to (`visited`), or the one
            that most often made a page's degree what it is (`lowered`).
        whole: whether the whole frontier is scored anew at a change, or only new links are.
        when: `paper`, the rule as printed, or `lost`, by which every widening is a trial.
    """

    way: str = "climb"
    session: int = 100
    a: float = 0.5
    b: float = 0.8
    reading: str = "visited"
    whole: bool = True
    when: str = "lost"


@dataclass(slots=True)
class WideningTrial:
    """How trials of a wider focus went, as far as the next ones depend on it."""

    before: int = 0
    """Finds of the last session with the narrower focus."""
    rest: int = 0
    """Sessions to let pass before the next trial."""
    rests: int = 0
    """Sessions that were let pass after the last one."""


@dataclass(slots=True)
class Rarity:
    """How rare the parts of a conjunction are, as far as the crawl has seen, by both readings of the paper.

    >>> rarity = Rarity()
    >>> for degrees in ([0.9, 0.1], [0.8, 0.7], [0.6, 0.2]):
    ...     rarity.record(["sailing", "rügen"], degrees, threshold=0.5)
    >>> rarity.critical(["sailing", "rügen"], "visited"), rarity.critical(["sailing", "rügen"], "lowered")
    (1, 1)
    """

    visited: dict[str, int] = field(default_factory=dict)
    """Pages that were relevant to a part, by its text."""
    lowered: dict[str, int] = field(default_factory=dict)
    """Pages whose degree a part lowered most."""

    def record(self, parts: Sequence[str], degrees: Sequence[float], threshold: float) -> None:
        """A page had these degrees by the parts."""
        for part, degree in zip(parts, degrees, strict=True):
            self.visited[part] = self.visited.get(part, 0) + (degree >= threshold)
        lowest = min(range(len(degrees)), key=degrees.__getitem__)
        if degrees[lowest] < max(degrees):
            self.lowered[parts[lowest]] = self.lowered.get(parts[lowest], 0) + 1

    def critical(self, parts: Sequence[str], reading: str) -> int:
        """Which of the parts is rare; the first among equals."""
        if reading == "visited":
            return min(range(len(parts)), key=lambda at: self.visited.get(parts[at], 0))
        return max(range(len(parts)), key=lambda at: (self.lowered.get(parts[at], 0), -at))


class Tunnel:
    """What a crawl seeks, step by step, and when to take the next step.

    Parameters: the formula that is judged; the rules.

    >>> from clew.predicate import parse
    >>> tunnel = Tunnel(parse("topic:sports.sailing AND topic:mv.rügen"), TunnelRules(session=2))
    >>> tally = Tally()
    >>> for found in (True, True, False, False):
    ...     tally.record_page(found)
    ...     tunnel.record_degrees([1.0, float(found)], threshold=0.5)
    >>> str(tunnel.end_session(tally))
    'topic:sports.sailing AND (topic:mv.rügen^2 OR topic:mv)'
    """

    def __init__(self, judged: Formula, rules: TunnelRules) -> None:
        self.rules = rules
        self.steps: list[Formula] = [judged]
        """The formula that is judged and its generalisations, the focus last."""
        self.rarity = Rarity()
        self.trial = WideningTrial()

    def __repr__(self) -> str:
        return f"Tunnel({self.rules.way}, {len(self.steps) - 1} steps, {self.focus})"

    @property
    def focus(self) -> Formula:
        """What is sought now."""
        return self.steps[-1]

    @property
    def parts(self) -> list[Formula]:
        """What the conjunction that is judged consists of, less what it denies."""
        return [part for part in conjuncts(self.steps[0]) if not isinstance(part, Not)]

    def record_degrees(self, degrees: Sequence[float], threshold: float) -> None:
        """A page had these degrees by `parts`."""
        self.rarity.record([str(part) for part in self.parts], degrees, threshold)

    def end_session(self, tally: Tally) -> Formula | None:
        """A session is over: what should be sought from now on, if it is something else (`take` it then)."""
        last, whole = tally.precision(self.rules.session), tally.precision()
        tally.widest = False
        if len(self.steps) > 1 and last > self.rules.b * whole:
            return self.steps[-2]
        if last >= self.rules.a * whole or (self.rules.when == "lost" and self._stays(last)):
            return None
        wider = self.wider()
        tally.widest = wider is None
        if wider is not None or self.rules.when == "paper" or len(self.steps) == 1:
            return wider
        self.trial.rest = self.trial.rests = 2 * self.trial.rests + 1
        return self.steps[0]

    def _stays(self, last: float) -> bool:
        """Whether the focus stays though finds are rare: while a wider one finds more than the narrower one
        did; after all was tried in vain, for longer each time; and while finds still come."""
        finds = round(last * self.rules.session)
        if len(self.steps) > 1:
            return finds > self.trial.before
        self.trial.before = finds
        if self.trial.rest:
            self.trial.rest -= 1
            return True
        return last >= _SCENT

    def take(self, focus: Formula) -> None:
        """The focus became this one: a step back if it was sought before, or else one on."""
        if focus in self.steps:
            del self.steps[self.steps.index(focus) + 1 :]
        else:
            self.steps.append(focus)

    def wider(self) -> Formula | None:
        """The focus generalised by one step; None when it is as general as it gets."""
        match self.rules.way:
            case "climb":
                return self._climbed()
            case "drop":
                return self._dropped()
        return self._reweighted()

    def _ranked(self) -> list[int]:
        """Places of the parts, the critical one first."""
        left, ranked = list(range(len(self.parts))), []
        texts = [str(part) for part in self.parts]
        while left:
            at = left[self.rarity.critical([texts[i] for i in left], self.rules.reading)]
            ranked.append(at)
            left.remove(at)
        return ranked

    def _climbed(self) -> Formula | None:
        now = [part for part in conjuncts(self.focus) if not isinstance(part, Not)]
        for at in self._ranked():
            above = raised(now[at])
            if above is not None:
                return self._joined([above if i == at else part for i, part in enumerate(now)])
        return None

    def _dropped(self) -> Formula | None:
        now = conjuncts(self.focus)
        for at in reversed(self._ranked()):
            if self.parts[at] in now and sum(not isinstance(part, Not) for part in now) > 1:
                return joined([part for part in now if part != self.parts[at]])
        return None

    def _reweighted(self) -> Formula | None:
        if len(self.parts) < 2:
            return None
        at = self._ranked()[0]
        now = [part for part in conjuncts(self.focus) if not isinstance(part, Not)]
        heavier = 2.0 * weight(now[at])
        if heavier > 2.0**_DOUBLINGS * weight(self.parts[at]):
            return None
        part = now[at]
        plain = part.part if isinstance(part, Weighted) else part
        return self._joined([Weighted(plain, heavier) if i == at else part for i, part in enumerate(now)])

    def _joined(self, parts: Sequence[Formula]) -> Formula:
        return joined([*parts, *[part for part in conjuncts(self.focus) if isinstance(part, Not)]])


def conjuncts(formula: Formula) -> list[Formula]:
    """What a conjunction joins; a formula that is none is all there is of it."""
    return list(formula.parts) if isinstance(formula, And) else [formula]


def joined(parts: Sequence[Formula]) -> Formula:
    """The conjunction of some formulas."""
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def raised(formula: Formula) -> Formula | None:
    """A formula with each topic joined by the one above it, at half its weight; None when none has one but
    ANY.

    A page about sailing is about sports, though its degree by a model of sports may be lower, and it leads to
    sailing rather than other sports do: what was sought stays in, and first.

    >>> from clew.predicate import parse
    >>> str(raised(parse("topic:sports.sailing>0.6"))), raised(parse("topic:sports"))
    ('topic:sports.sailing>0.6^2 OR topic:sports>0.6', None)
    >>> str(raised(raised(parse("topic:sports.water.sailing"))))
    'topic:sports.water.sailing^4 OR topic:sports.water^2 OR topic:sports'
    >>> raised(parse("topic:sports.sailing^2 OR topic:sports"))
    """
    found = _raised(formula)
    return None if found == formula else found


def _raised(formula: Formula) -> Formula:
    match formula:
        case TopicAtom():
            return _joined_above((formula,)) or formula
        case Weighted():
            return Weighted(_raised(formula.part), formula.weight)
        case Or():
            others = [
                part if isinstance(_plain(part), TopicAtom) else _raised(part) for part in formula.parts
            ]
            return _joined_above(others) or Or(tuple(others))
        case And():
            return And(tuple([_raised(part) for part in formula.parts]))
        case AtLeast():
            return AtLeast(formula.count, tuple([_raised(part) for part in formula.parts]))
    return formula


def _joined_above(parts: Sequence[Formula]) -> Or | None:
    """The parts of a disjunction and, at half the weight of the least, the topics above those of them that
    are topics; None if there are none."""
    topics = [plain for part in parts if isinstance(plain := _plain(part), TopicAtom)]
    higher = [above for topic in topics if (above := _above(topic)) is not None and above not in topics]
    if not higher:
        return None
    return Or((*[Weighted(_plain(part), 2.0 * weight(part)) for part in parts], *dict.fromkeys(higher)))


def _plain(formula: Formula) -> Formula:
    return formula.part if isinstance(formula, Weighted) else formula


def _above(topic: TopicAtom) -> TopicAtom | None:
    path = topic.name.rpartition(".")[0]
    return TopicAtom(path, topic.above) if path else None


def resolved(formula: Formula, path_of: Callable[[str], str]) -> Formula:
    """A formula with the whole path of each topic, which may have been named by its end alone."""
    return _with_topics(formula, path_of)


def _with_topics(formula: Formula, change: Callable[[str], str]) -> Formula:
    if isinstance(formula, TopicAtom):
        return TopicAtom(change(formula.name), formula.above)
    if isinstance(formula, Weighted):
        return Weighted(_with_topics(formula.part, change), formula.weight)
    if isinstance(formula, Not):
        return Not(_with_topics(formula.part, change))
    if isinstance(formula, And | Or):
        return type(formula)(tuple([_with_topics(part, change) for part in formula.parts]))
    if isinstance(formula, AtLeast):
        return AtLeast(formula.count, tuple([_with_topics(part, change) for part in formula.parts]))
    return formula
