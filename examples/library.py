"""clew as a library: a predicate that is plain Python, on a made-up web, without a network.

    python examples/library.py

`match` may be a formula or any callable that gives a page True, False or a degree from 0 to 1. Leave out
`fetcher` and `clock`, give seeds of your own, and the same lines crawl the live web.
"""

from __future__ import annotations

import clew
from clew.testing import DemoWeb, ReplayFetcher, VirtualClock

WORDS = ("turbine", "wind farm", "blade", "load factor")


def about_wind(page: clew.Page) -> float:
    """The share of our words that a page has; a page with half of them is a find."""
    text = page.text.lower()
    return sum(word in text for word in WORDS) / len(WORDS)


def main() -> None:
    web = DemoWeb()
    run = clew.crawl(
        web.seeds(),
        match=about_wind,
        pages=300,
        fetcher=ReplayFetcher(web),  # a recorded web in place of the network
        clock=VirtualClock(),  # a clock that jumps over every politeness delay
    )
    finds = list(run)  # each as it comes: for find in run, or async for find in run
    for find in sorted(finds, key=lambda find: -find.score)[:5]:
        print(f"{find.score:.2f}  {find.url}  {find.title}")
    print(run.finished)
    print()
    print(run.explain(finds[-1].url))


if __name__ == "__main__":
    main()
