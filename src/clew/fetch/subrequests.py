"""`Subrequests`: what a page in the browser asks for, fetched through the door, by the rules of the crawl.

Scripts and data only: a reader of text needs no pictures. GET only: a crawler reads, it does not submit.
Redirects are followed here, each step vetted like the first. robots.txt of every host is obeyed. What one
page asks of one host goes one at a time, as one visit, without delays in between; between that visit and
whatever else the crawl asks of the host, its delay is kept. Scripts are remembered, so that a site's pages do
not each fetch them again.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from clew.errors import FetchError, Reason
from clew.fetch.base import Fetcher, Request, Response
from clew.frontier.robots import SIZE_LIMIT, Rules
from clew.url import host as host_of
from clew.url import origin, resolve

REDIRECTS = frozenset({301, 302, 303, 307, 308})
HOPS = 10
ROBOTS_HOPS = 5
ROBOTS_AGE = 86_400.0
MEMORY = 32 * 1024 * 1024
"""Bytes of scripts remembered, over all sites."""
_HOSTS = 10_000


@dataclass(frozen=True, slots=True)
class SubrequestLimits:
    """What one page may ask for."""

    requests: int = 100
    """Requests, redirects and robots.txt counted."""
    size: int = 20_000_000
    """Bytes of all their bodies together, decompressed."""


@dataclass(slots=True)
class PageVisit:
    """One page in the browser, and what it has cost so far."""

    url: str
    limits: SubrequestLimits
    requests: int = 0
    wire: int = 0
    size: int = 0
    refused: list[str] = field(default_factory=list)
    """What was not fetched, each with the reason; the first hundred."""

    def foreign(self, url: str) -> bool:
        """Whether a URL is of another origin than the page: nobody's cookies and credentials go there."""
        return origin(url) != origin(self.url)

    def refuse(self, url: str, why: str) -> FetchError:
        if len(self.refused) < 100:
            self.refused.append(f"{why}: {url[:200]}")
        return FetchError(Reason.BROWSER, why)


class SubrequestPace:
    """One request at a time for a host, and a delay between those of different visits.

    Parameters: the seconds between two visits to a host; 0 lets go of both rules.
    """

    def __init__(self, delay: Callable[[str], float]) -> None:
        self.delay = delay
        self._locks: dict[str, asyncio.Lock] = {}
        self._last: dict[str, tuple[float, object]] = {}

    @asynccontextmanager
    async def turn(self, host: str, visit: object) -> AsyncIterator[None]:
        """Wait until a visit may ask a host for something; the next has to wait until this is over."""
        delay = self.delay(host)
        if delay <= 0:
            yield
            return
        async with self._lock(host):
            then, who = self._last.get(host, (-delay, visit))
            if who is not visit:
                await asyncio.sleep(max(0.0, then + delay - time.monotonic()))
            try:
                yield
            finally:
                self._last[host] = (time.monotonic(), visit)

    def _lock(self, host: str) -> asyncio.Lock:
        if len(self._locks) > _HOSTS:
            self._locks = {name: lock for name, lock in self._locks.items() if lock.locked()}
            self._last = {name: last for name, last in self._last.items() if name in self._locks}
        return self._locks.setdefault(host, asyncio.Lock())


def web_address(url: str, base: str | None = None) -> str | None:
    """An absolute http(s) URL without its fragment; None for anything else.

    Not made canonical: what a script asks for, it asks for to the letter.

    >>> web_address("/a?utm_source=x#y", "https://a.example/b"), web_address("file:///etc/passwd")
    ('https://a.example/a?utm_source=x', None)
    """
    found = resolve(url, base)
    if found is None or not found.startswith(("http://", "https://")):
        return None
    return found.partition("#")[0]


