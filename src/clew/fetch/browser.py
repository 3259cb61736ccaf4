"""`BrowserFetcher`: pages that are empty until their scripts have run, fetched as usual and then rendered.

A page is fetched like any other. If its host was named, or it looks like an empty shell, it is shown to a
browser too, and what it becomes goes beside what the server sent, in `Response.rendered`. The browser reaches
nothing by itself; see `clew.fetch.chromium`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from clew.fetch.address import HostSet
from clew.fetch.base import Fetcher, Request, Response, WrappingFetcher
from clew.fetch.browser_shell import looks_empty
from clew.fetch.chromium import Chromium, find_chromium
from clew.fetch.subrequests import PageVisit, SubrequestLimits, SubrequestPace, Subrequests
from clew.url import host as host_of

AUTO = "auto"
_HTML = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSettings:
    """When a browser is used, and how far it may go."""

    pages: tuple[str, ...] = (AUTO,)
    """Hosts whose pages are all rendered (`*` for every host), and `auto` for pages that look empty."""
    program: Path | None = None
    """Chromium or Chrome; None for the one on the path."""
    timeout: float = 30.0
    """Seconds for one page, beyond those of its own fetch."""
    max_body: int = 10_000_000
    """Characters of a rendered page."""
    limits: SubrequestLimits = field(default_factory=SubrequestLimits)
    tabs: int = 2
    """Pages in the browser at once."""


class BrowserFetcher(WrappingFetcher):
    """A `Fetcher` that shows some pages to a browser.

    Parameters: the door, for everything, closed with it; settings; the user agent; the seconds between visits
    to a host, 0 where there need be none; hosts whose robots.txt is not asked for.
    """

    def __init__(
        self,
        inner: Fetcher,
        settings: BrowserSettings,
        user_agent: str,
        *,
        delay: Callable[[str], float] = lambda host: 1.0,
        no_robots: Callable[[str], bool] = lambda host: False,
    ) -> None:
        self.inner = inner
        self.settings = settings
        self.pace = SubrequestPace(delay)
        self.subrequests = Subrequests(inner, self.pace, user_agent, no_robots)
        self.rendered = 0
        self._auto = AUTO in settings.pages
        self._hosts = HostSet([page for page in settings.pages if page != AUTO])
        self._chromium = Chromium(
            find_chromium(settings.program),
            self.subrequests,
            user_agent,
            settings.timeout,
            settings.max_body,
            settings.tabs,
        )

    @property
    def browsers_started(self) -> int:
        """1, however many pages were rendered, unless one of them took the browser with it."""
        return self._chromium.launches

    async def open(self) -> None:
        """Start the browser now, so that what is wrong with it is said before anything is fetched."""
        await self._chromium.open()

    async def fetch(self, request: Request) -> Response:
        """A reply, with its rendering where there is to be one."""
        visit = PageVisit(request.url, self.settings.limits)
        async with self.pace.turn(host_of(request.url), visit):
            reply = await self.inner.fetch(request)
        self.subrequests.heard(request.url, reply)
        if not self._wanted(request, reply):
            return reply
        start = time.monotonic()
        found = await self._chromium.render(reply, visit)
        self.rendered += 1
        return replace(
            reply,
            rendered=found.html,
            truncated=reply.truncated or found.cut,
            wire=reply.wire + visit.wire,
            subrequests=visit.requests,
            elapsed=reply.elapsed + time.monotonic() - start,
        )

    async def close(self) -> None:
        """End the browser and close the door."""
        await self._chromium.close()
        await self.inner.close()

    def __repr__(self) -> str:
        return f"BrowserFetcher({self.inner!r}, {self._chromium!r}, {self.rendered} rendered)"

    def _wanted(self, request: Request, reply: Response) -> bool:
        kind = reply.header("content-type").partition(";")[0].strip().lower()
        if request.limit is not None or not 200 <= reply.status < 300 or kind not in _HTML:
            return False
        return host_of(request.url) in self._hosts or (self._auto and looks_empty(reply.body))
