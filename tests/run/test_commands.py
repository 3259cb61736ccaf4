"""Commands to a crawl under way: in force at once, in place again after a kill, lost only if unconfirmed."""

import asyncio
import json
import os
import subprocess
import sys
import threading

import pytest
from demo_crawls import config_of

from clew.engine import BanHost, SetBudget, SetFocus, SetWeights
from clew.errors import ConfigError, PredicateSyntaxError, UsageError
from clew.fetch.replay import ReplayFetcher
from clew.lab import open_web
from clew.messages import Journal
from clew.policy import Budget
from clew.run import Session, VirtualClock
from clew.run.explain import explain
from clew.run.relearn import refolding
from clew.store import MemoryStore, SqliteStore, open_reader
from clew.strategy.base import totals

AT, PAGES, MORE = 25, 40, 60
MOMENTS = ("commanded", "saved", "durable")


def commanded(reader):
    """Entries of the journal that are commands: estimates of recall are kept there too."""
    return sum('"command"' in kept.entry for kept in reader.journal())


class Commanding:
    """Commands, after so many pages, whatever the store has no journal of yet."""

    def __init__(self, store, changes):
        self.store, self.changes, self.session = store, list(changes), None
        self.answers = []

    def started(self, progress):
        del self.changes[: commanded(self.store)]
        self.settled((), progress)

    def settled(self, effects, progress):
        while self.changes and progress.pages >= AT:
            self.answers.append(self.session.command(self.changes.pop(0)))

    def finished(self, progress, reason): ...


class Mortal(SqliteStore):
    """A store whose process ends, without a word to anybody, at a moment of the last command's life."""

    def __init__(self, path, moment, commands):
        super().__init__(path)
        self.moment, self.left = moment, commands

    def save(self, effects):
        self.left -= any(isinstance(effect, Journal) for effect in effects)
        self.die("commanded")
        super().save(effects)
        self.die("saved")

    def flush(self):
        super().flush()
        self.die("durable")

    def die(self, moment):
        if not self.left and moment == self.moment:
            os._exit(9)


def crawled(store, changes, strategy="best-first", *, pages=PAGES, watcher=Commanding):
    web = open_web("demo")
    watching = watcher(store, changes)
    watching.session = Session(
        config_of(web, pages, strategy),
        store,
        fetcher=ReplayFetcher(web),
        clock=VirtualClock(1e9),
        observers=[watching],
    )
    return asyncio.run(watching.session.run()), watching


def lines(store):
    return [decision.line() for decision in store.decisions()]


def busiest():
    store = MemoryStore()
    crawled(store, (), "best-first")
    rows = sorted(store.hosts(), key=lambda row: row.pages)
    return rows[-1].host


@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
def test_a_command_is_in_force_at_once_and_told_in_the_trace(strategy):
    store, host = MemoryStore(), busiest()
    finished, watcher = crawled(store, [BanHost(host), SetBudget(Budget(pages=MORE))], strategy)
    assert (finished.pages, finished.reason) == (MORE, "pages")
    trace = list(store.decisions())
    said = [(d.seq, d.kind, d.result) for d in trace if d.kind == "command"]
    assert [(kind, result) for _, kind, result in said] == [
        ("command", "ban-host"),
        ("command", "set-budget"),
    ]
    assert [answer.result() for answer in watcher.answers] == [seq for seq, _, _ in said]
    assert any(host in d.url for d in trace if d.kind == "page" and d.seq < said[0][0])
    assert not [d for d in trace if d.kind != "command" and d.seq > said[0][0] and host in d.url]
    left = [
        row for row in map(store.candidate, map(store.url, range(len(store.load().keys)))) if row.host == host
    ]
    assert {row.reason for row in left if row.state.name == "DROPPED"} >= {"host-banned"}


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
def test_killed_at_any_moment_of_a_command_the_crawl_goes_on_as_if_it_had_not_been(
    tmp_path, moment, strategy
):
    host = busiest()
    changes = [BanHost(host), SetBudget(Budget(pages=MORE))]
    with SqliteStore(tmp_path / "whole") as store:
        crawled(store, changes, strategy)
        whole = lines(store)
    for last in (1, 2):
        path = tmp_path / f"killed-{last}"
        ended = subprocess.run(
            [sys.executable, __file__, str(path), moment, str(last), strategy, host], check=False
        )
        assert ended.returncode == 9
        with open_reader(path) as reader:
            kept = commanded(reader)
        assert kept == last if moment == "durable" else kept in (last - 1, last)
        with SqliteStore(path) as store:
            finished, _ = crawled(store, changes, strategy)
            assert lines(store) == whole
            assert commanded(store) == 2
        assert finished.pages == MORE


