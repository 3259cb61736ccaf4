"""A crawl of a web in trouble: are all healthy pages fetched, and how much goes into traps?

    .venv/bin/python checks/chaos.py [--pages 600] [--hosts 20] [--seed 1] [--json]

Serves a `clew.testing.chaos.ChaosWeb` on loopback, 30 % of whose replies are faulty in one of eighty ways,
and crawls it through the real fetcher, parser and store. Rests and delays are real to the engine but pass
quickly (`HurriedClock`). Bars: every healthy page stored whole, at most a tenth of the requests in traps, no
connection to where it is not allowed.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from verdict import arguments, ended

from clew.run.config import CrawlConfig
from clew.run.session import Session
from clew.store import SqliteStore
from clew.testing.chaos import KINDS, ChaosServer, ChaosWeb, FaultPlace, HurriedClock


async def run(
    web: ChaosWeb, directory: Path, *, strategy: str, budget: int, patience: float
) -> dict[str, Any]:
    """Crawl it; gives the figures."""
    async with ChaosServer(web, patience=patience * 2) as server:
        config = CrawlConfig(
            seeds=server.seeds(),
            match="chaos*",
            strategy=strategy,
            pages=None,
            requests=budget,
            own=("*.chaos.example",),
            delay=0.25,
            timeout=patience,
            max_body=1_000_000,
            parse_workers=0,
        )
        fetcher = server.fetcher(
            timeout=patience, connect_timeout=patience, max_body=1_000_000, dns_ttl=3600.0
        )
        with SqliteStore(directory) as store:
            finished = await Session(config, store, fetcher=fetcher, clock=HurriedClock()).run()
            stored = {page.url: page.text for page in store.pages()}
            reasons = store.counts().by_reason
        await fetcher.close()
        urls = {server.web.url(i, server.port): i for i in range(web.pages)}
        lost = [i for url, i in urls.items() if web.token(i) not in stored.get(url, "")]
        cut = [i for url, i in urls.items() if i not in lost and web.text(i) not in stored[url]]
        traps = Counter(v.kind.name for v in server.visits if v.kind and v.kind.place is FaultPlace.TRAP)
        return {
            "pages": web.pages,
            "healthy_fetched": web.pages - len(lost) - len(cut),
            "lost": {web.url(i): _trouble(web, i) for i in [*lost, *cut]},
            "requests": len(server.visits),
            "budget": budget,
            "faulty": server.faulty(),
            "trapped": server.trapped(),
            "traps": dict(traps.most_common()),
            "kinds": len(server.met()),
            "not_met": sorted(k.name for k in web.kinds if k.name not in server.met()),
            "trespasses": len(server.trespasses),
            "reason": finished.reason,
            "by_reason": reasons,
        }


def _trouble(web: ChaosWeb, number: int) -> str:
    found = [web.trouble(number), web.robots_kind(web.hosts[number % len(web.hosts)])]
    return ", ".join(kind.name for kind in found if kind) or "none"


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments("Crawl a web in trouble and say what was lost.")
    parser.add_argument("--pages", type=int, default=600, help="healthy pages")
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strategy", default="breadth-first")
    parser.add_argument("--budget", type=float, default=4.0, help="requests allowed, per healthy page")
    parser.add_argument("--timeout", type=float, default=1.5, help="the crawler's time limit for a request")
    parser.add_argument("--kinds", default="", help="only these, comma-separated")
    given = parser.parse_args(argv)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    kinds = set(given.kinds.split(",")) if given.kinds else None
    web = ChaosWeb(given.seed, pages=given.pages, hosts=given.hosts, kinds=kinds)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        budget = round(given.budget * given.pages)
        found = asyncio.run(
            run(web, Path(place) / "crawl", strategy=given.strategy, budget=budget, patience=given.timeout)
        )
    found["seconds"] = round(time.monotonic() - start, 1)
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    failures = [f"{url} was lost ({why})" for url, why in found["lost"].items()]
    failures += ["a connection to a forbidden address"] * found["trespasses"]
    lines = [
        f"{found['kinds']} of {len(KINDS)} kinds met; not met: {', '.join(found['not_met']) or 'none'}",
        f"{found['requests']} requests, {found['faulty']:.1%} of those outside traps faulty",
        f"healthy pages fetched whole: {found['healthy_fetched']} of {found['pages']}",
        f"requests in traps: {found['trapped']:.1%} {found['traps']}",
        f"connections to forbidden addresses: {found['trespasses']}",
        f"ended by: {found['reason']}, {found['seconds']} s, peak {found['peak_mb']} MB",
        f"left out or failed: {found['by_reason']}",
    ]
    return ended(given, "chaos", found["requests"], failures, found, lines)


if __name__ == "__main__":
    sys.exit(main())
