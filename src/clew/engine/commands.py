"""Commands: changes to a crawl under way, as plain data.

`Crawl.command` takes one in at a moment of its own, between two settles. It is traced like any decision and
kept in the store's journal, so a crawl that is taken up again has been changed at the same place.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from clew.policy import Budget


@dataclass(frozen=True, slots=True)
class SetBudget:
    """The crawl stops by another budget from now on."""

    budget: Budget


@dataclass(frozen=True, slots=True)
class BanHost:
    """Nothing more is fetched from a host; what is queued for it is left out, and links to it too."""

    host: str


Change = SetBudget | BanHost
"""What may be commanded."""


def name_of(change: Change) -> str:
    """A change in a word, as it is traced.

    >>> name_of(BanHost("a.example"))
    'ban-host'
    """
    return "set-budget" if isinstance(change, SetBudget) else "ban-host"


def dumps(change: Change, budget: Budget) -> str:
    """A change as JSON text; `budget` is the one in force when it was commanded.

    >>> dumps(BanHost("a.example"), Budget())
    '{"command":"ban-host","host":"a.example"}'
    """
    entry: dict[str, object] = {"command": name_of(change)}
    if isinstance(change, SetBudget):
        # Who takes the crawl up again with another budget of their own means that one.
        entry |= {"budget": asdict(change.budget), "instead_of": asdict(budget)}
    else:
        entry["host"] = change.host
    return json.dumps(entry, separators=(",", ":"))


def loads(entry: str, budget: Budget) -> Change | None:
    """The change that `dumps` put into words, if it still applies to a crawl with this budget; None for one
    that does not, or that this version of clew does not know.

    >>> loads(dumps(SetBudget(Budget(pages=9)), Budget(pages=5)), Budget(pages=5))
    SetBudget(budget=Budget(pages=9, matches=None, seconds=None, bytes=None, requests=None, interest=None))
    >>> loads(dumps(SetBudget(Budget(pages=9)), Budget(pages=5)), Budget(pages=7))
    """
    found = json.loads(entry)
    if found.get("command") == "ban-host":
        return BanHost(str(found["host"]))
    if found.get("command") == "set-budget" and found["instead_of"] == asdict(budget):
        return SetBudget(Budget(**found["budget"]))
    return None
