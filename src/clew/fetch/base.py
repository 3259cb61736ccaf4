"""`Request`, `Response` and the `Fetcher` protocol: the one shape of every way to get a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from clew.errors import Reason

if TYPE_CHECKING:
    from clew.fetch.settings import HttpSettings


@dataclass(frozen=True, slots=True)
class Request:
    """A GET of one canonical http(s) URL. `limit` overrides the cap on decompressed bytes (robots.txt)."""

    url: str
    limit: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    """Sent besides the usual ones; who makes the request answers for who gets to see them."""
    anonymous: bool = False
    """Without cookies and credentials, even to hosts that may have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A reply as received: body decompressed, redirects not followed.

    >>> reply = Response(url="http://a.example/", status=200, headers=(("Content-Type", "text/html"),))
    >>> reply.header("content-type")
    'text/html'
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    wire: int = 0
    """Bytes of body received before decompression."""
    elapsed: float = 0.0
    address: str = ""
    truncated: bool = False
    broken: Reason | None = None
    """Why the body broke off before its end, unless a limit cut it: asking again may give all of it."""
    cached: bool = False
    raw: bytes | None = None
    """The body as sent, when it was compressed and the archive wants it; None means `body` is as sent."""
    rendered: bytes | None = None
    """The page after its scripts had run in a browser, as HTML in UTF-8; None when no browser was asked."""
    subrequests: int = 0
    """Requests made for the rendering, beyond the one for the page itself."""

    def header(self, name: str, default: str = "") -> str:
        """The first header of that name, whatever its case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), default)


class Fetcher(Protocol):
    """Gets one URL: over HTTP, from a recorded web, from the page cache.

    Never follows redirects (the engine does, politely). Raises nothing but `FetchError`. One that connects
    to hosts itself is a `Locator` too, so that hosts on one address can be paced together.
    """

    async def fetch(self, request: Request) -> Response: ...

    async def close(self) -> None: ...


FetcherClass: TypeAlias = "Callable[[HttpSettings], Fetcher]"
"""What another package brings by an entry point of the group `clew.fetchers`."""


@runtime_checkable
class Locator(Protocol):
    """A fetcher that knows where hosts live."""

    @property
    def locates(self) -> bool:
        """Whether it connects to hosts itself; behind a proxy it does not."""
        ...

    async def locate(self, host: str) -> tuple[str, ...]:
        """All addresses of a host that requests may go to from now on; raises nothing but `FetchError`."""
        ...


class WrappingFetcher:
    """The half of a fetcher that stands before another one: hosts live where that one says."""

    inner: Fetcher

    @property
    def locates(self) -> bool:
        """Whether the fetcher behind it knows where hosts live."""
        return isinstance(self.inner, Locator) and self.inner.locates

    async def locate(self, host: str) -> tuple[str, ...]:
        """All addresses of a host."""
        return await self.inner.locate(host) if isinstance(self.inner, Locator) else ()


@runtime_checkable
class Openable(Protocol):
    """A fetcher that has something to start before the first request."""

    async def open(self) -> None:
        """Start it; raises a `ConfigError` that says what is missing."""
        ...
