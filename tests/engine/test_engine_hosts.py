"""What the engine does about hosts: names looked up, addresses shared, failing and full hosts left."""

from itertools import pairwise

import pytest
from loop import Loop, page

from clew.errors import Reason
from clew.frontier import Politeness
from clew.frontier.robots_gate import LARGE
from clew.messages import Close, Outcome, SaveHost, State, TaskKind
from clew.run.waits import Wait, waits_in

A, B, C = (f"http://{x}.example/" for x in "abc")
OWN = Politeness(own=lambda host: True, own_limit=8)
WHERE = {"a.example": ("10.0.0.1",), "b.example": ("10.0.0.1",), "c.example": ("10.0.0.2",)}


class Located(Loop):
    """A loop that also answers look-ups."""

    def __init__(self, *args, where=WHERE, **more):
        super().__init__(*args, **more)
        self.where = where
        self.crawl.hosts.resolving = True

    def answer(self, task):
        if task.kind is TaskKind.RESOLVE:
            found = self.where.get(task.host)
            outcome = {"addresses": found} if found else {"error": Reason.DNS}
            return self.save(self.crawl.settle(Outcome(task=task, **outcome), self.now))
        return super().answer(task)


def test_names_are_looked_up_before_anything_is_asked_and_that_is_no_request():
    loop = Located({A: page(A, "wind")}).start(A)
    first = loop.lease()[0]
    assert (first.kind, first.host) == (TaskKind.RESOLVE, "a.example")
    assert loop.lease() == []
    loop.answer(first)
    assert loop.crawl.tally.requests == 0
    assert [t.kind for t in loop.lease()] == [TaskKind.ROBOTS]


def test_own_hosts_are_not_looked_up():
    loop = Located({A: page(A, "wind")}, politeness=OWN).start(A)
    assert loop.lease()[0].kind is TaskKind.ROBOTS


def test_hosts_on_one_address_take_turns():
    loop = Located({u: page(u, u) for u in (A, B, C)}).start(A, B, C)
    for task in loop.lease(9):
        loop.answer(task)
    tasks = loop.lease(9)
    assert [t.host for t in tasks] == ["a.example", "c.example"]
    for task in tasks:
        loop.answer(task)
    assert loop.lease(9) == []
    assert loop.crawl.next_ready() == 1.0
    loop.now = 1.0
    assert sorted(t.host for t in loop.lease(9)) in (["a.example", "c.example"], ["b.example", "c.example"])


def test_an_address_learned_from_a_reply_counts_from_then_on():
    loop = Loop({u: page(u, u) for u in (A, B)}).start(A, B)
    first, second = loop.lease(2)
    for task in (first, second):
        outcome = Outcome(task=task, status=404, addresses=("10.0.0.1",))
        loop.save(loop.crawl.settle(outcome, loop.now))
    loop.now = 1.0
    assert len(loop.lease(9)) == 1


def test_names_are_looked_up_again_after_a_while():
    links = [f"{A}{i}" for i in range(5)]
    loop = Located({u: page(u, u, links) for u in (A, *links)}).start(A)
    for _ in range(3):
        loop.answer(loop.lease()[0])
        loop.now += 5
    loop.now += 2000
    assert loop.lease()[0].kind is TaskKind.RESOLVE


def test_a_name_without_address_is_tried_again_and_then_given_up():
    loop = Located(
        {A: page(A, "x", [f"{B}{i}" for i in range(3)])}, where={"a.example": ("10.0.0.1",)}
    ).start(A)
    loop.run()
    loop.save(loop.crawl.drain())
    looked_up = [d for d in loop.trace if d.kind == "resolve"]
    assert [d.result for d in looked_up] == ["retry", "failed"]
    assert loop.now >= 30
    closed = {
        e.candidate: e.reason for e in loop.effects if isinstance(e, Close) and e.state is State.DROPPED
    }
    assert set(closed.values()) == {"host-excluded"}
    assert len(closed) == 3
    assert loop.crawl.stopped(loop.now) == "frontier empty"


def test_a_host_that_keeps_failing_is_rested_then_excluded_and_its_links_left_out():
    links = [f"{B}{i}" for i in range(30)]
    web = {A: page(A, "x", [*links, C]), C: page(C, "y", [f"{B}late"])}
    web |= {f"{B}robots.txt": {"status": 404}} | {u: {"error": Reason.TIMEOUT} for u in links}
    loop = Loop(web).start(A)
    loop.run()
    loop.save(loop.crawl.drain())
    excluded = loop.crawl.hosts.get("b.example")
    assert excluded.excluded
    assert excluded.requests == 1 + 20
    reasons = [e.reason for e in loop.effects if isinstance(e, Close)]
    assert reasons.count("host-excluded") >= 20
    assert loop.crawl.stopped(loop.now) == "frontier empty"
    rests = [b.at - a.at for a, b in pairwise(loop.trace) if "b.example" in a.url]
    assert max(rests) > 250


