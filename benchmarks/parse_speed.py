"""Milliseconds per page by stage, and pages per CPU-second, on the pages of a recorded web.

    python benchmarks/parse_speed.py path/to/wikispeedia_pages.jsonl.zst [pages]

Each stage is timed alone over all pages, in CPU time of this process, best of three rounds.
"""

from __future__ import annotations

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
from clew.parse import decode, digest, html, language, parse_page, simhash, similar
from clew.parse import text as spaces
from clew.parse.media import classify
from clew.words import cut

HERE = Path(__file__).resolve().parent.parent


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
    print(f"{stage:<34}{1000 * best / len(rows):8.3f} ms/page{len(rows) / best:10.0f} pages/CPU-s")
    return results


def twins(markup: Sequence[str], main: Sequence[str]) -> None:
    """The compiled loops beside their twins in Python."""
    rendered = [(turbohtml.parse(text, positions=False).to_text(),) for text in markup]
    raws = [(text[: similar.MAX_BYTES].encode("utf-8", "replace"),) for text in main]
    for what, rows, interpreted, compiled in (
        ("white space", rendered, spaces._interpreted, native.fold),
        ("words", [(text,) for text in main], cut._interpreted, cut._table.compiled),
        ("similarity", raws, similar._interpreted, native.simhash),
    ):
        timed(f"{what} in Python", interpreted, rows)
        if native.COMPILED and compiled is not None:
            timed(f"{what}, compiled", compiled, rows)


def main() -> None:
    corpora = Path(os.environ.get("CLEW_CORPORA") or HERE.parent / "shared" / "corpora")
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else corpora / "wikispeedia_pages.jsonl.zst"
    recorded = pages(path, int(sys.argv[2]) if len(sys.argv) > 2 else 500)
    size = sum(len(body) for _, body in recorded) / len(recorded)
    timed("media type", lambda _, body: classify(body, "text/html"), recorded)
    texts = timed("charset and decoding", lambda _, body: decode(body)[0], recorded)
    timed("  the bare parser, for scale", turbohtml.parse, [(text,) for text in texts])
    found = timed("markup: text, main text, links", html.read, [(text,) for text in texts])
    timed(
        "canonical link targets",
        url.canonical_many,
        [(x.hrefs, u) for x, (u, _) in zip(found, recorded, strict=True)],
    )
    timed("language", language, [(x.main, x.lang) for x in found])
    timed("digest", digest, [(x.main,) for x in found])
    timed("similarity hash", simhash, [(x.main,) for x in found])
    twins(texts, [x.main for x in found])
    done = timed(
        "parse_page, all of it", lambda u, body: parse_page(body, url=u, content_type="text/html"), recorded
    )
    links = sum(len(page.links) for page in done) / len(done)
    print(f"{len(recorded)} pages of {size / 1000:.1f} KB with {links:.0f} links on average")


if __name__ == "__main__":
    main()
