"""`HttpFetcher`: the one way out.

Every request of a live crawl (pages, robots.txt, sitemaps, the next step of a redirect) goes through
`HttpFetcher.fetch`, which checks the URL, lets only vetted addresses be connected to, stops reading at its
limits and undoes compression under them. It keeps no cookies, follows no redirects, takes no proxy from the
environment, and shows credentials only to the origins the user named.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from types import TracebackType

import aiohttp
from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar
from aiohttp.connector import Connection
from yarl import URL

from clew.errors import FetchError, Reason
from clew.fetch.address import Hosts, Vetting
from clew.fetch.base import Request, Response
from clew.fetch.connect import Lookup, SystemLookup, VettedResolver, connector, forbidden
from clew.fetch.decode import ACCEPT_ENCODING, Decoder
from clew.fetch.failure import failure
from clew.fetch.settings import HttpSettings
from clew.url import is_ip, origin, resolve

__all__ = ["HttpFetcher", "HttpSettings"]

MAX_HEADER_COUNT = 256


class _Reply(ClientResponse):
    """Remembers who answered: the connection may be back in the pool before anyone can ask it."""

    peer = ""

    async def start(self, connection: Connection) -> ClientResponse:
        transport = connection.transport
        address = transport.get_extra_info("peername") if transport is not None else None
        self.peer = str(address[0]) if address else ""
        return await super().start(connection)


@dataclass(slots=True)
class _Body:
    """What has come of a reply so far; survives the error that ends it."""

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    peer: str = ""
    decoder: Decoder = field(default_factory=lambda: Decoder("", 0))
    wire: int = 0
    cut: bool = False
    broken: Reason | None = None
    raw: bytearray | None = None

    def worth_keeping(self) -> bool:
        """Whether it is an answer though its body broke off: a page's beginning, or no page anyway.

        Redirects and refusals say what they have to say in their headers.
        """
        return len(self.decoder) > 0 or (self.status > 0 and not 200 <= self.status < 300)

    def take(self, chunk: bytes, limit: int) -> bool:
        """Take bytes off the wire; False when the limits allow no more."""
        if self.wire + len(chunk) > limit:
            chunk, self.cut = chunk[: limit - self.wire], True
        self.wire += len(chunk)
        if self.raw is not None:
            self.raw += chunk
        return self.decoder.feed(chunk) and not self.cut


class HttpFetcher:
    """Fetches over HTTP(S) with aiohttp.

    Parameters: `settings`; `lookup`, how host names are looked up, the operating system's way by default.

    >>> async def title(url: str) -> bytes:
    ...     async with HttpFetcher(HttpSettings(timeout=10)) as fetcher:
    ...         return (await fetcher.fetch(Request(url))).body
    """

    def __init__(self, settings: HttpSettings | None = None, *, lookup: Lookup | None = None) -> None:
        self.settings = settings or HttpSettings()
        self.vetting = Vetting(self.settings.allow_private)
        self._lookup = lookup
        self._session: ClientSession | None = None
        self._gate = asyncio.Semaphore(self.settings.concurrency)
        self._credentials = self.settings.credentials()
        self._credential_origins = self.settings.credential_origins()
        self._unverified = Hosts(self.settings.insecure)
        self._proxy_headers = self.settings.proxy_headers() if self.settings.proxy else {}
        self._resolver: VettedResolver | None = None

    async def fetch(self, request: Request) -> Response:
        """GET one URL; raises nothing but `FetchError` (and lets itself be cancelled)."""
        url = self._target(request.url)
        async with self._gate:
            start = time.monotonic()
            body = _Body()
            try:
                async with asyncio.timeout(self.settings.timeout):
                    await self._get(url, request, body)
            except Exception as error:
                problem = failure(error, self.settings.timeout)
                if not body.worth_keeping():
                    raise problem from error
                body.cut, body.broken = True, problem.reason
            return self._response(request.url, body, time.monotonic() - start)

    @property
    def locates(self) -> bool:
        """Whether hosts are connected to directly; a proxy has its own address only."""
        return self.settings.proxy is None

    async def locate(self, host: str) -> tuple[str, ...]:
        """All addresses of a host, vetted; requests go to these until asked again or `dns_ttl` is up."""
        if not self.locates:
            return ()
        if is_ip(host):
            return (host.strip("[]"),)
        self._open()
        assert self._resolver is not None
        try:
            async with asyncio.timeout(self.settings.timeout):
                return tuple(await self._resolver.addresses(host, fresh=True))
        except FetchError:
            raise
        except TimeoutError as error:
            raise failure(error, self.settings.timeout) from error
        except (OSError, UnicodeError) as error:
            raise FetchError(Reason.DNS, f"{host}: {error}") from error

    def _target(self, text: str) -> URL:
        """The URL as the client will read it, if that is how the standard reads it and it may be visited."""
        href = resolve(text)
        if href is None or not href.startswith(("http://", "https://")):
            raise FetchError(Reason.BAD_URL, f"{text[:200]!r} is not an http or https URL")
        place = origin(href)
        if "@" in place:
            # A link cannot make the crawler log in anywhere.
            bare = place[: place.index("//") + 2] + place.rpartition("@")[2]
            href, place = bare + href[len(place) :], bare
        try:
            url = URL(href, encoded=True)
            same = str(url.origin()) == place
        except ValueError:
            same = False
        if not same or not url.raw_host:
            raise FetchError(Reason.BAD_URL, f"{text[:200]!r} can be read as more than one host")
        why = self.vetting.why_name(url.raw_host, url.port)
        if why is not None:
            raise forbidden(url.raw_host, url.raw_host, why)
        return url

    async def _get(self, url: URL, request: Request, body: _Body) -> None:
        limits = self.settings
        session = self._open()
        sent = self._credentials if str(url.origin()) in self._credential_origins else {}
        # A plain request is itself addressed to the proxy; a tunnel is asked for beforehand.
        plain, tunnel = (self._proxy_headers, None) if url.scheme == "http" else ({}, self._proxy_headers)
        verify = (url.raw_host or "") not in self._unverified
        async with session.get(
            url, headers=sent | plain, proxy_headers=tunnel, ssl=verify, allow_redirects=False
        ) as reply:
            if not 100 <= reply.status <= 999:
                raise aiohttp.ClientPayloadError(f"{reply.status} is not a status")
            body.status = reply.status
            body.headers = _headers(reply, limits.max_headers)
            body.peer = reply.peer if isinstance(reply, _Reply) and limits.proxy is None else ""
            cap = limits.max_body if request.limit is None else request.limit
            wire = limits.max_body if limits.max_wire is None else limits.max_wire
            body.decoder = Decoder(",".join(reply.headers.getall("Content-Encoding", [])), cap)
            body.raw = bytearray() if limits.keep_raw and body.decoder.encoded else None
            async for chunk in reply.content.iter_any():
                if not body.take(chunk, wire):
                    reply.close()
                    break

    def _response(self, url: str, body: _Body, elapsed: float) -> Response:
        if body.decoder.useless() and not body.worth_keeping():
            raise FetchError(Reason.BAD_REPLY, "the body does not decode as its Content-Encoding says")
        unfinished = body.decoder.truncated() and not body.decoder.full and not body.cut
        return Response(
            url=url,
            status=body.status,
            headers=body.headers,
            body=body.decoder.body(),
            wire=body.wire,
            elapsed=elapsed,
            address=body.peer,
            truncated=body.cut or body.decoder.truncated(),
            broken=Reason.BAD_REPLY if unfinished else body.broken,
            raw=None if body.raw is None else bytes(body.raw),
        )

    def _open(self) -> ClientSession:
        """The session, made at the first request because it belongs to the loop that runs then."""
        if self._session is None:
            settings = self.settings
            if settings.proxy is None:
                self._resolver = VettedResolver(
                    self.vetting, self._lookup or SystemLookup(), settings.dns_ttl
                )
            line = max(8190, settings.max_headers)
            self._session = ClientSession(
                connector=connector(self._resolver, settings.keepalive),
                headers=settings.shared_headers() | {"Accept-Encoding": ACCEPT_ENCODING},
                cookie_jar=DummyCookieJar(),
                timeout=ClientTimeout(total=None, sock_connect=settings.connect_timeout),
                auto_decompress=False,
                trust_env=False,
                response_class=_Reply,
                proxy=settings.proxy_address(),
                max_line_size=line,
                max_field_size=line,
                max_headers=MAX_HEADER_COUNT,
            )
            self._session._retry_connection = settings.retry_dropped
        return self._session

    async def close(self) -> None:
        """Close all connections; the fetcher opens new ones when used again."""
        session, self._session = self._session, None
        resolver, self._resolver = self._resolver, None
        if session is not None:
            await session.close()
        if resolver is not None:
            await resolver.close()

    async def __aenter__(self) -> HttpFetcher:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"HttpFetcher({self.settings.user_agent!r}, proxy={self.settings.proxy is not None})"


def _headers(reply: ClientResponse, limit: int) -> tuple[tuple[str, str], ...]:
    """The headers as text: UTF-8 where they are, else byte by byte."""
    if sum(len(name) + len(value) + 4 for name, value in reply.raw_headers) > limit:
        raise aiohttp.ClientPayloadError(f"more than {limit} bytes of headers")
    return tuple((_text(name), _text(value)) for name, value in reply.raw_headers)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
