"""How long real robots.txt files take to read and to ask, and which is the slowest.

    python bench/robots_speed.py [real_robots_txt.tar.zst] [--json]

The archive is `robots/real_robots_txt.tar.zst` of the public suites, found through CLEW_SUITES when no
path is given. Prints one JSON line per quantity; with `--json`, one list of
them.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tarfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import zstandard

from clew.frontier.robots import Rules

HERE = Path(__file__).resolve().parent.parent
URLS = [f"https://a.example/{x}" for x in ("", "search?q=wind&page=2", "a/b/c/d/e/f.html", "~x/%7Ey/" * 20)]


def files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file in the archive."""
    with archive.open("rb") as source:
        data = zstandard.ZstdDecompressor().stream_reader(source).read()
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            opened = tar.extractfile(member)
            if opened is not None:
                yield member.name, opened.read()


def measure(body: bytes) -> tuple[float, float]:
    """Milliseconds to read one file, and to ask it about one URL."""
    start = time.perf_counter()
    rules = Rules.parse(200, body, "clew/0.1.0")
    read = time.perf_counter()
    for url in URLS:
        rules.allowed(url)
    end = time.perf_counter()
    return (read - start) * 1e3, (end - read) * 1e3 / len(URLS)


def main(argv: Sequence[str] | None = None) -> int:
    suites = Path(os.environ.get("CLEW_SUITES") or HERE.parent / "shared" / "suites")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "archive", type=Path, nargs="?", default=suites / "robots" / "real_robots_txt.tar.zst"
    )
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    rows = [(name, len(body), *measure(body)) for name, body in files(asked.archive)]
    found = []
    for what, column in (("read", 2), ("ask", 3)):
        times = sorted(row[column] for row in rows)
        slowest = max(rows, key=lambda row: row[column])
        found.append(
            {
                "what": what,
                "files": len(rows),
                "ms_median": round(times[len(times) // 2], 4),
                "ms_max": round(times[-1], 3),
                "slowest": slowest[0],
                "bytes": slowest[1],
            }
        )
    print(json.dumps(found) if asked.json else "\n".join(map(json.dumps, found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
