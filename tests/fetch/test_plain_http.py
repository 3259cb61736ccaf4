"""Connections of our own: when they are kept, when they are not, and what is never mixed up."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from clew.errors import FetchError, Reason
from clew.fetch import Request
from clew.fetch.plain_http import Connection


async def test_a_reply_with_something_behind_it_ends_the_connection(serve, fetcher, reply):
    """Bytes that nobody asked for must not become the reply to the next request."""
    server = await serve(reply(b"mine") + reply(b"smuggled"), close=False)
    one = fetcher()
    for path in ("/a", "/b"):
        assert (await one.fetch(Request(server.url(path)))).body == b"mine"
    assert server.connections == 2


async def test_words_on_an_idle_connection_end_it(serve, fetcher, reply):
    """The same when they come a moment later."""
    said = asyncio.Event()

    async def twice(writer):
        writer.write(reply(b"mine"))
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(reply(b"smuggled"))
        await writer.drain()
        said.set()

    server = await serve(twice, close=False)
    one = fetcher()
    assert (await one.fetch(Request(server.url("/a")))).body == b"mine"
    await said.wait()
    await asyncio.sleep(0.05)
    assert (await one.fetch(Request(server.url("/b")))).body == b"mine"
    assert server.connections == 2


@pytest.mark.parametrize("retry", [True, False, ("127.0.0.1",), ("a.example",)])
async def test_a_connection_closed_between_requests_is_replaced_if_allowed(serve, fetcher, reply, retry):
    """The second request is the first on a new connection; without leave to send it again it is a reset."""

    async def lie(writer):
        # Says that it stays, and goes at the next request.
        if len(server.requests) % 2:
            writer.write(reply(b"x"))
            await writer.drain()
        else:
            writer.transport.abort()

    server = await serve(lie, close=False)
    one = fetcher(retry_dropped=retry)
    assert (await one.fetch(Request(server.url("/1")))).body == b"x"
    if retry and retry != ("a.example",):
        assert (await one.fetch(Request(server.url("/2")))).body == b"x"
        assert len(server.requests) == 3
    else:
        with pytest.raises(FetchError) as caught:
            await one.fetch(Request(server.url("/2")))
        assert caught.value.reason is Reason.RESET
        assert len(server.requests) == 2


async def test_interim_replies_are_passed_over(serve, fetcher, reply):
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    server = await serve(interim + reply(b"page", "X-A: 1"))
    got = await fetcher().fetch(Request(server.url()))
    assert (got.status, got.body, got.header("link"), got.header("x-a")) == (200, b"page", "", "1")


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 300 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ],
)
async def test_what_is_not_http_is_a_bad_reply(serve, fetcher, said):
    server = await serve(said, close=True)
    with pytest.raises(FetchError) as caught:
        await fetcher().fetch(Request(server.url()))
    assert caught.value.reason is Reason.BAD_REPLY


async def test_a_body_without_a_length_ends_with_the_connection(serve, fetcher):
    server = await serve(b"HTTP/1.0 200 OK\r\n\r\nall of it", close=True)
    got = await fetcher().fetch(Request(server.url()))
    assert (got.body, got.truncated) == (b"all of it", False)


async def test_idle_connections_are_closed_in_time(serve, fetcher, reply):
    server = await serve(reply(b"x"))
    one = fetcher(keepalive=0.05)
    await one.fetch(Request(server.url()))
    await asyncio.sleep(0.2)
    await one.fetch(Request(server.url()))
    assert server.connections == 2


async def test_many_at_once_get_their_own_replies(serve, fetcher):
    async def echo(writer):
        path = server.requests[-1].split(b" ")[1]
        await asyncio.sleep(0.001 * (len(server.requests) % 7))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(path), path))
        await writer.drain()

    server = await serve(echo, close=False)
    one = fetcher()
    asked = [f"/{i}" for i in range(60)]
    got = await asyncio.gather(*(one.fetch(Request(server.url(path))) for path in asked))
    assert [reply.body.decode() for reply in got] == asked


async def test_transports_of_other_event_loops_will_do(serve, fetcher, reply, monkeypatch):
    """Those of uvloop are no subclass of asyncio's."""

    class Foreign:
        def __init__(self, inner):
            self._inner = inner

        def __getattr__(self, name):
            return getattr(self._inner, name)

    made = Connection.connection_made
    monkeypatch.setattr(Connection, "connection_made", lambda self, transport: made(self, Foreign(transport)))
    server = await serve(reply(b"mine"), close=False)
    one = fetcher()
    for path in ("/a", "/b"):
        assert (await one.fetch(Request(server.url(path)))).body == b"mine"
    assert server.connections == 1


def test_plain_http_does_without_the_library_for_the_rest():
    code = "import sys, clew.fetch.http; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
