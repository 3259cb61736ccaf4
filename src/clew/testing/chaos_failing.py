"""Trouble without a page behind it, and trouble with robots.txt, sitemaps and names.

What is hopeless only asks that a crawler comes away unharmed: in bounded time, with bounded memory, and
without a step to where it may not go.
"""

from __future__ import annotations

import asyncio
import gzip

from clew.testing.chaos_bombs import bomb
from clew.testing.chaos_faults import Cure, FaultPlace, Talk, declare, head, kind

_SICK = FaultPlace.SICK
_HOPELESS = Cure.HOPELESS
_LINE = b"<p>" + b"and so on " * 200 + b"</p>"


# replies without end


@kind("endless-chunks", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """chunks for ever, as fast as they are taken"""
    await talk.send(head("200 OK", "Transfer-Encoding: chunked"))
    await talk.forever(lambda i: b"%x\r\n%s\r\n" % (len(_LINE), _LINE))


@kind("endless-body", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """a body without a length that never ends"""
    await talk.send(head("200 OK"))
    await talk.forever(lambda i: _LINE)


@kind("endless-drip", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """one byte of body every so often, for ever"""
    await talk.send(head("200 OK", "Content-Length: 1000000"))
    await talk.forever(lambda i: b"x", pause=0.1)


@kind("endless-headers", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """header lines for ever"""
    await talk.send("HTTP/1.1 200 OK\r\n")
    await talk.forever(lambda i: b"X-Header-%d: %s\r\n" % (i, b"x" * 100))


@kind("endless-continue", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """100 Continue for ever"""
    await talk.forever(lambda i: b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.001)


# redirects to nowhere


@kind("redirect-loop", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """two addresses that redirect to each other"""
    other = "?a" if talk.url.endswith("?b") else "?b"
    await talk.reply(f"Location: {other}", body=b"", status="302 Found")


@kind("redirect-self", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """an address that redirects to itself"""
    await talk.reply(f"Location: {talk.url}", body=b"", status="301 Moved")


@kind("redirect-endless", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """redirects to a new address each time, for ever"""
    number = int(talk.url.rpartition("hop=")[2] or 0) if "hop=" in talk.url else 0
    await talk.reply(f"Location: ?hop={number + 1}", body=b"", status="307 Temporary Redirect")


@kind("redirect-private", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """a redirect to an address on the crawler's own machine or network"""
    port = talk.forbidden.rpartition(":")[2]
    places = (
        talk.forbidden,
        f"http://2130706433:{port}",
        f"http://0x7f.1:{port}",
        f"http://[::ffff:127.0.0.1]:{port}",
        f"http://localhost:{port}",
        "http://169.254.169.254",
    )
    await talk.reply(f"Location: {talk.dice.choice(places)}/secret", body=b"", status="302 Found")


@kind("redirect-bad-url", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """a redirect to what is no address of the web"""
    places = ("http://[::1", "javascript:alert(1)", "file:///etc/passwd", "http://", "//:80/", "x" * 20_000)
    await talk.reply(f"Location: {talk.dice.choice(places)}", body=b"", status="302 Found")


@kind("redirect-no-location", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """a redirect that does not say where to"""
    await talk.reply(body=b"", status="301 Moved Permanently")


# bodies that are none


@kind("empty-reply", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """200 with an empty body"""
    await talk.reply(body=b"")


@kind("body-on-204", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """204 with a body, which the next reply on the connection would seem to begin with"""
    await talk.reply(body=b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged", status="204 No Content")


@kind("body-on-304", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """304 to a request without conditions, with a body"""
    await talk.reply(body=b"<p>not modified, yet here it is", status="304 Not Modified")


@kind("binary-as-html", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """random bytes labelled text/html"""
    await talk.reply(body=talk.dice.randbytes(50_000))


def _explode(name: str, coding: str, filler: bytes, what: str) -> None:
    async def act(talk: Talk) -> None:
        encoding, body = bomb(coding, 512 << 20, filler)
        await talk.reply(f"Content-Encoding: {encoding}", body=body)

    declare(name, _SICK, _HOPELESS, f"a few bytes of {coding} that unfold to half a gigabyte of {what}", act)


_explode("bomb-gzip", "gzip", b"\0", "zeros")
_explode("bomb-br", "br", b"\0", "zeros")
_explode("bomb-zstd", "zstd", b"\0", "zeros")
_explode("bomb-html", "gzip", b"<b a=b>x<i>", "open tags")


@kind("encodings-stacked", _SICK, _HOPELESS)
async def _(talk: Talk) -> None:
    """ten encodings on top of each other"""
    body = b"<p>deep down"
    for _ in range(10):
        body = gzip.compress(body)
    await talk.reply("Content-Encoding: " + ", ".join(["gzip"] * 10), body=body)


# robots.txt

_RULES = b"User-agent: *\nDisallow: /off-limits/\n"


@kind("robots-5xx", FaultPlace.ROBOTS, _HOPELESS)
async def _(talk: Talk) -> None:
    """a robots.txt that is always 503: everything on the host is off limits"""
    await talk.reply(body=b"", status="503 Service Unavailable")


@kind("robots-flap", FaultPlace.ROBOTS, Cure.HEALS)
async def _(talk: Talk) -> None:
    """a robots.txt that is 500 at first"""
    await talk.reply(body=b"", status="500 Internal Server Error")


@kind("robots-slow", FaultPlace.ROBOTS, Cure.HARMLESS)
async def _(talk: Talk) -> None:
    """a robots.txt that takes its time"""
    for start in range(0, len(_RULES), 4):
        if start == 0:
            await talk.send(head("200 OK", "Content-Type: text/plain", f"Content-Length: {len(_RULES)}"))
        await talk.send(_RULES[start : start + 4])
        await asyncio.sleep(0.02)


@kind("robots-huge", FaultPlace.ROBOTS, Cure.HARMLESS)
async def _(talk: Talk) -> None:
    """a robots.txt of four megabytes, the rules first"""
    rules = _RULES + b"".join(b"Disallow: /off-limits/%d/*x*y*z$\n" % i for i in range(110_000))
    await talk.reply("Content-Type: text/plain", body=rules)


@kind("robots-binary", FaultPlace.ROBOTS, Cure.HARMLESS)
async def _(talk: Talk) -> None:
    """a robots.txt of NULs and random bytes around the rules"""
    await talk.reply("Content-Type: text/plain", body=bytes(99) + b"\n" + _RULES + talk.dice.randbytes(999))


@kind("robots-loop", FaultPlace.ROBOTS, Cure.HARMLESS)
async def _(talk: Talk) -> None:
    """a robots.txt that redirects in circles, which counts as none"""
    here = "/robots.txt" if talk.url.endswith("?again") else "/robots.txt?again"
    await talk.reply(f"Location: {here}", body=b"", status="302 Found")


@kind("robots-html", FaultPlace.ROBOTS, Cure.HARMLESS)
async def _(talk: Talk) -> None:
    """an HTML page where robots.txt should be"""
    await talk.reply(body=b"<!doctype html><title>Welcome</title><p>Disallow: nothing, really</p>")


# sitemaps

_XML = "Content-Type: application/xml"


@kind("sitemap-entities", FaultPlace.SITEMAP, _HOPELESS)
async def _(talk: Talk) -> None:
    """a sitemap whose entities unfold a billion times, and reach for a file"""
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    dtd = f'<!DOCTYPE u [<!ENTITY e0 "ha">{levels}<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    await talk.reply(
        _XML,
        body=f"<?xml version='1.0'?>{dtd}<urlset><url><loc>{talk.base}/&e9;&x;</loc></url></urlset>".encode(),
    )


@kind("sitemap-bomb", FaultPlace.SITEMAP, _HOPELESS)
async def _(talk: Talk) -> None:
    """a gzipped sitemap that unfolds to half a gigabyte"""
    _, body = bomb("gzip", 512 << 20, b"<url><loc>http://a.example/</loc></url>")
    await talk.reply("Content-Type: application/gzip", body=body)


@kind("sitemap-endless", FaultPlace.SITEMAP, _HOPELESS)
async def _(talk: Talk) -> None:
    """a sitemap index that lists another such index, for ever"""
    number = int(talk.url.rpartition("n=")[2]) if "n=" in talk.url else 0
    entry = f"<sitemap><loc>{talk.base}/sitemap-endless.xml?n={number + 1}</loc></sitemap>"
    await talk.reply(_XML, body=f"<sitemapindex>{entry}</sitemapindex>".encode())


# names

declare("name-private", FaultPlace.NAME, _HOPELESS, "a name that resolves to an address on this machine")
declare("name-mixed", FaultPlace.NAME, _HOPELESS, "a name with a public address and a private one")
declare("name-unknown", FaultPlace.NAME, _HOPELESS, "a name that does not resolve")
declare("name-flap", FaultPlace.NAME, Cure.HEALS, "a name whose first look-up fails")
