"""`report.html`: what a crawl found and how, as one file that needs nothing else.

A stored crawl comes in (its trace, counts, hosts and finds, read once, streamed), one HTML file goes
out. The invariant: the file asks nothing of the network and runs no code but its own few lines (a
content security policy pins both by hash), and nothing that came from the web, neither a title nor a
URL, is ever more than text or an http(s) link in it.
"""

from __future__ import annotations

from clew.report.crawl_summary import ComparedCrawl, CrawlSummary, gather
from clew.report.write import write_comparison, write_report

__all__ = ["ComparedCrawl", "CrawlSummary", "gather", "write_comparison", "write_report"]
