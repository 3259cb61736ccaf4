"""`ChaosServer`: a chaos web on loopback, over raw sockets, with a log of who asked for what.

Clients reach its many hosts by using it as an HTTP proxy, or by looking names up through `lookup`. A second
socket listens where nobody was told to go: whoever connects to it has trespassed.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from clew.fetch import HttpFetcher, HttpSettings
from clew.testing.chaos_faults import KINDS, Cure, Fault, FaultPlace, Talk, head
from clew.testing.chaos_web import DOMAIN, LIAR, ChaosWeb, PlannedReply

_PUBLIC = "93.184.215.14"
_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request."""

    at: float
    url: str
    kind: Fault | None
    """The trouble it met; None when it was answered properly."""
    attempt: int
    """0 for the first request for this address."""


class ChaosServer:
    """Serves a `ChaosWeb`.

    Parameters: `patience`, how many seconds silences and endless replies last; choose it a little longer than
    the crawler's time limit.

        async with ChaosServer(ChaosWeb(seed=1)) as server:
            fetcher = server.fetcher(timeout=2.0)      # or use server.url as a proxy
            ...
            assert not server.trespasses
    """

    def __init__(self, web: ChaosWeb, *, patience: float = 5.0, port: int = 0) -> None:
        self.web = web
        self.patience = patience
        self.port = port
        self.visits: list[ReceivedRequest] = []
        self.trespasses: list[str] = []
        """Who connected to the address that nobody was told to visit."""
        self._asked: dict[str, int] = {}
        self._looked: dict[str, int] = {}
        self._servers: list[asyncio.Server] = []
        self._talks: set[asyncio.Task[None]] = set()
        self._forbidden = 0

    @property
    def url(self) -> str:
        """The address to give as proxy."""
        return f"http://{_HOST}:{self.port}"

    def healthy(self) -> frozenset[str]:
        """The pages that can be had, as a client sees them that looks names up by `lookup`."""
        return self.web.healthy(self.port)

    def seeds(self) -> tuple[str, ...]:
        """Where such a client starts."""
        return self.web.seeds(self.port)

    async def lookup(self, name: str) -> list[str]:
        """The addresses of a name, as `HttpFetcher(lookup=…)` wants them: some names lie, some flap."""
        count = self._looked[name] = self._looked.get(name, 0) + 1
        if name == f"name-private.{LIAR}":
            return [_HOST]
        if name == f"name-mixed.{LIAR}":
            return [_HOST, _PUBLIC]
        if (self.web.flaps(name) and count == 1) or not name.endswith(f".{DOMAIN}"):
            raise socket.gaierror(socket.EAI_NONAME, f"{name} does not resolve")
        return [_HOST]

    def fetcher(self, **settings: Any) -> HttpFetcher:
        """clew's own fetcher, set up to reach the hosts of this web and nothing else on this machine."""
        return HttpFetcher(
            HttpSettings(**{"allow_private": (f"*.{DOMAIN}",), **settings}), lookup=self.lookup
        )

    # what happened

    def faulty(self) -> float:
        """The share of the requests outside traps that met trouble."""
        outside = [visit for visit in self.visits if not _in_trap(visit)]
        return sum(visit.kind is not None for visit in outside) / max(1, len(outside))

    def trapped(self) -> float:
        """The share of all requests that went into traps."""
        return sum(map(_in_trap, self.visits)) / max(1, len(self.visits))

    def met(self) -> frozenset[str]:
        """The kinds of trouble that were met, on the wire and in look-ups."""
        names = {f"{k}.{LIAR}": k for k in KINDS} | dict.fromkeys(
            filter(self.web.flaps, self.web.hosts), "name-flap"
        )
        seen = {names[name] for name in self._looked if name in names}
        return frozenset({visit.kind.name for visit in self.visits if visit.kind} | seen)

    # serving

    async def start(self) -> None:
        """Begin to listen."""
        canary = await asyncio.start_server(self._trespass, _HOST, 0)
        self._forbidden = canary.sockets[0].getsockname()[1]
        server = await asyncio.start_server(self._connected, _HOST, self.port, limit=1 << 20, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._servers = [canary, server]

    async def stop(self) -> None:
        """Stop listening and break off what is under way."""
        for server in self._servers:
            server.close()
        talks = list(self._talks)
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        self._servers.clear()

    async def __aenter__(self) -> ChaosServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _trespass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            self.trespasses.append(repr(await reader.read(200)))
            writer.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talks.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                while await self._turn(await reader.readuntil(b"\r\n\r\n"), writer):
                    pass
        except asyncio.CancelledError:
            pass  # the server is stopping; the stream's own callback must not see it
        finally:
            self._talks.discard(task)
            writer.close()

    async def _turn(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection goes on."""
        url = _asked_for(request)
        parts = urlsplit(url)
        plan = self.web.answer(parts.hostname or "", _target(url), parts.port)
        attempt = self._asked.get(url, 0)
        self._asked[url] = attempt + 1
        kind = plan.kind
        if kind is not None and kind.cure is Cure.HEALS and attempt:
            kind = None
        self.visits.append(ReceivedRequest(time.time(), url, kind, attempt))
        if (parts.hostname or "").endswith(LIAR) and b" http" not in request[:12]:
            # Not asked as a proxy, which would have to look the name up itself: somebody believed a liar.
            self.trespasses.append(url)
        base = f"{parts.scheme}://{parts.netloc}"
        dice = random.Random(f"{self.web.seed} {url} {attempt}")
        forbidden = f"http://{_HOST}:{self._forbidden}"
        talk = Talk(url, plan.page, base, self.patience, forbidden, dice, writer)
        if kind is not None and kind.act is not None:
            await kind.act(talk)
            return talk.keep
        await talk.send(_proper(plan))
        return b"connection: close" not in request.lower()

    def __repr__(self) -> str:
        return f"ChaosServer({self.web!r}, {self.url}, {len(self.visits)} requests)"


@contextlib.contextmanager
def chaos_serving(web: ChaosWeb, *, patience: float = 5.0) -> Iterator[ChaosServer]:
    """Serve a chaos web from a thread of its own while the block runs.

    >>> with chaos_serving(ChaosWeb(pages=5)) as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """
    loop = asyncio.new_event_loop()
    server = ChaosServer(web, patience=patience)
    thread = threading.Thread(target=loop.run_forever, name="clew-chaos", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        try:
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _proper(plan: PlannedReply) -> bytes:
    start = head(plan.status, f"Content-Type: {plan.type}", f"Content-Length: {len(plan.page)}")
    return start + plan.page


def _asked_for(request: bytes) -> str:
    """The whole address, from the request line alone (a proxy's) or with the Host header."""
    lines = request.decode("latin-1").split("\r\n")
    target = [*lines[0].split(" "), "", ""][1]
    if target.startswith("http://"):
        return target
    host = next((line[5:].strip() for line in lines[1:] if line.lower().startswith("host:")), "")
    return f"http://{host}{target}"


def _target(url: str) -> str:
    rest = url.partition("://")[2]
    slash = rest.find("/")
    return rest[slash:] if slash >= 0 else "/"


def _in_trap(visit: ReceivedRequest) -> bool:
    return visit.kind is not None and visit.kind.place is FaultPlace.TRAP
