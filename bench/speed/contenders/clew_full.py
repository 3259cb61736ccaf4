"""clew, doing all it does: robots.txt, politeness, parsing, words, judging, scoring, trace, WARC, SQLite.

    python clew_full.py START PAGES DIRECTORY [NAME=VALUE ...]

Prints pages, peak memory in MB, and the longest time the event loop was kept from other work since the first
page, by the wall and by the thread's own CPU time (which other processes on the machine lengthen less).
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import clew

MATCH = '(music OR composer OR "classical music") AND lang:en -title:disambiguation'


async def probe(run: clew.Run, longest: list[float]) -> None:
    while True:
        wall, cpu = time.monotonic(), time.thread_time()
        begun = run._session is not None and run._session.crawl.tally.pages > 0
        await asyncio.sleep(0.005)
        # Before the first page there is nothing to be kept from: modules are loaded, files are made.
        if begun:
            longest[0] = max(longest[0], time.monotonic() - wall - 0.005)
            longest[1] = max(longest[1], time.thread_time() - cpu)


def peak() -> int:
    """KB of memory at most. What `getrusage` says counts the parent before `exec`, too."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def main(start: str, pages: int, directory: str, settings: dict[str, Any]) -> None:
    also = settings.pop("also", [])
    run = clew.crawl(
        [start, *also],
        match=MATCH,
        directory=directory,
        **{
            "pages": pages,
            "own": ["127.0.0.1"],
            "allow_private": ["127.0.0.1"],
            "delay": 0,
            "concurrency": 64,
            **settings,
        },
    )
    longest = [0.0, 0.0]
    watch = asyncio.create_task(probe(run, longest))
    finds = 0
    async for _ in run:
        finds += 1
    watch.cancel()
    run.close()
    assert run.finished is not None
    print(
        json.dumps(
            {
                "pages": run.finished.pages,
                "finds": finds,
                "rss": peak() / 1024,
                "stall": longest[0],
                "stall_cpu": longest[1],
            }
        )
    )


if __name__ == "__main__":
    extra = {name: json.loads(value) for name, _, value in (text.partition("=") for text in sys.argv[4:])}
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], extra))
