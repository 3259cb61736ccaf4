"""Ariadne's criteria, each by hand, and what becomes of them alone."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest

from clew.fetch import ReplayFetcher
from clew.lab.demo import DemoWeb
from clew.page import Link, Links, Page
from clew.predicate import compile as compile_predicate
from clew.predicate.verdict import Verdict
from clew.run.config import CrawlConfig
from clew.run.session import Session
from clew.store import MemoryStore
from clew.strategy import Ariadne, Expansion
from clew.testing import VirtualClock
from clew.url import keys

HERE = "http://a.example/sub/here.html"


def seen(degree, *links, url=HERE, depth=0):
    found = Links.of(url, [Link(url, *link) for link in links])
    return Expansion(
        source=0,
        page=Page(url=url),
        verdict=Verdict(degree, degree >= 0.5),
        depth=depth,
        links=found,
        keys=keys(found.targets),
        ids=np.arange(1, len(links) + 1),
        fresh=np.ones(len(links), np.bool_),
    )


def said(column, expansion, **options):
    """What one criterion says of the links, alone: its logarithm is the whole score."""
    strategy = Ariadne(compile_predicate("wind"), {column: 1.0}, **options)
    rows = strategy.score(expansion)
    assert np.count_nonzero(rows.any(axis=0)) <= 1
    return [round(math.exp(score), 12) for score in rows[:, Ariadne.parts.index(column)]]


@pytest.mark.parametrize(
    ("column", "expansion", "expected"),
    [
        ("source", seen(0.25, ("http://b.example/x",)), [0.25]),
        ("source", seen(0.0, ("http://b.example/x",)), [0.01]),
        ("url", seen(0.9, ("http://b.example/wind", "tea"), ("http://b.example/tea", "wind")), [1.0, 0.01]),
        (
            "anchor",
            seen(0.9, ("http://b.example/wind", "tea"), ("http://b.example/tea", "wind")),
            [0.01, 1.0],
        ),
        ("anchor", seen(0.9, ("http://b.example/tea", "here", "all about wind")), [1.0]),
        ("distance", seen(0.9, ("http://b.example/x",), depth=3), [0.2]),
        (
            "level",
            seen(0.9, ("http://b.example/",), ("http://b.example/a/b/c?d=/e/",)),
            [1.0, round(1 / 3, 12)],
        ),
        ("transversal", seen(0.9, ("http://b.example/",), ("http://a.example/",)), [1.0, 0.5]),
        ("outlinks", seen(0.9, *[(f"http://b.example/{i}",) for i in range(30)]), [0.5] * 30),
    ],
)
def test_a_criterion_says_what_the_paper_says(column, expansion, expected):
    assert said(column, expansion) == expected


def test_the_score_is_the_weighted_geometric_mean():
    expansion = seen(0.25, ("http://b.example/wind", "tea"), depth=1)
    strategy = Ariadne(compile_predicate("wind"), {"source": 3.0, "url": 1.0, "distance": 2.0})
    (row,) = strategy.score(expansion)
    assert math.exp(row.sum()) == pytest.approx((0.25**3 * 1.0 * (1 / 3) ** 2) ** (1 / 6), abs=1e-12)


def test_a_place_that_showed_nothing_is_worth_less_from_the_next_session_on():
    strategy = Ariadne(compile_predicate("wind"), {"host": 1.0}, session=15)
    good, bad, other = "http://a.example/g/9", "http://a.example/b/9.html", "http://z.example/"
    asked = seen(1.0, (good,), (bad,), (other,))
    before = strategy.score(asked).sum(axis=1)
    assert before[0] == before[1] == before[2]
    for i in range(14):
        url = f"http://a.example/{'gb'[i % 2]}/{i}{('', '.html')[i % 2]}"
        strategy.observe(seen(float(i % 2 == 0), url=url))
        assert (strategy.score(asked).sum(axis=1) == before).all(), "not within a session"
    strategy.observe(seen(0.0, url="http://z.example/q"))
    after = strategy.score(asked).sum(axis=1)
    assert after[0] > after[2] > after[1]


def trace(strategy, weights=None):
    web = DemoWeb(pages=300, hosts=16)
    store = MemoryStore()
    config = CrawlConfig(
        seeds=web.seeds(), match=web.formula(), pages=120, strategy=strategy, weights=weights or {},
        own=("*",), proxy="http://127.0.0.1:9", delay=0, concurrency=1,
    )  # fmt: skip
    asyncio.run(Session(config, store, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9)).run())
    return [(d.kind, d.url, d.result, d.verdict, d.new, d.known) for d in store.decisions()]


def test_distance_alone_is_breadth_first_decision_by_decision():
    assert trace("ariadne", {"distance": 1.0}) == trace("breadth-first")
    assert trace("ariadne") != trace("breadth-first")


def test_it_finds_more_than_breadth_first():
    found = {
        name: sum(result == "match" for _, _, result, *_ in trace(name))
        for name in ("ariadne", "breadth-first")
    }
    assert found["ariadne"] > 2 * found["breadth-first"]
