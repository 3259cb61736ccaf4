"""A server on loopback that says exactly what a test wants it to say."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from clew.fetch import HttpSettings
from clew.fetch.http import HttpFetcher

LOOPBACK = ("127.0.0.0/8", "::1")


@dataclass
class Served:
    """What a server has seen."""

    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def header(self, name: str, request: int = -1) -> str | None:
        for line in self.requests[request].decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return None


Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
async def serve():
    """`await serve(answer)`: answers each request with those bytes, or lets a coroutine write.

    Connections stay open after an answer with a Content-Length and are closed after any other, unless
    `close` says otherwise.
    """
    servers = []

    async def start(answer: Answer, *, close: bool | None = None, ssl=None) -> Served:
        served = Served()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            served.connections += 1
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while True:
                    served.requests.append(await reader.readuntil(b"\r\n\r\n"))
                    if callable(answer):
                        await answer(writer)
                    else:
                        writer.write(answer)
                        await writer.drain()
                    done = close if close is not None else callable(answer) or b"Content-Length" not in answer
                    if done:
                        break
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=2**20, ssl=ssl)
        served.port = server.sockets[0].getsockname()[1]
        servers.append(server)
        return served

    yield start
    for server in servers:
        server.close()


@pytest.fixture
async def fetcher():
    """`fetcher(timeout=…)`: a fetcher that may visit loopback, closed after the test."""
    made = []

    def make(*, lookup=None, **settings) -> HttpFetcher:
        values = {"timeout": 60.0, "allow_private": LOOPBACK} | settings
        made.append(HttpFetcher(HttpSettings(**values), lookup=lookup))
        return made[-1]

    yield make
    for one in made:
        await one.close()


def reply(body: bytes = b"", *headers: str, status: str = "200 OK") -> bytes:
    """A complete HTTP/1.1 reply with a Content-Length."""
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers])
    return head.encode() + b"\r\n\r\n" + body


@pytest.fixture(name="reply")
def _reply():
    return reply
