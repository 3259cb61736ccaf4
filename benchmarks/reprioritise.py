"""The cost of learning, scoring and choosing per fetched page, as the frontier grows from 10⁴ to 10⁶.

    python benchmarks/reprioritise.py               # one core; a few minutes
    python benchmarks/reprioritise.py --limit 200000

A made-up web of many hosts, 100 links a page of which about 70 are new, with real-looking words, goes
through the real engine with `intelligent` (all factors, learned weights). Printed for each size: CPU
milliseconds per page for all of `settle` and `lease`, and of that learning and scoring; the same as a ratio
to the smallest size; and how often an audit found the chosen link to be the true best of all.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from clew import url as urls
from clew.engine import Crawl, CrawlRules
from clew.frontier import Politeness
from clew.messages import Outcome, SaveCandidates, TaskKind
from clew.page import Links, Page
from clew.policy import Scope
from clew.predicate.verdict import Verdict
from clew.strategy import make

LINKS = 100
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
WINDOW = 200


class Blind:
    """Says yes to pages of some hosts; knows nothing of links."""

    def judge(self, page: Page) -> Verdict:
        good = "turbine" in page.text
        return Verdict(float(good), good)

    def glance(self, links: Links) -> list[float]:
        return [0.0] * len(links)

    def text(self) -> str:
        return "blind"


def page(url: str, dice: np.random.Generator, made: list[str]) -> Page:
    """A page with words of its topic and links, most of them new."""
    topic = urls.key(urls.host(url)) % 20
    words = [f"word{n}" for n in dice.integers(0, 20_000, 150)] + [
        f"topic{topic}x{n}" for n in dice.integers(0, 400, 60)
    ]
    text = " ".join([*words, "turbine"] if topic == 0 and dice.random() < 0.8 else words)
    targets = []
    for i in range(LINKS):
        if made and dice.random() < 0.3:
            targets.append(made[int(dice.integers(0, len(made)))])
        else:
            host = (
                int(dice.integers(0, 4000))
                if dice.random() < 0.5
                else topic * 200 + int(dice.integers(0, 200))
            )
            targets.append(f"http://h{host}.example/{i % 9}/a{len(made)}-topic{topic}.html")
            made.append(targets[-1])
    targets = list(dict.fromkeys(targets))
    blank = ("",) * len(targets)
    anchors = tuple(f"about topic{topic} and word{i}" for i in range(len(targets)))
    return Page(
        url=url, text=text, language="en", links=Links(url, tuple(targets), anchors, blank, blank, blank)
    )


def measure(limit: int, options: dict[str, object]) -> list[dict[str, float]]:
    shelf: list[str] = []
    predicate = Blind()
    rules = CrawlRules(scope=Scope(), politeness=Politeness(own=lambda host: True, own_robots=False))
    crawl = Crawl(predicate, make("intelligent", predicate, options=options), rules, shelf.__getitem__)
    dice, made = np.random.default_rng(1), []
    _keep(shelf, crawl.start([f"http://h{i}.example/" for i in range(0, 400, 20)], 0.0))
    rows, sizes = [], [s for s in SIZES if s <= limit]
    spent = pages = right = audits = 0.0
    learning = _Timed(crawl.strategy)
    now = 0.0
    while sizes:
        now += 1.0
        began = time.process_time()
        task = crawl.lease(now, 1)[0]
        spent += time.process_time() - began
        if pages % 20 == 10 and task.kind is TaskKind.PAGE:
            right += _is_best(crawl, task.candidate)
            audits += 1
        if task.kind is not TaskKind.PAGE:
            crawl.settle(Outcome(task=task, status=404), now)
            continue
        got = page(task.url, dice, made)
        began = time.process_time()
        effects = crawl.settle(Outcome(task=task, status=200, page=got), now)
        spent += time.process_time() - began
        pages += 1
        _keep(shelf, effects)
        if pages % WINDOW == 0:
            if crawl.frontier.queued >= sizes[0]:
                rows.append(
                    {
                        "candidates": crawl.frontier.queued,
                        "ms_per_page": 1000 * spent / WINDOW,
                        "learn_ms": 1000 * learning.spent / WINDOW,
                        "best": right / audits if audits else 1.0,
                        "audits": audits,
                    }
                )
                sizes.pop(0)
            spent = learning.spent = 0.0
    return rows


class _Timed:
    """Times a strategy's `learn` and `score` where they stand."""

    def __init__(self, strategy: object) -> None:
        self.spent = 0.0
        for name in ("learn", "score"):
            setattr(strategy, name, self._timed(getattr(strategy, name)))

    def _timed(self, method):  # type: ignore[no-untyped-def]
        def call(*given):  # type: ignore[no-untyped-def]
            began = time.process_time()
            try:
                return method(*given)
            finally:
                self.spent += time.process_time() - began

        return call


def _is_best(crawl: Crawl, chosen: int) -> bool:
    """Whether no queued candidate is worth more than the chosen one by evidence evaluated now."""
    strategy = crawl.strategy
    ids = np.flatnonzero(strategy.memory.open[: strategy.memory.size])  # type: ignore[attr-defined]
    if not strategy.memory.open[chosen]:  # type: ignore[attr-defined]
        return True
    scores = strategy.evaluate(ids).sum(axis=1)  # type: ignore[attr-defined]
    mine = strategy.evaluate(np.array([chosen])).sum()  # type: ignore[attr-defined]
    return bool(mine >= scores.max())


def _keep(shelf: list[str], effects: tuple[object, ...]) -> None:
    for effect in effects:
        if isinstance(effect, SaveCandidates):
            shelf.extend(effect.urls)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=SIZES[-1])
    parser.add_argument("--refresh", type=float, default=None, help="grow by this share between estimates")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rows = measure(asked.limit, {} if asked.refresh is None else {"refresh": asked.refresh})
    if asked.json:
        print(json.dumps(rows))
        return
    print(f"{'candidates':>11} {'ms/page':>8} {'of it learning':>15} {'ratio':>6} {'audits best':>12}")
    for row in rows:
        print(
            f"{row['candidates']:>11,.0f} {row['ms_per_page']:>8.2f} {row['learn_ms']:>15.2f} "
            f"{row['ms_per_page'] / rows[0]['ms_per_page']:>6.2f} {row['best']:>11.2%}"
        )


if __name__ == "__main__":
    main()
