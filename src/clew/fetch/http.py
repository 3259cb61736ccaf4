"""`HttpFetcher`: the one way out.

Every request of a live crawl (pages, robots.txt, sitemaps, the next step of a redirect) goes through
`HttpFetcher.fetch`, which checks the URL, lets only vetted addresses be connected to, stops reading at its
limits and undoes compression under them. It keeps no cookies, follows no redirects, takes no proxy from the
environment, and shows credentials only to the origins the user named.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from yarl import URL

from clew.errors import FetchError, Reason
from clew.fetch.address import HostSet, Vetting
from clew.fetch.base import Request, Response
from clew.fetch.decode import ACCEPT_ENCODING, Decoder
from clew.fetch.failure import failure, out_of_files
from clew.fetch.network import Network
from clew.fetch.plain_http import Endpoint, PlainHttpPool, Reply
from clew.fetch.settings import HttpSettings
from clew.fetch.vetted_resolver import Lookup, SystemLookup, VettedResolver, forbidden
from clew.url import is_ip, origin, resolve

if TYPE_CHECKING:
    from clew.fetch.aiohttp_client import Client

__all__ = ["HttpFetcher", "HttpSettings"]

# A URL that the standard would serialise as it stands, if its origin is as it should be.
_CANONICAL = re.compile(r"(https?://[a-z0-9.-]+(?::[0-9]+)?)(/[A-Za-z0-9/_~%?&=+,;:@!$()*.-]*)")
#: Seconds until the connections that were dropped have given their descriptors back.
_MAKE_ROOM = 0.1
_ORIGINS = 10_000


@dataclass(frozen=True, slots=True)
class _Origin:
    """An origin that may be visited."""

    text: str
    host: str
    port: int
    tail: bytes
    """What a request to it has after the path."""
    resend: bool
    """Whether it is asked again on the spot when a kept connection turns out to be closed."""

    @property
    def endpoint(self) -> Endpoint:
        return self.host, self.port


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
    """Fetches over HTTP(S): plain HTTP over `PlainHttpPool`, TLS and proxies with aiohttp.

    Parameters: `settings`; `lookup`, how host names are looked up, the operating system's way by default.

    >>> async def title(url: str) -> bytes:
    ...     async with HttpFetcher(HttpSettings(timeout=10)) as fetcher:
    ...         return (await fetcher.fetch(Request(url))).body
    """

    def __init__(self, settings: HttpSettings | None = None, *, lookup: Lookup | None = None) -> None:
        self.settings = settings or HttpSettings()
        self.vetting = Vetting(self.settings.allow_private)
        self.network = Network(urlsplit(self.settings.proxy or "").netloc.rpartition("@")[2])
        self._lookup = lookup
        self._client: Client | None = None
        self._gate = asyncio.Semaphore(self.settings.concurrency)
        self._shared = self.settings.shared_headers() | {"Accept-Encoding": ACCEPT_ENCODING}
        self._wire_limit = self.settings.max_wire or self.settings.max_body
        self._credentials = self.settings.credentials()
        self._credential_origins = self.settings.credential_origins()
        self._unverified = HostSet(self.settings.insecure)
        again = self.settings.retry_dropped
        self._resent = HostSet(("*",) if again is True else again or ())
        self._resolver: VettedResolver | None = None
        self._wire: PlainHttpPool | None = None
        self._origins: dict[str, _Origin] = {}

    async def fetch(self, request: Request) -> Response:
        """GET one URL; raises nothing but `FetchError` (and lets itself be cancelled)."""
        origin, path = self._target(request.url)
        async with self._gate:
            start = time.monotonic()
            body = _Body()
            try:
                async with asyncio.timeout(self.settings.timeout):
                    await self._get(origin, path, request, body)
            except Exception as error:
                problem = failure(error, self.settings.timeout)
                if not body.worth_keeping():
                    raise await self._blamed(problem, origin.host) from error
                body.cut, body.broken = True, problem.reason
            self.network.replied = True
            return self._response(request.url, body, time.monotonic() - start)

    async def _blamed(self, problem: FetchError, host: str) -> FetchError:
        """What failed, or what this machine's own network did to it."""
        return await self.network.blamed(problem, host, self._ask_name)

    async def _ask_name(self, host: str) -> list[str]:
        self._open()
        assert self._resolver is not None
        found = await self._resolver.addresses(host, fresh=True)
        self.network.met(host, found)
        return found

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
        try:
            async with asyncio.timeout(self.settings.timeout):
                return tuple(await self._ask_name(host))
        except FetchError:
            raise
        except TimeoutError as error:
            raise await self._blamed(failure(error, self.settings.timeout), host) from error
        except (OSError, UnicodeError) as error:
            raise await self._blamed(FetchError(Reason.DNS, f"{host}: {error}"), host) from error

    def _target(self, text: str) -> tuple[_Origin, str]:
        """Where to ask, if it may be visited, and for what.

        An origin is looked at thoroughly once; a URL of a known one, if it is plain, needs no parsing.
        """
        plain = _CANONICAL.fullmatch(text)
        if plain is not None and "/." not in plain[2]:
            known = self._origins.get(plain[1])
            if known is not None:
                return known, plain[2]
        href = resolve(text)
        if href is None or not href.startswith(("http://", "https://")):
            raise FetchError(Reason.BAD_URL, f"{text[:200]!r} is not an http or https URL")
        href = href.partition("#")[0]
        place = origin(href)
        path = href[len(place) :]
        if "@" in place:
            # A link cannot make the crawler log in anywhere.
            place = place[: place.index("//") + 2] + place.rpartition("@")[2]
        return self._origins.get(place) or self._admit(place, text), path

    def _admit(self, place: str, text: str) -> _Origin:
        """An origin, if everybody reads it alike and it may be visited."""
        try:
            url = URL(place + "/", encoded=True)
            same = str(url.origin()) == place
        except ValueError:
            same = False
        if not same or not url.raw_host or url.port is None:
            raise FetchError(Reason.BAD_URL, f"{text[:200]!r} can be read as more than one host")
        why = self.vetting.why_name(url.raw_host, url.port)
        if why is not None:
            raise forbidden(url.raw_host, url.raw_host, why)
        if len(self._origins) >= _ORIGINS:
            self._origins.clear()
        resend = url.raw_host in self._resent
        known = self._origins[place] = _Origin(place, url.raw_host, url.port, self._tail(place), resend)
        return known

    def _tail(self, place: str, anonymous: bool = False) -> bytes:
        headers = {"Host": place.partition("//")[2]} | self._shared
        headers |= self._credentials if place in self._credential_origins and not anonymous else {}
        lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        return f" HTTP/1.1\r\n{lines}\r\n".encode()

    async def _get(self, origin: _Origin, path: str, request: Request, body: _Body) -> None:
        self._open()
        try:
            await self._get_once(origin, path, request, body)
        except Exception as error:
            if body.status or not out_of_files(error):
                raise
            # This machine's trouble and not the host's: connections kept for later make room.
            self._drop_idle()
            await asyncio.sleep(_MAKE_ROOM)
            await self._get_once(origin, path, request, body)

    def _drop_idle(self) -> None:
        for pool in (self._wire, self._client):
            if pool is not None:
                pool.drop_idle()

    async def _get_once(self, origin: _Origin, path: str, request: Request, body: _Body) -> None:
        if self._wire is not None and origin.text.startswith("http://"):
            await self._ask(self._wire, origin, path, request, body)
        else:
            await self._ask_client(origin, path, request, body)

    async def _ask(
        self, wire: PlainHttpPool, origin: _Origin, path: str, request: Request, body: _Body
    ) -> None:
        """Over a connection of our own."""
        limit = self._most(request)

        def begin(status: int, headers: list[tuple[bytes, bytes]]) -> None:
            self._begin(body, request, status, headers)

        def met(peer: str) -> None:
            body.peer = peer

        reply = Reply(begin, lambda chunk: body.take(chunk, limit), self.settings.max_headers)
        tail = self._tail(origin.text, anonymous=True) if request.anonymous else origin.tail
        tail = tail[:-2] + _lines(request.headers) if request.headers else tail
        await wire.get(origin.endpoint, f"GET {path}".encode() + tail, reply, met, resend=origin.resend)

    async def _ask_client(self, origin: _Origin, path: str, request: Request, body: _Body) -> None:
        """Through TLS, or a proxy."""
        client = self._client or await self._load()
        known = origin.text in self._credential_origins and not request.anonymous
        sent = (self._credentials if known else {}) | dict(request.headers)

        def begin(status: int, headers: Sequence[tuple[bytes, bytes]], peer: str) -> None:
            self._begin(body, request, status, headers)
            body.peer = peer

        await client.get(
            origin.text + path,
            sent,
            begin,
            lambda chunk: body.take(chunk, self._most(request)),
            verify=origin.host not in self._unverified,
        )

    async def _load(self) -> Client:
        """Make the client. To load what it is made of takes a quarter of a second: too long for the loop."""
        await asyncio.to_thread(import_module, "clew.fetch.aiohttp_client")
        from clew.fetch.aiohttp_client import Client

        if self._client is None:
            self._client = Client(self.settings, self._resolver, self._shared)
        return self._client

    def _most(self, request: Request) -> int:
        """Bytes of body to receive: what may be long by right (robots.txt) is not cut as pages are."""
        return max(self._wire_limit, request.limit or 0)

    def _begin(
        self, body: _Body, request: Request, status: int, headers: Sequence[tuple[bytes, bytes]]
    ) -> None:
        """A reply's head is there."""
        body.status = status
        body.headers = tuple([(_text(name), _text(value)) for name, value in headers])
        encodings = [value for name, value in body.headers if name.lower() == "content-encoding"]
        cap = self.settings.max_body if request.limit is None else request.limit
        body.decoder = Decoder(",".join(encodings), cap)
        body.raw = bytearray() if self.settings.keep_raw and body.decoder.encoded else None

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

    def _open(self) -> None:
        """Make what belongs to the loop that runs now, at the first request."""
        if self._resolver is not None or self.settings.proxy is not None:
            return
        settings = self.settings
        self._resolver = VettedResolver(self.vetting, self._lookup or SystemLookup(), settings.dns_ttl)
        self._wire = PlainHttpPool(
            self._resolver,
            settings.connect_timeout,
            settings.keepalive,
            settings.concurrency,
        )

    async def close(self) -> None:
        """Close all connections; the fetcher opens new ones when used again."""
        client, self._client = self._client, None
        resolver, self._resolver = self._resolver, None
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()
        if client is not None:
            await client.close()
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


def _lines(headers: Sequence[tuple[str, str]]) -> bytes:
    """Headers of one request, and the empty line that ends them all."""
    lines = [f"{name}: {value}" for name, value in headers]
    if any(c in line for line in lines for c in "\r\n\0"):
        raise FetchError(Reason.BAD_URL, "a header of the request is more than one line")
    return "".join([f"{line}\r\n" for line in (*lines, "")]).encode()


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