class Subrequests:
    """Fetches for pages in the browser.

    Parameters: the door; the pace; the name robots.txt is read for; hosts where it is not asked for.
    """

    def __init__(
        self,
        door: Fetcher,
        pace: SubrequestPace,
        agent: str,
        no_robots: Callable[[str], bool] = lambda host: False,
    ) -> None:
        self.door = door
        self.pace = pace
        self.agent = agent
        self.no_robots = no_robots
        self._rules: dict[str, tuple[float, Rules]] = {}
        self._scripts: OrderedDict[tuple[str, bool], Response] = OrderedDict()
        self._remembered = 0

    async def get(self, url: str, visit: PageVisit, *, script: bool = False) -> Response:
        """A part of a page, redirects followed; raises a `FetchError` when there is none to be had.

        A script may be of any origin, as in browsers; data only of the page's own, or of one that says so.
        """
        target = web_address(url)
        if target is None:
            raise visit.refuse(url, "not a web address")
        key = (target, visit.foreign(target))
        known = self._scripts.get(key)
        if known is not None:
            self._scripts.move_to_end(key)
            self._count(visit, known, target)
            return known
        reply = await self._follow(target, visit)
        if script:
            self._remember(key, reply)
        elif visit.foreign(reply.url) and not visit.foreign(target) and not _shared(reply, origin(visit.url)):
            # The browser saw the first step only, and would let the page read what is not meant for it.
            raise visit.refuse(url, "redirects to another origin")
        return reply

    def heard(self, url: str, reply: Response) -> None:
        """A reply to the crawl's own request for a robots.txt: it need not be asked for again."""
        place = origin(url)
        if url == f"{place}/robots.txt" and reply.status not in REDIRECTS:
            self._learn(place, reply.status, reply.body)

    async def _follow(self, url: str, visit: PageVisit) -> Response:
        for _ in range(HOPS + 1):
            if not await self._allowed(url, visit):
                raise visit.refuse(url, "robots.txt does not allow it")
            reply = await self._ask(url, visit, None)
            self._count(visit, reply, url)
            if reply.status not in REDIRECTS or not reply.header("location"):
                return reply
            target = web_address(reply.header("location"), url)
            if target is None:
                raise visit.refuse(url, "redirects to no web address")
            url = target
        raise visit.refuse(url, "too many redirects")

    async def _ask(self, url: str, visit: PageVisit, limit: int | None) -> Response:
        if visit.requests >= visit.limits.requests or visit.size >= visit.limits.size:
            raise visit.refuse(url, "the page has asked for enough")
        visit.requests += 1
        try:
            async with self.pace.turn(host_of(url), visit):
                reply = await self.door.fetch(Request(url, limit, anonymous=visit.foreign(url)))
        except FetchError as problem:
            visit.refuse(url, str(problem))
            raise
        visit.wire += reply.wire
        return reply

    def _count(self, visit: PageVisit, reply: Response, url: str) -> None:
        visit.size += len(reply.body)
        if visit.size > visit.limits.size:
            raise visit.refuse(url, "the page has asked for enough")

    async def _allowed(self, url: str, visit: PageVisit) -> bool:
        place = origin(url)
        if self.no_robots(host_of(url)):
            return True
        known = self._rules.get(place)
        if known is None or time.monotonic() - known[0] > ROBOTS_AGE:
            status, body = await self._robots(f"{place}/robots.txt", visit)
            self._learn(place, status, body)
        return self._rules[place][1].allowed(url)

    async def _robots(self, url: str, visit: PageVisit) -> tuple[int, bytes]:
        """Status and body of a robots.txt, as RFC 9309 has it: what cannot be reached forbids all."""
        for _ in range(ROBOTS_HOPS + 1):
            reply = await self._ask(url, visit, SIZE_LIMIT + 1)
            target = web_address(reply.header("location"), url) if reply.status in REDIRECTS else None
            if target is None:
                return reply.status, reply.body
            url = target
        return 404, b""

    def _learn(self, place: str, status: int, body: bytes) -> None:
        if len(self._rules) >= _HOSTS:
            self._rules.clear()
        body = body if 200 <= status < 300 else b""
        self._rules[place] = (time.monotonic(), Rules.parse(status, body, self.agent))

    def _remember(self, key: tuple[str, bool], reply: Response) -> None:
        if reply.status != 200 or reply.truncated or "no-store" in reply.header("cache-control").lower():
            return
        if key in self._scripts:
            return
        self._scripts[key] = reply
        self._remembered += len(reply.body)
        while self._remembered > MEMORY:
            _, old = self._scripts.popitem(last=False)
            self._remembered -= len(old.body)


def _shared(reply: Response, place: str) -> bool:
    """Whether a reply may be read by pages of another origin."""
    return reply.header("access-control-allow-origin").strip() in ("*", place)
