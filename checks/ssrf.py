"""Private addresses in disguise, by every way in: does the crawler connect to a single one?

    .venv/bin/python checks/ssrf.py [--json]

A site that may be visited offers each target as a link, a redirect, a meta refresh, a Refresh header, a
canonical link, a base address, a sitemap, an entry of one, and as what robots.txt redirects to; besides, each
is a seed, and is asked of the door itself. Names lie: some have private addresses, some mix them with public
ones, some alternate. Every connection is counted where it is made (an audit hook on `socket.connect`, which
also keeps those to public addresses from leaving), and by a listener on the forbidden address. Bar: none.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import html
import logging
import socket
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from verdict import arguments, ended

from clew.errors import ClewError, FetchError
from clew.fetch import HttpFetcher, HttpSettings, Request
from clew.run.config import CrawlConfig
from clew.run.session import Session
from clew.store import MemoryStore
from clew.testing.chaos import HurriedClock

HOME = "127.0.0.2"
DOMAIN = "start.example"
PUBLIC = "93.184.215.14"

HOSTS = """
127.0.0.1 127.1 127.0.1 127.0.0.1. 127.255.255.254 2130706433 0x7f000001 0x7F000001 0x7f.0.0.1 0x7f.1
017700000001 0177.0.0.1 0177.1 00000177.0x0.1 0 0x0 0.0.0.0 00.0 127。0。0。1 127．0．0．1 127｡0｡0｡1
１２７.0.0.1 ①②⑦.⓪.⓪.① %31%32%37.0.0.1 127%2e0%2e0%2e1 0x7f%2E1 localhost LOCALHOST localhost. foo.localhost
localhost.localdomain ⓛⓞⓒⓐⓛⓗⓞⓢⓣ ｌｏｃａｌｈｏｓｔ loc%61lhost local&shy;host
10.0.0.1 10.1 012.0.0.1 0xa.0.0.1 167772161 172.16.0.1 0xac.0x10.0.1 172.31.255.254 192.168.0.1 192.168.1
0xc0a80001 3232235521 0300.0250.0.1 100.64.0.1 198.18.0.1 192.0.2.1 224.0.0.1 240.0.0.1 255.255.255.255
169.254.169.254 169.254.169.254. 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518 100.100.100.200
192.0.0.192 168.63.129.16 metadata.google.internal metadata instance-data
[::1] [::] [0:0:0:0:0:0:0:1] [0000::0001] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::7f00:1]
[::ffff:10.0.0.1] [::ffff:a9fe:a9fe] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe]
[64:ff9b:1::a00:1] [2002:7f00:1::] [2002:a9fe:a9fe::1] [2002:c0a8:1::] [2001:0:4136:e378:8000:63bf:80ff:fffe]
[fe80::1] [fe80::1%25lo] [::1%25lo] [fc00::1] [fd00:ec2::254] [fec0::1] [ff02::1] [100::1] [5f00::1]
""".split()  # noqa: SIM905 - a table to be read

WHOLE = (
    f"http://{DOMAIN}@127.0.0.1:{{port}}/",
    f"http://{DOMAIN}:80@[::1]:{{port}}/",
    f"http://127.0.0.1:{{port}}#@{DOMAIN}/",
    f"http://127.0.0.1:{{port}}\\@{DOMAIN}/",
    f"http://127.0.0.1:{{port}}?@{DOMAIN}/",
    f"http://{DOMAIN}\\@127.0.0.1:{{port}}/",
    "http:/\\127.0.0.1:{port}/",
    "http:127.0.0.1:{port}/",
    "http:\\\\127.0.0.1:{port}/",
    "//127.0.0.1:{port}/",
    "http://127.0.0\t.1:{port}/",
    "https://127.0.0.1:{port}/",
    "HTTP://127.0.0.1:{port}/",
    f"http://{HOME}:{{home}}/",
    "http://127.0.0.1:22/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/_",
)

NAMES: dict[str, list[list[str]]] = {
    "127.0.0.1.wildcard.example": [["127.0.0.1"]],
    "private.example": [["10.0.0.1"]],
    "metadata.example": [["169.254.169.254"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
    "compatible.example": [["::127.0.0.1"]],
    "loopback6.example": [["::1"]],
    "scoped.example": [["fe80::1%lo"]],
    "nat64.example": [["64:ff9b::7f00:1"]],
    "sixtofour.example": [["2002:7f00:1::"]],
    "zero.example": [["0.0.0.0"]],
    "mixed.example": [[PUBLIC, "127.0.0.1"]],
    "mixed-last.example": [["127.0.0.1", PUBLIC]],
    "alternates.example": [[PUBLIC], ["127.0.0.1"]],
    "alternates-back.example": [["127.0.0.1"], [PUBLIC]],
    "alternates6.example": [[PUBLIC], ["::1"]],
    "nonsense.example": [["not an address"]],
}
"""What each look-up of a name gives in turn, over and over."""


@dataclass
class Watch:
    """Every connection, as the interpreter sees it."""

    home: int = 0
    allowed: int = 0
    public: Counter[str] = field(default_factory=Counter)
    rogue: list[str] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo":
            self.looked_up.append(str(arguments[0]))
        if event not in ("socket.connect", "socket.sendto"):
            return
        address = arguments[1]
        if not isinstance(address, tuple):
            return
        host, port = str(address[0]), int(address[1])
        if host == HOME:
            self.allowed += 1
            if port != self.home:
                # the site's own name, at a port where nobody listens: allowed, and of no use
                raise OSError(errno.ECONNREFUSED, "nobody there")
        elif host == PUBLIC:
            self.public[f"{host}:{port}"] += 1
            raise OSError(errno.ENETUNREACH, "nothing leaves this machine")
        else:
            self.rogue.append(f"{host}:{port}")
            raise OSError(errno.ECONNREFUSED, "counted, and stopped")


WATCH = Watch()


class Lookup:
    """A name server that lies."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    async def __call__(self, name: str) -> list[str]:
        self.asked[name] += 1
        if name == DOMAIN or name.endswith(f".{DOMAIN}"):
            return [HOME]
        answers = NAMES.get(name)
        if answers is None:
            # a name server that answers for anything, with the one thing it should not
            return ["127.0.0.1"]
        return answers[(self.asked[name] - 1) % len(answers)]


