"""What the engine decides, one rule at a time."""

from itertools import pairwise

import numpy as np
import pytest
from loop import Loop, Wants, page

from clew import url as urls
from clew.engine.commands import BanHost
from clew.errors import Reason
from clew.frontier import Politeness
from clew.messages import Close, Forward, Rescore, SaveCandidates, Sitemap, State, TaskKind
from clew.policy import Budget, Scope
from clew.strategy import BestFirst, BreadthFirst, Intelligent, RandomOrder

A, B, C, D = (f"http://{x}.example/" for x in "abcd")
OWN = Politeness(own=lambda host: True, own_limit=8)


def test_robots_comes_first_through_the_same_door():
    loop = Loop({A: page(A, "wind")}).start(A)
    assert loop.run() == [f"{A}robots.txt", A]
    assert [d.kind for d in loop.trace] == ["robots", "page"]


def test_a_disallowed_page_is_dropped_with_its_reason_and_never_asked_for():
    web = {
        f"{A}robots.txt": {"status": 200, "body": b"User-agent: *\nDisallow: /secret"},
        A: page(A, "x", [f"{A}secret/1", f"{A}open"]),
        f"{A}open": page(f"{A}open", "wind"),
    }
    loop = Loop(web).start(A)
    assert f"{A}secret/1" not in loop.run()
    assert Close(1, State.DROPPED, "robots") in loop.effects
    assert [d.result for d in loop.trace if d.url == f"{A}secret/1"] == ["robots"]


@pytest.mark.parametrize(("status", "pages"), [(404, 1), (403, 1), (500, 0), (503, 0)])
def test_robots_4xx_allows_and_5xx_forbids(status, pages):
    loop = Loop({f"{A}robots.txt": {"status": status}, A: page(A, "wind")}).start(A)
    loop.run()
    assert len(loop.pages) == pages


def weak_a_day_later(replies):
    """A host that is well on the first day, and gives these statuses for its robots.txt on the second."""
    web = {f"{A}robots.txt": {"status": 200}, A: page(A, "wind", [f"{A}1"]), f"{A}1": page(f"{A}1", "x wind")}
    loop = Loop(web).start(A)
    loop.run(limit=2)
    loop.now += 90_000
    for status in replies:
        web[f"{A}robots.txt"] = {"status": status}
        loop.run(limit=1)
    loop.run()
    return loop


def test_a_host_that_answered_is_asked_for_its_robots_until_it_answers_again():
    loop = weak_a_day_later([503] * 8 + [200])
    assert loop.fetched() == [A, f"{A}1"]
    assert not [e for e in loop.effects if isinstance(e, Close) and e.reason == "robots"]


def test_a_host_that_never_answers_again_ends_the_crawl_at_last_with_its_pages_queued():
    loop = weak_a_day_later([503])
    assert loop.fetched() == [A]
    assert 4 * 3600 < loop.now - 90_000 < 2 * 86_400
    assert loop.crawl.stopped(loop.now) == "robots.txt unavailable"
    loop.save(loop.crawl.drain())
    assert not [e for e in loop.effects if isinstance(e, Close) and e.state is State.DROPPED]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_pages_wait_for_a_robots_txt_that_cannot_be_had_at_the_first_visit(status):
    """Asked at 0, 10, 30, 70 s: the fourth time it is there."""
    web = {
        f"{A}robots.txt": {"status": status},
        A: page(A, "wind", [f"{A}1"]),
        f"{A}1": page(f"{A}1", "wind x"),
    }
    loop = Loop(web, politeness=OWN).start(A)
    loop.run(limit=3)
    assert [d.result for d in loop.trace] == ["retry", "retry", "parked"]
    assert "asked again in 40 s" in loop.trace[-1].reasons[1]
    web[f"{A}robots.txt"] = {"status": 200}
    loop.run()
    assert loop.fetched() == [A, f"{A}1"]
    assert [d.at for d in loop.trace if d.kind == "robots"] == [0.0, 10.0, 30.0, 70.0]
    assert loop.crawl.stopped(loop.now) == "frontier empty"


def test_while_a_crawl_has_other_work_a_parked_origin_is_asked_ever_more_rarely_and_never_dropped():
    links = [f"{B}{i}" for i in range(3000)]
    web = {f"{A}robots.txt": {"status": 503}, A: page(A, "wind"), B: page(B, "x", links)}
    loop = Loop(web, politeness=Politeness(delay=10.0)).start(A, B)
    loop.run(limit=2000)
    rests = np.diff([d.at for d in loop.trace if d.url == f"{A}robots.txt"])
    assert len(rests) > 10
    assert rests.max() < 3700.0
    assert (rests[1:] > 0.9 * rests[:-1]).all()
    web[f"{A}robots.txt"] = {"status": 404}
    loop.run(limit=5000)
    assert A in loop.fetched()


