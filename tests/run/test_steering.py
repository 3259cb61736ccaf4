"""Steering: requests to a crawl, from its own process and from others, obeyed once."""

import asyncio
import json

import pytest
from demo_crawls import config_of

from clew.engine import Feedback, SetBoost, SetBudget, SetMatch, SetPaused, SetStrategy, SetWeights
from clew.engine.refold import Refold
from clew.errors import ConfigError, UsageError
from clew.fetch.replay import ReplayFetcher
from clew.lab import open_web
from clew.messages import Redimension, State
from clew.page import Links
from clew.policy import Budget
from clew.run import Session, VirtualClock, driver
from clew.run import session as sessions_of
from clew.run.build import crawl_of
from clew.run.explain import explain
from clew.run.parsing import Reading, to_page
from clew.run.relearn import refolding
from clew.run.resume import restore
from clew.run.steering import Steer, preview_of, send, steered
from clew.store import SqliteStore, open_reader
from clew.store.exports import record
from clew.store.inbox import Inbox

AT, PAGES, MORE = 12, 20, 30
OTHER = "sea OR tide"


class Watching:
    def __init__(self, steps):
        self.steps, self.session, self.answers = list(steps), None, []

    def started(self, progress):
        self.settled((), progress)

    def settled(self, effects, progress):
        while self.steps and progress.pages >= AT:
            self.answers.append(self.session.command(*self.steps.pop(0)))

    def finished(self, progress, reason): ...


def crawled(path, steps=(), strategy="best-first", *, pages=PAGES, sessions=None):
    """One session, or several that end after so many pages."""
    web = open_web("demo")
    clock = VirtualClock(1e9)
    for end in [*(sessions or ()), pages]:
        with SqliteStore(path) as store:
            known = len({e.after for e in store.journal() if '"command"' in e.entry})
            watching = Watching([] if known else steps)
            config = config_of(web, end, strategy)
            store.set_meta(config=json.loads(config.to_json()))
            watching.session = Session(
                config,
                store,
                fetcher=ReplayFetcher(web),
                clock=clock,
                observers=[watching],
                inbox=Inbox(path),
            )
            finished = asyncio.run(watching.session.run())
    return finished, watching


def lines(path):
    with open_reader(path) as reader:
        return [decision.line() for decision in reader.decisions()]


@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
def test_another_formula_judges_the_pages_that_were_fetched_too(tmp_path, strategy):
    _, watching = crawled(tmp_path / "a", [[SetMatch(OTHER)]], strategy)
    assert watching.answers[0].result() > AT
    with open_reader(tmp_path / "a") as reader:
        rows = list(reader.pages())
        predicate = watching.session.crawl.predicate
        assert predicate.text() == OTHER
        assert {row.satisfied for row in rows} == {True, False}
        words = {row.url: "sea" in row.text.lower() or "tide" in row.text.lower() for row in rows}
        assert all(words[row.url] for row in rows if row.satisfied)
        assert sum(row.matched for row in rows) == watching.session.crawl.tally.matches
        assert sum(host.matches for host in reader.hosts()) == watching.session.crawl.tally.matches
        assert steered(reader).match == OTHER


