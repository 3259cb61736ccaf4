"""The engine: what to fetch next, and what a fetch means.

    tasks   = crawl.lease(now, n)               # pages, robots.txt files, sitemaps to fetch, names to look up
    effects = crawl.settle_many(outcomes, now)  # judged, learned from, links scored; save these
    effects = crawl.command(change, now)        # another focus or budget, a host banned: changes meanwhile

It never awaits, reads a clock, opens a file or rolls dice, so the same calls give the same trace in every
driver. Tasks go out through `leasing`, outcomes come in through `settling`; both work on the state in `core`.
Invariant: every task that was leased is settled or abandoned exactly once. The URLs of candidates rest with
the store: `url_of` looks one up, and a driver saves the effects of a settle before it leases again.
"""

from clew.engine.commands import BanHost, Change, SetBudget, SetFocus, SetWeights
from clew.engine.core import CrawlRules
from clew.engine.settling import Crawl

__all__ = ["BanHost", "Change", "Crawl", "CrawlRules", "SetBudget", "SetFocus", "SetWeights"]