WIDER = "tide OR farm OR sea"
WEIGHTS = {"best-first": {"source": 0.5, "hint": 2.0}, "intelligent": {"content": 1.0, "link_text": 3.0}}


def sought(strategy):
    """Another focus for what is there, then for what comes, and other weights between the two."""
    return [SetFocus(WIDER), SetWeights(WEIGHTS[strategy]), SetFocus("sea", rescore=False)]


@pytest.mark.parametrize(
    "strategy", ["best-first", "intelligent", pytest.param("shark", marks=pytest.mark.slow)]
)
def test_a_change_of_focus_moves_the_open_frontier_and_judges_nothing_otherwise(tmp_path, strategy):
    def fetched(path, changes):
        with SqliteStore(tmp_path / path) as store:
            crawled(store, changes, strategy)
            trace = list(store.decisions())
            seq = next((d.seq for d in trace if d.kind == "command"), None)
            rows = {row.url: (row.score, row.matched, row.reasons) for row in store.pages()}
            return seq, [d.url for d in trace if d.kind == "page"], rows

    _, plain, judged = fetched("plain", [])
    seq, moved, rejudged = fetched("moved", [SetFocus(WIDER)])
    _, later, _ = fetched("later", [SetFocus(WIDER, rescore=False)])
    assert seq is not None
    assert plain[:AT] == moved[:AT] == later[:AT]
    assert moved != plain
    assert moved != later
    both = judged.keys() & rejudged.keys()
    assert len(both) >= AT
    assert all(judged[url] == rejudged[url] for url in both)


@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
def test_a_focus_that_was_sought_from_the_beginning_would_have_scored_the_frontier_alike(tmp_path, strategy):
    """What is open after a change of focus is worth what a crawl that always had it would say of it, having
    fetched the same pages: the strategy is a fold over what happened."""
    with SqliteStore(tmp_path / "crawl") as store:
        _, watcher = crawled(store, [SetFocus(WIDER), SetBudget(Budget(pages=AT))], strategy)
        crawl = watcher.session.crawl
        changed = crawl.strategy, crawl.frontier.scores[: crawl.frontier.count].copy()
        refold = crawl.prepare(SetFocus(WIDER))
        archive = store.replies()
        assert list(refolding(crawl, store, archive.get, refold))
        archive.close()
        worth = refold.open()
        assert len(worth.ids) > 20
        assert totals(worth.terms).tolist() == changed[1][worth.ids].tolist()
        assert crawl.focus.text() == WIDER
        assert crawl.predicate.text() != crawl.focus.text()


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
def test_killed_at_any_moment_of_a_change_of_focus_or_weights_the_crawl_goes_on_the_same(
    tmp_path, moment, strategy
):
    changes = sought(strategy)
    with SqliteStore(tmp_path / "whole") as store:
        crawled(store, changes, strategy)
        whole = lines(store)
    assert sum(" command " in line for line in whole) == len(changes)
    for last in range(1, len(changes) + 1):
        path = tmp_path / f"killed-{last}"
        ended = subprocess.run(
            [sys.executable, __file__, str(path), moment, str(last), strategy], check=False
        )
        assert ended.returncode == 9
        with SqliteStore(path) as store:
            crawled(store, changes, strategy)
            assert lines(store) == whole
            assert commanded(store) == len(changes)


