"""Plain HTTP/1.1 over connections of our own: a request is one write, a reply is read where it lands.

`PlainHttpPool` is for `http://` without a proxy, where a client made for everything costs more than the
fetching. It connects to vetted addresses only, keeps connections for the next request to the same endpoint,
and stops reading where it is told to. A connection carries one request at a time and is kept only after a
reply that ended as announced, with nothing left over; so no reply can be taken for that of another request.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from typing import cast

import httptools
from aiohappyeyeballs import start_connection

from clew.errors import FetchError, Reason
from clew.fetch.failure import refused_socket
from clew.fetch.vetted_resolver import VettedResolver
from clew.url import is_ip

MAX_HEADER_COUNT = 256
_BUFFER = 256 * 1024
_HEAD_SLACK = 4096
"""Bytes of a reply's head beside its headers: the status line, separators."""

Endpoint = tuple[str, int]
Headers = list[tuple[bytes, bytes]]


class Reply:
    """Takes in one reply as it comes. `begin` and `take` are the caller's; `take` says no when it has enough.

    `begin` is told the status and the headers, `take` the body piece by piece.
    """

    __slots__ = ("begin", "max_headers", "take")

    def __init__(
        self, begin: Callable[[int, Headers], None], take: Callable[[bytes], bool], max_headers: int
    ) -> None:
        self.begin = begin
        self.take = take
        self.max_headers = max_headers


class Connection(asyncio.BufferedProtocol):
    """One connection, with at most one request under way."""

    def __init__(self, buffer: memoryview) -> None:
        self.transport: asyncio.Transport | None = None
        self.peer = ""
        self.idle_since = 0.0
        self.fresh = True
        """No reply has come over it yet."""
        self.silent = True
        """Not a byte of the reply under way has come."""
        self._buffer = buffer
        self._parser: httptools.HttpResponseParser | None = None
        self._reply: Reply | None = None
        self._waiter: asyncio.Future[bool] | None = None
        self._headers: Headers = []
        self._size = 0
        self._begun = self._bounded = self._ended = self._enough = False
        self._problem: Exception | None = None

    @property
    def open(self) -> bool:
        return self.transport is not None and not self.transport.is_closing()

    def ask(self, request: bytes, reply: Reply) -> asyncio.Future[bool]:
        """Send a request; the future tells, when the reply is there, whether the connection can be kept."""
        assert self.transport is not None
        self._parser = httptools.HttpResponseParser(self)
        # As forgiving as browsers are where it cannot be used to smuggle: one request, one reply.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._reply = reply
        self._headers, self._size, self._problem = [], 0, None
        self._begun = self._bounded = self._ended = self._enough = False
        self.silent = True
        self._waiter = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._waiter

    def close(self) -> None:
        """Drop the connection."""
        if self.transport is not None:
            self.transport.abort()

    # what the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Other event loops (uvloop) have transports that are no subclass of asyncio's.
        self.transport = cast(asyncio.Transport, transport)
        address = transport.get_extra_info("peername")
        self.peer = str(address[0]) if address else ""

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        parser = self._parser
        if parser is None:
            # Nobody asked for anything.
            self.close()
            return
        self.silent = False
        try:
            parser.feed_data(self._buffer[:nbytes])
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            # An error raised in a callback of ours comes wrapped; the parser's own says what is wrong.
            if not self._enough:
                self._finish(self._problem or FetchError(Reason.BAD_REPLY, f"not HTTP: {error}"))
            return
        if not self._begun:
            self._size += nbytes
            assert self._reply is not None
            if self._size > self._reply.max_headers + _HEAD_SLACK:
                self._finish(_too_long(self._reply.max_headers))

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        if self._waiter is None or self._waiter.done():
            return
        if self._begun and not self._bounded and error is None:
            # A body without a length ends where the connection does.
            self._finish(None)
        else:
            self._finish(error or FetchError(Reason.RESET, "the server closed the connection"))

    # what the parser calls

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._begun:
            return  # after a chunked body
        self._headers.append((name, value))
        if b"\0" in value or b"\0" in name:
            self._refuse(FetchError(Reason.BAD_REPLY, "a NUL in a header"))
        if len(self._headers) > MAX_HEADER_COUNT:
            self._refuse(FetchError(Reason.BAD_REPLY, f"more than {MAX_HEADER_COUNT} headers"))

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        assert self._reply is not None
        status = self._parser.get_status_code()
        if 100 <= status < 200 and status != 101:
            return
        limit = self._reply.max_headers
        if sum([len(name) + len(value) + 4 for name, value in self._headers]) > limit:
            self._refuse(_too_long(limit))
        if not 200 <= status <= 999:
            self._refuse(FetchError(Reason.BAD_REPLY, f"{status} is not a status"))
        self._begun = True
        self._bounded = any(
            name.lower() in (b"content-length", b"transfer-encoding") for name, _ in self._headers
        )
        try:
            self._reply.begin(status, self._headers)
        except Exception as error:
            self._refuse(error)

    def on_body(self, body: bytes) -> None:
        if self._enough or self._reply is None:
            return
        try:
            more = self._reply.take(body)
        except Exception as error:
            self._refuse(error)
        if not more:
            self._enough = True
            self._finish(None)

    def on_message_complete(self) -> None:
        assert self._parser is not None
        if not self._begun:
            self._headers = []  # an interim reply; the real one follows
            return
        self._ended = True
        if not self._enough:
            keep = self._parser.should_keep_alive()
            self._finish(None, keep=keep)

    def _refuse(self, problem: Exception) -> None:
        """End reading from within a callback: the parser stops at an exception, and wraps it."""
        self._problem = problem
        raise problem

    def _finish(self, problem: Exception | None, *, keep: bool = False) -> None:
        waiter, self._waiter = self._waiter, None
        self._reply = self._parser = None
        self.fresh = False
        if not keep:
            self.close()
        if waiter is not None and not waiter.done():
            if problem is None:
                waiter.set_result(keep)
            else:
                waiter.set_exception(problem)


