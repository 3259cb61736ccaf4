"""Hostile XML: is it refused, in no time, without touching the network or the disk?

    .venv/bin/python checks/hostile_xml.py [--json]

Every `hostile-*.xml` of the public suite, and some of our own (nested and quadratic entities, external ones,
parameter entities, XInclude, a style sheet, deep nesting, a bomb in gzip), goes through the sitemap reader
and through the page parser, while an audit hook counts files opened, connections and look-ups. Bars: every
sitemap that declares entities refused, nothing touched, no sitemap over 100 ms.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from verdict import arguments, ended

from clew.errors import ParseError
from clew.parse import parse_page
from clew.parse.sitemap import parse_sitemap
from clew.testing.chaos import bomb

HERE = Path(__file__).resolve().parent.parent
URL = "http://a.example/sitemap.xml"


def own() -> dict[str, bytes]:
    """Cases of our own making."""
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    wide = "x" * 100_000
    entry = "<urlset><url><loc>http://a.example/&{};</loc></url></urlset>"

    def with_dtd(dtd: str, entity: str = "x") -> bytes:
        return f"<?xml version='1.0'?><!DOCTYPE urlset [{dtd}]>{entry.format(entity)}".encode()

    file = Path("/etc/passwd").as_uri()
    return {
        "nested entities": with_dtd(f'<!ENTITY e0 "ha">{levels}', "e11"),
        "quadratic entities": with_dtd(f'<!ENTITY x "{wide}">').replace(b"&x;", b"&x;" * 10_000),
        "external file": with_dtd(f'<!ENTITY x SYSTEM "{file}">'),
        "external address": with_dtd('<!ENTITY x SYSTEM "http://127.0.0.1:9/secret">'),
        "parameter entity": with_dtd('<!ENTITY % p SYSTEM "http://127.0.0.1:9/p.dtd"> %p;'),
        "external subset": f'<!DOCTYPE urlset SYSTEM "{file}">{entry.format("amp")}'.encode(),
        "recursive entities": with_dtd('<!ENTITY x "&y;"><!ENTITY y "&x;">'),
        "lower-case doctype": f'<!doctype urlset [<!entity x "y">]>{entry.format("x")}'.encode(),
        "utf-16": with_dtd('<!ENTITY x "y">').decode().encode("utf-16"),
        "xinclude": f"<urlset><xi:include href='{file}'/></urlset>".encode(),
        "style sheet": f'<?xml-stylesheet href="{file}"?>{entry.format("amp")}'.encode(),
        "deep nesting": b"<a>" * 300_000,
        "many attributes": b"<urlset " + b" ".join(b"a%d='1'" % i for i in range(200_000)) + b">",
        "gzip bomb": bomb("gzip", 1 << 30, b"<url><loc>http://a.example/</loc></url>")[1],
    }


class Watch:
    """Counts what is touched while `on`."""

    def __init__(self) -> None:
        self.on = False
        self.touched: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and event in (
            "open",
            "socket.connect",
            "socket.getaddrinfo",
            "urllib.Request",
            "os.listdir",
        ):
            self.touched.append(f"{event} {arguments[0]}")


def read(name: str, body: bytes, watch: Watch) -> dict[str, Any]:
    """One case through both readers."""
    found: dict[str, Any] = {"name": name, "bytes": len(body)}
    readers = {
        "sitemap": lambda: f"{len(parse_sitemap(body, url=URL).urls)} addresses",
        "page": lambda: f"{len(parse_page(body, url=URL, content_type='application/xml').text)} characters",
    }
    watch.touched.clear()
    for reader, work in readers.items():
        watch.on = True
        start = time.perf_counter()
        try:
            found[reader] = work()
        except ParseError:
            found[reader] = "refused"
        found[f"{reader}_ms"] = round(1000 * (time.perf_counter() - start), 1)
        watch.on = False
    found["touched"] = list(watch.touched)
    return found


def wrong(row: dict[str, Any]) -> list[str]:
    """What must not come of one case: anything touched, or a sitemap with entities of its own read."""
    bad = [f"{row['name']}: touched {what}" for what in row["touched"]]
    declares = any(word in row["name"] for word in ("hostile", "entit", "external"))
    return bad + ([f"{row['name']}: was not refused"] if declares and row["sitemap"] != "refused" else [])


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Read hostile XML and watch what is touched.")
    given = parser.parse_args(argv)
    suites = Path(os.environ.get("CLEW_SUITES") or HERE.parent / "shared" / "suites")
    cases = {path.name: path.read_bytes() for path in sorted((suites / "sitemaps").glob("hostile-*.xml"))}
    cases |= own()
    watch = Watch()
    # What is imported on the first use is no touching by the second.
    for encoding in ("utf-8", "utf-16"):
        read("warm", "<urlset><url><loc>http://a.example/</loc></url></urlset>".encode(encoding), watch)
    sys.addaudithook(watch)
    rows = [read(name, body, watch) for name, body in cases.items()]
    failures = [bad for row in rows for bad in wrong(row)]
    lines = [
        f"{row['name']:<28}{row['bytes']:>9} B  sitemap: {row['sitemap']} ({row['sitemap_ms']} ms)"
        f"  page: {row['page']} ({row['page_ms']} ms)  touched: {row['touched'] or 'nothing'}"
        for row in rows
    ]
    return ended(given, "hostile_xml", len(rows), failures, rows, lines)


if __name__ == "__main__":
    sys.exit(main())
