"""Commands to a crawl under way: in force at once, in place again after a kill, lost only if unconfirmed."""

import asyncio
import os
import subprocess
import sys
import threading

import pytest

from clew.engine import BanHost, SetBudget
from clew.fetch.replay import ReplayFetcher
from clew.lab import open_web
from clew.messages import Journal
from clew.policy import Budget
from clew.run import CrawlConfig, Session, VirtualClock
from clew.run.explain import explain
from clew.store import MemoryStore, SqliteStore, open_reader

AT, PAGES, MORE = 25, 40, 60
MOMENTS = ("commanded", "saved", "durable")


class Commanding:
    """Commands, after so many pages, whatever the store has no journal of yet."""

    def __init__(self, store, changes):
        self.store, self.changes, self.session = store, list(changes), None
        self.answers = []

    def started(self, progress):
        del self.changes[: len(list(self.store.journal()))]
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


def config_of(web, pages=PAGES, strategy="best-first"):
    return CrawlConfig(
        seeds=web.seeds(),
        match=web.formula(),
        pages=pages,
        strategy=strategy,
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        concurrency=1,
    )


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
            kept = len(list(reader.journal()))
        assert kept == last if moment == "durable" else kept in (last - 1, last)
        with SqliteStore(path) as store:
            finished, _ = crawled(store, changes, strategy)
            assert lines(store) == whole
            assert len(list(store.journal())) == 2
        assert finished.pages == MORE


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
        told = explain(reader, row.url, config=config_of(web))
        assert "banned" in told.why
        never = explain(reader, f"http://{host}/never/linked/to", config=config_of(web))
        assert (never.fate, "banned" in never.why) == ("left out", True)


if __name__ == "__main__":
    path, moment, last, strategy, host = sys.argv[1:]
    wanted = [BanHost(host), SetBudget(Budget(pages=MORE))]
    crawled(Mortal(path, moment, int(last)), wanted, strategy)
