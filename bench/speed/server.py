"""Serves the site on loopback: one callback a request, replies ready made. Run as a process of its own.

    python server.py SITE_DIR

Prints its port. Beside the pages of the site it knows `/robots.txt` and, under `/large/`, pages of just under
a megabyte that are laborious to read.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import sys
from pathlib import Path

MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
ROBOTS = b"User-agent: *\nDisallow: /private/\n"


def reply(body: bytes, kind: bytes = b"text/html; charset=utf-8") -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\nServer: speed\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: "
        + kind
        + b"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nConnection: keep-alive\r\nContent-Length: "
        + str(len(body)).encode()
        + b"\r\n\r\n"
        + body
    )


class Web:
    def __init__(self, directory: Path) -> None:
        index = json.loads((directory / "site.json").read_text())["index"]
        with (directory / "site.bin").open("rb") as file:
            blob = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.replies = {path.encode(): reply(blob[at : at + size]) for path, (at, size) in index.items()}
        self.replies[b"/robots.txt"] = reply(ROBOTS, b"text/plain")
        prose = b" ".join([b"The turbine number %d turns in the wind." % i for i in range(40_000)])
        for name, body in large(prose).items():
            self.replies[b"/large/" + name] = reply(body[:1_000_000])
        links = b"".join([b"<a href='/large/%b'>%b</a> " % (name, name) for name in large(prose)])
        self.replies[b"/large/"] = reply(links)

    def get(self, path: bytes) -> bytes:
        return self.replies.get(path, MISSING)


def large(prose: bytes) -> dict[bytes, bytes]:
    """Pages of a megabyte."""
    return {
        b"prose": b"<p>" + prose,
        b"paragraphs": prose.replace(b". ", b".<p>"),
        b"links": b"".join(
            [b"<p>see <a href='/large/none/%d'>number %d</a>" % (i, i) for i in range(30_000)]
        ),
        b"one-line": b"<pre>" + b"".join([b"<a href='/large/none/%d'>x</a>" % i for i in range(30_000)]),
        b"deep": b"<div>" * 190_000,
        b"formatting": b"<b><i>" * 160_000,
        b"tables": b"<table><tr><td>x" * 60_000,
        b"entities": b"&amp;&notin;&#x1F600; " * 40_000,
        b"attributes": b"<p " + b"a=b c=d " * 120_000 + b">x",
        b"unclosed": b"<a href='/large/none/0'>" * 40_000,
        b"blanks": b"<pre>" + b" \n" * 480_000,
        b"accents": b"<p>"
        + "\u00e9t\u00e9 \u2013 \u044d\u043d\u0435\u0440\u0433\u0438\u044f ".encode() * 25_000,
    }


class Talk(asyncio.Protocol):
    def __init__(self, web: Web) -> None:
        self.web = web
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        data = self.buffer + data
        while (end := data.find(b"\r\n\r\n")) >= 0:
            self.transport.write(self.web.get(data[:end].split(b" ", 2)[1]))
            data = data[end + 4 :]
        self.buffer = data


async def main() -> None:
    web = Web(Path(sys.argv[1]))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Talk(web), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
