"""Reading a crawl directory: figures, finds, hosts, and the curve of finds over pages.

    python examples/read_crawl.py DIR

DIR is what `clew crawl -d DIR` made; the crawl may still be running. Nothing is written.
"""

from __future__ import annotations

import sys

from clew.store import Reader, open_reader


def best(crawl: Reader, count: int = 5) -> list[tuple[float, str]]:
    """The finds with the highest degrees. Pages are streamed, here without their text."""
    found = [(page.score, page.url) for page in crawl.pages(matched=True, text=False)]
    return sorted(found, reverse=True)[:count]


def fruitful(crawl: Reader, count: int = 5) -> list[tuple[int, int, str]]:
    """The hosts with most finds: (finds, pages, host)."""
    rows = [(host.matches, host.pages, host.host) for host in crawl.hosts() if host.matches]
    return sorted(rows, reverse=True)[:count]


def curve(crawl: Reader, step: int = 50) -> list[tuple[int, int]]:
    """(pages, finds) at every `step` pages: a fold over the trace."""
    pages = finds = 0
    points = []
    for decision in crawl.decisions():
        if decision.kind == "page" and decision.result in ("match", "miss", "duplicate", "noindex"):
            pages += 1
            finds += decision.result == "match"
            if pages % step == 0:
                points.append((pages, finds))
    return points


def main(directory: str) -> None:
    with open_reader(directory) as crawl:
        counts = crawl.counts()
        print(f"{counts.pages} pages, {counts.matched} finds, {counts.requests} requests")
        for score, url in best(crawl):
            print(f"  {score:.2f}  {url}")
        for finds, pages, host in fruitful(crawl):
            print(f"  {finds:4} finds in {pages:4} pages of {host}")
        for pages, finds in curve(crawl):
            print(f"  {pages:6} {'#' * (finds // 2)} {finds}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
