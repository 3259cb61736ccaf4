"""The cost of learning, scoring and choosing per fetched page, as the frontier grows from 10⁴ to 10⁶.

    python bench/reprioritise.py               # one core; ten minutes
    python bench/reprioritise.py --limit 100000
    python bench/reprioritise.py --strategy topic-driven     # with PageRank, and twenty articles as examples
    python bench/reprioritise.py --exact --pages 2000   # the order against exact recomputation

A web of fifty thousand hosts, each with its own copy of every Wikispeedia article, goes through the real
engine with `intelligent` (all factors, learned weights) or `topic-driven`: pages have the words of the
articles (some 2,200, of which 540 stems differ) and about a hundred links: those of the article on their
own host, filled up with links to the same articles on other hosts. Printed for each size, in CPU
milliseconds per page: all of `settle` and `lease`; of that learning, scoring, filing and choosing
(`learn+score+pop`); that as a ratio to the smallest size; and how often an audit found the chosen link to
be the true best of all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clew.engine import Crawl, CrawlRules
from clew.fetch.replay import ReplayFetcher
from clew.frontier import Politeness
from clew.lab import open_web
from clew.lab.corpora import topics_of
from clew.lab.parse_cache import pages_of
from clew.messages import Outcome, Rescore, SaveCandidates, TaskKind
from clew.page import Links, Page
from clew.policy import Scope
from clew.predicate.verdict import Verdict
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import MemoryStore
from clew.strategy import Intelligent, make
from clew.testing import DemoWeb
from clew.topic import Example
from clew.training.train import like

HOSTS = 50_000
#: Links of a page, if its article does not have more of its own.
LINKS = 100
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
#: A figure is the mean over the pages during which the frontier grew to a size from this share of it.
SHARE = 0.7
TOPIC = "subject.Everyday_life"
#: An audit is made after so many pages, or a page for so many candidates: enough to show one in a thousand.
AUDITED = 2
AUDITED_EACH = 25_000
#: The naive loop is run after every so many pages.
NAIVE = 50


class Copies:
    """Fifty thousand copies of Wikispeedia, linked to each other."""

    def __init__(self) -> None:
        web = open_web("wikispeedia:hard")
        found = pages_of(web)
        paths = {url: "/" + url.split("/", 3)[3] for url in found}
        self.articles = list(paths.values())
        self.pages = {paths[url]: self._inside(page, paths) for url, page in found.items()}
        self.good = {paths[url] for url in found if TOPIC in topics_of(web, url)}
        self.dice = np.random.default_rng(1)

    @staticmethod
    def _inside(page: Page, paths: dict[str, str]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Text, and the paths and anchors of its links to other articles."""
        links = {
            paths[t]: a for t, a in zip(page.links.targets, page.links.anchors, strict=True) if t in paths
        }
        return page.text, tuple(links), tuple(links.values())

    def get(self, url: str) -> Page:
        """A page of one of the copies."""
        host, _, path = url.removeprefix("http://").partition("/")
        text, paths, anchors = self.pages["/" + path]
        own = len(paths)
        others = self.dice.integers(0, HOSTS, max(0, LINKS - own) if own else 0).tolist()
        targets = [f"http://{host}{path}" for path in paths]
        targets += [f"http://h{n}.example{paths[i % own]}" for i, n in enumerate(others)]
        said = anchors + tuple([anchors[i % own] for i in range(len(others))])
        blank = ("",) * len(targets)
        links = Links(url, tuple(targets), said, blank, blank, blank)
        return Page(url=url, text=text, language="en", links=links)


class Blind:
    """Says yes to articles of one topic; knows nothing of links."""

    def __init__(self, good: set[str]) -> None:
        self.good = good

    def judge(self, page: Page) -> Verdict:
        found = "/" + page.url.split("/", 3)[3] in self.good
        return Verdict(float(found), found)

    def estimate_links(self, links: Links) -> list[float]:
        return [0.0] * len(links)

    def text(self) -> str:
        return "blind"


class Timed:
    """CPU seconds spent in some calls; those within others count once."""

    def __init__(self) -> None:
        self.spent = 0.0
        self._deep = 0

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            self._deep += 1
            began = time.process_time()
            try:
                return call(*given, **named)
            finally:
                self._deep -= 1
                if not self._deep:
                    self.spent += time.process_time() - began

        return timed


class TimedExpander:
    """An engine's expander with its time taken where it files what was learned."""

    def __init__(self, expander: Any, timed: Timed) -> None:
        self._expander = expander
        self.number = timed.wrap(expander.number)
        self.file = timed.wrap(expander.file)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._expander, name)


