"""Tunnelling in a crawl: what is sought changes, what is judged does not; stopped anywhere, it goes on so."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from itertools import pairwise

import pytest

from clew.errors import ConfigError
from clew.fetch import ReplayFetcher
from clew.lab.demo import DemoWeb
from clew.lab.parsed_web import ParsedWeb
from clew.lab.simulate import simulate
from clew.messages import Journal
from clew.page import Page
from clew.policy.tunnel import TunnelRules
from clew.predicate import compile as compile_predicate
from clew.run.config import CrawlConfig
from clew.run.focus_changes import focus_changes
from clew.run.relearn import JUDGED
from clew.run.session import Session
from clew.store import MemoryStore, SqliteStore
from clew.strategy import make
from clew.testing import VirtualClock

#: Rare enough on the demo web that finds run dry, and of two parts.
FORMULA = "turbine AND (noise OR permit OR storage)"
PAGES = 240


def crawled(store, strategy="best-first", *, pages=PAGES, **more):
    web = DemoWeb(pages=400, hosts=20)
    config = CrawlConfig(
        seeds=more.pop("seeds", web.seeds()), match=FORMULA, pages=pages, strategy=strategy, own=("*",),
        proxy="http://127.0.0.1:9", delay=0, concurrency=1,
        **{"tunnel": "drop", "tunnel_session": 10, **more},
    )  # fmt: skip
    session = Session(config, store, fetcher=ReplayFetcher(web), clock=VirtualClock(1e9))
    return asyncio.run(session.run())


def lines(store):
    return [decision.line() for decision in store.decisions()]


def focuses(store):
    told = [json.loads(d.reasons[0]) for d in store.decisions() if d.kind == "command"]
    return [(entry["instead_of"], entry["formula"]) for entry in told]


@pytest.mark.parametrize(
    "strategy",
    ["best-first", *(pytest.param(name, marks=pytest.mark.slow) for name in ("intelligent", "ariadne"))],
)
def test_the_focus_changes_and_what_is_judged_does_not(tmp_path, strategy):
    with SqliteStore(tmp_path / "crawl") as store:
        crawled(store, strategy)
        changes = focuses(store)
        assert changes
        assert changes[0][0] == str(compile_predicate(FORMULA).text())
        assert all(one[1] == other[0] for one, other in pairwise(changes))
        wanted = compile_predicate(FORMULA)
        for row in store.pages(matched=True):
            assert wanted.judge(row_page(row)).satisfied


def row_page(row):
    return Page(url=row.url, title=row.title, text=row.text, language=row.lang)


def test_where_replies_are_not_kept_new_links_alone_are_scored_by_it():
    store = MemoryStore()
    crawled(store)
    assert focuses(store)
    assert all(not json.loads(d.reasons[0])["rescore"] for d in store.decisions() if d.kind == "command")


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["best-first", "intelligent", "ariadne"])
@pytest.mark.parametrize("frontier", ["whole", "new"])
def test_stopped_anywhere_and_resumed_it_is_one_session(tmp_path, strategy, frontier):
    with SqliteStore(tmp_path / "whole") as store:
        crawled(store, strategy, tunnel_frontier=frontier)
        whole = lines(store)
        assert focuses(store)
    for first in (130, 143, 187):
        with SqliteStore(tmp_path / f"stopped-{first}") as store:
            crawled(store, strategy, pages=first, tunnel_frontier=frontier)
            crawled(store, strategy, tunnel_frontier=frontier)
            assert lines(store) == whole


class Mortal(SqliteStore):
    """A store whose process ends right after the entry of a session, or of the command after it, is saved."""

    def __init__(self, path, word, number):
        super().__init__(path)
        self.word, self.left = word, number

    def save(self, effects):
        super().save(effects)
        for effect in effects:
            if isinstance(effect, Journal) and f'"command":"{self.word}"' in effect.entry:
                self.left -= 1
                if not self.left:
                    self.flush()
                    os._exit(9)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["session", "set-focus"])
@pytest.mark.parametrize("strategy", ["best-first", "ariadne"])
def test_killed_around_a_change_it_is_made_once(tmp_path, word, strategy):
    with SqliteStore(tmp_path / "whole") as store:
        crawled(store, strategy)
        whole, changes = lines(store), focuses(store)
    for number in (1, 2):
        path = tmp_path / f"killed-{number}"
        ended = subprocess.run(
            [sys.executable, __file__, str(path), word, str(number), strategy], check=False
        )
        assert ended.returncode == 9
        with SqliteStore(path) as store:
            crawled(store, strategy)
            assert focuses(store) == changes
            assert lines(store) == whole


def test_each_change_has_what_it_cost_and_what_it_led_to(tmp_path):
    """By hand, from the stored rows: pages between two changes, and the paths of finds."""
    with SqliteStore(tmp_path / "crawl") as store:
        crawled(store, "best-first", pages=260, tunnel_when="paper")
        changes = focus_changes(store)
        assert [(one.before, one.after) for one in changes] == focuses(store)
        order = [d for d in store.decisions() if d.kind == "command" or d.result in JUDGED]
        periods, period = {}, -1
        for decision in order:
            period += decision.kind == "command"
            periods[decision.url] = period
        rows = {row.url: row for row in store.pages()}

        def crossed(row):
            found = set()
            while row is not None and row.source:
                row = rows.get(row.source) or store.candidate(row.source)
                if row.url in rows and not rows[row.url].matched:
                    found.add(periods[row.url])
            return found

        for number, change in enumerate(changes):
            mine = [row for url, row in rows.items() if periods[url] == number]
            finds = sum(row.matched for row in mine)
            assert (change.finds, change.off_topic) == (finds, len(mine) - finds)
            assert change.led_to == sum(number in crossed(row) for row in rows.values() if row.matched)
        assert sum(change.led_to for change in changes)


def test_with_pruning_only_finds_and_start_pages_lead_on(tmp_path):
    with SqliteStore(tmp_path / "crawl") as store:
        crawled(store, "ariadne", tunnel="off", prune=True, sitemaps="off")
        rows = {row.url: row for row in store.pages()}
        led = [row for row in rows.values() if row.source in rows and row.via == "link"]
        assert len(led) > 20
        assert all(rows[row.source].matched or not rows[row.source].depth for row in led)
        assert store.counts().by_reason["pruned"] > 100


def test_a_wider_focus_prunes_less(tmp_path):
    """Pages that satisfy what is sought lead on, whether or not they are finds."""
    with SqliteStore(tmp_path / "crawl") as store:
        seeds = tuple(sorted(DemoWeb(pages=400, hosts=20).relevant())[:12])
        crawled(store, "best-first", prune=True, seeds=seeds)
        rows = {row.url: row for row in store.pages()}
        assert focuses(store)
        led = [row for row in rows.values() if row.via == "link" and row.source in rows]
        beyond = [row_page(rows[row.source]) for row in led if rows[row.source].depth]
        sought = [compile_predicate(text) for change in focuses(store) for text in change]
        assert any(not sought[0].judge(page).satisfied for page in beyond)
        assert all(any(one.judge(page).satisfied for one in sought) for page in beyond)


def test_a_simulated_crawl_tunnels_as_a_real_one_does():
    web = DemoWeb(pages=400, hosts=20)
    wanted = compile_predicate(FORMULA)
    plain, tunnelled = (
        simulate(ParsedWeb(web), wanted, make("ariadne", wanted), web.seeds(), 260, tunnel=rules)
        for rules in (None, TunnelRules(way="drop", session=10))
    )
    assert plain.found != tunnelled.found
    assert not plain.changes
    assert tunnelled.changes
    assert len(plain.distances) == len(plain.finds)
    assert 0 < plain.tunnelled <= len(plain.finds), "both start pages are about something else"


def test_a_predicate_that_cannot_be_widened_is_told_of():
    config = CrawlConfig(seeds=("http://a.example/",), match="py:os.path:basename", tunnel="drop")
    with pytest.raises(ConfigError, match="leave it out with --tunnel off"):
        Session(config, MemoryStore())


if __name__ == "__main__":
    crawled(Mortal(sys.argv[1], sys.argv[2], int(sys.argv[3])), sys.argv[4])