def targets(port: int, home: int) -> list[str]:
    """Every target, as it is written on a page."""
    found = [f"http://{host}:{port}/" for host in HOSTS] + [f"http://{name}:{port}/" for name in NAMES]
    return found + [whole.format(port=port, home=home) for whole in WHOLE]


class Site:
    """The site that may be visited: page by page, each way to each target."""

    WAYS = ("redirect", "refresh", "refresh-header", "canonical", "canonical-header", "base", "frame")

    MAPS = ("map.xml", "map-index.xml", "map.txt", "map-atom.xml")

    def __init__(self, aims: list[str]) -> None:
        self.aims = aims
        self.port = 0
        self.seen: Counter[str] = Counter()
        self.strangers: list[str] = []

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while True:
                request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                path = request.split(" ")[1]
                host = next(x[5:].strip() for x in request.split("\r\n") if x.lower().startswith("host:"))
                name = host.rpartition(":")[0]
                if name != DOMAIN and not name.endswith(f".{DOMAIN}"):
                    self.strangers.append(host)
                status, headers, body = self.answer(name, path)
                lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
                writer.write("\r\n".join(lines).encode() + body)
                await writer.drain()
        writer.close()

    def answer(self, name: str, path: str) -> tuple[str, list[str], bytes]:
        way, _, number = path.strip("/").partition("/")
        label = name.partition(".")[0]
        if path == "/robots.txt":
            return self.robots(label)
        self.seen[way or "home"] += 1
        if way.startswith("map"):
            return self.sitemap(way)
        if way in self.WAYS and number.isdigit():
            return self.lead(way, self.aims[int(number)])
        if path == "/" and name == DOMAIN:
            return "200 OK", ["Content-Type: text/html; charset=utf-8"], self.home().encode()
        return "200 OK", ["Content-Type: text/html"], b"<p>nothing to see"

    def home(self) -> str:
        # Some targets are dead ports of this very host: a crawl that met them first would give the host up.
        links = [f"/{way}/{i}" for way in self.WAYS for i in range(len(self.aims))]
        links += [html.escape(aim) for aim in self.aims]
        links += [f"http://{kind}{i}.{DOMAIN}:{self.port}/" for kind in "rs" for i in range(len(self.aims))]
        links.append(f"http://maps.{DOMAIN}:{self.port}/")
        return "".join(f'<a href="{link}">x</a>\n' for link in links)

    def robots(self, label: str) -> tuple[str, list[str], bytes]:
        kind, number = label[:1], label[1:]
        if kind == "r" and number.isdigit():
            self.seen["robots-redirect"] += 1
            return "302 Found", [f"Location: {_ascii(self.aims[int(number)])}"], b""
        rules = ["User-agent: *", "Disallow:"]
        if kind == "s" and number.isdigit():
            self.seen["robots-sitemap"] += 1
            rules.append(f"Sitemap: {self.aims[int(number)]}")
        if label == "maps":
            rules += [f"Sitemap: http://maps.{DOMAIN}:{self.port}/{name}" for name in self.MAPS]
        return "200 OK", ["Content-Type: text/plain; charset=utf-8"], "\n".join(rules).encode()

    def sitemap(self, name: str) -> tuple[str, list[str], bytes]:
        listed = [html.escape(aim) for aim in self.aims]
        if name == "map.txt":
            return "200 OK", ["Content-Type: text/plain; charset=utf-8"], "\n".join(self.aims).encode()
        if name == "map-atom.xml":
            body = "<feed>" + "".join(f'<entry><link href="{aim}"/></entry>' for aim in listed) + "</feed>"
        else:
            outer, inner = ("sitemapindex", "sitemap") if "index" in name else ("urlset", "url")
            body = "".join(f"<{inner}><loc>{aim}</loc></{inner}>" for aim in listed)
            body = f'<{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{body}</{outer}>'
        return "200 OK", ["Content-Type: application/xml; charset=utf-8"], body.encode()

    def lead(self, way: str, aim: str) -> tuple[str, list[str], bytes]:
        shown = html.escape(aim)
        headers = ["Content-Type: text/html; charset=utf-8"]
        match way:
            case "redirect":
                return "302 Found", [f"Location: {_ascii(aim)}"], b""
            case "refresh-header":
                return "200 OK", [*headers, f"Refresh: 0; url={_ascii(aim)}"], b"<p>x"
            case "canonical-header":
                return "200 OK", [*headers, f"Link: <{_ascii(aim)}>; rel=canonical"], b"<p>x"
            case "refresh":
                body = f'<meta http-equiv=refresh content="0; url={shown}"><p>x'
            case "canonical":
                body = f'<link rel=canonical href="{shown}"><p>x'
            case "base":
                body = f'<base href="{shown}"><a href="relative">x</a>'
            case _:
                body = f'<iframe src="{shown}"></iframe><img src="{shown}"><form action="{shown}"></form>'
        return "200 OK", headers, body.encode()


