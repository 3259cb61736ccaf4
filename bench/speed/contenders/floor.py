"""The libraries alone: what clew's work on a page takes of them, with as little as possible in between.

    python floor.py START PAGES DIRECTORY

Not a crawler: no robots.txt, no politeness, no scope, no limits, no redirects, no retries; nothing is judged,
scored, explained or resumed. A page is fetched over a raw protocol, parsed, its main text, text, links and
anchors are taken, links are joined to it once for each distinct href, its words are folded, its similarity
hash and digests are made; it is compressed into an archive, its text into a database, and both are made
durable sixteen pages at a time. What clew adds to this is its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
import sys
from collections import deque
from pathlib import Path

import can_ada
import httptools
import turbohtml
import xxhash
import zstandard
from isal.isal_zlib import compress

from clew import native
from clew.parse.html.render import _LAYOUT
from clew.words import cut

CONCURRENT, TOGETHER = 64, 16


class Keeper:
    """Pages on disk, durable by groups."""

    def __init__(self, directory: Path) -> None:
        self.archive = os.open(directory / "floor.warc.gz", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.db = sqlite3.connect(directory / "floor.db", isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = NORMAL")
        self.db.execute("CREATE TABLE pages (url TEXT, title TEXT, digest TEXT, similar INTEGER, text BLOB)")
        self.zstd = zstandard.ZstdCompressor(level=1)
        self.records: list[bytes] = []
        self.rows: list[tuple[str, str, str, int, bytes]] = []

    def keep(self, url: str, head: bytes, body: bytes, title: str, similar: int, text: str) -> None:
        payload, block = hashlib.sha1(body).hexdigest(), head + body
        fields = f"WARC/1.1\r\nURI: {url}\r\nPayload: {payload}\r\nBlock: {hashlib.sha1(block).hexdigest()}"
        self.records.append(compress(b"%b\r\n\r\n%b\r\n\r\n" % (fields.encode(), block), 2, 31))
        self.rows.append((url, title, payload, similar >> 1, self.zstd.compress(text.encode())))
        if len(self.rows) == TOGETHER:
            self.flush()

    def flush(self) -> None:
        self.db.execute("BEGIN")
        self.db.executemany("INSERT INTO pages VALUES (?, ?, ?, ?, ?)", self.rows)
        os.write(self.archive, b"".join(self.records))
        os.fdatasync(self.archive)
        self.db.execute("COMMIT")
        self.records.clear()
        self.rows.clear()


class Reader:
    """Pages to links."""

    def __init__(self, start: str, pages: int, keeper: Keeper, ended: asyncio.Future[None]) -> None:
        self.home = start[: start.index("/", 8)]
        self.pages, self.keeper, self.ended = pages, keeper, ended
        self.seen, self.todo = {start}, deque([start])
        self.known: dict[tuple[str, str], str] = {}
        self.idle: list[Connection] = []

    def go(self) -> None:
        """Ask for more, or end."""
        while self.todo and self.idle:
            self.idle.pop().ask()
        if len(self.idle) == CONCURRENT and not self.ended.done():
            self.ended.set_result(None)

    def page(self, url: str, head: bytes, body: bytes) -> None:
        tree = turbohtml.parse(body.decode("utf-8", "replace"), positions=False)
        links = tree.select("a[href]")
        hrefs, anchors = [link.attr("href") for link in links], [link.text for link in links]
        title = tree.select_one("title")
        main = tree.main_content()
        text = tree.to_text(_LAYOUT)
        core = main.text if main is not None else text
        xxhash.xxh3_64_intdigest(core.encode())
        cut.flat(text)
        assert len(anchors) == len(hrefs)
        similar = native.sketch(core.encode(), 6, 40)
        self.keeper.keep(url, head, body, title.text if title else "", similar, text)
        folder, base = url[: url.rindex("/") + 1], None
        for href in dict.fromkeys(hrefs):
            target = self.known.get((folder, href))
            if target is None:
                base = base or can_ada.parse(url)
                target = self.known[folder, href] = (base + href).href.partition("#")[0]
            if target not in self.seen and len(self.seen) < self.pages and target.startswith(self.home):
                self.seen.add(target)
                self.todo.append(target)


class Connection(asyncio.Protocol):
    """One keep-alive connection: asks for what is next, reads the reply."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.url = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def ask(self) -> None:
        self.url, self.head, self.body = self.reader.todo.popleft(), [], []
        self.parser = httptools.HttpResponseParser(self)
        path = self.url[len(self.reader.home) :]
        self.transport.write(f"GET {path} HTTP/1.1\r\nHost: {self.reader.home[7:]}\r\n\r\n".encode())

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)
        if not self.url:
            self.reader.idle.append(self)
            self.reader.go()

    def on_header(self, name: bytes, value: bytes) -> None:
        self.head.append(b"%b: %b\r\n" % (name, value))

    def on_body(self, data: bytes) -> None:
        self.body.append(data)

    def on_message_complete(self) -> None:
        self.reader.page(self.url, b"".join(self.head), b"".join(self.body))
        self.url = ""


async def main(start: str, pages: int, directory: Path) -> None:
    keeper = Keeper(directory)
    loop = asyncio.get_running_loop()
    reader = Reader(start, pages, keeper, loop.create_future())
    host, _, port = reader.home[7:].partition(":")
    for _ in range(CONCURRENT):
        _, connection = await loop.create_connection(lambda: Connection(reader), host, int(port))
        reader.idle.append(connection)
    reader.go()
    await reader.ended
    keeper.flush()
    print(len(reader.seen))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
