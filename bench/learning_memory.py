"""Memory of a learning strategy in a long crawl, and what of it grows.

    python bench/learning_memory.py [--pages 20000] [--words 300] [--strategy intelligent] [--sizes] [--json]

The real engine over a web made on the way, in one process: pages whose vocabulary grows without end
(Zipf's law, so that a page always brings words never seen), 30 links each, addresses of which no two are
alike. URLs rest in one list, as they rest in a store. Printed: resident memory along the crawl, and the bytes
a page costs beyond 5,000 pages. `--sizes` adds what the strategy's arrays, texts and dictionaries take.

Bars: at most 2 KB a page beyond 5,000 pages; at most 400 MB at 50,000 pages.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from frontier_memory import resident

LINKS = 30
#: Pages from which on growth is measured, and how often memory is looked at.
SETTLED, EVERY = 5000, 2500
_LETTERS = "bcdfghklmnprstvz"
_HOSTS, _TOPICS = 200, 50


def word(number: int) -> str:
    """A word that no stemmer cuts; no two numbers have the same."""
    found = ""
    while number or not found:
        number, digit = divmod(number, 16)
        found += _LETTERS[digit] + "a"
    return found + "x"


def topic(page: int) -> int:
    return page % _HOSTS % _TOPICS


def url(page: int) -> str:
    return f"http://h{page % _HOSTS}.example/{word(topic(page))}/{word(page // 7 + 100)}-{page}.html"


class EndlessWeb:
    """Pages by number: text by Zipf's law, links mostly to pages of the same topic."""

    def __init__(self, pages: int, words: int) -> None:
        self.pages = pages
        self.words = words

    def page(self, number: int) -> Any:
        """A page with its links."""
        from clew.page import Links, Page

        dice = np.random.default_rng(number)
        ranks = np.minimum(dice.zipf(1.3, self.words), 1 << 40)
        own = [word(topic(number) + 1000 * i) for i in dice.integers(1, 20, 20).tolist()]
        text = " ".join([word(10_000 + rank) for rank in ranks.tolist()] + own)
        near = (number + dice.integers(-500, 500, LINKS // 2) * _HOSTS) % self.pages
        targets = np.concatenate([near, dice.integers(0, self.pages, LINKS - LINKS // 2)]).tolist()
        targets = [target for target in dict.fromkeys(targets) if target != number]
        source = url(number)
        links = Links(
            source,
            tuple([url(target) for target in targets]),
            tuple([f"{word(topic(target))} {word(10_000 + target % 3000)}" for target in targets]),
            [""] * len(targets),
            ["html/body/div/ul/li/a" if i % 2 else "html/body/p/a" for i in range(len(targets))],
            ("",) * len(targets),
        )
        return Page(url=source, text=text, main=text, language="en", links=links, digest=number + 1)


def crawled(web: EndlessWeb, strategy: Any, predicate: Any, pages: int) -> list[tuple[int, int]]:
    """(pages, resident bytes) along the crawl."""
    from clew.engine import Crawl, CrawlRules
    from clew.frontier.hosts import Politeness
    from clew.messages import Outcome, SaveCandidates
    from clew.policy import Budget, Scope

    urls: list[str] = []
    rules = CrawlRules(
        scope=Scope(),
        budget=Budget(requests=pages),
        politeness=Politeness(
            agent="clew", own=lambda host: True, own_delay=0.0, own_limit=1, own_robots=False
        ),
        sitemaps="off",
        traps=False,
    )
    crawl = Crawl(predicate, strategy, rules, urls.__getitem__)

    def save(effects: Sequence[Any]) -> None:
        for effect in effects:
            if isinstance(effect, SaveCandidates):
                urls.extend(effect.urls)

    save(crawl.start([url(i) for i in range(64)], 0.0))
    found, done = [(0, resident())], 0
    while done < pages:
        tasks = crawl.lease(0.0, 1)
        if not tasks:
            break
        number = int(tasks[0].url.rpartition("-")[2].removesuffix(".html"))
        save(crawl.settle(Outcome(task=tasks[0], status=200, page=web.page(number)), 0.0))
        done += 1
        if done % EVERY == 0:
            gc.collect()
            found.append((done, resident()))
            if "--json" not in sys.argv:
                print(f"{done:>7} pages  {found[-1][1] / 1e6:7.1f} MB  {len(urls):>8} candidates", flush=True)
    return found


def sizes(root: object, most: int = 25) -> list[tuple[int, str]]:
    """What hangs below an object, by path: bytes of arrays, texts and containers, each counted once."""
    met: set[int] = set()
    found: dict[str, int] = {}

    def look(one: Any, path: str, depth: int) -> None:
        if id(one) in met or isinstance(one, type) or callable(one):
            return
        met.add(id(one))
        base = one.base if isinstance(one, np.ndarray) else None
        size = sys.getsizeof(one) if base is None else sys.getsizeof(base)
        found[path] = found.get(path, 0) + size
        if isinstance(one, dict):
            for key, value in one.items():
                look(key, path + "{}", depth)
                look(value, path + "{}", depth)
        elif isinstance(one, list | tuple | set | frozenset):
            for value in one:
                look(value, path + "[]", depth)
        elif depth and type(one).__module__.startswith("clew"):
            names = list(getattr(one, "__dict__", ()))
            for kind in type(one).__mro__:
                names += getattr(kind, "__slots__", ())
            for name in dict.fromkeys(names):
                if hasattr(one, name):
                    look(getattr(one, name), f"{path}.{name}", depth - 1)

    look(root, "", 8)
    return sorted([(size, path) for path, size in found.items()], reverse=True)[:most]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Memory of a learning strategy in a long crawl.")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--strategy", default="intelligent")
    parser.add_argument("--words", type=int, default=300, help="on a page")
    parser.add_argument("--sizes", action="store_true", help="what the strategy's parts take in the end")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(argv)
    if given.pages < SETTLED + EVERY:
        parser.error(f"growth shows from {SETTLED + EVERY} --pages on")
    from clew.lab.predicates import Blind
    from clew.strategy import make

    web = EndlessWeb(2 * given.pages, given.words)
    predicate = Blind("topic", frozenset(url(i) for i in range(web.pages) if topic(i) == 7))
    strategy = make(given.strategy, predicate)
    curve = crawled(web, strategy, predicate, given.pages)
    settled = dict(curve)[SETTLED]
    pages, last = curve[-1]
    found = {
        "strategy": given.strategy,
        "pages": pages,
        "megabytes": round(last / 1e6, 1),
        "bytes_a_page": round((last - settled) / (pages - SETTLED)),
        "curve": [[n, round(size / 1e6, 1)] for n, size in curve],
    }
    if given.json:
        print(json.dumps(found))
        return 0
    print(f"{found['strategy']}: {found['megabytes']} MB at {pages} pages, ", end="")
    print(f"{found['bytes_a_page']} bytes a page beyond {SETTLED}")
    if given.sizes:
        for size, path in sizes(strategy):
            print(f"  {size / 1e6:7.2f} MB  {path}")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.exit(main())