@pytest.mark.slow
def test_stopped_and_resumed_later_a_changed_crawl_goes_on_the_same(tmp_path):
    changes = sought("intelligent")
    with SqliteStore(tmp_path / "whole") as store:
        crawled(store, changes, "intelligent", pages=MORE)
        whole = lines(store)
    for pages in (AT + 1, AT + 9, PAGES):
        with SqliteStore(tmp_path / f"stopped-{pages}") as store:
            crawled(store, changes, "intelligent", pages=pages)
            crawled(store, changes, "intelligent", pages=MORE)
            assert lines(store) == whole


def test_a_change_that_cannot_be_made_says_why_and_the_crawl_goes_on():
    store = MemoryStore()
    wrong = [SetFocus("wind AND ("), SetWeights({"hunt": 1.0}), SetFocus(WIDER), SetFocus("py:os:getcwd")]
    finished, watcher = crawled(store, wrong, "best-first")
    syntax, weights, kept, code = [answer.exception() for answer in watcher.answers]
    assert isinstance(syntax, PredicateSyntaxError)
    assert isinstance(weights, ConfigError)
    assert "hint" in str(weights)
    assert isinstance(kept, UsageError)
    assert "directory" in str(kept)
    assert isinstance(code, UsageError)
    assert finished.pages == PAGES
    assert not [d for d in store.decisions() if d.kind == "command"]


def test_a_change_of_focus_is_told_in_the_trace_with_what_was_sought_before(tmp_path):
    with SqliteStore(tmp_path / "crawl") as store:
        crawled(store, [SetFocus(WIDER), SetFocus("sea", rescore=False)])
        told = [json.loads(d.reasons[0]) for d in store.decisions() if d.kind == "command"]
    first = open_web("demo").formula()
    assert [(entry["instead_of"], entry["formula"]) for entry in told] == [(first, WIDER), (WIDER, "sea")]


def test_another_thread_may_command_and_is_answered_when_it_is_durable(tmp_path):
    answered = []

    class Elsewhere(Commanding):
        def settled(self, effects, progress):
            if self.changes and progress.pages >= AT:
                change = self.changes.pop()
                thread = threading.Thread(target=lambda: answered.append(self.session.command(change)))
                thread.start()
                thread.join()

    with SqliteStore(tmp_path / "crawl") as store:
        finished, watcher = crawled(store, [SetBudget(Budget(pages=AT + 3))], watcher=Elsewhere)
        (answer,) = answered
        (said,) = [d for d in store.decisions() if d.kind == "command"]
        assert answer.result(timeout=0) == said.seq
        assert finished.pages == AT + 3
        assert watcher.session.command(BanHost("a.example")).cancelled()


def test_a_budget_given_on_resume_is_meant_more_than_one_commanded_before(tmp_path):
    for pages, expected in ((PAGES, MORE), (MORE + 10, MORE + 10)):
        with SqliteStore(tmp_path / "crawl") as store:
            finished, _ = crawled(store, [SetBudget(Budget(pages=MORE))], pages=pages)
            assert finished.pages == expected


def test_explain_says_that_a_host_was_banned(tmp_path):
    host, web = busiest(), open_web("demo")
    with SqliteStore(tmp_path / "crawl") as store:
        crawled(store, [BanHost(host)])
    with open_reader(tmp_path / "crawl") as reader:
        urls = (reader.url(number) for number in range(len(reader.snapshot().keys)))
        row = next(row for row in map(reader.candidate, urls) if row.reason == "host-banned")
        told = explain(reader, row.url, config=config_of(web, PAGES, "best-first"))
        assert "banned" in told.why
        never = explain(reader, f"http://{host}/never/linked/to", config=config_of(web, PAGES, "best-first"))
        assert (never.fate, "banned" in never.why) == ("left out", True)


if __name__ == "__main__":
    path, moment, last, strategy, *host = sys.argv[1:]
    wanted = [BanHost(host[0]), SetBudget(Budget(pages=MORE))] if host else sought(strategy)
    crawled(Mortal(path, moment, int(last)), wanted, strategy)