def _too_long(limit: int) -> FetchError:
    return FetchError(Reason.BAD_REPLY, f"more than {limit} bytes of headers")


class PlainHttpPool:
    """Connections to many endpoints, kept for the next request to the same one.

    Parameters: the resolver, whose addresses are vetted; how long to try to connect; how long an idle
    connection is kept; how many endpoints keep idle connections, since each is an open file.
    """

    def __init__(
        self,
        resolver: VettedResolver,
        connect_timeout: float,
        keepalive: float,
        endpoints: int = 256,
    ) -> None:
        self.resolver = resolver
        self.connect_timeout = connect_timeout
        self.keepalive = keepalive
        self.endpoints = endpoints
        self._idle: dict[Endpoint, deque[Connection]] = {}
        self._busy: set[Connection] = set()
        self._timer: asyncio.TimerHandle | None = None
        # One buffer for all: what is read is taken in before the next read.
        self._buffer = memoryview(bytearray(_BUFFER))

    async def get(
        self,
        endpoint: Endpoint,
        request: bytes,
        reply: Reply,
        met: Callable[[str], None],
        *,
        resend: bool = True,
    ) -> None:
        """Send a request and take in the reply; `met` is told the address asked. Raises what went wrong.

        With `resend`, a request is sent again when a kept connection turns out to be closed.
        """
        while True:
            kept = self._kept(endpoint)
            connection = kept or await self._connect(endpoint)
            met(connection.peer)
            self._busy.add(connection)
            try:
                again = await connection.ask(request, reply)
            except BaseException as error:
                connection.close()
                dropped = kept is not None and connection.silent and isinstance(error, FetchError | OSError)
                if dropped and resend:
                    # It was closed between two requests, which is nobody's fault: the server saw nothing.
                    self._drop(endpoint)
                    continue
                raise
            finally:
                self._busy.discard(connection)
            if again and connection.open:
                self._keep(endpoint, connection)
            return

    def close(self) -> None:
        """Drop all connections."""
        for connections in self._idle.values():
            for connection in connections:
                connection.close()
        for connection in self._busy:
            connection.close()
        self._idle.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def drop_idle(self) -> None:
        """Close the connections that nobody uses."""
        for endpoint in list(self._idle):
            self._drop(endpoint)

    def _kept(self, endpoint: Endpoint) -> Connection | None:
        waiting = self._idle.get(endpoint)
        while waiting:
            connection = waiting.pop()
            if not waiting:
                del self._idle[endpoint]
            if connection.open:
                return connection
        return None

    def _keep(self, endpoint: Endpoint, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle.setdefault(endpoint, deque()).append(connection)
        if len(self._idle) > self.endpoints:
            self._drop(next(iter(self._idle)))
        if self._timer is None:
            self._timer = loop.call_later(self.keepalive, self._sweep)

    def _sweep(self) -> None:
        """Close what has been idle for too long."""
        loop = asyncio.get_running_loop()
        limit = loop.time() - self.keepalive
        for endpoint, waiting in list(self._idle.items()):
            while waiting and (not waiting[0].open or waiting[0].idle_since <= limit):
                waiting.popleft().close()
            if not waiting:
                del self._idle[endpoint]
        self._timer = loop.call_later(self.keepalive / 2, self._sweep) if self._idle else None

    def _drop(self, endpoint: Endpoint) -> None:
        for connection in self._idle.pop(endpoint, ()):
            connection.close()

    async def _connect(self, endpoint: Endpoint) -> Connection:
        host, port = endpoint
        bare = host.strip("[]")
        try:
            addresses = [bare] if is_ip(host) else await self.resolver.addresses(host)
        except FetchError:
            raise
        except (OSError, UnicodeError) as error:
            raise FetchError(Reason.DNS, f"{host}: {error}") from error
        targets = [_info(address, port) for address in addresses]
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self.connect_timeout * len(targets)):
                opened = await start_connection(
                    targets,
                    happy_eyeballs_delay=0.25,
                    interleave=1,
                    loop=loop,
                    socket_factory=self.resolver.socket,
                )
        except TimeoutError as error:
            detail = f"{host}: no connection within {self.connect_timeout:g} s"
            raise FetchError(Reason.TIMEOUT, detail) from error
        except OSError as error:
            raise refused_socket(error, host) from error
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _, connection = await loop.create_connection(lambda: Connection(self._buffer), sock=opened)
        return connection


def _info(address: str, port: int) -> tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int]]:
    if ":" in address:
        return socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, 0, 0)
    return socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port)
