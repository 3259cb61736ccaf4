"""Is clew polite? The server's own log says: no gap shorter than the delay, never two requests at once.

    .venv/bin/python checks/politeness.py [--hosts 30] [--addresses 10] [--pages 400] [--kills 2]

Serves many hosts on few loopback addresses (some hosts on two), with redirects between hosts, robots.txt that
redirect to other hosts, 503 with Retry-After, resets in the middle of a reply, sitemaps and slow replies. A
crawl of all of it runs in a process of its own, is killed with SIGKILL in the middle, and resumed. The server
logs when each request came and when its reply was done, by host and by address; the log gives the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verdict import arguments, ended

from clew.fetch import HttpFetcher, HttpSettings
from clew.run import CrawlConfig, Session
from clew.store import SqliteStore


@dataclass(frozen=True)
class Web:
    """Which hosts there are, where they live, and what they answer."""

    hosts: int = 30
    addresses: int = 10
    pages: int = 400
    seed: int = 1

    def names(self) -> list[str]:
        return [f"h{i}.polite.example" for i in range(self.hosts)]

    def where(self, host: str) -> list[str]:
        """Every fifth host lives at two addresses."""
        i = int(host.split(".")[0][1:])
        places = [i % self.addresses, (i * 7 + 3) % self.addresses] if i % 5 == 4 else [i % self.addresses]
        return [f"127.0.1.{n + 1}" for n in dict.fromkeys(places)]

    def reply(
        self, host: str, path: str, port: int, visits: int
    ) -> tuple[str, list[str], bytes, float, bool]:
        """(status line, headers, body, seconds it takes, whether the connection breaks off)."""
        dice = random.Random(f"{self.seed} {host} {path} {visits}")
        slow = dice.choice([0.0, 0.0, 0.01, 0.05])
        if path == "/robots.txt":
            return self._robots(host, port, slow)
        if path == "/rules.txt":
            return "200 OK", ["Content-Type: text/plain"], b"User-agent: *\nDisallow: /no\n", slow, False
        if path == "/map.xml":
            locs = "".join(f"<url><loc>http://{host}:{port}/p/{n}</loc></url>" for n in range(5))
            return "200 OK", ["Content-Type: text/xml"], f"<urlset>{locs}</urlset>".encode(), slow, False
        roll = dice.random()
        if roll < 0.03:
            return "503 Service Unavailable", ["Retry-After: 1"], b"busy", slow, False
        if roll < 0.08:
            return "200 OK", ["Content-Length: 5000"], b"<p>cut", slow, True
        if roll < 0.2:
            goal = f"http://{dice.choice(self.names())}:{port}/p/{dice.randrange(self.pages)}"
            return "302 Found", [f"Location: {goal}"], b"", slow, False
        links = [
            f"http://{dice.choice(self.names())}:{port}/p/{dice.randrange(self.pages)}" for _ in range(12)
        ]
        words = " ".join("".join(dice.choices("abcdefgh", k=6)) for _ in range(60))
        body = f"<title>{path}</title><p>wind {words}" + "".join(f'<a href="{u}">x</a>' for u in links)
        return "200 OK", ["Content-Type: text/html"], body.encode(), slow, False

    def _robots(self, host: str, port: int, slow: float) -> tuple[str, list[str], bytes, float, bool]:
        i = int(host.split(".")[0][1:])
        if i % 4 == 1:
            other = self.names()[(i * 3 + 1) % self.hosts]
            return "301 Moved Permanently", [f"Location: http://{other}:{port}/rules.txt"], b"", slow, False
        if i % 4 == 2:
            return "404 Not Found", [], b"", slow, False
        return "200 OK", [], b"User-agent: *\nDisallow: /no\nSitemap: /map.xml\n", slow, False


@dataclass
class Log:
    """What the server saw."""

    gaps: dict[str, float] = field(default_factory=dict)
    """The shortest time from the end of one request to the start of the next, by host or address."""
    flying: Counter[str] = field(default_factory=Counter)
    most: dict[str, int] = field(default_factory=dict)
    ended: dict[str, float] = field(default_factory=dict)
    requests: int = 0
    statuses: Counter[str] = field(default_factory=Counter)

    def start(self, *places: str) -> None:
        now = time.monotonic()
        self.requests += 1
        for place in places:
            self.flying[place] += 1
            self.most[place] = max(self.most.get(place, 0), self.flying[place])
            if place in self.ended:
                self.gaps[place] = min(self.gaps.get(place, 1e9), now - self.ended[place])

    def end(self, *places: str) -> None:
        for place in places:
            self.flying[place] -= 1
            self.ended[place] = time.monotonic()


class Server:
    """Answers for a web on all its addresses, one port."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.log = Log()
        self.port = 0
        self._visits: Counter[str] = Counter()
        self._servers: list[asyncio.Server] = []

    async def __aenter__(self) -> Server:
        for n in range(self.web.addresses):
            address = f"127.0.1.{n + 1}"
            server = await asyncio.start_server(self._talk, address, self.port)
            self.port = self.port or server.sockets[0].getsockname()[1]
            self._servers.append(server)
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = str(writer.get_extra_info("sockname")[0])
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                path = head.split(" ", 2)[1]
                host = (
                    next(x for x in head.split("\r\n") if x.lower().startswith("host:"))[5:]
                    .strip()
                    .split(":")[0]
                )
                self.log.start(host, address)
                try:
                    if not await self._answer(writer, host, path):
                        break
                finally:
                    self.log.end(host, address)
        writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, host: str, path: str) -> bool:
        self._visits[host + path] += 1
        status, headers, body, slow, breaks = self.web.reply(host, path, self.port, self._visits[host + path])
        self.log.statuses["reset" if breaks else status[:3]] += 1
        await asyncio.sleep(slow)
        if not breaks:
            headers = [*headers, f"Content-Length: {len(body)}"]
        writer.write(
            f"HTTP/1.1 {status}\r\n{''.join(h + chr(13) + chr(10) for h in headers)}\r\n".encode() + body
        )
        await writer.drain()
        return not breaks


