"""What a crawl has learned, as counts.

Outcomes of fetched pages flow in, one `count` at a time; factors read ratios out; deltas flow between
shards and from one crawl to the next. Invariant: knowledge is a commutative monoid under `merge`, so
the order in which evidence arrives never matters, and nothing in it but counts.
"""

from clew.knowledge.codec import dumps, frozen, loads
from clew.knowledge.counts import TABLES, Knowledge, LinkTypes
from clew.learn.counts import Table

__all__ = ["TABLES", "Knowledge", "LinkTypes", "Table", "dumps", "frozen", "loads"]