def _ascii(text: str) -> str:
    """A header as servers write it: other letters as UTF-8, percent-encoded; no line breaks or tabs."""
    return quote(text, safe="%/:?#[]@!$&'()*+,;=\\~-._|^<>{}`\"")


async def door(aims: list[str], fetcher: HttpFetcher) -> dict[str, int]:
    """Each target asked of the fetcher itself, twice: names that alternate show their second face."""
    found: Counter[str] = Counter()
    for aim in [*aims, *aims]:
        try:
            reply = await fetcher.fetch(Request(aim))
            found[f"answered {reply.status}: {aim}"] += 1
        except FetchError as refused:
            found[refused.reason.value] += 1
    return dict(found)


async def seeds(aims: list[str], fetcher: HttpFetcher) -> dict[str, int]:
    """Each target as the seed of a crawl."""
    found: Counter[str] = Counter()
    for aim in aims:
        try:
            config = CrawlConfig(seeds=(aim,), match="x", delay=0.25, parse_workers=0)
            finished = await Session(config, MemoryStore(), fetcher=fetcher, clock=HurriedClock(0.0)).run()
            found[finished.reason] += 1
        except (ClewError, ValueError):
            found["refused as a seed"] += 1
    return dict(found)


async def links(site: Site, fetcher: HttpFetcher) -> dict[str, Any]:
    """One crawl of the site, by which every way is walked."""
    config = CrawlConfig(
        seeds=(f"http://{DOMAIN}:{site.port}/",),
        match="x",
        pages=None,
        strategy="breadth-first",
        own=(DOMAIN, f"*.{DOMAIN}"),
        allow_private=(DOMAIN, f"*.{DOMAIN}"),
        delay=0,
        parse_workers=0,
        # A site of a thousand alike pages is a trap, and would be left before every way was walked.
        traps=False,
        sitemaps="on",
    )
    store = MemoryStore()
    finished = await Session(config, store, fetcher=fetcher, clock=HurriedClock(0.02)).run()
    trace = Counter(
        d.reasons[0] if d.result in ("failed", "retry") and d.reasons else d.result for d in store.decisions()
    )
    return {"reason": finished.reason, "pages": finished.pages, "trace": dict(trace)}


