"""A plain site on loopback to kill, starve or tire the crawler on: pages 0 to n - 1, a log.

Every page has a text of its own and links to its children in a tree and to a few others, so each can be
reached. It answers after `latency` seconds, and remembers when each request came and whether it was answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from clew.testing.web import made_up_word

FANOUT = 8


@dataclass(slots=True)
class Asked:
    """One request for a page."""

    page: int
    at: float
    answered: float | None = None


@dataclass(slots=True)
class Site:
    """What is served, and what was asked for."""

    pages: int
    words: int = 150
    links: int = 12
    latency: float = 0.0
    port: int = 0
    log: list[Asked] = field(default_factory=list)
    others: int = 0
    """Requests for anything but a page: robots.txt."""
    told: Callable[[], None] = lambda: None
    """Called when anything is asked for."""

    @property
    def seed(self) -> str:
        return self.url(0)

    def url(self, number: int) -> str:
        return f"http://127.0.0.1:{self.port}/{number}"

    def path(self, target: bytes) -> bytes:
        """The number of the page that is asked for, as text."""
        return target[1:]

    def token(self, number: int) -> str:
        """A word that only this page has."""
        return f"site{number:06d}page"

    def html(self, number: int) -> bytes:
        """The page: the same every time."""
        dice = random.Random(number)
        words = " ".join(made_up_word(dice, 3) for _ in range(self.words))
        near = range(number * FANOUT + 1, min(number * FANOUT + 1 + FANOUT, self.pages))
        far = [dice.randrange(self.pages) for _ in range(max(0, self.links - FANOUT))]
        links = "".join(f'<li><a href="/{i}">to number {i}</a>' for i in [*near, *far])
        start = f"<!doctype html><html lang=en><title>Page {number}</title>"
        return f"{start}<p>{self.token(number)} {words}</p><ul>{links}</ul></html>".encode()

    def unanswered(self, since: int) -> int:
        """Pages asked for and not answered, from the `since`-th request on."""
        return sum(asked.answered is None for asked in self.log[since:])


class _Connection(asyncio.Protocol):
    def __init__(self, site: Site, loop: asyncio.AbstractEventLoop) -> None:
        self.site = site
        self.loop = loop
        self.buffer = b""
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            request, self.buffer = self.buffer[:end], self.buffer[end + 4 :]
            self.site.told()
            path = self.site.path(request.split(b" ", 2)[1])
            if not path.isdigit() or int(path) >= self.site.pages:
                self.site.others += 1
                self.transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                continue
            asked = Asked(int(path), time.monotonic())
            self.site.log.append(asked)
            if self.site.latency:
                self.loop.call_later(self.site.latency, self.answer, asked)
            else:
                self.answer(asked)

    def answer(self, asked: Asked) -> None:
        if self.transport.is_closing():
            return
        body = self.site.html(asked.page)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
        asked.answered = time.monotonic()
        self.transport.write(head % len(body) + body)


@contextlib.contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve a site from a thread of its own while the block runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> asyncio.Server:
        return await loop.create_server(lambda: _Connection(site, loop), "127.0.0.1", site.port, backlog=1024)

    server = asyncio.run_coroutine_threadsafe(start(), loop).result()
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
