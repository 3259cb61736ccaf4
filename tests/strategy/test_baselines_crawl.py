"""The baselines at work: on recorded webs where their descriptions say that they should do well, they do."""

import asyncio
from functools import cache

import pytest

from clew.lab.demo import DemoWeb
from clew.run import CrawlConfig, Session
from clew.store import MemoryStore, open_store
from clew.strategy import find
from clew.testing import ReplayFetcher, StaticWeb, VirtualClock

pytestmark = pytest.mark.slow


def crawl(web, strategy, *, match, pages, seed=0, store=None):
    """One page at a time, so that every decision has seen the outcome of the last; gives end and store."""
    config = CrawlConfig(
        seeds=web.seeds(),
        match=match,
        strategy=strategy,
        seed=seed,
        pages=pages,
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        concurrency=1,
        ordered=True,
        parse_workers=0,
    )
    store = store or MemoryStore()
    session = Session(config, store, fetcher=ReplayFetcher(web), clock=VirtualClock())
    return asyncio.run(session.run()), store


@cache
def finds(strategy):
    """Finds in 300 pages each of two small demo webs, whose topics keep to hosts, words and each other."""
    webs = [DemoWeb(seed=seed, hosts=24, pages=1000) for seed in (7, 9)]
    return sum([crawl(web, strategy, match=web.formula(), pages=300)[0].matches for web in webs])


@pytest.mark.parametrize("strategy", ["focused", "shark", "cosine", "ache", "anthelion"])
def test_it_finds_twice_what_chance_finds_where_topics_keep_together(strategy):
    assert finds(strategy) > 2 * finds("random") > 0


def page(*links, text):
    """A page whose links are (tags around, URL)."""
    shown = "".join(
        f"<{tag} class={name}><ul><li><a href='{url}'>more</a></li></ul></{tag}>"
        for (tag, name), url in links
    )
    return f"<!doctype html><html lang=en><title>x</title><body><p>{text}</p>{shown}</body></html>"


def catalogue():
    """Lists that lead to data from one place of the page, to gossip from two others, and to the next list."""
    pages = {}
    for n in range(40):
        lists = [(("div", "pager"), f"http://a.example/list/{n + 1}")] if n < 39 else []
        data = [(("main", "data"), f"http://a.example/item/{n}-{k}") for k in range(4)]
        menu = [(("nav", "menu"), f"http://a.example/item/m{n}-{k}") for k in range(6)]
        foot = [(("footer", "foot"), f"http://a.example/item/f{n}-{k}") for k in range(6)]
        pages[f"http://a.example/list/{n}"] = page(*menu, *lists, *data, *foot, text=f"list {n}")
        pages |= {url: page(text=f"figures in a table, {url}") for _, url in data}
        pages |= {url: page(text=f"nothing of note, {url}") for _, url in (*menu, *foot)}
    return StaticWeb(pages)


def test_tagpath_learns_from_which_place_of_a_page_the_finds_come():
    """URLs and anchors say nothing here; only the place of a link does."""
    web = catalogue()
    bandit, store = crawl(web, "tagpath", match="figures", pages=150)
    chance, _ = crawl(web, "random", match="figures", pages=150)
    assert bandit.matches > 1.5 * chance.matches
    late = [d for d in store.decisions() if d.kind == "page"][-50:]
    # Four links of seventeen lead to data, and each list must be fetched before its data can be.
    assert sum(d.result == "match" for d in late) > 25


def test_every_score_of_a_crawl_is_the_sum_of_its_parts():
    web = DemoWeb(seed=7, hosts=16, pages=200)
    for strategy in ("shark", "ache", "anthelion", "tagpath"):
        _, store = crawl(web, strategy, match=web.formula(), pages=150)
        decisions = [d for d in store.decisions() if d.kind == "page"]
        assert decisions
        assert all(d.score == pytest.approx(sum(d.terms), abs=1e-9) for d in decisions)


@pytest.mark.parametrize("strategy", ["shark", "ache", "anthelion", "tagpath"])
def test_one_seed_gives_one_trace(strategy):
    web = DemoWeb(seed=7, hosts=16, pages=200)
    traces = [crawl(web, strategy, match=web.formula(), pages=120, seed=5)[1].decisions() for _ in range(2)]
    assert [d.line() for d in traces[0]] == [d.line() for d in traces[1]]


@pytest.mark.parametrize("strategy", ["shark", "cosine", "ache", "anthelion", "tagpath"])
def test_a_crawl_in_two_sessions_is_the_crawl_in_one(strategy, tmp_path):
    """What was learned is restored whole, and not learned a second time from the stored pages."""
    web = DemoWeb(seed=7, hosts=16, pages=200)
    traces = []
    for name, stops in (("one", (160,)), ("two", (70, 160))):
        for pages in stops:
            store = open_store(tmp_path / name)
            crawl(web, strategy, match=web.formula(), pages=pages, store=store)
            trace = [(d.url, d.score) for d in store.decisions() if d.kind == "page"]
            store.close()
        traces.append(trace)
    assert traces[0] == traces[1]


@pytest.mark.parametrize("strategy", ["breadth-first", "best-first", "random"])
def test_a_strategy_that_says_it_has_no_dice_is_the_same_crawl_with_others(strategy):
    web = DemoWeb(seed=7, hosts=16, pages=200)
    runs = [crawl(web, strategy, match=web.formula(), pages=60, seed=seed)[1].decisions() for seed in (1, 2)]
    traces = [[d.line() for d in decisions] for decisions in runs]
    assert (traces[0] != traces[1]) == find(strategy).capabilities.throws