@contextlib.asynccontextmanager
async def _served(site: Site) -> Any:
    server = await asyncio.start_server(site.connected, HOME, 0, limit=1 << 20)
    site.port = WATCH.home = server.sockets[0].getsockname()[1]
    yield
    server.close()


@contextlib.contextmanager
def _canary() -> Iterator[socket.socket]:
    """A listener on the forbidden address, in case a connection escapes the hook."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


async def run() -> dict[str, Any]:
    with _canary() as canary:
        port = canary.getsockname()[1]
        site = Site([])
        async with _served(site):
            site.aims = targets(port, site.port)
            settings = HttpSettings(timeout=5.0, allow_private=(DOMAIN, f"*.{DOMAIN}"), dns_ttl=0.0)
            async with HttpFetcher(settings, lookup=Lookup()) as fetcher:
                asked = await door(site.aims, fetcher)
                started = await seeds(site.aims, fetcher)
                walked = await links(site, fetcher)
        accepted = 0
        with contextlib.suppress(BlockingIOError):
            while canary.accept():
                accepted += 1
    expected = dict.fromkeys((*Site.WAYS, "robots-redirect", "robots-sitemap"), len(site.aims))
    expected |= dict.fromkeys(Site.MAPS, 1)
    return {
        "targets": len(site.aims),
        "ways": len((*Site.WAYS, *Site.MAPS, "link", "robots-redirect", "robots-sitemap", "seed", "door")),
        "offered": dict(site.seen),
        "not_offered": {way: n - site.seen[way] for way, n in expected.items() if site.seen[way] < n},
        "connections": len(WATCH.rogue),
        "rogue": sorted(set(WATCH.rogue)),
        "accepted": accepted,
        "strangers": site.strangers,
        "allowed": WATCH.allowed,
        "public": sum(WATCH.public.values()),
        "looked_up": sorted(set(WATCH.looked_up) - {HOME, "127.0.0.1"}),
        "door": asked,
        "seeds": started,
        "crawl": walked,
    }


def wrong(found: dict[str, Any]) -> list[str]:
    """Connections that were made, and ways that were not tried."""
    bad = [f"connected to {where}" for where in found["rogue"]]
    bad += [f"{found['accepted']} connections accepted by a forbidden listener"] if found["accepted"] else []
    bad += [f"asked the site's own address for {host}" for host in found["strangers"]]
    bad += [f"{name} was looked up by the system" for name in found["looked_up"]]
    return bad + [
        f"{way}: {lacking} targets were never offered" for way, lacking in found["not_offered"].items()
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Offer private addresses in disguise, and count connections.")
    given = parser.parse_args(argv)
    logging.disable(logging.CRITICAL)
    sys.addaudithook(WATCH)
    found = asyncio.run(run())
    failures = wrong(found)
    lines = [
        f"{found['targets']} targets by {found['ways']} ways; offered: {found['offered']}",
        f"never offered: {found['not_offered'] or 'none'}",
        f"connections to them: {found['connections']} {found['rogue']}, accepted {found['accepted']}",
        f"requests for another host at the site's own address: {len(found['strangers'])}",
        f"connections to the site: {found['allowed']}; attempts at public addresses: {found['public']}",
        f"names that left through the system's look-up: {found['looked_up']}",
        *(f"{part}: {found[part]}" for part in ("door", "seeds", "crawl")),
    ]
    return ended(given, "ssrf", sum(found["offered"].values()), failures, found, lines)


if __name__ == "__main__":
    sys.exit(main())
