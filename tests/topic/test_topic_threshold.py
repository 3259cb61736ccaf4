"""`--threshold start` (paper 003, section 2.3): the start pages say from which degree on a page is a find."""

from __future__ import annotations

import pytest

import clew
from clew import url as urls
from clew.errors import ConfigError
from clew.fetch import ReplayFetcher
from clew.lab.demo import DemoWeb
from clew.testing import VirtualClock

WEB = DemoWeb()
SEEDS = (*WEB.seeds(), "http://www.cinderford-directory.example/section-1/")
DEGREES = (0.0, 0.1, 0.39, 0.4, 0.41, 0.9)


def degree(page):
    """The start pages give 0, 0.4 and 0.7; other pages whatever their address gives."""
    if page.url in SEEDS:
        return (0.0, 0.4, 0.7)[SEEDS.index(page.url)]
    return DEGREES[urls.key(page.url) % len(DEGREES)]


def begin(pages, match=degree, **more):
    settings = {"pages": pages, "strategy": "breadth-first", "parse_workers": 0, "threshold": "start"} | more
    return clew.crawl(SEEDS, match=match, fetcher=ReplayFetcher(WEB), clock=VirtualClock(), **settings)


def test_the_least_degree_above_zero_of_the_start_pages_is_the_threshold():
    run = begin(60)
    run.run()
    rows = list(run.store.pages())
    assert len(rows) == 60
    assert {row.url: row.satisfied for row in rows} == {row.url: row.score >= 0.4 for row in rows}
    assert any(row.matched for row in rows)
    assert run.store.meta()["config"]["threshold"] == 0.4


def test_resumed_it_keeps_the_number(tmp_path):
    for pages in (25, 60):
        with begin(pages, directory=tmp_path / "crawl") as run:
            run.run()
            rows = list(run.store.pages())
            assert len(rows) == pages
            assert {row.url: row.satisfied for row in rows} == {row.url: row.score >= 0.4 for row in rows}
            assert run.store.meta()["config"]["threshold"] == 0.4


def test_start_pages_that_say_nothing_are_an_error():
    with pytest.raises(ConfigError, match="no start page has a degree above 0 \\(3 could be judged\\)"):
        begin(10, match=lambda page: 0.0).run()
