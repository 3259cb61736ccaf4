"""Candidates between being found and being fetched.

Links come in through `Intake` (scope, nofollow, one per target), are scored and filed by `Filing` under
their hosts in the `Frontier`, and leave by `Hosts.pick` when their host may be visited and nothing
better is waiting elsewhere; `Gate` puts robots.txt first. Invariants: a URL is filed once and leased at
most once at a time; a host that is not the user's own never has two requests under way and none before
its time; everything about a host belongs to its slot.
"""

from clew.frontier.filing import Filed, Filing
from clew.frontier.gate import Gate
from clew.frontier.hosts import Host, Hosts, Politeness
from clew.frontier.intake import Admitted, Intake
from clew.frontier.queue import Frontier
from clew.url.index import KeyIndex

__all__ = [
    "Admitted",
    "Filed",
    "Filing",
    "Frontier",
    "Gate",
    "Host",
    "Hosts",
    "Intake",
    "KeyIndex",
    "Politeness",
]
