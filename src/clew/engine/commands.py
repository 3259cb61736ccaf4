"""Commands: changes to a crawl under way, as plain data.

`Crawl.command` takes one in at a moment of its own, between two settles. It is traced like any decision and
kept in the store's journal, so a crawl that is taken up again has been changed at the same place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from clew.errors import StopSyntaxError, StoreForeign
from clew.policy import Budget, StopRule


@dataclass(frozen=True, slots=True)
class SetBudget:
    """The crawl stops by another budget from now on."""

    budget: Budget


@dataclass(frozen=True, slots=True)
class BanHost:
    """Nothing more is fetched from a host; what is queued for it is left out, and links to it too."""

    host: str


@dataclass(frozen=True, slots=True)
class SetWeights:
    """The contributions to a score weigh otherwise, by name; one that is not named weighs nothing. The open
    frontier is re-scored."""

    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SetFocus:
    """Something else is sought from now on: links are estimated, and pages count as good or bad examples, by
    this formula. What is judged, and so what is a find, stays the same."""

    formula: str
    rescore: bool = True
    """Re-score the open frontier by it; otherwise only links found from now on are scored by it."""


Change = SetBudget | BanHost | SetWeights | SetFocus
"""What may be commanded."""

_NAMES: dict[type[Change], str] = {
    SetBudget: "set-budget",
    BanHost: "ban-host",
    SetWeights: "set-weights",
    SetFocus: "set-focus",
}
_TYPES = {name: kind for kind, name in _NAMES.items()}


@dataclass(frozen=True, slots=True)
class InForce:
    """What commands may have changed, as it is now. Whoever takes a crawl up again with a budget, weights or
    a formula of their own means those: what was commanded instead of others does not apply."""

    budget: Budget
    weights: Mapping[str, float]
    focus: str

    def replaced_by(self, change: Change) -> object:
        """Of these, what a change replaces."""
        match change:
            case SetBudget():
                return asdict(self.budget)
            case SetWeights():
                return dict(self.weights)
            case SetFocus():
                return self.focus
            case BanHost():
                return None


def name_of(change: Change) -> str:
    """A change in a word, as it is traced.

    >>> name_of(BanHost("a.example"))
    'ban-host'
    """
    return _NAMES[type(change)]


def dumps(change: Change, in_force: InForce, *, refold: bool = False) -> str:
    """A change as JSON text, with what was in force when it was commanded, and whether the strategy was
    taught everything again for it.

    >>> dumps(BanHost("a.example"), InForce(Budget(), {}, "wind"))
    '{"command":"ban-host","host":"a.example"}'
    >>> dumps(SetFocus("wind OR sea"), InForce(Budget(), {}, "wind"))
    '{"command":"set-focus","formula":"wind OR sea","rescore":true,"instead_of":"wind"}'
    """
    entry: dict[str, object] = {"command": name_of(change), **asdict(change)}
    replaced = in_force.replaced_by(change)
    if replaced is not None:
        entry["instead_of"] = replaced
    if refold:
        entry["refold"] = True
    return json.dumps(entry, separators=(",", ":"), ensure_ascii=False)


def loads(entry: str, in_force: InForce) -> Change | None:
    """The change that `dumps` put into words, if it applies where these are in force; None for one that does
    not, or that this version of clew does not know.

    >>> before = InForce(Budget(pages=5), {}, "wind")
    >>> loads(dumps(BanHost("a.example"), before), before)
    BanHost(host='a.example')
    >>> loads(dumps(SetFocus("sea"), before), InForce(Budget(pages=5), {}, "rain"))
    """
    try:
        found = json.loads(entry)
        kind = _TYPES.get(found.get("command"))
        if kind is None:
            return None
        change = _change(kind, found)
        replaced = found.get("instead_of")
        if kind is SetBudget:
            # Written before there were as many limits as now, perhaps.
            replaced = asdict(Budget(**replaced))
    except (ValueError, TypeError, KeyError, AttributeError, StopSyntaxError) as error:
        raise StoreForeign(
            f"a command in the journal is damaged ({str(error)[:200]}): restore the directory from a copy"
        ) from error
    return change if in_force.replaced_by(change) == replaced else None


def refolds(entry: str) -> bool:
    """Whether the strategy was taught everything again for what this entry says was commanded."""
    return '"refold":true' in entry and bool(json.loads(entry).get("refold"))


def _change(kind: type[Change], found: Mapping[str, Any]) -> Change:
    if kind is SetBudget:
        budget = Budget(**found["budget"])
        if budget.stop:
            StopRule.parse(budget.stop)
        return SetBudget(budget)
    if kind is SetWeights:
        return SetWeights({str(name): float(weight) for name, weight in found["weights"].items()})
    if kind is SetFocus:
        return SetFocus(str(found["formula"]), bool(found["rescore"]))
    return BanHost(str(found["host"]))
