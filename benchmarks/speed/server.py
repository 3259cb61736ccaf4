"""Serves the site on loopback: one callback a request, replies ready made. Run as a process of its own.

    python server.py SITE_DIR [HOSTS]

Prints its port. Behind the pages of the site it knows `/robots.txt`, and answers any other path with a page
chosen by the path, so that a site of any size can be made of links alone.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import sys
import zlib
from pathlib import Path

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
        self.paths = list(self.replies)
        self.replies[b"/robots.txt"] = reply(ROBOTS, b"text/plain")

    def get(self, path: bytes) -> bytes:
        return self.replies.get(path) or self.replies[self.paths[zlib.crc32(path) % len(self.paths)]]


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
