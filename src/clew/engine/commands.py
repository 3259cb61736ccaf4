"""Commands: changes to a crawl under way, as plain data.

`Crawl.command` takes some in at a moment of its own, between two settles. Each is traced like any decision
and kept in the store's journal, so a crawl that is taken up again has been changed at the same place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from clew.errors import ConfigError, StopSyntaxError, StoreForeign
from clew.policy import Budget, StopRule
from clew.policy.scope import pattern


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


@dataclass(frozen=True, slots=True)
class SetMatch:
    """Something else is wanted: pages are judged by this formula, those fetched before too, and it is what is
    sought. The one way in which what is a find may change."""

    formula: str


@dataclass(frozen=True, slots=True)
class SetStrategy:
    """Another strategy chooses, with its own weights and options. It is taught all that happened."""

    strategy: str


@dataclass(frozen=True, slots=True)
class SetBoost:
    """URLs that match a pattern (as for `Scope`) are worth so many times as much: the log of the factor is a
    contribution of its own. A factor of 1 takes the boost of that pattern back."""

    pattern: str
    factor: float


@dataclass(frozen=True, slots=True)
class SetPaused:
    """Nothing more is leased until the crawl is told to go on; what is under way is settled."""

    paused: bool


@dataclass(frozen=True, slots=True)
class Feedback:
    """A person says whether a fetched page is a find; that stands, whatever a formula says of it."""

    url: str
    satisfied: bool


@dataclass(frozen=True, slots=True)
class Retaught:
    """A strategy that was taught all that happened by what is sought now takes over. It follows a change that
    was made at once, by what could be told from memory."""


Change = (
    SetBudget
    | BanHost
    | SetWeights
    | SetFocus
    | SetMatch
    | SetStrategy
    | SetBoost
    | SetPaused
    | Feedback
    | Retaught
)
"""What may be commanded."""

Teaching = SetWeights | SetFocus | SetMatch | SetStrategy | Feedback | Retaught
"""Changes of what is learned, or from what."""

_NAMES: dict[type[Change], str] = {
    SetBudget: "set-budget",
    BanHost: "ban-host",
    SetWeights: "set-weights",
    SetFocus: "set-focus",
    SetMatch: "set-match",
    SetStrategy: "set-strategy",
    SetBoost: "set-boost",
    SetPaused: "set-paused",
    Feedback: "feedback",
    Retaught: "retaught",
}
_TYPES = {name: kind for kind, name in _NAMES.items()}


@dataclass(frozen=True, slots=True)
class InForce:
    """What commands may have changed, as it is now. Whoever takes a crawl up again with a budget, weights or
    a formula of their own means those: what was commanded instead of others does not apply."""

    budget: Budget
    weights: Mapping[str, float]
    focus: str
    match: str = ""
    strategy: str = ""
    boosts: Mapping[str, float] = field(default_factory=dict)
    paused: bool = False

    def replaced_by(self, change: Change) -> object:
        """Of these, what a change replaces."""
        match change:
            case SetBudget():
                return asdict(self.budget)
            case SetWeights():
                return dict(self.weights)
            case SetFocus():
                return self.focus
            case SetMatch():
                return self.match
            case SetStrategy():
                return self.strategy
            case _:
                return None

    def after(self, change: Change) -> InForce:
        """What is in force once a change was made.

        >>> InForce(Budget(), {}, "wind", boosts={"*/a/*": 2.0}).after(SetBoost("*/a/*", 1.0)).boosts
        {}
        """
        match change:
            case SetBudget(budget):
                return replace(self, budget=budget)
            case SetWeights(weights):
                return replace(self, weights=weights)
            case SetFocus(formula):
                return replace(self, focus=formula)
            case SetMatch(formula):
                return replace(self, match=formula, focus=formula)
            case SetStrategy(name):
                return replace(self, strategy=name, weights={})
            case SetBoost(text, factor):
                others = {known: value for known, value in self.boosts.items() if known != text}
                return replace(self, boosts=others if factor == 1.0 else {**others, text: factor})
            case SetPaused(paused):
                return replace(self, paused=paused)
            case BanHost() | Feedback() | Retaught():
                return self


def name_of(change: Change) -> str:
    """A change in a word, as it is traced.

    >>> name_of(BanHost("a.example"))
    'ban-host'
    """
    return _NAMES[type(change)]


def dumps(
    change: Change,
    in_force: InForce,
    *,
    refold: bool = False,
    at_once: bool = False,
    request: str = "",
    columns: Sequence[str] | None = None,
) -> str:
    """A change as JSON text, with what was in force when it was commanded, and whether the strategy was
    taught everything again for it, or will be, after it was made at once; `request` is by whom it was asked
    for, `columns` what the contributions to a score are called from then on, where that changed.

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
    if at_once:
        entry["at_once"] = True
    if columns is not None:
        entry["columns"] = list(columns)
    if request:
        entry["request"] = request
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
    except (ValueError, TypeError, KeyError, AttributeError, StopSyntaxError, ConfigError) as error:
        raise StoreForeign(
            f"a command in the journal is damaged ({str(error)[:200]}): restore the directory from a copy"
        ) from error
    return change if in_force.replaced_by(change) == replaced else None


def refolds(entry: str) -> bool:
    """Whether the strategy was taught everything again for what this entry says was commanded."""
    return '"refold":true' in entry and bool(json.loads(entry).get("refold"))


def request_of(entry: str) -> str:
    """By which request a change was asked for; empty for one that was asked for otherwise."""
    if '"request":' not in entry:
        return ""
    found = json.loads(entry)
    request = found.get("request") if isinstance(found, dict) else None
    return request if isinstance(request, str) else ""


def columns_of(entry: str) -> tuple[str, ...] | None:
    """What the contributions to a score are called from this entry on; None where it does not change that."""
    if '"columns":' not in entry:
        return None
    found = json.loads(entry)
    names = found.get("columns") if isinstance(found, dict) else None
    return tuple(map(str, names)) if isinstance(names, list) else None


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
    if kind is SetMatch:
        return SetMatch(str(found["formula"]))
    if kind is SetStrategy:
        return SetStrategy(str(found["strategy"]))
    if kind is SetBoost:
        factor = float(found["factor"])
        if not 0.0 < factor < 1e9:
            raise ValueError(f"a boost of {factor}")
        pattern(str(found["pattern"]))
        return SetBoost(str(found["pattern"]), factor)
    if kind is SetPaused:
        return SetPaused(bool(found["paused"]))
    if kind is Retaught:
        return Retaught()
    if kind is Feedback:
        return Feedback(str(found["url"]), bool(found["satisfied"]))
    return BanHost(str(found["host"]))