@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
@pytest.mark.parametrize(
    "step",
    [
        pytest.param([SetMatch(OTHER)], id="match"),
        pytest.param([SetStrategy("shark")], id="shark", marks=pytest.mark.slow),
        pytest.param([SetStrategy("intelligent")], id="intelligent"),
        pytest.param([SetBoost("*1*", 50.0), SetBudget(Budget(pages=MORE))], id="boost"),
        pytest.param(
            [SetStrategy("breadth-first"), SetBoost("*2*", 3.0), SetMatch("sea")],
            id="three",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_steered_stopped_and_taken_up_again_is_one_session(tmp_path, strategy, step):
    crawled(tmp_path / "one", [step], strategy)
    crawled(tmp_path / "three", [step], strategy, sessions=[AT + 1, AT + 4])
    assert lines(tmp_path / "three") == lines(tmp_path / "one")
    assert any(" command " in line for line in lines(tmp_path / "one"))


@pytest.fixture
def background(monkeypatch):
    """Crawls of recorded webs go on, as live ones do, while a strategy is taught again."""
    monkeypatch.setattr(sessions_of, "Driver", lambda **given: driver.Driver(**given | {"background": True}))
    monkeypatch.setattr(driver, "REFOLD_SECONDS", 0.0)
    monkeypatch.setattr(driver, "REFOLD_LEAST", 0)


def entries_of(reader):
    found = [(entry.after, json.loads(entry.entry)) for entry in reader.journal()]
    return [(after, entry) for after, entry in found if "command" in entry]


def judged_by(reader, crawl):
    """Whether what is stored of every page is what a crawl would say of it now."""
    replies, reading = reader.replies(), Reading.of(crawl.rules, crawl.strategy)
    pages = {row: to_page(replies.get(row.url), row.depth, reading) for row in reader.pages()}
    replies.close()
    return [row.satisfied for row in pages] == [
        crawl.predicate.judge(page).satisfied for page in pages.values()
    ]


@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
def test_a_formula_is_in_force_at_once_and_the_strategy_is_taught_while_pages_come(
    tmp_path, background, monkeypatch, strategy
):
    # (Virtual time does not go on while there is something to do.)
    monkeypatch.setattr(
        driver.Driver,
        "relearning",
        property(lambda self: self.crawl.learner.behind and self.crawl.tally.pages >= AT + 2),
    )
    _, watching = crawled(tmp_path / "a", [[SetMatch(OTHER)]], strategy)
    with open_reader(tmp_path / "a") as reader:
        (first, asked), (last, taught) = entries_of(reader)
        assert (asked["command"], asked["at_once"]) == ("set-match", True)
        assert "refold" not in asked
        assert (taught["command"], taught["refold"]) == ("retaught", True)
        between = [row for row in reader.decisions() if first < row.seq <= last and row.kind == "page"]
        assert between
        assert judged_by(reader, watching.session.crawl)
        assert sum(row.matched for row in reader.pages()) == watching.session.crawl.tally.matches
        assert steered(reader).match == OTHER
    assert not watching.session.crawl.learner.behind


@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
def test_a_crawl_that_ended_before_it_was_taught_again_is_taught_first_when_it_goes_on(
    tmp_path, background, monkeypatch, strategy
):
    with monkeypatch.context() as patched:
        patched.setattr(driver.Driver, "relearning", property(lambda self: self._refolding is not None))
        _, watching = crawled(tmp_path / "a", [[SetMatch(OTHER)]], strategy, pages=AT + 3)
        assert watching.session.crawl.learner.behind
    with open_reader(tmp_path / "a") as reader:
        assert [entry["command"] for _, entry in entries_of(reader)] == ["set-match"]
        end = max(row.seq for row in reader.decisions())
    monkeypatch.setattr(driver, "REFOLD_SECONDS", 1e9)
    _, watching = crawled(tmp_path / "a", strategy=strategy)
    with open_reader(tmp_path / "a") as reader:
        assert [(after, entry["command"]) for after, entry in entries_of(reader)][1:] == [(end, "retaught")]
        assert judged_by(reader, watching.session.crawl)


@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
def test_what_is_commanded_while_a_strategy_is_taught_is_obeyed_at_once_and_kept(
    tmp_path, background, strategy
):
    weights = {"hint": 3.0}
    steps = [[SetMatch("sea")], [SetBoost("*1*", 2.0)], [SetWeights(weights)], [SetMatch(OTHER)]]
    _, watching = crawled(tmp_path / "a", steps, strategy)
    with open_reader(tmp_path / "a") as reader:
        names = [entry["command"] for _, entry in entries_of(reader)]
        assert names == ["set-match", "set-boost", "set-weights", "set-match", "retaught"]
        assert judged_by(reader, watching.session.crawl)
        found = steered(reader)
    assert (found.match, found.boosts) == (OTHER, {"*1*": 2.0})
    assert {*watching.session.crawl.in_force.weights.values()} >= {3.0}


def test_a_link_is_worth_what_the_new_formula_makes_of_it_before_anything_is_taught(
    tmp_path, background, monkeypatch
):
    monkeypatch.setattr(driver.Driver, "relearning", property(lambda self: self._refolding is not None))
    _, watching = crawled(tmp_path / "a", [[SetMatch(OTHER)]], pages=AT)
    crawl = watching.session.crawl
    with open_reader(tmp_path / "a") as reader:
        saved = reader.snapshot()
        waiting = (saved.states == State.QUEUED).nonzero()[0]
        urls, texts = reader.link_texts(waiting)
        blank = ("",) * len(urls)
        degrees = crawl.predicate.estimate_links(Links("", tuple(urls), tuple(texts), blank, blank, blank))
        assert any(degrees)
        assert saved.terms[waiting, 1].tolist() == list(degrees)
        assert crawl.frontier.terms[waiting, 1].tolist() == list(degrees)


def test_weights_of_best_first_are_told_from_memory_as_if_they_had_held_from_the_beginning(tmp_path):
    _, watching = crawled(tmp_path / "a", [[SetWeights({"source": 0.25, "hint": 4.0})]], pages=AT)
    crawl = watching.session.crawl
    with open_reader(tmp_path / "a") as reader:
        assert [entry.get("refold") for _, entry in entries_of(reader)] == [None]
        archive = reader.replies()
        refold = Refold(crawl.learner.learning, crawl.frontier)
        for _ in refolding(crawl, reader, archive.get, refold):
            pass
        archive.close()
    told = refold.open()
    assert len(told.ids)
    assert crawl.frontier.terms[told.ids].tolist() == told.terms.tolist()


def test_feedback_overrides_a_verdict_for_good_and_is_counted(tmp_path):
    crawled(tmp_path / "plain", strategy="intelligent", pages=AT)
    with open_reader(tmp_path / "plain") as reader:
        good, bad, *_ = [row.url for row in reader.pages() if not row.matched and row.duplicate_of is None]
    step = [Feedback(bad, True), Feedback(good, True), Feedback(bad, False)]
    crawled(tmp_path / "one", [step], "intelligent")
    crawled(tmp_path / "two", [step], "intelligent", sessions=[AT + 2])
    assert lines(tmp_path / "one") == lines(tmp_path / "two")
    with open_reader(tmp_path / "two") as reader:
        rows = {row.url: row for row in reader.pages()}
        assert [(rows[url].satisfied, rows[url].feedback) for url in (good, bad)] == [
            (True, True),
            (False, False),
        ]
        assert rows[good].matched
        assert reader.counts().matched >= 1
        assert reader.counts().feedback == 2


def test_a_boost_is_a_part_of_the_score_with_a_name(tmp_path):
    crawled(tmp_path / "a", [[SetBoost("*", 2.0)]])
    with open_reader(tmp_path / "a") as reader:
        last = [d for d in reader.decisions() if d.kind == "page"][-1]
        assert len(last.terms) == 3
        told = dict(explain(reader, last.url, config=config_of(open_web("demo"), PAGES, "best-first")).parts)
        assert round(told["boost"], 3) == 0.693
        assert {*told} == {"source", "hint", "boost"}


def test_a_request_waits_for_a_crawl_at_rest_and_is_taken_in_first(tmp_path):
    crawled(tmp_path / "a", pages=AT)
    reply = send(tmp_path / "a", Steer.of(pages=MORE, boost=["*/a*=2"]))
    assert (reply.state, reply.changes) == ("waiting", ("set-budget", "set-boost"))
    finished, _ = crawled(tmp_path / "a", pages=AT)
    assert finished.pages == MORE
    assert not Inbox(tmp_path / "a").waiting()
    with open_reader(tmp_path / "a") as reader:
        entries = [json.loads(entry.entry) for entry in reader.journal()]
    assert {entry["request"] for entry in entries if "command" in entry} == {reply.request}


def test_a_request_that_was_obeyed_and_not_answered_is_not_obeyed_again(tmp_path):
    crawled(tmp_path / "a", pages=AT)
    reply = send(tmp_path / "a", Steer.of(pages=AT + 2, ban_host=["x.example"]))
    text = Inbox(tmp_path / "a").read(reply.request)
    crawled(tmp_path / "a", pages=AT)
    # As a kill leaves it between the batch and the answer.
    inbox = Inbox(tmp_path / "a")
    inbox.forget(reply.request)
    (inbox.path / f"{reply.request}.request").write_text(text)
    finished, _ = crawled(tmp_path / "a", pages=AT)
    assert finished.pages == AT + 2
    with open_reader(tmp_path / "a") as reader:
        assert sum('"request"' in entry.entry for entry in reader.journal()) == 2
    assert json.loads(inbox.answered(reply.request))["state"] == "applied"


def test_a_pause_holds_until_somebody_says_to_go_on(tmp_path):
    web, path = open_web("demo"), tmp_path / "a"

    async def paused():
        with SqliteStore(path) as store:
            watching = Watching([[SetPaused(True)]])
            session = watching.session = Session(
                config_of(web, PAGES, "best-first"),
                store,
                fetcher=ReplayFetcher(web),
                clock=VirtualClock(1e9),
                observers=[watching],
            )
            work = asyncio.create_task(session.run())
            while not watching.answers or not watching.answers[0].done():  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.01)
            for _ in range(50):
                await asyncio.sleep(0)
            held = session.crawl.tally.pages
            session.command(SetPaused(False))
            return held, await work

    held, finished = asyncio.run(paused())
    assert held <= AT + 1
    assert finished.pages == PAGES


def test_a_preview_says_what_would_move_and_moves_nothing(tmp_path):
    crawled(tmp_path / "a", strategy="intelligent", pages=AT)
    before = lines(tmp_path / "a")
    with open_reader(tmp_path / "a") as reader:
        waiting = [reader.url(i) for i in range(len(reader.snapshot().keys))]
    host = waiting[-1].split("/")[2]
    found = preview_of(tmp_path / "a", Steer.of(boost={f"http://{host}/*": 1000}))
    assert found.moved
    assert 0 < len(found.rises) <= 10
    assert all(host in row.url and row.place_after < row.place_before for row in found.rises)
    assert preview_of(tmp_path / "a", Steer.of(match=OTHER)).finds is not None
    assert lines(tmp_path / "a") == before


def test_a_crawl_that_has_ended_says_how_to_go_on(tmp_path):
    crawled(tmp_path / "a", pages=AT)
    with pytest.raises(UsageError, match="--pages MORE"):
        send(tmp_path / "a", Steer.of(pause=True))
    with pytest.raises(UsageError, match="used up already"):
        send(tmp_path / "a", Steer.of(pages=AT))


@pytest.mark.parametrize("strategy", ["best-first", "intelligent"])
def test_a_crawl_that_has_ended_takes_feedback_in_without_fetching_anything(tmp_path, strategy):
    crawled(tmp_path / "a", strategy=strategy, pages=AT)
    with open_reader(tmp_path / "a") as reader:
        url = next(row.url for row in reader.pages() if not row.matched and row.duplicate_of is None)
        before = reader.counts()
    reply = send(tmp_path / "a", Steer.of(feedback={url: True}))
    assert (reply.state, reply.changes) == ("applied", ("feedback",))
    assert not Inbox(tmp_path / "a").waiting()
    with open_reader(tmp_path / "a") as reader:
        after = reader.counts()
        assert reader.page(url).feedback
        assert (after.requests, after.pages, after.feedback) == (before.requests, before.pages, 1)
        assert after.matched == before.matched + 1
        assert reader.meta()["stopped"] == "pages"
        (said,) = [row for row in reader.decisions() if row.kind == "command"]
        assert said.seq == reply.decision
        told = [record(row) for row in reader.pages()]
        assert [row["url"] for row in told if row["feedback"]] == [url]
    crawled(tmp_path / "a", strategy=strategy)
    crawled(tmp_path / "one", [[Feedback(url, True)]], strategy)
    assert lines(tmp_path / "a") == lines(tmp_path / "one")


def test_other_changes_of_a_crawl_that_has_ended_are_not_made_with_its_feedback(tmp_path):
    crawled(tmp_path / "a", pages=AT)
    with open_reader(tmp_path / "a") as reader:
        url = next(row.url for row in reader.pages())
    with pytest.raises(UsageError, match="nothing was changed"):
        send(tmp_path / "a", Steer.of(feedback={url: True}, match=OTHER))
    with open_reader(tmp_path / "a") as reader:
        assert not reader.counts().feedback


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bost": "x=2"}, "did you mean 'boost'"),
        ({"stop": "stael >= 5"}, "did you mean 'stale'"),
        ({"strategy": "best-frist"}, "best-first"),
        ({"boost": ["*/blog/*"]}, "PATTERN=FACTOR"),
        ({"boost": ["*/blog/*=-1"]}, "must be a number"),
        ({"feedback": ["http://a.example/=maybe"]}, "say yes or no"),
        ({"match": "wind AND ("}, "column"),
        ({"ban_host": "not a host"}, "not a host"),
        ({"pause": True, "resume": True}, "one of"),
        ({}, "say what to change"),
    ],
)
def test_what_cannot_be_asked_for_is_said_clearly(given, said):
    with pytest.raises(UsageError, match=said):
        Steer.of(**given)


