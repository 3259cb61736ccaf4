"""Public fakes and contract checks, for clew's own tests and for those of its users.

Webs come from here (`DemoWeb` with its ground truth, `StaticWeb` written by hand), are served over loopback
(`serving`, `RecordedServer`) or read in process (`ReplayFetcher`), under a clock that jumps (`VirtualClock`).
`ChaosWeb` is a web in trouble of some eighty kinds, which `ChaosServer` (or `chaos_serving`) answers for over
raw sockets; what can be had in spite of it all is known.
`MadeWeb` is a web of one of several shapes, with labels.
`made_log` is what a proxy would write down while people with interests browse one of them.
The contracts say what any part with a given shape must do (`check_fetcher`,
`StoreContract`, `BackendContract`, `StrategyContract`). The invariant: nothing here
touches a network other than loopback, and everything is a function of its seed.
"""

from clew.fetch.replay import RecordedWeb, ReplayFetcher
from clew.lab.connection import LoggedRequest
from clew.lab.made_log import made_log
from clew.lab.made_webs import MadeWeb
from clew.lab.serve import RecordedServer, serving
from clew.testing.chaos import ChaosServer, ChaosWeb, HurriedClock, chaos_serving
from clew.testing.clock import VirtualClock
from clew.testing.fetchers import FetcherContract, check_fetcher
from clew.testing.stores import BackendContract, StoreContract
from clew.testing.strategies import StrategyContract
from clew.testing.web import DemoWeb, StaticWeb, link_page

__all__ = [
    "BackendContract",
    "ChaosServer",
    "ChaosWeb",
    "DemoWeb",
    "FetcherContract",
    "HurriedClock",
    "LoggedRequest",
    "MadeWeb",
    "RecordedServer",
    "RecordedWeb",
    "ReplayFetcher",
    "StaticWeb",
    "StoreContract",
    "StrategyContract",
    "VirtualClock",
    "chaos_serving",
    "check_fetcher",
    "link_page",
    "made_log",
    "serving",
]
