"""Candidates between being found and being fetched.

Links come in through `Admission` (scope, nofollow, one per target), are scored and filed by `Expander` under
their hosts in the `Frontier`, and leave by `ReadyHosts.pick` when their host may be visited and nothing
better is waiting elsewhere; `RobotsGate` puts robots.txt first. Invariants: a URL is filed once and leased at
most once at a time; a host that is not the user's own never has two requests under way and none before
its time; everything about a host belongs to its slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.lazy import loader

if TYPE_CHECKING:
    from clew.frontier.admission import Admission, Admitted
    from clew.frontier.expander import Expanded, Expander
    from clew.frontier.hosts import Host, Hosts, Politeness
    from clew.frontier.queue import Frontier
    from clew.frontier.ready_hosts import ReadyHosts
    from clew.frontier.robots_gate import RobotsGate
    from clew.url.index import KeyIndex

__all__ = [
    "Admission",
    "Admitted",
    "Expanded",
    "Expander",
    "Frontier",
    "Host",
    "Hosts",
    "KeyIndex",
    "Politeness",
    "ReadyHosts",
    "RobotsGate",
]

#: Loaded when they are first asked for: a verb that only reads a crawl needs none of them.
__getattr__ = loader(
    __name__,
    {
        "Admission": "clew.frontier.admission",
        "Admitted": "clew.frontier.admission",
        "Expanded": "clew.frontier.expander",
        "Expander": "clew.frontier.expander",
        "Frontier": "clew.frontier.queue",
        "Host": "clew.frontier.hosts",
        "Hosts": "clew.frontier.hosts",
        "KeyIndex": "clew.url.index",
        "Politeness": "clew.frontier.hosts",
        "ReadyHosts": "clew.frontier.ready_hosts",
        "RobotsGate": "clew.frontier.robots_gate",
    },
)
