"""Trouble on pages that can be had: it heals by the next request, or does no harm to who reads with care.

A reply that a lenient client may accept carries the true page, so that accepting it is never a mistake.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from clew.testing.chaos_bombs import bomb
from clew.testing.chaos_faults import Cure, FaultPlace, Talk, head, kind

_ON, _WAY = FaultPlace.PAGE, FaultPlace.WAY
_HEALS, _HARMLESS = Cure.HEALS, Cure.HARMLESS
_BIG = 1 << 20


# the connection


@kind("close-without-reply", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """the connection is closed without a byte"""


@kind("reset-before-headers", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """a TCP reset in place of a reply"""
    talk.reset()


@kind("reset-after-headers", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """the headers, then a TCP reset"""
    await talk.send(head("200 OK", f"Content-Length: {len(talk.page)}"))
    talk.reset()


@kind("reset-mid-body", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """half the body, then a TCP reset"""
    await talk.send(head("200 OK", f"Content-Length: {len(talk.page)}") + talk.page[: len(talk.page) // 2])
    await asyncio.sleep(0.01)
    talk.reset()


@kind("silence", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """the request is taken and never answered"""
    await talk.silence()


@kind("slow-headers", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """headers one byte at a time, too slow to ever end"""
    text = head("200 OK", *(f"X-Slow-{i}: {i}" for i in range(1000)))
    await talk.forever(lambda i: text[i % len(text) :][:1], pause=0.05)


@kind("slow-drip", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """the body in twenty small pieces with pauses between"""
    await talk.send(head("200 OK", f"Content-Length: {len(talk.page)}"))
    step = max(1, len(talk.page) // 20)
    for start in range(0, len(talk.page), step):
        await talk.send(talk.page[start : start + step])
        await asyncio.sleep(0.01)


@kind("tls-garbage", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """a TLS alert on a port that speaks plain HTTP"""
    await talk.send(b"\x15\x03\x01\x00\x02\x02\x46" + talk.dice.randbytes(60))


# lengths and chunks


@kind("length-too-long", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """a Content-Length longer than the body, which ends in the middle of the page"""
    await talk.send(head("200 OK", f"Content-Length: {len(talk.page)}") + talk.page[: len(talk.page) // 3])


@kind("length-too-short", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """a Content-Length shorter than what is sent; the rest pollutes the connection"""
    await talk.send(
        head("200 OK", f"Content-Length: {len(talk.page)}") + talk.page + b"<!-- and more -->" * 9
    )
    talk.keep = True


@kind("length-negative", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """a negative Content-Length"""
    await talk.send(head("200 OK", "Content-Length: -1") + talk.page)


@kind("length-twice", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """two Content-Lengths that disagree"""
    size = len(talk.page)
    await talk.send(head("200 OK", f"Content-Length: {size}", f"Content-Length: {size // 2}") + talk.page)


@kind("length-and-chunks", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """a Content-Length beside chunked encoding, as in request smuggling"""
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(talk.page), talk.page)
    await talk.send(head("200 OK", "Content-Length: 5", "Transfer-Encoding: chunked") + body)


@kind("chunk-bad-size", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """a chunk whose size is no number"""
    await talk.send(head("200 OK", "Transfer-Encoding: chunked") + b"zz\r\n" + talk.page)


@kind("chunk-huge-size", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """a chunk that claims 16 exabytes"""
    await talk.send(head("200 OK", "Transfer-Encoding: chunked") + b"ffffffffffffffff\r\n" + talk.page[:99])


@kind("chunks-cut", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """chunks that stop in the middle of the page, without the last one"""
    half = talk.page[: len(talk.page) // 2]
    await talk.send(head("200 OK", "Transfer-Encoding: chunked") + b"%x\r\n%s\r\n" % (len(half), half))


# status and headers


@kind("busy-429-seconds", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """429 with Retry-After in seconds"""
    await talk.reply("Retry-After: 2", body=b"slow down", status="429 Too Many Requests")


@kind("busy-503-date", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """503 with Retry-After as a date"""
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    await talk.reply(f"Retry-After: {when}", body=b"later", status="503 Service Unavailable")


@kind("busy-429-nonsense", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """429 with a Retry-After that is neither form"""
    await talk.reply("Retry-After: -1e400 fortnights", body=b"later", status="429 Too Many Requests")


@kind("flapping-500", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """500 now, the page a moment later"""
    await talk.reply(body=b"oops", status="500 Internal Server Error")


@kind("flapping-502", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """502 from a gateway in front of a healthy server"""
    await talk.reply(body=b"bad gateway", status="502 Bad Gateway")


@kind("headers-1mb", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """one header of a megabyte"""
    await talk.reply(f"X-Big: {'x' * _BIG}")


@kind("headers-many", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """ten thousand headers"""
    await talk.reply(*(f"X-Header-{i}: {i}" for i in range(10_000)))


@kind("header-injection", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """bare line breaks, a folded line and a NUL inside headers"""
    await talk.reply("X-A: one\rSet-Cookie: a=b", "X-B: two\nX-C: three", "X-D: four\r\n five", "X-E: \0")


@kind("header-bad-utf8", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """header values that are not UTF-8"""
    await talk.reply("X-Author: J\udcfcrgen \udcff\udcfe", "Server: \udce9t\udce9")


@kind("http-0.9", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """the page alone, without a status line or headers"""
    await talk.send(talk.page)


@kind("bad-version", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """a status line of HTTP/9.9"""
    await talk.send(b"HTTP/9.9 200 OK\r\nContent-Type: text/html\r\n\r\n" + talk.page)


@kind("bad-status", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """a status line whose status is a word"""
    await talk.send(b"HTTP/1.1 yes OK\r\nContent-Type: text/html\r\n\r\n" + talk.page)


@kind("continue-spam", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """fifty interim replies (100, 102, 103) before the real one"""
    for status in ("100 Continue", "102 Processing", "103 Early Hints") * 17:
        await talk.send(f"HTTP/1.1 {status}\r\nLink: </style.css>; rel=preload\r\n\r\n")
    await talk.reply()


# what the body says of itself


@kind("charset-unknown", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """a charset that nobody has heard of"""
    await talk.reply("Content-Type: text/html; charset=x-klingon")


@kind("charset-lie", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """UTF-8 declared as Shift_JIS in the header and as KOI8-R in the page"""
    body = talk.page.replace(b"<head>", b"<head><meta charset=koi8-r>", 1)
    await talk.reply("Content-Type: text/html; charset=shift_jis", body=body)


@kind("type-missing", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """no Content-Type at all"""
    await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(talk.page), talk.page))


@kind("nul-bytes", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """NUL bytes strewn between the tags"""
    await talk.reply(body=talk.page.replace(b"<p>", b"\0<p>\0"))


@kind("encoding-lie", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """plain HTML labelled as gzip"""
    await talk.reply("Content-Encoding: gzip")


@kind("gzip-truncated", _ON, _HEALS)
async def _(talk: Talk) -> None:
    """a gzip body without its second half"""
    packed = gzip.compress(talk.page)
    await talk.reply("Content-Encoding: gzip", body=packed[: len(packed) // 2])


@kind("gzip-bad-check", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """a gzip body whose checksum is wrong"""
    await talk.reply("Content-Encoding: gzip", body=gzip.compress(talk.page)[:-8] + bytes(8))


@kind("deflate-bare", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """a bare deflate stream where the standard wants zlib's"""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    await talk.reply("Content-Encoding: deflate", body=packer.compress(talk.page) + packer.flush())


@kind("deep-nesting", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """twenty thousand elements inside one another, after the text"""
    await talk.reply(body=talk.page + b"<div>" * 20_000)


@kind("many-attributes", _ON, _HARMLESS)
async def _(talk: Talk) -> None:
    """one element with twenty thousand attributes, after the text"""
    attributes = b" ".join(b"a%d=%d" % (i, i) for i in range(20_000))
    await talk.reply(body=talk.page + b"<div " + attributes + b">")


# the way there


@kind("redirect-chain", _WAY, _HARMLESS)
async def _(talk: Talk) -> None:
    """a few redirects in a row, of all five sorts, the page at their end"""
    status = talk.dice.choice(("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"))
    await talk.reply(f"Location: {talk.page.decode()}", body=b"moved", status=status)


@kind("redirect-bomb", _WAY, _HARMLESS)
async def _(talk: Talk) -> None:
    """a redirect whose own body is a decompression bomb"""
    coding, body = bomb("br", 256 << 20)
    location = f"Location: {talk.page.decode()}"
    await talk.reply(location, f"Content-Encoding: {coding}", body=body, status="302 Found")
