"""A web in trouble, for testing crawlers: clew's own, and anyone's.

`ChaosWeb` plans it from a seed: healthy pages, and every kind of trouble in `KINDS` strewn over them.
`ChaosServer` (or `chaos_serving`, from a thread) answers for it over raw sockets on loopback and keeps a log.
Afterwards the truth is known: `healthy()` pages could all be had, so a crawler that is missing one lost it.

    with chaos_serving(ChaosWeb(seed=1, pages=200), patience=3.0) as server:
        crawl(server.web.seeds(), proxy=server.url)     # any crawler that takes a proxy
        print(server.faulty(), server.trapped(), sorted(server.met()))
"""

from clew.testing.chaos_bombs import bomb
from clew.testing.chaos_clock import HurriedClock
from clew.testing.chaos_faults import KINDS, Cure, Fault, FaultPlace
from clew.testing.chaos_server import ChaosServer, ReceivedRequest, chaos_serving
from clew.testing.chaos_web import ChaosWeb

__all__ = [
    "KINDS",
    "ChaosServer",
    "ChaosWeb",
    "Cure",
    "Fault",
    "FaultPlace",
    "HurriedClock",
    "ReceivedRequest",
    "bomb",
    "chaos_serving",
]
