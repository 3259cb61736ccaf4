"""The naive loop, the audit, the end when nothing is of interest, and candidates met elsewhere."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from clew import url as urls
from clew.errors import ConfigError
from clew.factor import Estimation
from clew.fetch.base import Response
from clew.fetch.replay import ReplayFetcher
from clew.page import Links, Page
from clew.predicate import compile as compile_predicate
from clew.predicate.verdict import Verdict
from clew.run import CrawlConfig, Session, VirtualClock
from clew.store import MemoryStore, open_store
from clew.strategy import Intelligent, make
from clew.strategy.base import Expansion
from clew.testing import DemoWeb


def crawl(web, pages, store=None, fetcher=None, **more):
    config = CrawlConfig(
        seeds=web.seeds(),
        match=more.pop("match", None) or web.formula(),
        pages=pages,
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        concurrency=1,
        **more,
    )
    store = store or MemoryStore()
    session = Session(config, store, fetcher=fetcher or ReplayFetcher(web), clock=VirtualClock(1e9))
    return asyncio.run(session.run()), store, session.crawl


@pytest.mark.parametrize("weights", ["learned", "balanced"])
def test_exact_gives_the_same_order(weights):
    """On a web of 2,000 pages the naive loop, one candidate at a time, chooses what the arrays choose."""
    web = DemoWeb(pages=2000)
    orders = []
    for option in ("exact=no", "exact=yes"):
        _, store, _ = crawl(web, 40, weights=weights, option=(option,))
        orders.append([d.line() for d in store.decisions()])
    assert orders[0] == orders[1]


def test_the_audit_counts_and_finds_every_choice_the_best():
    web = DemoWeb(pages=2000)
    _, store, engine = crawl(web, 150, option=("audit=0.5",))
    assert 30 < engine.tally.audits < 120
    assert engine.tally.best == engine.tally.audits
    assert store.meta()["audits"] == [engine.tally.audits, engine.tally.best]


def test_the_audit_notices_a_choice_that_is_not_the_best():
    """A strategy whose scores in the frontier are out of date: one that never tells what moved."""

    class Stale(Intelligent):
        def observe(self, expansion):
            return replace(super().observe(expansion), moved=None)

    web = DemoWeb(pages=2000)
    predicate = compile_predicate(web.formula())
    config = CrawlConfig(
        seeds=web.seeds(),
        match="wind",
        pages=150,
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        concurrency=1,
    )
    store = MemoryStore()
    session = Session(config, store, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9), predicate=predicate)
    stale = Stale(1, predicate=predicate, audit=1.0)
    session.crawl = type(session.crawl)(predicate, stale, session.crawl.rules, store.url)
    asyncio.run(session.run())
    assert session.crawl.tally.best < session.crawl.tally.audits


class Breaking(ReplayFetcher):
    """Gives so many replies, then breaks down."""

    left = 60

    async def fetch(self, *args, **kwargs):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("broken")
        return await super().fetch(*args, **kwargs)


def test_the_audits_of_a_session_that_broke_down_count_on(tmp_path):
    """As many as in one session, checked at the same choices."""
    web, audited = DemoWeb(pages=2000), {"option": ("audit=0.5",)}
    _, _, whole = crawl(web, 100, **audited)
    with open_store(tmp_path / "crawl") as store, pytest.raises(RuntimeError):
        crawl(web, 100, store, Breaking(web), **audited)
    with open_store(tmp_path / "crawl") as store:
        assert "audits" not in store.meta()
        _, _, resumed = crawl(web, 100, store, **audited)
    assert whole.tally.audits > 30
    assert (resumed.tally.audits, resumed.tally.best) == (whole.tally.audits, whole.tally.best)


def test_no_audit_unless_asked():
    _, store, engine = crawl(DemoWeb(pages=300, hosts=16), 40)
    assert engine.tally.audits == 0
    assert not store.meta().get("audits")


def test_a_crawl_ends_when_nothing_is_interesting():
    web = DemoWeb(pages=2000)
    finished, store, _ = crawl(web, None, interest=3.0)
    assert finished.reason == "nothing interesting"
    assert finished.matches > 10
    assert finished.pages < 1500
    assert store.meta()["stopped"] == "nothing interesting"


def test_a_low_bar_of_interest_stops_nothing():
    finished, _, _ = crawl(DemoWeb(pages=300, hosts=16), 100, interest=1e-9)
    assert finished.reason == "pages"


def test_interest_needs_a_strategy_that_can_tell():
    with pytest.raises((ConfigError, ValueError), match="intelligent"):
        CrawlConfig(seeds=("http://a.example/",), match="x", strategy="random", interest=1.0)


def test_the_product_of_ratios_is_the_papers_interest_ratio():
    strategy = make("intelligent", compile_predicate("wind"), options={"weights": "product"})
    assert isinstance(strategy, Intelligent)
    strategy._found = True
    width = len(strategy.parts) - 1
    assert strategy.interest((np.log(2.0), np.log(3.0), *[0.0] * (width - 2), 0.7)) == pytest.approx(6.0)


SEED, A, B, C = (f"http://a.example/{name}" for name in ("", "wind", "wind-farm", "rye"))


def expansion(source, url, targets, ids, fresh, good=False, text="wind common", anchor="wind"):
    links = Links(url, tuple(targets), (anchor,) * len(targets), *[("",) * len(targets)] * 3)
    page = Page(url=url, text=text, language="en", links=links)
    keys = urls.keys(targets)
    return Expansion(
        source,
        page,
        Verdict(float(good), good),
        0,
        links,
        keys,
        np.array(ids, np.int64),
        np.array(fresh, np.bool_),
    )


def test_what_a_sitemap_lists_is_known_by_its_tokens():
    strategy = Intelligent(how=Estimation(threshold=0.0), weights="product")
    strategy.observe(expansion(0, SEED, [A, C], [1, 2], [True, True]))
    strategy.observe(expansion(1, A, [], [], [], good=True))
    strategy.observe(expansion(2, C, [], [], []))
    parts = strategy.meet(expansion(-1, "http://a.example/sitemap.xml", [B], [3], [True], anchor=""))
    assert parts.shape == (1, len(strategy.parts))
    assert strategy.graph.open[3]
    assert "farm" in {strategy.knowledge.tokens.names[i] for i in strategy.graph.tokens.row(3)}
    assert parts[0][strategy.factors.index("url")] > 0
    assert np.array_equal(parts, strategy.evaluate(np.array([3])))


def test_the_target_of_a_redirect_takes_the_place_of_what_led_there():
    strategy = Intelligent(how=Estimation(threshold=0.0), weights="product")
    strategy.observe(expansion(0, SEED, [A, C], [1, 2], [True, True]))
    strategy.observe(expansion(2, C, [], [], [], good=True))
    before = strategy.evidence(np.array([1]))[0]
    assert strategy.meet(expansion(1, A, [B], [3], [True])) is not None
    names = strategy.factors
    after = strategy.evidence(np.array([3]))[0]
    for name in ("content", "link", "sibling"):
        assert after[names.index(name)] == before[names.index(name)]
    assert not strategy.graph.open[1]
    # When it is fetched, its siblings learn of it.
    strategy.observe(expansion(3, B, [], [], [], good=True))
    assert strategy.graph.child_seen[0] == 2


class Redirecting:
    """The demo web with one page of three moved, and a sitemap."""

    def __init__(self, web):
        self.web = web

    def __getattr__(self, name):
        return getattr(self.web, name)

    def get(self, url):
        if url.endswith("-moved"):
            return replace(self.web.get(url.removesuffix("-moved")), url=url)
        found = self.web.get(url)
        if found is None or found.status != 200 or not url.count("/") > 3 or urls.key(url) % 3:
            return found
        return Response(url=url, status=301, headers=(("location", url + "-moved"),), body=b"", wire=0)


@pytest.mark.slow
def test_a_crawl_with_redirects_goes_on_where_it_stopped(tmp_path):
    """In two sessions the same pages in the same order as in one."""
    web = Redirecting(DemoWeb(pages=600))
    orders = []
    for name, stops in (("one", (150,)), ("two", (70, 150))):
        for pages in stops:
            store = open_store(tmp_path / name)
            crawl(web, pages, store, traps=False)
            order = [d.url for d in store.decisions() if d.kind == "page"]
            redirects = sum(d.result == "redirect" for d in store.decisions())
            store.close()
        orders.append(order)
    assert redirects > 10
    assert orders[0] == orders[1]
