"""A formula made ready to judge pages: cheap terms first, and no further than the outcome is open.

Every node becomes a `Step`. A group asks its parts in the order of their price and stops at a degree that
settles it (0 for AND, 1 for OR); it stops nowhere else, so the score is the same to the last bit as that of
a full evaluation. Equal atoms share one step and are asked once a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clew.predicate.atoms import Leaf, Matcher, Resources
from clew.predicate.formula import And, AtLeast, Formula, Not, Or, Weighted, walk, weight
from clew.predicate.logic import Rule, Semantics, weigh
from clew.predicate.view import PageView


class Judging:
    """One page being judged: the degrees found so far, by number of the atom, in the order of asking."""

    __slots__ = ("degrees", "hurry", "view")

    def __init__(self, view: PageView, hurry: bool) -> None:
        self.view = view
        self.hurry = hurry
        """Leave out what cannot change the outcome."""
        self.degrees: dict[int, float] = {}


class Step(Protocol):
    """A node made ready."""

    cost: int

    def degree(self, judging: Judging) -> float: ...


class Ask:
    """An atom."""

    __slots__ = ("cost", "matcher", "number")

    def __init__(self, number: int, atom: Leaf, matcher: Matcher) -> None:
        self.number = number
        self.matcher = matcher
        self.cost = atom.price()

    def degree(self, judging: Judging) -> float:
        found = judging.degrees.get(self.number)
        if found is None:
            found = judging.degrees[self.number] = self.matcher.degree(judging.view)
        return found


class Opposite:
    """NOT."""

    __slots__ = ("cost", "part")

    def __init__(self, part: Step) -> None:
        self.part = part
        self.cost = part.cost

    def degree(self, judging: Judging) -> float:
        return 1.0 - self.part.degree(judging)


class Joint:
    """AND or OR of equal terms: settled by the first degree equal to `settled`."""

    __slots__ = ("cost", "parts", "rule", "settled")

    def __init__(self, parts: Sequence[Step], rule: Rule, settled: float) -> None:
        self.parts = sorted(parts, key=lambda part: part.cost)
        self.rule = rule
        self.settled = settled
        self.cost = sum([part.cost for part in parts])

    def degree(self, judging: Judging) -> float:
        degrees = []
        for part in self.parts:
            found = part.degree(judging)
            if found == self.settled and judging.hurry:
                return found
            degrees.append(found)
        return self.rule(degrees)


class WeightedJoint:
    """AND or OR of terms that matter differently: no single term settles it, so all are asked."""

    __slots__ = ("cost", "parts", "rule")

    def __init__(self, parts: Sequence[tuple[float, Step]], rule: Rule) -> None:
        self.parts = sorted(parts, key=lambda part: part[1].cost)
        self.rule = rule
        self.cost = sum([part.cost for _, part in parts])

    def degree(self, judging: Judging) -> float:
        return weigh(self.rule, [(heft, part.degree(judging)) for heft, part in self.parts])


class Quorum:
    """atleast: settled when enough are certain, or too few possible."""

    __slots__ = ("cost", "count", "parts", "semantics", "votes")

    def __init__(self, count: int, parts: Sequence[tuple[int, Step]], semantics: Semantics) -> None:
        self.count = count
        self.parts = sorted(parts, key=lambda part: part[1].cost)
        self.votes = sum([number for number, _ in parts])
        self.semantics = semantics
        self.cost = sum([part.cost for _, part in parts])

    def degree(self, judging: Judging) -> float:
        certain, possible = 0, self.votes
        votes = []
        for number, part in self.parts:
            found = part.degree(judging)
            votes.append((found, number))
            certain += number if found == 1.0 else 0
            possible -= number if found == 0.0 else 0
            if judging.hurry and certain >= self.count:
                return 1.0
            if judging.hurry and possible < self.count:
                return 0.0
        return self.semantics.atleast(self.count, votes)


class Plan:
    """The steps of a formula, and its atoms by number."""

    __slots__ = ("_semantics", "_steps", "atoms", "root")

    def __init__(self, formula: Formula, semantics: Semantics, resources: Resources) -> None:
        self._semantics = semantics
        self._steps: dict[Leaf, Ask] = {}
        for atom, _, _ in walk(formula):
            if not isinstance(atom, Leaf):
                raise TypeError(f"{atom!r} is an atom that cannot be evaluated")
            if atom not in self._steps:
                self._steps[atom] = Ask(len(self._steps), atom, atom.matcher(resources))
        self.atoms: tuple[Leaf, ...] = tuple(self._steps)
        self.root = self._step(formula)

    def matcher(self, number: int) -> Matcher:
        """The matcher of an atom."""
        return self._steps[self.atoms[number]].matcher

    def price(self, number: int) -> int:
        """The price of an atom."""
        return self._steps[self.atoms[number]].cost

    def _step(self, node: Formula) -> Step:
        match node:
            case Leaf():
                return self._steps[node]
            case Not():
                return Opposite(self._step(node.part))
            case Weighted():
                return self._step(node.part)
            case AtLeast():
                votes = [(int(weight(part)), self._step(part)) for part in node.parts]
                return Quorum(node.count, votes, self._semantics)
            case And():
                return self._joint(node, self._semantics.conj, 0.0)
            case Or():
                return self._joint(node, self._semantics.disj, 1.0)
        raise TypeError(f"{node!r} is no formula")

    def _joint(self, node: And | Or, rule: Rule, settled: float) -> Step:
        weights = [weight(part) for part in node.parts]
        steps = [self._step(part) for part in node.parts]
        if len(set(weights)) == 1:
            return Joint(steps, rule, settled)
        return WeightedJoint(list(zip(weights, steps, strict=True)), rule)