def test_links_to_an_excluded_host_are_counted_and_not_filed():
    steps = [f"{A}{i}" for i in range(9)]
    web = {u: page(u, f"step {u}", [after]) for u, after in pairwise(steps)}
    web |= {A: page(A, "x", [f"{B}1", steps[0]]), steps[-1]: page(steps[-1], "y", [f"{B}late"])}
    web |= {f"{B}robots.txt": {"error": Reason.CONNECT}}
    loop = Loop(web, politeness=Politeness(delay=30.0)).start(A)
    loop.run()
    assert loop.crawl.hosts.get("b.example").excluded
    assert f"{B}late" not in loop.urls
    assert ("host-excluded", 1) in [d for line in loop.trace for d in line.dropped]


def test_a_great_many_candidates_of_an_excluded_host_are_closed_in_pieces():
    links = [f"{B}{i}" for i in range(1800)]
    loop = Loop({A: page(A, "x", links), f"{B}robots.txt": {"error": Reason.CONNECT}}).start(A)
    loop.run()
    loop.save(loop.crawl.drain())
    assert loop.crawl.frontier.queued == 0
    assert sum(isinstance(e, Close) and e.reason == "host-excluded" for e in loop.effects) == 1800


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_host_is_asked_less_often_afterwards(status):
    links = [f"{A}{i}" for i in range(8)]
    web = {A: page(A, "x", links)} | {u: page(u, u) for u in links}
    web[links[0]] = {"status": status}
    loop = Loop(web).start(A)
    loop.run(limit=9)
    times = [d.at for d in loop.trace if d.kind == "page"]
    gaps = [b - a for a, b in pairwise(times)]
    assert max(gaps) >= 30
    assert gaps[-1] > 1.0


def test_per_host_leaves_the_rest_waiting_and_says_so():
    links = [f"{A}{i}" for i in range(9)]
    web = {u: page(u, f"wind {u}", [*links, B]) for u in (A, B, *links)}
    loop = Loop(web, politeness=Politeness(per_host=4)).start(A)
    loop.run()
    assert loop.crawl.hosts.get("a.example").pages == 4
    assert loop.crawl.hosts.get("b.example").pages == 1
    assert loop.crawl.stopped(loop.now) == "per-host"
    assert loop.crawl.frontier.queued == 6


def test_retry_after_cannot_park_a_crawl_for_a_week():
    loop = Loop({A: {"status": 503, "retry_after": 700_000.0}}).start(A)
    loop.run(limit=3)
    assert 3600 <= loop.now < 8000


class Offline(Located):
    """Nobody can be reached between two points in time."""

    def answer(self, task):
        if 2.0 <= self.now < 260.0:
            error = Reason.DNS if task.kind is TaskKind.RESOLVE else Reason.CONNECT
            return self.save(self.crawl.settle(Outcome(task=task, error=error), self.now))
        return super().answer(task)


def test_when_our_own_network_fails_nothing_is_held_against_anybody():
    """Hosts known and new, pages and robots.txt: all are fetched once the network is back."""
    hosts = [f"http://h{i}.example/" for i in range(30)]
    pages = [f"{host}{i}" for host in hosts for i in range(4)]
    web = {A: page(A, "x", hosts[:15]), f"{A}9": page(f"{A}9", "y", hosts[15:])}
    web |= {u: page(u, f"text {u}", [f"{u}{i}" for i in range(4)] + [f"{A}9"]) for u in hosts}
    web |= {u: page(u, f"text {u}") for u in pages}
    where = {f"h{i}.example": (f"10.1.0.{i}",) for i in range(30)} | WHERE
    loop = Offline(web, where=where).start(A)
    loop.run(limit=5000)
    assert loop.now > 260.0
    assert {p.page.url for p in loop.pages} == set(web)
    assert not any(host.excluded for host in loop.crawl.hosts.list)
    assert any(d.result == "retry" for d in loop.trace)


def test_many_dead_hosts_at_the_end_of_a_crawl_do_not_keep_it_waiting_for_ever():
    hosts = [f"http://h{i}.example/" for i in range(12)]
    loop = Located({A: page(A, "x", hosts)}).start(A)
    loop.run(limit=5000)
    assert loop.crawl.stopped(loop.now) == "frontier empty"
    assert loop.now < 2 * 3600


