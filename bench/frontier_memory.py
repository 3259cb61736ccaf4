"""Memory of the frontier at 10⁴, 10⁵ and 10⁶ candidates, each in a process of its own.

    python bench/frontier_memory.py            # the real engine and the real store, synthetic pages
    python bench/frontier_memory.py --json

Every candidate goes the whole way: a page with 100 links is settled by the engine, scored by
`best-first`, filed in the frontier and saved to a crawl directory, where its URL then rests. Printed:
resident memory before and after, bytes per candidate, and the time per page as a ratio to the smallest
run (the machines are noisy: read it as flat or not flat).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

SIZES = (10_000, 100_000, 1_000_000)
LINKS = 100


def resident() -> int:
    """Bytes of memory this process has now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("this benchmark reads /proc/self/status, which this system does not have")


def measure(candidates: int) -> dict[str, float]:
    """Settle pages until that many candidates are known."""
    from clew.engine import Crawl, CrawlRules
    from clew.messages import Outcome
    from clew.page import Links, Page
    from clew.policy import Scope
    from clew.predicate import compile as compile_predicate
    from clew.store import open_store
    from clew.strategy import make

    predicate = compile_predicate("wind OR solar")
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "crawl")
        strategy = make("best-first", predicate)
        crawl = Crawl(predicate, strategy, CrawlRules(scope=Scope()), store.url)
        # Every page is of a host of its own here, so that no delay stands in the way of leasing.
        store.save(crawl.start([_url(0, i) for i in range(64)], 0.0))
        before = resident()
        now, pages, began = 0.0, 0, time.process_time()
        while crawl.frontier.count < candidates:
            now += 10.0
            for task in crawl.lease(now, 16):
                if task.candidate < 0:
                    store.save(crawl.settle(Outcome(task=task, status=404), now))
                    continue
                pages += 1
                targets = tuple(_url(pages, i) for i in range(LINKS))
                anchors = tuple("wind farm" if i % 7 == 0 else "more about it" for i in range(LINKS))
                blank = ("",) * LINKS
                links = Links(task.url, targets, anchors, anchors, blank, blank)
                page = Page(url=task.url, text=f"wind and weather {pages}", digest=pages, links=links)
                store.save(crawl.settle(Outcome(task=task, status=200, page=page), now))
        spent = time.process_time() - began
        store.flush()
        after = resident()
        known = crawl.frontier.count
        store.close()
    return {
        "candidates": known,
        "hosts": len(crawl.hosts),
        "rss_before": before,
        "rss_after": after,
        "bytes_per_candidate": (after - before) / known,
        "seconds_per_page": spent / max(1, pages),
    }


def _url(page: int, i: int) -> str:
    """URLs of the usual length, spread over hosts as the web's are: some large, many small."""
    host = (page * 7919 + i) % 200 if i % 3 else page % 5000
    name = f"{page:07d}-some-words-in-a-title-{i:03d}.html"
    return f"http://www.site-{host}.example/section-{i % 10}/article/{name}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--size", type=int, help="measure one size, in this process")
    parser.add_argument("--limit", type=int, default=SIZES[-1], help="of the sizes, those up to this")
    asked = parser.parse_args(argv)
    if asked.size:
        print(json.dumps(measure(asked.size)))
        return 0
    rows = []
    for size in [size for size in SIZES if size <= asked.limit]:
        print(f"measuring {size:,} candidates …", file=sys.stderr)
        command = [sys.executable, __file__, "--size", str(size)]
        rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    if asked.json:
        print(json.dumps(rows))
        return 0
    heads = f"{'RSS before':>12} {'RSS after':>12} {'bytes each':>11} {'time/page':>10}"
    print(f"{'candidates':>12} {'hosts':>8} {heads}")
    for row in rows:
        print(
            f"{row['candidates']:>12,} {row['hosts']:>8,} {row['rss_before'] / 2**20:>9.0f} MB "
            f"{row['rss_after'] / 2**20:>9.0f} MB {row['bytes_per_candidate']:>11.0f} "
            f"{row['seconds_per_page'] / rows[0]['seconds_per_page']:>9.2f}x"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
