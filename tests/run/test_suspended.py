"""Suspended directions in a crawl: they wait, are kept and told of; after commands and stops as before."""

import asyncio
import json

import pytest

from clew.cli import main
from clew.engine import Feedback, SetBoost, SetMatch, SetStrategy
from clew.errors import ConfigError
from clew.fetch import Response
from clew.fetch.replay import ReplayFetcher
from clew.messages import State
from clew.policy.confidence import DEMOTION
from clew.run import CrawlConfig, Session, VirtualClock
from clew.run.explain import explain
from clew.run.recall_confidence import counted
from clew.store import SqliteStore, open_reader

AT = 60
CLUSTERS, FINDS, CHAIN = 6, 4, 12


class Planted:
    """Lists of four finds each, every find leads to the next list and into a dead direction twelve deep."""

    name = "planted"

    def __init__(self):
        self.pages = {}
        for cluster in range(CLUSTERS):
            finds = [f"find/{cluster}-{i}" for i in range(FINDS)]
            self.pages[f"list/{cluster}"] = ("a list", finds)
            for number, find in enumerate(finds):
                dead = [f"dead/{cluster}-{number}-{i}" for i in range(CHAIN)]
                following = [f"list/{cluster + 1}"] if cluster + 1 < CLUSTERS else []
                self.pages[find] = ("a turbine", [dead[0], *following])
                for one, after in zip(dead, [*dead[1:], ""], strict=True):
                    self.pages[one] = ("a dead end", [after] if after else [])

    def url(self, path):
        return f"http://{'ab'[len(path) % 2]}.example/{path}"

    def seeds(self):
        return (self.url("list/0"),)

    def urls(self):
        return map(self.url, self.pages)

    def __len__(self):
        return len(self.pages)

    def get(self, url):
        path = url.partition(".example/")[2]
        if path not in self.pages:
            return None
        text, links = self.pages[path]
        anchors = "".join(f'<p><a href="{self.url(to)}">more</a>' for to in links)
        body = f"<title>{path}</title><p>{text} numbered {path} and {path[::-1]}{anchors}"
        return Response(url=url, status=200, headers=(("Content-Type", "text/html"),), body=body.encode())


WEB = Planted()


def crawled(path, pages, changes=(), **more):
    """Crawl the planted web; after `AT` pages what was not commanded yet is."""
    config = CrawlConfig(
        seeds=WEB.seeds(),
        **{"match": "turbine", "confidence": 0.7, "strategy": "breadth-first", "traps": False} | more,
        pages=pages,
        own=("*",),
        proxy="http://127.0.0.1:9",
        delay=0,
        concurrency=1,
    )

    class Commanding:
        def started(self, progress):
            commanded = [entry for entry in store.journal() if '"command"' in entry.entry]
            self.left = list(changes)[len(commanded) :]
            self.settled((), progress)

        def settled(self, effects, progress):
            while self.left and progress.pages >= AT:
                session.command(self.left.pop(0))

        def finished(self, progress, reason): ...

    with SqliteStore(path) as store:
        store.set_meta(config=json.loads(config.to_json()))
        session = Session(
            config, store, fetcher=ReplayFetcher(WEB), clock=VirtualClock(1e9), observers=[Commanding()]
        )
        asyncio.run(session.run())
    return session


def trace(path):
    with open_reader(path) as reader:
        return list(reader.decisions())


def test_what_is_suspended_waits_behind_everything_else_and_is_fetched_in_the_end(tmp_path):
    session = crawled(tmp_path / "some", 120)
    frontier = session.crawl.frontier
    queued = frontier.states[: frontier.count] == State.QUEUED
    suspended = frontier.suspended[: frontier.count] & queued
    assert suspended.any()
    assert frontier.scores[: frontier.count][suspended].max() < -DEMOTION / 2
    assert session.crawl.suspend_anew() is None
    assert (frontier.suspended[: frontier.count] & queued).sum() == suspended.sum()
    crawled(tmp_path / "some", 100_000)
    with open_reader(tmp_path / "some") as reader:
        assert reader.counts().queued == 0
        assert reader.counts().pages == len(WEB)