def test_a_parked_origin_does_not_hold_up_another_of_its_host():
    other = "http://a.example:8080/"
    web = {
        f"{other}robots.txt": {"status": 503},
        A: page(A, "wind", [f"{A}1"]),
        f"{A}1": page(f"{A}1", "wind x"),
    }
    loop = Loop(web, politeness=OWN).start(other, A)
    loop.run(limit=6)
    assert loop.fetched() == [A, f"{A}1"]
    assert 30.0 <= loop.now < 31.0


def test_a_ban_closes_what_is_parked():
    loop = Loop({f"{A}robots.txt": {"status": 503}}, politeness=OWN).start(A)
    loop.run(limit=3)
    loop.lease()
    assert loop.crawl.stopped(loop.now) is None
    loop.save(loop.crawl.command(BanHost("a.example"), loop.now))
    loop.run()
    loop.save(loop.crawl.drain())
    assert Close(0, State.DROPPED, "host-banned") in loop.effects
    assert loop.crawl.stopped(loop.now) == "frontier empty"


def test_robots_of_each_port_and_scheme_are_asked_for_apart():
    """One host, three origins: three robots.txt files, one pace."""
    seeds = (A, "http://a.example:8080/", "https://a.example/")
    loop = Loop({s: page(s, s) for s in seeds}).start(*seeds)
    asked = loop.run()
    assert [u for u in asked if u.endswith("robots.txt")] == [f"{s}robots.txt" for s in seeds]
    assert len(loop.crawl.hosts) == 1


def test_a_redirected_robots_is_followed_at_the_other_hosts_pace():
    web = {
        f"{A}robots.txt": {"status": 301, "location": f"{B}rules.txt"},
        f"{B}rules.txt": {"status": 200, "body": b"User-agent: *\nDisallow: /"},
        A: page(A, "wind"),
    }
    loop = Loop(web).start(A)
    assert loop.run() == [f"{A}robots.txt", f"{B}rules.txt"]
    assert loop.pages == []
    assert loop.crawl.hosts.get("b.example").requests == 1


def test_links_from_good_pages_and_good_anchors_come_first():
    web = {
        A: page(A, "wind", [f"{A}1", (f"{A}2", "wind farms")]),
        B: page(B, "bread", [f"{B}1", (f"{B}2", "wind farms")]),
    }
    loop = Loop(web, politeness=OWN).start(A, B)
    loop.run()
    assert loop.fetched()[2:] == [f"{A}2", f"{A}1", f"{B}2", f"{B}1"]
    best = next(d for d in loop.trace if d.url == f"{A}2")
    assert best.terms == (1.0, 1.0)
    assert best.score == sum(best.terms)


def test_a_page_found_again_from_a_better_place_rises():
    web = {A: page(A, "bread", [C, D]), B: page(B, "wind", [D]), C: page(C, "c"), D: page(D, "d")}
    loop = Loop(web, politeness=OWN).start(A, B)
    loop.run()
    assert loop.fetched() == [A, B, D, C]
    assert any(isinstance(e, Rescore) for e in loop.effects)


def test_every_url_is_asked_for_once():
    mesh = [f"http://{h}.example/{i}" for h in "ab" for i in range(6)]
    loop = Loop({u: page(u, f"text {u}", mesh) for u in mesh}, politeness=OWN).start(mesh[0])
    loop.run()
    assert sorted(loop.fetched()) == sorted(mesh)


def test_redirects_are_recorded_and_followed_once():
    web = {A: {"status": 302, "location": "/there"}, f"{A}there": page(f"{A}there", "wind")}
    loop = Loop(web).start(A)
    assert loop.run() == [f"{A}robots.txt", A, f"{A}there"]
    first = loop.trace[1]
    assert (first.result, first.reasons, first.status) == ("redirect", (f"{A}there",), 302)
    assert loop.crawl.tally.pages == 1
    assert loop.pages[0].depth == 0


def test_an_endless_chain_of_redirects_ends():
    web = {f"{A}{i}": {"status": 301, "location": f"/{i + 1}"} for i in range(50)}
    loop = Loop(web, politeness=OWN).start(f"{A}0")
    assert len(loop.run()) == 12
    assert loop.trace[-1].dropped == (("redirects", 1),)


