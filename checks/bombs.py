"""Decompression bombs through the whole crawl: how far does memory grow?

    .venv/bin/python checks/bombs.py [--json] [--only NAME]

For each packed file of the public suite, for 2 GiB in at most 2 KB of br, gzip, deflate and zstd, for HTML
made to hurt a parser, and for bombs in the body of a redirect, an error and a robots.txt: a fresh process
crawls a page that is one, fetching, parsing and storing it, and its peak memory is compared with what it
needed for a plain page. Bar: at most 64 MB more. The suite is looked for in $CLEW_SUITES, or in
../shared/suites.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verdict import arguments, ended

from clew.run.config import CrawlConfig
from clew.run.session import Session
from clew.store import SqliteStore
from clew.testing.chaos import bomb

HERE = Path(__file__).resolve().parent.parent
GIB = 1 << 30
FILLERS = {
    "zeros": b"\0",
    "tags": b"<b>x<i>",
    "links": b'<a href="/%d">link</a> ',
    "attributes": b'<p class="a b" id=c title=d>',
    "entities": b"&amp;&lt;x&#65;",
}
PLAIN = b"<!doctype html><title>plain</title><p>a plain page " + b"with some words " * 500

#: Memory that a bomb may cost more than a plain page does.
MOST_MB = 64


@dataclass(frozen=True, slots=True)
class Case:
    """A reply that explodes, and where it is put."""

    name: str
    encoding: str
    body: bytes
    place: str = "page"
    """`page`, `redirect`, `robots` or `error`."""


def cases(suites: Path) -> list[Case]:
    """Every case; those of the suite are left out where it is missing."""
    found = []
    folder = suites / "bombs"
    if folder.is_dir():
        found = [
            Case(path.name, _encoding(path.name), path.read_bytes()) for path in sorted(folder.iterdir())
        ]
    for coding in ("br", "gzip", "deflate", "zstd"):
        found.append(Case(f"2 GiB of zeros in {coding}", *bomb(coding, 2 * GIB)))
    for name, filler in FILLERS.items():
        if name != "zeros":
            found.append(Case(f"256 MiB of {name} in gzip", *bomb("gzip", GIB // 4, filler)))
    for place in ("redirect", "robots", "error"):
        found.append(Case(f"2 GiB of zeros in br, in the body of a {place}", *bomb("br", 2 * GIB), place))
    return found


def _encoding(name: str) -> str:
    """The Content-Encoding that a file's name stands for."""
    match = re.fullmatch(r"(?:html|bomb)-(.+)\.bin", name)
    if match is None:
        return "gzip"
    coding = re.sub(r"zstd-.*", "zstd", match[1])
    return {"rawdeflate": "deflate", "zlibdeflate": "deflate"}.get(coding) or ", ".join(coding.split("-"))


def reply(status: str, body: bytes, *headers: str) -> bytes:
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Length: {len(body)}",
        "Content-Type: text/html",
        *headers,
        "",
        "",
    ]
    return "\r\n".join(lines).encode() + body


def answers(case: Case) -> Callable[[str], bytes]:
    """What the server says to each path. `/plain` is for comparison, `/bomb` is the case."""
    packed = f"Content-Encoding: {case.encoding}"
    where = {
        "page": {"/bomb": reply("200 OK", case.body, packed)},
        "redirect": {"/bomb": reply("302 Found", case.body, packed, "Location: /plain")},
        "error": {"/bomb": reply("404 Not Found", case.body, packed)},
        "robots": {"/robots.txt": reply("200 OK", case.body, packed)},
    }[case.place]
    return lambda path: (
        where.get(path) or (reply("404 Not Found", b"") if path == "/robots.txt" else reply("200 OK", PLAIN))
    )


def peak() -> int:
    """Peak memory of this process since the last `forget`, in kilobytes."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1])


def forget() -> None:
    """Let the peak start again from what is used now."""
    Path("/proc/self/clear_refs").write_text("5")


async def crawl(port: int, path: str, directory: Path) -> dict[str, Any]:
    """One page, fetched, parsed here (not in a worker: its memory counts too) and stored."""
    config = CrawlConfig(
        seeds=(f"http://127.0.0.1:{port}{path}",),
        match="plain",
        pages=2,
        own=("127.0.0.1",),
        allow_private=("127.0.0.1",),
        delay=0,
        depth=0,
        parse_workers=0,
    )
    with SqliteStore(directory) as store:
        finished = await Session(config, store).run()
        rows = list(store.pages())
        return {"reason": finished.reason, "pages": len(rows), "requests": finished.requests}


def child(port: int) -> None:
    """Crawl the plain page, then the bomb; print the growth."""
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(crawl(port, "/plain", Path(place) / "plain"))
        forget()
        before = peak()
        found = asyncio.run(crawl(port, "/bomb", Path(place) / "bomb"))
        after = peak()
        stored = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())
    print(json.dumps({"before_kb": before, "peak_kb": after, "stored_kb": stored // 1024, **found}))


async def measure(case: Case) -> dict[str, Any]:
    """Serve one case and let a child crawl it."""
    answer = answers(case)
    plain = answers(Case("plain", "identity", PLAIN))
    hits = {"bomb": 0}

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
                bombed = path == ("/robots.txt" if case.place == "robots" else "/bomb")
                hits["bomb"] += bombed
                writer.write(answer(path) if bombed or path == "/bomb" else plain(path))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    command = [sys.executable, __file__, "--child", str(port)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    server.close()
    if process.returncode:
        raise SystemExit(f"{case.name}: the crawl ended with {process.returncode}")
    figures = json.loads(out)
    grown = (figures["peak_kb"] - figures["before_kb"]) / 1024
    return {
        "name": case.name,
        "bytes": len(case.body),
        "grown_mb": round(grown, 1),
        "hit": hits["bomb"],
        **figures,
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Crawl decompression bombs and watch memory.")
    parser.add_argument("--child", type=int, help="be the process that crawls, from the server on this port")
    parser.add_argument("--only", default="", help="cases with this in their name")
    given = parser.parse_args(argv)
    if given.child is not None:
        child(given.child)
        return 0
    if sys.platform != "linux":
        raise SystemExit("peak memory is read from /proc, which this system does not have")
    suites = Path(os.environ.get("CLEW_SUITES") or HERE.parent / "shared" / "suites")
    rows = [asyncio.run(measure(case)) for case in cases(suites) if given.only in case.name]
    failures = [f"{row['name']}: grown by {row['grown_mb']} MB" for row in rows if row["grown_mb"] > MOST_MB]
    failures += [f"{row['name']}: was never asked for" for row in rows if not row["hit"]]
    lines = [
        f"{row['name']:<52}{row['bytes']:>8} B  grown {row['grown_mb']:>6.1f} MB"
        f"  from {row['before_kb'] // 1024} MB  ({row['pages']} pages, asked {row['hit']}x)"
        for row in rows
    ]
    lines.append(f"most: {max(row['grown_mb'] for row in rows)} MB over {len(rows)} cases")
    return ended(given, "bombs", len(rows), failures, rows, lines)


if __name__ == "__main__":
    sys.exit(main())