@pytest.mark.slow
@pytest.mark.parametrize("max_size", [None, 20])
@pytest.mark.parametrize(
    "changes",
    [
        (),
        (SetBoost("*-3*", 3.0),),
        (SetMatch("turbine OR list"),),
        (SetStrategy("best-first"), SetMatch("turbine OR list")),
    ],
)
def test_commanded_stopped_and_resumed_is_one_session(tmp_path, changes, max_size):
    more = {"max_size": max_size, "strategy": "best-first" if max_size else "breadth-first"}
    crawled(tmp_path / "one", 110, changes, **more)
    for pages in (40, 75, 110):
        crawled(tmp_path / "three", pages, changes, **more)
    one = trace(tmp_path / "one")
    assert [d.line() for d in trace(tmp_path / "three")] == [d.line() for d in one]
    session = crawled(tmp_path / "three", 110, changes, **more)
    assert session.crawl.frontier.suspended.any()


def test_a_page_that_a_person_calls_a_find_begins_a_direction(tmp_path):
    crawled(tmp_path / "some", AT)
    misses = [d for d in trace(tmp_path / "some") if d.result == "miss" and d.new]
    with open_reader(tmp_path / "some") as reader:
        before, _ = counted(reader, 0.7)
        judged = max(misses, key=lambda d: before.depth(int(reader.outlinks(d.candidate)[-1])))
        child = int(reader.outlinks(judged.candidate)[-1])
    assert before.depth(child) > 1
    crawled(tmp_path / "some", AT + 1, [Feedback(judged.url, True)])
    with open_reader(tmp_path / "some") as reader:
        assert counted(reader, 0.7)[0].depth(child) == 1


def test_explain_and_status_tell_of_suspension(tmp_path, capsys):
    session = crawled(tmp_path / "some", 120)
    crawl = session.crawl
    waiting = [n for n in range(crawl.frontier.count) if crawl.frontier.states[n] == State.QUEUED]
    behind = next(n for n in waiting if crawl.frontier.suspended[n])
    ahead = next((n for n in waiting if not crawl.frontier.suspended[n]), None)
    with open_reader(tmp_path / "some") as reader:
        told = explain(reader, reader.url(behind))
        other = None if ahead is None else explain(reader, reader.url(ahead))
    assert "suspended: " in told.why
    assert "of finds came within" in told.why
    assert dict(told.parts)["suspended"] == -DEMOTION
    assert told.score == pytest.approx(crawl.frontier.scores[behind])
    assert other is None or "suspended" not in other.why
    assert main(["status", str(tmp_path / "some"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["confidence"]
    open_ones = [n for n in waiting if crawl.frontier.suspended[n]]
    assert said["suspended"] == len(open_ones)
    assert (said["limit_from_start"], said["limit"]) == crawl.confidence.limits
    assert said["p3"]["low"] < said["p3"]["value"] < said["p3"]["high"]
    assert main(["status", str(tmp_path / "some")]) == 0
    assert f"{len(open_ones)} candidates; past" in capsys.readouterr().out


def test_one_that_was_chosen_while_suspended_says_so(tmp_path):
    crawled(tmp_path / "some", 100_000)
    late = next(d for d in trace(tmp_path / "some") if min(d.terms, default=0.0) < -1e9)
    with open_reader(tmp_path / "some") as reader:
        told = explain(reader, late.url)
    assert any("nothing better was at hand: suspended: " in note for note in told.notes)
    assert dict(told.parts)["suspended"] == -DEMOTION


@pytest.mark.parametrize("wrong", ["1", "0", "often", 2, True])
def test_a_level_that_is_none_is_refused(wrong):
    with pytest.raises((ConfigError, ValueError), match=r"such as 0\.9, or off"):
        CrawlConfig(seeds=("http://a.example/",), match="x", confidence=wrong)


@pytest.mark.parametrize("off", ["off", False, None])
def test_off_is_none(off):
    assert CrawlConfig(seeds=("http://a.example/",), match="x", confidence=off).confidence is None