def test_a_name_that_does_not_exist_is_asked_for_once_more_at_once_and_then_given_up():
    loop = Loop({A: page(A, "wind")}).start(A)
    loop.crawl.hosts.resolving = True
    for _ in range(2):
        task = loop.lease()[0]
        assert task.kind is TaskKind.RESOLVE
        loop.save(loop.crawl.settle(Outcome(task=task, error=Reason.UNKNOWN_HOST), loop.now))
        assert loop.lease() == []
        loop.now = max(loop.now, loop.crawl.next_ready() or 0.0)
    assert loop.now <= 5.0
    assert loop.lease() == []
    assert loop.crawl.stopped(loop.now) == "frontier empty"


def test_a_host_that_rests_with_nothing_queued_goes_on_resting_when_something_comes():
    loop = Loop(
        {A: page(A, "wind", [B]), B: page(B, "wind", [f"{A}x"]), f"{A}x": page(f"{A}x", "wind")}
    ).start(A)
    for _ in range(2):
        loop.answer(loop.lease()[0])
        loop.now = max(loop.now, 0.0) + 1.0
    # a.example has nothing left and rests; the page that links to it again comes at once.
    host = loop.crawl.hosts.get("a.example")
    host.next_at = loop.now + 100.0
    loop.crawl.hosts.touch(host.number)
    for _ in range(3):
        for task in loop.lease(9):
            assert task.host == "b.example"
            loop.answer(task)
        loop.now += 1.0
    assert loop.crawl.frontier.queued == 1
    loop.now = host.next_at
    assert [task.url for task in loop.lease(9)] == [f"{A}x"]


def test_a_bad_certificate_closes_an_origin_not_its_host():
    plain, safe = "http://a.example/plain", "https://a.example/safe"
    loop = Loop({plain: page(plain, "wind")}).start(safe, plain)
    first = loop.lease()[0]
    assert first.url == "https://a.example/robots.txt"
    loop.save(loop.crawl.settle(Outcome(task=first, error=Reason.TLS), loop.now))
    loop.now = 9.0
    assert [task.url for task in loop.lease()] == ["http://a.example/robots.txt"]


def test_a_forgotten_robots_txt_is_forgotten_on_disk_too(monkeypatch):
    monkeypatch.setattr("clew.frontier.robots_gate.LARGE_TOGETHER", 15 * LARGE)
    loop = Loop({u: page(u, "wind") for u in (A, B)}).start(A, B)
    rows = []
    for task in loop.lease(2):
        outcome = Outcome(task=task, status=200, body=b"#" * LARGE)
        rows += [e for e in loop.crawl.settle(outcome, loop.now) if isinstance(e, SaveHost)]
    kept = [(row.host, len(row.robots)) for row in rows]
    assert kept == [("a.example", 1), ("a.example", 0), ("b.example", 1)]


def test_a_host_is_not_given_up_before_another_port_was_tried():
    dead, alive, gone = "http://a.example/x", "https://a.example/y", "http://b.example/"
    loop = Loop({alive: page(alive, "wind")}).start(dead, alive, gone)
    asked = []
    for _ in range(20):
        loop.now += 1000.0
        for task in loop.lease(2):
            asked.append(task.url)
            broken = {"error": Reason.CONNECT} if task.url.startswith("http://") else None
            if broken is None:
                loop.answer(task)
            else:
                loop.save(loop.crawl.settle(Outcome(task=task, **broken), loop.now))
    assert asked.count("http://a.example/robots.txt") == 3
    assert asked.count("http://b.example/robots.txt") == 3
    assert alive in asked
    assert dead not in asked
    assert [host.name for host in loop.crawl.hosts.list if host.excluded] == ["b.example"]


def test_a_trouble_of_this_machine_is_no_hosts_failure_and_the_crawl_pauses():
    web = {A: {"error": Reason.LOCAL, "detail": "too many open files"}}
    loop = Loop(web, politeness=Politeness(own=lambda host: True)).start(A)
    loop.run(limit=41)
    host = loop.crawl.hosts.get("a.example")
    assert (host.failures, host.excluded, loop.crawl.leaser.in_flight) == (0, False, 0)
    assert waits_in(loop.crawl, loop.now)[0] == Wait(
        "everything", loop.crawl.leaser.pause[0], "too many open files"
    )
    rests = [b.at - a.at for a, b in pairwise(d for d in loop.trace if d.url == A)]
    assert rests[:3] == [1.0, 2.0, 4.0]
    assert max(rests) == 60.0
    web[A] = page(A, "wind")
    loop.run()
    assert len(loop.pages) == 1


def test_a_seed_that_refuses_is_asked_again_soon_while_nobody_has_answered():
    web = {f"{A}robots.txt": {"error": Reason.CONNECT}}
    loop = Loop(web).start(A)
    assert loop.run() == [f"{A}robots.txt"] * 3
    assert loop.now < 10.0
    assert loop.crawl.stopped(loop.now) == "frontier empty"
