"""The one door: requests go out, replies come in, and nothing else does.

A `Request` for one canonical URL goes to a `Fetcher` and comes back as a `Response`, or as a `FetchError`
that says why not. `HttpFetcher` asks the live web, `ReplayFetcher` a recorded one, and nobody above can tell
them apart. Three things hold for every reply: redirects are reported, never followed (whoever follows one
makes a new request, which is checked like the first); no limit on bytes or time is ever exceeded, what was
cut off being marked `truncated`; and no address outside the public internet was connected to unless the user
allowed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.fetch.address import HostSet, Vetting
from clew.fetch.base import Fetcher, FetcherClass, Request, Response
from clew.fetch.replay import RecordedWeb, ReplayFetcher
from clew.fetch.retry import retry_after
from clew.fetch.settings import HttpSettings, default_user_agent
from clew.plugins import Registry

if TYPE_CHECKING:
    from clew.fetch.http import HttpFetcher

OWN = {"http": "clew.fetch.http:HttpFetcher"}
FETCHERS: Registry[FetcherClass] = Registry(
    "clew.fetchers", OWN, lambda name, found: "" if callable(found) else "it cannot be called"
)
"""Fetchers by name: callables that make one of `HttpSettings`."""

__all__ = [
    "FETCHERS",
    "Fetcher",
    "FetcherClass",
    "HostSet",
    "HttpFetcher",
    "HttpSettings",
    "RecordedWeb",
    "ReplayFetcher",
    "Request",
    "Response",
    "Vetting",
    "default_user_agent",
    "retry_after",
]


def __getattr__(name: str) -> Any:
    # The HTTP client takes long to import, and most of clew only needs the shapes above.
    if name == "HttpFetcher":
        from clew.fetch.http import HttpFetcher

        return HttpFetcher
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