def test_a_redirect_out_of_scope_is_not_followed():
    web = {A: {"status": 301, "location": B}, B: page(B, "wind")}
    loop = Loop(web, scope=Scope("host", [A])).start(A)
    assert B not in loop.run()


def test_failures_are_retried_by_the_table_then_given_up():
    loop = Loop({A: {"error": Reason.TIMEOUT}}, politeness=OWN).start(A)
    assert loop.run() == [f"{A}robots.txt", A, A, A]
    assert [d.result for d in loop.trace] == ["none", "retry", "retry", "failed"]
    assert loop.now >= 10 + 20
    assert loop.crawl.tally.failed == 1


def test_a_final_failure_is_not_retried():
    loop = Loop({A: {"error": Reason.FORBIDDEN_ADDRESS}}).start(A)
    assert loop.run().count(A) == 1


def test_retry_after_is_waited_for():
    loop = Loop({A: {"status": 429, "retry_after": 120.0}}, politeness=OWN).start(A)
    loop.run(limit=3)
    assert loop.now >= 120.0


def test_a_short_retry_after_is_not_made_longer():
    loop = Loop({A: {"status": 503, "retry_after": 5.0}}, politeness=OWN).start(A)
    loop.run(limit=3)
    asked = [d.at for d in loop.trace if d.kind == "page"]
    assert asked[1] - asked[0] == 5.0


def test_the_delay_holds_between_pages_of_one_host():
    web = {A: page(A, "x", [f"{A}{i}" for i in range(3)])}
    loop = Loop(web, politeness=Politeness(delay=2.0)).start(A)
    loop.run()
    times = [d.at for d in loop.trace]
    assert all(b - a >= 2.0 for a, b in pairwise(times))
    assert len(times) == 5


def test_crawl_delay_slows_a_host_down():
    web = {
        f"{A}robots.txt": {"status": 200, "body": b"User-agent: *\nCrawl-delay: 7"},
        A: page(A, "x", [f"{A}1"]),
    }
    loop = Loop(web).start(A)
    loop.run()
    times = [d.at for d in loop.trace if d.kind == "page"]
    assert times[1] - times[0] >= 7


def test_only_own_hosts_get_several_requests_at_once():
    links = [f"{A}{i}" for i in range(5)]
    for politeness, together in ((OWN, 5), (Politeness(), 1)):
        loop = Loop({A: page(A, "x", links)}, politeness=politeness).start(A)
        loop.run(limit=2)
        loop.now += 10
        assert len(loop.lease(10)) == together


def test_ignoring_robots_is_for_own_hosts_only():
    rude = Politeness(own=lambda host: host == "a.example", own_robots=False)
    web = {u: page(u, u) for u in (A, B)}
    asked = Loop(web, politeness=rude).start(A, B).run()
    assert f"{A}robots.txt" not in asked
    assert f"{B}robots.txt" in asked


def test_duplicates_are_recorded_and_not_counted():
    web = {A: page(A, "wind farm", [f"{A}copy"]), f"{A}copy": page(f"{A}copy", "wind farm")}
    loop = Loop(web).start(A)
    loop.run()
    assert [(p.matched, p.duplicate_of) for p in loop.pages] == [(True, -1), (False, 0)]
    assert loop.crawl.tally.matches == 1
    assert loop.trace[-1].result == "duplicate"


def test_noindex_is_no_find_and_nofollow_gives_no_links():
    web = {A: page(A, "wind", [f"{A}1"], robots=["noindex", "nofollow"])}
    loop = Loop(web).start(A)
    assert loop.run() == [f"{A}robots.txt", A]
    assert (loop.trace[-1].result, loop.trace[-1].dropped) == ("noindex", (("nofollow", 1),))


@pytest.mark.parametrize(("agent", "found"), [("mybot", "noindex"), ("clew", "match")])
def test_directives_for_another_agent_bind_that_agent_alone(agent, found):
    web = {A: page(A, "wind", [f"{A}1"], robots=["mybot:noindex", "mybot:nofollow", "noarchive"])}
    loop = Loop(web, politeness=Politeness(agent=agent)).start(A)
    asked = loop.run()
    assert next(d for d in loop.trace if d.url == A).result == found
    assert (f"{A}1" in asked) == (agent == "clew")