def measure(
    limit: int, options: dict[str, object], name: str = "intelligent", confidence: float | None = None
) -> Iterator[dict[str, float]]:
    """One row for each size up to the limit, as it is reached."""
    web = Copies()
    shelf: list[str] = []
    predicate = Blind(web.good)
    politeness = Politeness(own=lambda host: True, own_robots=False)
    rules = CrawlRules(scope=Scope(), politeness=politeness, confidence=confidence)
    examples = [Example(path, Page(url=path, text=web.pages[path][0])) for path in sorted(web.good)[:20]]
    strategy = make(name, predicate, options=options, like=like(examples))
    crawl = Crawl(predicate, strategy, rules, shelf.__getitem__)
    whole, chosen = Timed(), Timed()
    timed = TimedExpander(crawl.expander, chosen)
    crawl.settler = replace(crawl.settler, expander=timed)  # type: ignore[arg-type]
    crawl.learner.teach = chosen.wrap(crawl.learner.teach)  # type: ignore[method-assign]
    lease, settle = whole.wrap(chosen.wrap(crawl.lease)), whole.wrap(crawl.settle)
    starts = [f"http://h{i}.example{path}" for i, path in enumerate(web.articles[:20])]
    _keep(shelf, crawl.start(starts, 0.0))
    sizes = [s for s in SIZES if s <= limit]
    pages = first = right = audits = audit = 0
    while sizes:
        task = lease(float(pages), 1)[0]
        assert task.kind is TaskKind.PAGE
        if pages >= audit and isinstance(strategy, Intelligent):
            # An audit looks at every candidate, so there are fewer of them the more there are.
            audit = pages + max(AUDITED, crawl.frontier.queued // AUDITED_EACH)
            right += _is_best(strategy, task.candidate)
            audits += 1
        outcome = Outcome(task=task, status=200, page=web.get(task.url))
        _keep(shelf, settle(outcome, float(pages)))
        pages += 1
        if crawl.frontier.queued < SHARE * sizes[0]:
            first, whole.spent, chosen.spent = pages, 0.0, 0.0
        elif crawl.frontier.queued >= sizes[0]:
            row = {
                "candidates": sizes.pop(0),
                "pages": pages,
                "measured": pages - first,
                "settle_lease_ms": 1000 * whole.spent / (pages - first),
                "ms": 1000 * chosen.spent / (pages - first),
                "best": right / max(1, audits),
                "audits": audits,
            }
            yield row


NAIVE_LOOP = Intelligent.one_by_one


class Exact:
    """The yardstick: after every page, everything worked out anew for every candidate there is, by arrays;
    and every so often by the naive loop too, which must give the same numbers to the last bit."""

    def __init__(self) -> None:
        self.calls = self.loops = self.rows = self.equal = 0

    def __call__(self, strategy: Intelligent) -> Rescore:
        strategy.afresh()
        ids = np.flatnonzero(strategy.graph.open[: strategy.graph.size])
        anew = Rescore(ids, strategy.evaluate(ids), saved=False)
        if self.calls % NAIVE == 0:
            self.loops += 1
            naive = NAIVE_LOOP(strategy)
            self.rows += len(ids)
            self.equal += int((naive.terms == anew.terms).all(axis=1).sum())
        self.calls += 1
        return anew


def same_order(pages: int) -> tuple[int, int, Exact]:
    """Pages chosen alike by what is re-scored and by exact recomputation, of how many, on the demo web."""
    web = DemoWeb(pages=2000)
    orders = []
    exact = Exact()
    Intelligent.one_by_one = lambda strategy: exact(strategy)  # type: ignore[method-assign]
    for option in ("exact=no", "exact=yes"):
        config = CrawlConfig(
            seeds=web.seeds(),
            match=web.formula(),
            pages=pages,
            option=(option,),
            own=("*",),
            proxy="http://127.0.0.1:9",
            delay=0,
            concurrency=1,
        )
        store = MemoryStore()
        session = Session(config, store, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9))
        asyncio.run(session.run())
        orders.append([d.line() for d in store.decisions() if d.kind == "page"])
    return sum(a == b for a, b in zip(*orders, strict=False)), max(map(len, orders)), exact


def _is_best(strategy: Intelligent, chosen: int) -> bool:
    """Whether no open candidate is worth more than the chosen one by evidence worked out anew."""
    ids = np.flatnonzero(strategy.graph.open[: strategy.graph.size])
    if not strategy.graph.open[chosen]:
        return True
    return bool(strategy.review(np.array([chosen]))[0] >= strategy.review(ids).max())


def _keep(shelf: list[str], effects: tuple[object, ...]) -> None:
    for effect in effects:
        if isinstance(effect, SaveCandidates):
            shelf.extend(effect.urls)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=SIZES[-1])
    parser.add_argument("--strategy", default="intelligent", choices=["intelligent", "topic-driven"])
    parser.add_argument("--confidence", type=float, default=None, help="suspend directions at this level")
    parser.add_argument("--refresh", type=float, default=None, help="grow by this share between estimates")
    parser.add_argument("--exact", action="store_true", help="compare the order with that of the naive loop")
    parser.add_argument("--pages", type=int, default=300, help="pages of the comparison")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    if asked.exact:
        alike, of, exact = same_order(asked.pages)
        if asked.json:
            told = {"alike": alike, "of": of, "loops": exact.loops, "equal": exact.equal, "rows": exact.rows}
            print(json.dumps(told))
            return 0
        print(f"{alike} of {of} choices, with their scores to the last bit, are those made when every")
        print(f"candidate is scored anew after every page; after {exact.loops} pages by the naive loop, too:")
        print(f"it gave the same numbers for {exact.equal} of {exact.rows} candidates")
        return 0
    options: dict[str, object] = {} if asked.refresh is None else {"refresh": asked.refresh}
    rows = measure(asked.limit, options, asked.strategy, asked.confidence)
    heads = ("candidates", "pages", "settle+lease", "learn+score+pop", "ratio", "best")
    if not asked.json:
        print("{:>11} {:>7} {:>13} {:>16} {:>6} {:>8}".format(*heads), flush=True)
    first = 0.0
    for row in rows:
        first = first or row["ms"]
        if asked.json:
            print(json.dumps(row), flush=True)
            continue
        print(
            f"{row['candidates']:>11,.0f} {row['pages']:>7,} {row['settle_lease_ms']:>10.2f} ms "
            f"{row['ms']:>13.2f} ms {row['ms'] / first:>6.2f} {row['best']:>8.2%} of {row['audits']}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
