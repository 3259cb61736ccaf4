"""clew: say what pages you want, and it learns which links lead there.

    import clew
    run = clew.crawl(["https://example.org/"], match='"wind farm" AND lang:en', pages=2000)
    for page in run:
        print(page.score, page.url)

Names are loaded when they are first used, so that importing clew costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from clew.api import Find, Run, crawl
    from clew.crawl_settings import CrawlSettings
    from clew.errors import ClewError
    from clew.page import Link, Links, Page
    from clew.predicate.verdict import Predicate, Verdict

_HOMES = {
    "ClewError": "clew.errors",
    "CrawlSettings": "clew.crawl_settings",
    "Find": "clew.api",
    "Link": "clew.page",
    "Links": "clew.page",
    "Page": "clew.page",
    "Predicate": "clew.predicate.verdict",
    "Run": "clew.api",
    "Verdict": "clew.predicate.verdict",
    "crawl": "clew.api",
}

__all__ = [
    "ClewError",
    "CrawlSettings",
    "Find",
    "Link",
    "Links",
    "Page",
    "Predicate",
    "Run",
    "Verdict",
    "__version__",
    "crawl",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'clew' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