def test_meta_refresh_and_canonical_are_candidates():
    web = {A: page(A, "x", refresh=f"{A}next", canonical=f"{A}real")}
    loop = Loop(web).start(A)
    loop.run()
    saved = [e for e in loop.effects if isinstance(e, SaveCandidates)]
    assert [(e.via.value, e.urls[0]) for e in saved[1:]] == [
        ("refresh", f"{A}next"),
        ("canonical", f"{A}real"),
    ]


def test_unwanted_types_are_left_out_after_the_fact_too():
    loop = Loop({A: page(A, "wind", kind="application/zip")}).start(A)
    loop.run()
    assert loop.pages == []
    assert Close(0, State.DROPPED, "type", 1) in loop.effects


@pytest.mark.parametrize(
    ("budget", "reason"),
    [(Budget(pages=3), "pages"), (Budget(matches=2), "matches"), (Budget(requests=4), "requests")],
)
def test_budgets_stop_the_crawl(budget, reason):
    links = [f"{A}{i}" for i in range(9)]
    web = {u: page(u, f"wind {u}", links) for u in [A, *links]}
    loop = Loop(web, budget=budget, politeness=OWN).start(A)
    loop.run()
    assert loop.crawl.stopped(loop.now) == reason


def test_the_page_budget_is_not_overshot_by_what_is_under_way():
    links = [f"{A}{i}" for i in range(9)]
    loop = Loop({u: page(u, u, links) for u in [A, *links]}, budget=Budget(pages=4), politeness=OWN).start(A)
    loop.run(limit=2)
    tasks = loop.lease(10)
    assert len(tasks) == 3
    for task in tasks:
        loop.answer(task)
    assert loop.crawl.tally.pages == 4
    assert loop.lease(10) == []


def test_the_frontier_runs_empty():
    loop = Loop({A: page(A, "x")}).start(A)
    loop.run()
    assert loop.crawl.stopped(loop.now) == "frontier empty"


def test_an_abandoned_task_is_queued_again():
    loop = Loop({A: page(A, "wind")}, politeness=OWN).start(A)
    robots = loop.lease()[0]
    loop.crawl.abandon(robots)
    assert loop.lease()[0].url == robots.url
    loop.crawl.abandon(robots.__class__(2, TaskKind.ROBOTS, robots.url, robots.host))
    loop.run(limit=1)
    task = loop.lease()[0]
    loop.crawl.abandon(task)
    assert loop.lease()[0].candidate == task.candidate


def test_breadth_first_goes_by_depth_then_age():
    web = {
        A: page(A, "wind", [f"{A}1", f"{A}2"]),
        f"{A}1": page(f"{A}1", "1", [f"{A}11"]),
        B: page(B, "b", [f"{B}1"]),
    }
    loop = Loop(web, strategy=BreadthFirst(), politeness=OWN).start(A, B)
    loop.run()
    assert loop.fetched() == [A, B, f"{A}1", f"{A}2", f"{B}1", f"{A}11"]


def test_random_is_one_order_for_one_seed():
    links = [f"{A}{i}" for i in range(30)]
    web = {A: page(A, "x", links)}
    orders = []
    for seed in (1, 1, 2):
        loop = Loop(web, strategy=RandomOrder(seed), politeness=OWN).start(A)
        loop.run()
        orders.append(loop.fetched())
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_one_seed_gives_one_trace_to_the_last_bit():
    links = [(f"http://{h}.example/{i}", "wind" if i % 3 else "") for h in "abc" for i in range(9)]
    web = {
        u: page(u, f"{'wind' if len(u) % 2 else 'sea'} {u}", links[i % 7 :]) for i, (u, _) in enumerate(links)
    }
    traces = []
    for _ in range(2):
        loop = Loop(web).start(links[0][0])
        loop.run()
        traces.append([d.line() for d in loop.trace])
    assert traces[0] == traces[1]
    assert len(traces[0]) > 20


def test_links_to_other_slots_leave_as_forwards_and_come_in_elsewhere():
    """Two shards together fetch what one engine fetches alone."""
    links = [f"http://h{i}.example/" for i in range(12)]
    web = {u: page(u, f"wind {u}", links) for u in links}
    alone = Loop(web, politeness=OWN).start(links[0])
    alone.run()
    halves = [frozenset(range(0, 128)), frozenset(range(128, 256))]
    shards = [Loop(web, politeness=OWN, slots=half).start(links[0]) for half in halves]
    for _ in range(4):
        for here, there in (shards, shards[::-1]):
            here.run()
            for forward in [e for e in here.effects if isinstance(e, Forward)]:
                there.save(there.crawl.receive(forward))
            here.effects = [e for e in here.effects if not isinstance(e, Forward)]
    fetched = [set(s.fetched()) for s in shards]
    assert fetched[0] | fetched[1] == set(alone.fetched())
    assert not fetched[0] & fetched[1]
    assert all(urls.slot(urls.host(u)) in halves[0] for u in fetched[0])


