"""Rules that bound a crawl: where it may go, when it stops, what counts as new, what is a trap.

Nothing here ranks anything. A policy answers a question about one URL, one page or one tally, always
with a reason that can be counted and shown. Invariant: the answers depend on the arguments and on
what was added before, never on a clock.
"""

from clew.policy.duplicates import Duplicates
from clew.policy.scope import DEFAULT_KINDS, KINDS, Scope
from clew.policy.stop import Budget
from clew.policy.stop_rule import StopRule
from clew.policy.tally import Tally
from clew.policy.traps import Traps, Worth
from clew.policy.waste_guard import WasteGuard

__all__ = [
    "DEFAULT_KINDS",
    "KINDS",
    "Budget",
    "Duplicates",
    "Scope",
    "StopRule",
    "Tally",
    "Traps",
    "WasteGuard",
    "Worth",
]
