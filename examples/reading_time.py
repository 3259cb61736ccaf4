"""A predicate of your own inside a formula, by `py:module:function`.

    PYTHONPATH=examples clew check 'turbine AND py:reading_time:unhurried' page.html
    python examples/reading_time.py

The second serves a made-up web on 127.0.0.1 and crawls it over HTTP, as `clew crawl` would. `py:` runs code,
so it is understood on the command line, in a local clew.toml and here, never in what came over a network.
"""

from __future__ import annotations

import clew
from clew.testing import DemoWeb, serving

WORDS_A_MINUTE = 230


def unhurried(page: clew.Page) -> float:
    """1 for a page that takes a minute to read or longer, less for a shorter one."""
    return min(1.0, len(page.main.split()) / WORDS_A_MINUTE)


def main() -> None:
    web = DemoWeb()
    with serving(web) as proxy:
        run = clew.crawl(
            web.seeds(),
            match="turbine AND py:reading_time:unhurried",
            threshold=0.8,
            pages=120,
            proxy=proxy,
            own=["*"],  # every host behind a proxy of this machine is ours: no delay is owed
            delay=0,
            timeout=2,
        )
        for find in run:
            print(f"{find.score:.2f}  {find.title}  ({', '.join(find.reasons)})")
    print(run.finished)


if __name__ == "__main__":
    main()
