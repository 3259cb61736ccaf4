"""A recorded web as an HTTP forward proxy on loopback, for any crawler, with a request log.

A crawler that is pointed at the proxy sees many hosts where there is one socket. What was not recorded is
a 404, a recorded failure is a connection that breaks or hangs. It shares the machine with the crawler it
is there to measure, so it is one callback per request on an event loop and nothing more.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from clew.errors import UsageError
from clew.fetch.base import Response
from clew.fetch.replay import RecordedWeb, not_recorded
from clew.lab.connection import LoggedRequest, ServerConnection
from clew.lab.http1 import Head, plain
from clew.url import canonical

HTTP_ONLY = (
    "This proxy serves a recorded web over plain HTTP. Ask for https pages by their full address in the "
    "request line (GET https://… HTTP/1.1), or serve a web that has http addresses only.\n"
)


class RecordedServer:
    """Serves a recorded web: as a forward proxy, or as the origin behind a hosts entry.

    `port` 0 takes a free one; `log` is called with every request answered. `pace` turns the seconds a
    reply took when recorded into a real wait (0: none); `stall` is how long a recorded timeout holds its
    connection. `compress` sends text gzipped to those who accept it.

        async with RecordedServer(web) as server:
            ...  # crawl with the proxy server.url
    """

    def __init__(
        self,
        web: RecordedWeb,
        port: int = 0,
        log: Callable[[LoggedRequest], None] | None = None,
        *,
        host: str = "127.0.0.1",
        pace: float = 0.0,
        stall: float = 30.0,
        compress: bool = False,
    ) -> None:
        self.web = web
        self.port = port
        self.log = log
        self.host = host
        self.pace = pace
        self.stall = stall
        self.compress = compress
        self.requests = 0
        self.open: set[ServerConnection] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """The address to give as proxy."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    async def start(self) -> None:
        """Begin to listen."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                lambda: ServerConnection(self, loop), self.host, self.port, backlog=1024
            )
        except OSError as error:
            raise UsageError(
                f"cannot listen on {self.url}: {error.strerror}. Choose another port."
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self, grace: float = 2.0) -> None:
        """Take no more requests; give those under way `grace` seconds."""
        if self._server is None:
            return
        self._server.close()
        for connection in tuple(self.open):
            connection.finish()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await asyncio.gather(*(connection.gone for connection in self.open))
        for connection in tuple(self.open):
            connection.transport.abort()
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> RecordedServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def answer(self, head: Head) -> Response:
        """The reply to a request; raises `FetchError` where the web recorded a failure."""
        if head.method == "CONNECT":
            return plain(head.url, 501, HTTP_ONLY)
        if head.method not in ("GET", "HEAD"):
            return plain(head.url, 405, "A recorded web can only be read.\n", ("Allow", "GET, HEAD"))
        url = canonical(head.url)
        if url is None:
            return not_recorded(head.url)
        if url.startswith(self.url + "/"):
            return plain(url, 200, f"The recorded web {self.web.name!r}. Use {self.url} as an HTTP proxy.\n")
        return self.web.get(url) or not_recorded(url)

    def __repr__(self) -> str:
        return f"RecordedServer({self.web.name!r}, {self.url}, {self.requests} requests)"


@contextlib.contextmanager
def serving(
    web: RecordedWeb,
    log: Callable[[LoggedRequest], None] | None = None,
    *,
    pace: float = 0.0,
    stall: float = 30.0,
    compress: bool = False,
) -> Iterator[str]:
    """Serve a web from a thread of its own while the block runs; gives the proxy's address.

    >>> from clew.lab.demo import DemoWeb
    >>> with serving(DemoWeb()) as proxy:
    ...     proxy.startswith("http://127.0.0.1:")
    True
    """
    loop = asyncio.new_event_loop()
    server = RecordedServer(web, log=log, pace=pace, stall=stall, compress=compress)
    thread = threading.Thread(target=loop.run_forever, name="clew-lab-serve", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        try:
            yield server.url
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def serve_forever(
    web: RecordedWeb,
    host: str = "127.0.0.1",
    port: int = 8089,
    log_path: Path | str | None = None,
    on_ready: Callable[[str], None] | None = None,
    *,
    pace: float = 0.0,
    compress: bool = False,
) -> int:
    """Serve until interrupted or terminated; gives the number of requests answered.

    The log goes to a file, to standard output (`-`), or nowhere.
    """
    with _opened(log_path) as stream:

        def log(hit: LoggedRequest) -> None:
            if stream is not None:
                stream.write(hit.line() + "\n")

        async def run() -> int:
            over = asyncio.Event()
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, over.set)
            server = RecordedServer(
                web, port, log if stream else None, host=host, pace=pace, compress=compress
            )
            async with server:
                if on_ready is not None:
                    on_ready(server.url)
                await over.wait()
            return server.requests

        return asyncio.run(run())


@contextlib.contextmanager
def _opened(path: Path | str | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
    elif str(path) == "-":
        yield sys.stdout
    else:
        with open(path, "a", encoding="utf-8", buffering=1) as stream:
            yield stream
