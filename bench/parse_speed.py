"""Milliseconds per page by stage, and pages per CPU-second, on the pages of a recorded web.

    python bench/parse_speed.py path/to/wikispeedia_pages.jsonl.zst [pages] [--json]

Each stage is timed alone over all pages, in CPU time of this process, best of three rounds.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import turbohtml
import zstandard

from clew import native, url
from clew.native import pure
from clew.parse import decode, digest, html, language, parse_page, similar, sketch
from clew.parse.media import classify
from clew.words import cut

HERE = Path(__file__).resolve().parent.parent
#: Milliseconds a page, by stage, in the order measured.
STAGES: dict[str, float] = {}


def pages(path: Path, count: int) -> list[tuple[str, bytes]]:
    with path.open("rb") as file:
        reader = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(file)
        rows = map(json.loads, itertools.islice(io.TextIOWrapper(reader, "utf-8"), count))
        return [(row["url"], row["html"].encode()) for row in rows]


def timed(stage: str, work: Callable[..., Any], rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    best = float("inf")
    results: list[Any] = []
    for _ in range(3):
        start = time.process_time()
        results = [work(*row) for row in rows]
        best = min(best, time.process_time() - start)
    STAGES[stage] = 1000 * best / len(rows)
    return results


def twins(main: Sequence[str]) -> None:
    """The loops over texts in use beside their twins in Python."""
    raws = [(text.encode("utf-8", "replace"), 6, similar.MIN_WORDS) for text in main]
    flats: list[tuple[Any, ...]] = [(text, cut._table._folded, []) for text in main]
    for what, rows, interpreted, used in (
        ("words", flats, pure.flat, native.flat),
        ("similarity", raws, pure.sketch, native.sketch),
    ):
        timed(f"{what} in Python", interpreted, rows)
        if native.COMPILED:
            timed(f"{what}, compiled", used, rows)


def main(argv: Sequence[str] | None = None) -> int:
    corpora = Path(os.environ.get("CLEW_CORPORA") or HERE.parent / "shared" / "corpora")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, nargs="?", default=corpora / "wikispeedia_pages.jsonl.zst")
    parser.add_argument("pages", type=int, nargs="?", default=500)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    recorded = pages(asked.path, asked.pages)
    size = sum(len(body) for _, body in recorded) / len(recorded)
    timed("media type", lambda _, body: classify(body, "text/html"), recorded)
    texts = timed("charset and decoding", lambda _, body: decode(body)[0], recorded)
    timed("  the bare parser, for scale", turbohtml.parse, [(text,) for text in texts])
    read = timed("markup: text, main text, links", html.read, [(text,) for text in texts])
    timed(
        "canonical link targets",
        url.canonical_many,
        [(x.hrefs, u) for x, (u, _) in zip(read, recorded, strict=True)],
    )
    timed("language", language, [(x.main, x.lang) for x in read])
    timed("digest", digest, [(x.text,) for x in read])
    timed("similarity sketch", sketch, [(x.text, x.main, x.title) for x in read])
    twins([x.main for x in read])
    done = timed(
        "parse_page, all of it", lambda u, body: parse_page(body, url=u, content_type="text/html"), recorded
    )
    links = sum(len(page.links) for page in done) / len(done)
    found = {"pages": len(recorded), "kb": round(size / 1000, 1), "links": round(links), "ms": STAGES}
    if asked.json:
        print(json.dumps(found))
        return 0
    for stage, ms in STAGES.items():
        print(f"{stage:<34}{ms:8.3f} ms/page{1000 / ms:10.0f} pages/CPU-s")
    print(f"{len(recorded)} pages of {size / 1000:.1f} KB with {links:.0f} links on average")
    return 0


if __name__ == "__main__":
    sys.exit(main())
