"""What was learned of hosts outlives the process: exclusions, traps, sitemaps, slow-downs."""

import pytest
from loop import Wants, page

from clew.engine import Crawl, CrawlRules
from clew.errors import Reason
from clew.frontier import Politeness
from clew.messages import Outcome, Sitemap, TaskKind
from clew.policy import Scope
from clew.run.resume import restore
from clew.store import MemoryStore
from clew.strategy import BreadthFirst

A, B, C = (f"http://{x}.example/" for x in "abc")
ROBOTS = b"User-agent: *\nSitemap: /map.xml"


class Sessions:
    """Runs of one crawl over a dict of outcomes, each in a new engine."""

    def __init__(self, web, **rules):
        self.web = web
        self.store = MemoryStore()
        self.rules = rules
        self.now = 1000.0

    def session(self, *seeds, limit=1000, jump=0.0):
        self.now += jump
        crawl = Crawl(Wants(), BreadthFirst(), CrawlRules(scope=Scope(), **self.rules), self.store.url)
        saved = self.store.load()
        if saved is not None:
            restore(crawl, saved, self.now)
        self.store.save(crawl.start(seeds, self.now))
        asked = []
        while len(asked) < limit and not crawl.stopped(self.now):
            tasks = crawl.lease(self.now, 1)
            for task in tasks:
                asked.append((self.now, task.url))
                found = self.web(task) if callable(self.web) else self.web.get(task.url, {"status": 404})
                self.store.save(crawl.settle(Outcome(task=task, **found), self.now))
            if not tasks:
                self.now = max(self.now, crawl.next_ready() or self.now)
        self.store.save(crawl.drain())
        self.crawl = crawl
        return asked


def good(url, *links):
    return {"status": 200, "page": page(url, f"wind {url}", links)}


def test_an_excluded_host_stays_excluded():
    web = {
        A: good(A, f"{B}1", f"{A}2"),
        f"{B}robots.txt": {"error": Reason.CONNECT},
        f"{A}2": good(f"{A}2", f"{B}3"),
    }
    crawl = Sessions(web)
    crawl.session(A)
    again = crawl.session(f"{B}new", C)
    assert not [url for _, url in again if url.startswith(B)]
    assert crawl.crawl.stopped(crawl.now) == "frontier empty"


def test_candidates_of_a_host_that_was_excluded_right_before_a_crash_are_closed_on_resume():
    crawl = Sessions(
        {A: good(A, *(f"{B}{i}" for i in range(700))), f"{B}robots.txt": {"error": Reason.CONNECT}}
    )
    crawl.session(A, limit=5)
    assert crawl.crawl.hosts.get("b.example").excluded
    crawl.session()
    assert crawl.crawl.frontier.queued == 0
    assert crawl.store.counts().by_reason["host-excluded"] == 700


def test_a_closed_trap_stays_closed():
    def web(task):
        if "/cal/" not in task.url:
            return good(task.url, f"{A}cal/2031/01") if task.url == A else {"status": 404}
        month = int(task.url[-2:]) % 12 + 1
        year = int(task.url.split("/")[-2]) + (month == 1)
        shown = page(task.url, f"nothing in {task.url}", [f"{A}cal/{year}/{month:02}"])
        return {"status": 200, "page": shown}

    crawl = Sessions(web)
    asked = [u for _ in range(6) for _, u in crawl.session(A, limit=4) if "/cal/" in u]
    asked += [u for _, u in crawl.session(A) if "/cal/" in u]
    assert 8 <= len(asked) <= 10


def test_a_sitemap_is_not_read_twice():
    def web(task):
        if task.kind is TaskKind.SITEMAP:
            return {"status": 200, "sitemap": Sitemap(task.url, (f"{A}1", f"{A}2"), ("", ""))}
        return {"status": 200, "body": ROBOTS} if task.kind is TaskKind.ROBOTS else good(task.url)

    crawl = Sessions(web)
    asked = [u for _ in range(4) for _, u in crawl.session(A, limit=2)]
    asked += [u for _, u in crawl.session(A)]
    assert asked.count(f"{A}map.xml") == 1
    assert f"{A}2" in asked


def test_a_slow_down_is_not_forgotten_and_clocks_that_jump_do_no_harm():
    links = [f"{A}{i}" for i in range(6)]
    web = {A: good(A, *links)} | {u: good(u) for u in links[1:]} | {links[0]: {"status": 429}}
    for jump in (0.0, -86_400.0, 86_400.0):
        crawl = Sessions(web)
        crawl.session(A, limit=3)
        slowed = crawl.crawl.hosts.get("a.example").pause(Politeness())
        assert slowed >= 2.0
        start = crawl.now + jump
        asked = crawl.session(limit=2, jump=jump)
        assert asked[1][0] - asked[0][0] >= 1.5
        assert 1.0 <= asked[0][0] - start <= 3600.0


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("asked", "longest"), [(None, 1.0), (120.0, 120.0)])
def test_after_a_clock_that_ran_ahead_a_host_rests_for_its_delay_or_what_it_asked_for(own, asked, longest):
    web = {A: {**good(A, f"{A}1"), "retry_after": asked}, f"{A}1": good(f"{A}1")}
    crawl = Sessions(web, politeness=Politeness(own=lambda host: own))
    crawl.now += 86_400.0
    crawl.session(A, limit=2)
    start = crawl.now - 86_400.0
    (at, url) = crawl.session(limit=1, jump=-86_400.0)[0]
    assert url == f"{A}1"
    assert at - start == (0.0 if own and asked is None else longest)


def test_words_that_pages_of_a_host_repeat_are_known_in_the_next_session():
    """An error page that satisfies is believed once, not once in every session."""
    links = [f"{A}{i}" for i in range(4)]
    web = {A: good(A, *links)}
    web |= {u: {"status": 200, "page": page(u, f"wind page {u[-1]} could not be found")} for u in links}
    sessions = Sessions(web)
    sessions.session(A, limit=4)  # robots.txt, the seed, and two that say the same
    first = sessions.crawl
    assert first.tally.matches == 2
    assert len(first.waste_guard.empty_pages.state("a.example")) == 1
    sessions.session(A)
    assert sessions.crawl.tally.matches == 2
    assert sessions.crawl.waste_guard.empty_pages.state("a.example") == first.waste_guard.empty_pages.state(
        "a.example"
    )


def test_a_crawl_that_reached_nothing_tries_everything_again():
    web = {f"{A}robots.txt": {"error": Reason.FORBIDDEN_ADDRESS}, f"{B}robots.txt": {"status": 503}}
    crawl = Sessions(web)
    crawl.session(A, B)
    assert crawl.crawl.tally.pages == 0
    assert crawl.crawl.frontier.queued == 0
    web.clear()
    web.update({A: good(A), B: good(B)})
    again = crawl.session(A, B)
    assert {A, B} < {url for _, url in again}
    assert crawl.crawl.tally.pages == 2


def test_what_failed_stays_failed_once_a_page_came():
    web = {f"{A}robots.txt": {"error": Reason.FORBIDDEN_ADDRESS}, B: good(B)}
    crawl = Sessions(web)
    crawl.session(A, B)
    assert crawl.session(A, B) == []
