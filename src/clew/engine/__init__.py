"""The engine: what to fetch next, and what a fetch means.

    tasks   = crawl.lease(now, n)               # pages, robots.txt files, sitemaps to fetch, names to look up
    effects = crawl.settle_many(outcomes, now)  # judged, learned from, links scored; save these
    effects = crawl.command(change, now)        # another focus or budget, a host banned: changes meanwhile

It never awaits, reads a clock, opens a file or rolls dice, so the same calls give the same trace in every
driver. A `Crawl` is put together of a `Leaser`, which gives tasks out, a `Settler`, which takes outcomes in,
and a `Learner`, which says what candidates are worth; no part knows the whole.
Invariant: every task that was leased is settled or abandoned exactly once. The URLs of candidates rest with
the store: `url_of` looks one up, and a driver saves the effects of a settle before it leases again.
"""

from clew.engine.commands import (
    BanHost,
    Change,
    Feedback,
    Retaught,
    SetBoost,
    SetBudget,
    SetFocus,
    SetMatch,
    SetPaused,
    SetStrategy,
    SetWeights,
)
from clew.engine.crawl import Crawl, CrawlRules

__all__ = [
    "BanHost",
    "Change",
    "Crawl",
    "CrawlRules",
    "Feedback",
    "Retaught",
    "SetBoost",
    "SetBudget",
    "SetFocus",
    "SetMatch",
    "SetPaused",
    "SetStrategy",
    "SetWeights",
]
