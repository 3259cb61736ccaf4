"""`intelligent`: the fast way and the naive way choose alike; learning pays; contributions sum."""

import asyncio
import math

import numpy as np
import pytest

from clew.factor import FACTORS
from clew.fetch.replay import ReplayFetcher
from clew.knowledge import Knowledge
from clew.lab import open_web
from clew.messages import Rescore
from clew.predicate import compile as compile_predicate
from clew.predicate.verdict import Verdict
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import MemoryStore
from clew.strategy import Intelligent, Scored, make
from clew.testing import DemoWeb


class Naive(Intelligent):
    """The yardstick: after every page, every candidate is evaluated anew, one at a time, in a Python loop."""

    def observe(self, expansion):
        scored = super().observe(expansion)
        if scored.moved is None and not self._found:
            return scored
        ids = [int(i) for i in np.flatnonzero(self.graph.open[: self.graph.size])]
        rows = [self.evaluate(np.array([i]))[0] for i in ids]
        parts = np.array(rows).reshape(len(ids), len(self.parts))
        return Scored(self.score(expansion), Rescore(np.array(ids, np.int64), parts, saved=False))


@pytest.mark.parametrize(
    ("weights", "options"),
    [({}, {}), ({}, {"weights": "balanced"}), ({"url": 2.0}, {}), ({}, {"factors": ("url", "anchor")})],
)
@pytest.mark.parametrize("known", [None, Knowledge()])
def test_the_names_of_contributions_are_known_without_building_one(weights, options, known):
    """An explanation names them long after the crawl; with earlier knowledge there is one factor more."""
    predicate = compile_predicate("wind")
    built = make("intelligent", predicate, weights=weights, options=options, known=known)
    assert Intelligent.parts_of(weights, options, reuses=known is not None) == built.parts


class Blind:
    """The ground truth as a predicate that says nothing about links."""

    def __init__(self, web):
        self.good = web.relevant()

    def judge(self, page):
        return Verdict(float(page.url in self.good), page.url in self.good)

    def estimate_links(self, links):
        return [0.0] * len(links)

    def text(self):
        return "wind"


def crawl(web, strategy, pages, predicate):
    config = CrawlConfig(
        seeds=web.seeds(),
        match="wind",
        pages=pages,
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        concurrency=1,
    )
    store = MemoryStore()
    session = Session(config, store, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9), predicate=predicate)
    crawl = session.crawl
    replaced = type(crawl)(predicate, strategy, crawl.rules, store.url)
    session.crawl = replaced
    finished = asyncio.run(session.run())
    return finished, [d for d in store.decisions() if d.kind == "page"], replaced


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"refresh": 0.0}, {"weights": "balanced"}])
def test_the_order_is_that_of_the_naive_loop(options):
    """On a web of 2,000 pages, with estimates now and then or after every page."""
    web = DemoWeb(pages=2000)
    fast = crawl(web, Intelligent(3, **options), 90, Blind(web))
    slow = crawl(web, Naive(3, **options), 90, Blind(web))
    assert [d.line() for d in fast[1]] == [d.line() for d in slow[1]]


def test_every_score_in_the_frontier_is_exact_at_the_end_and_the_best_is_chosen():
    """The audit: what is stored is what an evaluation now would give, to the last bit."""
    web = DemoWeb(pages=2000)
    strategy = Intelligent(1)
    _, decisions, engine = crawl(web, strategy, 200, Blind(web))
    ids = np.flatnonzero(strategy.graph.open[: strategy.graph.size])
    queued = ids[engine.frontier.states[ids] == 0]
    assert len(queued) > 100
    assert np.array_equal(engine.frontier.terms[queued], strategy.evaluate(queued))
    assert all(math.fsum(d.terms) == pytest.approx(d.score, abs=1e-9) for d in decisions)


def test_learning_beats_chance_and_the_plain_ways():
    web = open_web("demo")
    finds = {}
    for name in ("random", "breadth-first", "focused", "intelligent"):
        predicate = Blind(web)
        finds[name] = crawl(web, make(name, predicate, seed=1), 400, predicate)[0].matches
    assert finds["intelligent"] > finds["focused"] > finds["random"]
    assert finds["intelligent"] > 2 * finds["random"]


@pytest.mark.slow
def test_what_the_formula_makes_of_anchors_helps():
    """Over three seeds together: a single one may be lucky either way."""
    web = open_web("demo")
    formula = compile_predicate(web.formula())
    others = [name for name in FACTORS if name != "link_text"]
    guided = sum(crawl(web, Intelligent(s, predicate=formula), 200, formula)[0].matches for s in (1, 2, 3))
    unguided = sum(crawl(web, Intelligent(s, factors=others), 200, formula)[0].matches for s in (1, 2, 3))
    assert guided > unguided


@pytest.mark.slow
def test_knowledge_of_the_same_subject_helps_and_of_another_is_soon_not_believed():
    """Over three seeds together, in the first 60 pages, before a crawl has learned the way by itself."""
    web, other = DemoWeb(topic="wind"), DemoWeb(topic="cooking")
    predicate = Blind(web)
    same, unrelated = Intelligent(7), Intelligent(7)
    crawl(web, same, 400, predicate)
    crawl(other, unrelated, 400, Blind(other))
    plain = sum(crawl(web, Intelligent(seed), 60, predicate)[0].matches for seed in (1, 2, 3))
    known = same.knowledge
    helped = sum(crawl(web, Intelligent(seed, known=known), 60, predicate)[0].matches for seed in (1, 2, 3))
    sceptics = [Intelligent(seed, known=unrelated.knowledge) for seed in (1, 2, 3)]
    misled = sum(crawl(web, sceptic, 60, predicate)[0].matches for sceptic in sceptics)
    assert helped > 1.5 * plain
    assert misled >= 0.98 * plain
    assert all(sceptic.learners["prior_crawl"].beliefs["words"] < 0.3 for sceptic in sceptics)


def test_until_the_first_find_the_order_is_random_and_seeded():
    web = open_web("demo")

    class Never(Blind):
        def judge(self, page):
            return Verdict(0.0, False)

    orders = [[d.url for d in crawl(web, Intelligent(seed), 60, Never(web))[1]] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