async def crawl(web: Web, port: int, directory: Path, delay: float, pages: int, seconds: float) -> str:
    """One session over the web, new or resumed; gives the reason it ended."""

    async def lookup(host: str) -> list[str]:
        return web.where(host)

    config = CrawlConfig(
        seeds=tuple(f"http://{name}:{port}/" for name in web.names()[::3]),
        match="wind",
        strategy="breadth-first",
        pages=pages,
        delay=delay,
        concurrency=64,
        parse_workers=0,
        timeout=5.0,
        time=seconds,
    )
    settings = HttpSettings(
        timeout=5.0, concurrency=64, allow_private=("127.0.0.0/8",), dns_ttl=3600.0, retry_dropped=False
    )
    fetcher = HttpFetcher(settings, lookup=lookup)
    with SqliteStore(directory) as store:
        finished = await Session(config, store, fetcher=fetcher).run()
    await fetcher.close()
    return finished.reason


def figures(log: Log, web: Web, delay: float) -> dict[str, Any]:
    """What the log says."""
    addresses = {place: gap for place, gap in log.gaps.items() if place.startswith("127.")}
    hosts = {place: gap for place, gap in log.gaps.items() if not place.startswith("127.")}
    return {
        "requests": log.requests,
        "hosts": sum(not place.startswith("127.") for place in log.most),
        "addresses": sum(place.startswith("127.") for place in log.most),
        "replies": dict(log.statuses.most_common()),
        "min_gap_host": min(hosts.values(), default=float("nan")) / delay,
        "min_gap_address": min(addresses.values(), default=float("nan")) / delay,
        "most_in_flight_host": max((n for p, n in log.most.items() if not p.startswith("127.")), default=0),
        "most_in_flight_address": max((n for p, n in log.most.items() if p.startswith("127.")), default=0),
    }


async def run(web: Web, *, delay: float, pages: int, kills: int, seconds: float) -> dict[str, Any]:
    """The whole benchmark: crawls in processes of their own, killed and resumed."""
    with tempfile.TemporaryDirectory() as place:
        async with Server(web) as server:
            directory = Path(place) / "crawl"
            dice = random.Random(web.seed)
            for number in range(kills + 1):
                job = {"port": server.port, "directory": str(directory), "delay": delay, "pages": pages}
                job |= {
                    "hosts": web.hosts,
                    "addresses": web.addresses,
                    "web_pages": web.pages,
                    "seed": web.seed,
                }
                worker = await asyncio.create_subprocess_exec(
                    sys.executable, __file__, "--worker", json.dumps(job | {"seconds": seconds})
                )
                if number == kills:
                    await worker.wait()
                    break
                await asyncio.sleep(3.0 + 4.0 * dice.random())
                with contextlib.suppress(ProcessLookupError):
                    worker.send_signal(signal.SIGKILL)
                await worker.wait()
            return figures(server.log, web, delay)


def wrong(found: dict[str, Any]) -> list[str]:
    """Rules that the server's log shows broken, for hosts and for addresses."""
    bad = []
    for kind in ("host", "address"):
        gap, most = found[f"min_gap_{kind}"], found[f"most_in_flight_{kind}"]
        if not gap >= 1.0:
            bad.append(f"the shortest gap at a {kind} was {gap:.3f} of the delay")
        if most != 1:
            bad.append(f"{most} requests were in flight at one {kind}")
    return bad


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Crawl hosts on shared addresses and read the server's log.")
    parser.add_argument("--hosts", type=int, default=30)
    parser.add_argument("--addresses", type=int, default=10)
    parser.add_argument("--pages", type=int, default=400, help="pages to crawl")
    parser.add_argument("--delay", type=float, default=0.3)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=90.0, help="time limit of the crawl")
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.worker:
        job = json.loads(given.worker)
        web = Web(job["hosts"], job["addresses"], job["web_pages"], job["seed"])
        asyncio.run(
            crawl(web, job["port"], Path(job["directory"]), job["delay"], job["pages"], job["seconds"])
        )
        return 0
    web = Web(given.hosts, given.addresses)
    found = asyncio.run(
        run(web, delay=given.delay, pages=given.pages, kills=given.kills, seconds=given.seconds)
    )
    failures = wrong(found)
    line = "{requests} requests to {hosts} hosts on {addresses} addresses, {kills} kills, replies {replies}"
    lines = [
        line.format(kills=given.kills, **found),
        "shortest gap ÷ delay: {min_gap_host:.3f} by host, {min_gap_address:.3f} by address".format(**found),
        "most in flight: {most_in_flight_host} by host, {most_in_flight_address} by address".format(**found),
    ]
    return ended(given, "politeness", found["requests"], failures, found, lines)


if __name__ == "__main__":
    sys.exit(main())