def test_a_request_comes_back_from_its_text():
    request = Steer.of(
        match="wind farm", pages="none", stop="none", weights="hint=2", boost={"*/a/*": 2},
        ban_host=["a.example"], feedback={"http://a.example/x": "no"}, pause=True, strategy="shark",
        time="2h",
    )  # fmt: skip
    assert Steer.loads(request.dumps()) == request
    with pytest.raises(UsageError):
        Steer.loads("[1, 2")
    with pytest.raises(ConfigError):
        Steer.loads('{"rm": "x"}')


def test_a_folder_for_requests_that_leads_elsewhere_is_refused(tmp_path):
    from clew.errors import StoreForeign

    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "clew.steer").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreForeign):
        Inbox(tmp_path).post("{}")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_crawl_killed_just_after_it_began_to_learn_by_another_strategy_goes_on(tmp_path):
    """The contributions of the strategy before mean nothing any more, and those of one that learns are not
    kept: there may be none at all."""
    crawled(tmp_path / "c", pages=AT)
    with SqliteStore(tmp_path / "c") as store:
        store.save([Redimension(0)])
    with open_reader(tmp_path / "c") as reader:
        saved = reader.snapshot()
        config = config_of(open_web("demo"), AT, "intelligent")
        crawl = crawl_of(config, reader)
        assert not saved.terms.size
        restore(crawl, saved, 0.0)
        assert crawl.frontier.count == len(saved.keys)