def test_a_strategy_that_learns_knows_the_links_another_shard_found():
    """They are scored by what was learned here, and counted when they are fetched."""
    links = [(f"http://b.example/wind/{i}", "wind power") for i in range(3)]
    web = {"http://b.example/": page("http://b.example/", "wind")}
    loop = Loop(web, strategy=Intelligent(), sitemaps="off").start("http://b.example/")
    loop.run()
    before = loop.crawl.frontier.count
    sent = Forward(
        7, *zip(*links, strict=True), 1, "http://a.example/", np.zeros((3, loop.crawl.frontier.width))
    )
    loop.save(loop.crawl.receive(sent))
    strategy = loop.crawl.strategy
    assert strategy.met == loop.crawl.frontier.count == before + 3
    numbers = np.arange(before, before + 3)
    assert strategy.graph.open[numbers].all()
    assert np.array_equal(loop.crawl.frontier.terms[numbers], strategy.evaluate(numbers))
    loop.run()
    assert strategy.knowledge.pages == 4


def test_contributions_always_sum_to_the_score():
    links = [(f"http://{h}.example/{i}", "wind" * (i % 2)) for h in "ab" for i in range(8)]
    web = {u: page(u, f"wind {u}" if i % 2 else u, links) for i, (u, _) in enumerate(links)}
    loop = Loop(web, wants=Wants("wind")).start(links[0][0])
    loop.run()
    assert all(np.isclose(sum(d.terms), d.score, rtol=0, atol=0) for d in loop.trace if d.kind == "page")


class Adrift(BestFirst):
    """A strategy whose arithmetic went wrong: scores that are no numbers, or without end."""

    def __init__(self, predicate, wrong):
        super().__init__(predicate)
        self.wrong = wrong

    def score(self, expansion):
        return np.full((len(expansion.ids), 2), self.wrong)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e308, -1e308])
def test_a_score_that_is_no_number_ends_no_crawl_and_what_is_saved_is_what_was_filed(wrong):
    web = {A: page(A, "x", [B, C]), B: page(B, "wind"), C: page(C, "wind y")}
    loop = Loop(web, strategy=Adrift(Wants(), wrong), politeness=OWN).start(A)
    asked = loop.run()
    assert {B, C} <= set(asked)
    assert loop.crawl.stopped(loop.now) == "frontier empty"
    filed = [effect.terms for effect in loop.effects if isinstance(effect, SaveCandidates)]
    assert all(np.isfinite(terms).all() for terms in filed)
    assert np.isfinite(loop.crawl.frontier.scores).all()


def test_a_crawl_without_a_limit_for_hosts_never_ends_as_per_host():
    loop = Loop({A: page(A, "x")}, politeness=OWN).start(A)
    loop.crawl.frontier.scores[0] = -np.inf
    loop.crawl.hosts.touch(0)
    assert loop.crawl.stopped(loop.now) == "nothing can be leased"


def test_a_seed_that_is_a_sitemap_gives_its_entries_as_seeds_in_its_stead():
    index, listing, loop_ = f"{A}index.xml", f"{A}map.xml", f"{B}other.xml"
    web = {
        index: {"status": 200, "sitemap": Sitemap(index, children=(listing, index))},
        listing: {"status": 200, "sitemap": Sitemap(listing, (f"{A}1", f"{A}2", f"{A}x/3"), ("", "", ""))},
        f"{A}1": page(f"{A}1", "wind", [f"{A}deep"]),
        f"{A}2": page(f"{A}2", "sea"),
        loop_: page(loop_, "x"),
    }
    scope = Scope("all", (index,), exclude=("*/x/*",), depth=0)
    loop = Loop(web, scope=scope, politeness=OWN).start(index)
    asked = loop.run()
    assert asked == [f"{A}robots.txt", index, listing, f"{A}1", f"{A}2"]
    assert [saved.page.url for saved in loop.pages] == [f"{A}1", f"{A}2"]
    assert loop.crawl.tally.failed == 0
    told = {d.url: (d.result, d.new, dict(d.dropped)) for d in loop.trace if d.result == "seed-list"}
    assert told[listing] == ("seed-list", 2, {"exclude": 1})
