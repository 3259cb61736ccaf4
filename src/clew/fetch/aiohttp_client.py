"""`Client`: requests that go through TLS or a proxy, with aiohttp.

It is loaded when the first of them is made: reading aiohttp takes as long as fetching a hundred pages. It
connects to vetted addresses alone, and its errors leave it as `FetchError`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence

import aiohttp
from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from clew.errors import FetchError, Reason
from clew.fetch.failure import ProxyUnreachable, late, refused_here, words
from clew.fetch.plain_http import MAX_HEADER_COUNT
from clew.fetch.settings import HttpSettings
from clew.fetch.vetted_resolver import VettedResolver

Begin = Callable[[int, Sequence[tuple[bytes, bytes]], str], None]
"""Told of a reply's status, its headers and who answered."""
Take = Callable[[bytes], bool]
"""Told of what came; False when no more is wanted."""

# The first class that fits decides, so that a class stands before those it derives from.
_REASONS: tuple[tuple[type[BaseException], Reason], ...] = (
    (aiohttp.ClientConnectorDNSError, Reason.DNS),
    (aiohttp.ClientSSLError, Reason.TLS),
    (TimeoutError, Reason.TIMEOUT),
    (aiohttp.ClientHttpProxyError, Reason.CONNECT),
    (aiohttp.ClientConnectorError, Reason.CONNECT),
    (aiohttp.InvalidURL, Reason.BAD_URL),
    (aiohttp.NonHttpUrlClientError, Reason.BAD_URL),
    (aiohttp.ClientPayloadError, Reason.BAD_REPLY),
    (aiohttp.ClientResponseError, Reason.BAD_REPLY),
    (HttpProcessingError, Reason.BAD_REPLY),
    (aiohttp.ServerDisconnectedError, Reason.RESET),
    (aiohttp.ClientConnectionError, Reason.RESET),
    (aiohttp.ClientError, Reason.BAD_REPLY),
)


class _Reply(ClientResponse):
    """Remembers who answered: the connection may be back in the pool before anyone can ask it."""

    peer = ""

    async def start(self, connection: Connection) -> ClientResponse:
        transport = connection.transport
        address = transport.get_extra_info("peername") if transport is not None else None
        self.peer = str(address[0]) if address else ""
        return await super().start(connection)


class _Resolver(AbstractResolver):
    """Our resolver, as aiohttp asks it."""

    def __init__(self, vetted: VettedResolver) -> None:
        self._vetted = vetted

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [_result(host, address, port) for address in await self._vetted.addresses(host)]

    async def close(self) -> None:
        """It is not ours to close."""


class _Connector(TCPConnector):
    """Keeps at most `idle` connections that nobody uses; aiohttp bounds those in use alone.

    Each is an open file, and each host of a crawl has a pool of its own, behind a proxy too.
    """

    idle = 0

    def _release(self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        super()._release(key, protocol, should_close=should_close)
        self.drop_idle(self.idle)

    def drop_idle(self, keep: int = 0) -> None:
        """Close the connections that were idle for longest, but for so many."""
        kept = sorted(
            ((since, key) for key, pool in self._conns.items() for _, since in pool), key=lambda one: one[0]
        )
        for _, key in kept[: max(0, len(kept) - keep)]:
            protocol, _ = self._conns[key].popleft()
            if not self._conns[key]:
                del self._conns[key]
            if protocol.transport is not None:
                # Not `close`: TLS would say good-bye first, and keep the file open for as long.
                protocol.transport.abort()


class Client:
    """Parameters: the settings; the resolver, None behind a proxy; headers of every request."""

    def __init__(
        self, settings: HttpSettings, resolver: VettedResolver | None, headers: Mapping[str, str]
    ) -> None:
        self.settings = settings
        self._proxy_headers = settings.proxy_headers() if settings.proxy else {}
        line = max(8190, settings.max_headers)
        self._connector = _connector(resolver, settings.keepalive)
        self._connector.idle = settings.concurrency
        self._session = ClientSession(
            connector=self._connector,
            headers=headers,
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
        # It knows all hosts or none.
        self._session._retry_connection = settings.retry_dropped is True

    async def get(
        self, href: str, headers: Mapping[str, str], begin: Begin, take: Take, *, verify: bool
    ) -> None:
        """GET one URL that may be visited; `verify`, whether the server must prove who it is."""
        try:
            await self._get(URL(href, encoded=True), headers, begin, take, verify)
        except (aiohttp.ClientError, HttpProcessingError) as error:
            raise failure(error, self.settings.timeout) from error

    async def _get(
        self, url: URL, headers: Mapping[str, str], begin: Begin, take: Take, verify: bool
    ) -> None:
        # A plain request is itself addressed to the proxy; a tunnel is asked for beforehand.
        plain, tunnel = (self._proxy_headers, None) if url.scheme == "http" else ({}, self._proxy_headers)
        limit = self.settings.max_headers
        async with self._session.get(
            url, headers={**headers, **plain}, proxy_headers=tunnel, ssl=verify, allow_redirects=False
        ) as reply:
            if not 100 <= reply.status <= 999:
                raise aiohttp.ClientPayloadError(f"{reply.status} is not a status")
            if sum(len(name) + len(value) + 4 for name, value in reply.raw_headers) > limit:
                raise aiohttp.ClientPayloadError(f"more than {limit} bytes of headers")
            peer = reply.peer if isinstance(reply, _Reply) and self.settings.proxy is None else ""
            begin(reply.status, reply.raw_headers, peer)
            async for chunk in reply.content.iter_any():
                if not take(chunk):
                    reply.close()
                    break

    def drop_idle(self) -> None:
        """Close the connections that nobody uses."""
        self._connector.drop_idle()

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


def failure(error: BaseException, seconds: float) -> FetchError:
    """What an error of aiohttp's means to a crawl; `seconds` is the time limit the request had.

    >>> failure(aiohttp.ServerDisconnectedError(), 30.0).reason.value
    'reset'
    """
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    local = refused_here(cause)
    if local is not None:
        return local
    reason = next((reason for kind, reason in _REASONS if isinstance(error, kind)), Reason.INTERNAL)
    if reason is Reason.TIMEOUT:
        return FetchError(reason, late(seconds))
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", "") or str(error.certificate_error)
        advice = f"if you trust it, except the host with --insecure {error.host}"
        return FetchError(reason, f"{error.host}: the certificate is not valid ({why}); {advice}")
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return ProxyUnreachable(f"{error.host}:{error.port}")
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return FetchError(reason, f"the proxy opens no way to it (HTTP {error.status} {error.message})"[:200])
    if isinstance(error, aiohttp.ClientConnectorError):
        return FetchError(reason, f"{error.host}: {error.os_error}")
    if isinstance(error, aiohttp.ClientResponseError):
        return FetchError(reason, " ".join(error.message.split())[:200] or type(error).__name__)
    return FetchError(reason, words(error))


def _connector(resolver: VettedResolver | None, keepalive: float) -> _Connector:
    """A pool of connections to vetted addresses.

    Without a resolver it is for use behind a proxy: then the only address ever connected to is the proxy's,
    which is the user's word and is not vetted.
    """
    if resolver is None:
        return _Connector(limit=0, keepalive_timeout=keepalive)
    return _Connector(
        limit=0,
        keepalive_timeout=keepalive,
        resolver=_Resolver(resolver),
        # The resolver has its own memory, of vetted addresses.
        use_dns_cache=False,
        socket_factory=resolver.socket,
    )


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
