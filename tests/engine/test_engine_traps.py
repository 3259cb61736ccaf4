"""What the engine does about sitemaps, traps, error pages and mirrors."""

import random

import pytest
from loop import Loop, Wants, page

from clew.frontier import Politeness
from clew.messages import Close, Outcome, SaveCandidates, Sitemap, State, TaskKind, Via
from clew.policy import Budget, Scope
from clew.strategy import BreadthFirst

A, B = "http://a.example/", "http://b.example/"
OWN = Politeness(own=lambda host: True, own_limit=8)
MAP = f"{A}map.xml"
ROBOTS = {"status": 200, "body": b"User-agent: *\nDisallow: /no\nSitemap: /map.xml"}


class Mapped(Loop):
    """A loop whose web may have `Sitemap` values in it."""

    def answer(self, task):
        found = self.web.get(task.url)
        if isinstance(found, Sitemap):
            return self.save(self.crawl.settle(Outcome(task=task, status=200, sitemap=found), self.now))
        return super().answer(task)


def mapped(*targets, titles=None):
    return Sitemap(MAP, tuple(targets), tuple(titles or [""] * len(targets)))


# sitemaps


def test_a_sitemap_is_read_on_a_host_with_a_find_and_gives_candidates():
    web = {
        f"{A}robots.txt": ROBOTS,
        A: page(A, "wind", [f"{A}1"]),
        MAP: mapped(f"{A}2", f"{A}no/3", f"{A}4.jpg", A),
    }
    loop = Mapped(web).start(A)
    asked = loop.run()
    assert asked == [f"{A}robots.txt", A, MAP, f"{A}1", f"{A}2"]
    saved = next(e for e in loop.effects if isinstance(e, SaveCandidates) and e.via is Via.SITEMAP)
    assert saved.urls == (f"{A}2", f"{A}no/3")
    assert set(saved.depths) == {1}
    line = next(d for d in loop.trace if d.kind == "sitemap")
    assert (line.result, line.new, line.known, line.dropped) == ("ok", 2, 1, (("type", 1),))
    assert loop.crawl.tally.requests == 5


def test_the_strategy_scores_what_a_sitemap_lists():
    web = {
        f"{A}robots.txt": ROBOTS,
        A: page(A, "wind", [f"{A}x"]),
        MAP: mapped(f"{A}1", f"{A}2", titles=["", "wind farms"]),
    }
    loop = Mapped(web, politeness=OWN).start(A)
    loop.run()
    assert loop.fetched()[1:] == [f"{A}x", f"{A}2", f"{A}1"]


def test_a_host_without_links_is_still_explored_by_its_sitemap():
    """The seed is an empty shell: when nothing else is left, the sitemap is read."""
    web = {
        f"{A}robots.txt": ROBOTS,
        A: page(A, "bread"),
        MAP: mapped(f"{A}1"),
        f"{A}1": page(f"{A}1", "wind"),
    }
    loop = Mapped(web).start(A)
    assert loop.run() == [f"{A}robots.txt", A, MAP, f"{A}1"]
    assert loop.crawl.stopped(loop.now) == "frontier empty"


@pytest.mark.parametrize("mode", ["off", "robots"])
def test_sitemaps_can_be_switched_off(mode):
    web = {f"{A}robots.txt": ROBOTS, A: page(A, "wind"), MAP: mapped(f"{A}1")}
    loop = Mapped(web, sitemaps=mode).start(A)
    assert (MAP in loop.run()) == (mode == "robots")


def test_a_sitemap_that_robots_forbids_is_not_read():
    robots = {"status": 200, "body": b"User-agent: *\nDisallow: /map\nSitemap: /map.xml"}
    loop = Mapped({f"{A}robots.txt": robots, A: page(A, "wind", [f"{A}1"]), MAP: mapped(f"{A}2")}).start(A)
    assert loop.run() == [f"{A}robots.txt", A, f"{A}1"]


def test_scope_and_domain_bind_sitemaps_too():
    web = {f"{A}robots.txt": ROBOTS, A: page(A, "wind"), MAP: mapped(f"{A}1", B, f"{A}x/2")}
    loop = Mapped(web, scope=Scope("all", exclude=["*/x/*"])).start(A)
    loop.run()
    line = next(d for d in loop.trace if d.kind == "sitemap")
    assert line.dropped == (("exclude", 1), ("sitemap-foreign", 1))


def test_an_abandoned_sitemap_is_asked_for_again():
    loop = Mapped({f"{A}robots.txt": ROBOTS, A: page(A, "wind", [f"{A}1"]), MAP: mapped(f"{A}2")}).start(A)
    loop.run(limit=2)
    loop.now += 5
    task = loop.lease()[0]
    assert task.kind is TaskKind.SITEMAP
    loop.crawl.abandon(task)
    assert loop.lease()[0].url == MAP


# traps


def healthy(n, extra=()):
    """A tree of pages that each say something of their own."""
    dice = random.Random(1)
    words = ["".join(dice.choices("abcdefghij", k=6)) for _ in range(400)]
    web = {}
    for i in range(n):
        url = f"{A}p/{i}"
        links = [f"{A}p/{j}" for j in range(3 * i + 1, min(3 * i + 4, n))]
        web[url] = page(url, " ".join(dice.choices(words, k=50)), [*links, *(extra if i % 7 == 0 else ())])
    return web


class Endless(dict):
    """A web with healthy pages and one trap that makes up pages as they are asked for."""

    def __init__(self, web, trap):
        super().__init__(web)
        self.trap = trap

    def get(self, url, default=None):
        return self[url] if url in self else self.trap(url) or default


def calendar(url):
    if "/cal/" not in url:
        return None
    year, month = map(int, url.split("/cal/")[1].split("/"))
    around = [divmod(year * 12 + month - 1 + step, 12) for step in (-12, -1, 1, 12)]
    links = [f"{A}cal/{y}/{m + 1:02}" for y, m in around]
    return page(url, f"Events {random.Random(url).random()} of the month", links)


def sessions(url):
    if "visit=" not in url:
        return None
    dice = random.Random(url)
    return page(
        url, "Your basket is empty", [(f"{A}shop?visit={dice.getrandbits(128):032x}", "shop") for _ in "abc"]
    )


def soft(url):
    if "/wiki/" not in url:
        return None
    dice = random.Random(url)
    links = [f"{A}wiki/{dice.getrandbits(40):x}" for _ in range(8)]
    return page(url, "Sorry, this page could not be found", links)


def farm(url):
    if "/ads/" not in url:
        return None
    dice = random.Random(url)
    links = [(f"{A}ads/{name}.html", name) for name in (f"{dice.getrandbits(48):x}" for _ in range(50))]
    return page(url, "Best links " + " ".join(anchor for _, anchor in links), links)


def repeats(url):
    return (
        page(url, f"Products {random.Random(url).random()}", [f"{url}news/", f"{url}shop/"])
        if "/rep/" in url
        else None
    )


def grows(url):
    if "/filter" not in url:
        return None
    mark = "&" if "?" in url else "?"
    return page(
        url,
        "Filter the results",
        [f"{url}{mark}c{random.Random(url + str(i)).randrange(999)}=1" for i in "abc"],
    )


TRAPS = {
    "calendar": (f"{A}cal/2024/01", calendar),
    "session": (f"{A}shop?visit=1", sessions),
    "soft-404": (f"{A}wiki/x", soft),
    "farm": (f"{A}ads/1.html", farm),
    "repeat": (f"{A}rep/", repeats),
    "query": (f"{A}filter", grows),
}


@pytest.mark.parametrize("name", TRAPS)
@pytest.mark.parametrize("strategy", [BreadthFirst, None])
def test_every_healthy_page_is_fetched_and_a_trap_gets_a_bounded_share(name, strategy):
    entrance, trap = TRAPS[name]
    web = Endless(healthy(250, [entrance]), trap)
    loop = Loop(
        web, strategy=strategy() if strategy else None, politeness=OWN, budget=Budget(requests=1000)
    ).start(f"{A}p/0")
    asked = loop.run(limit=2000)
    lost = set(healthy(250)) - set(asked)
    trapped = [u for u in asked if "/p/" not in u and not u.endswith("robots.txt")]
    assert not lost
    assert 0 < len(trapped) <= 25
    assert loop.crawl.stopped(loop.now) == "frontier empty"


def test_switched_off_the_trap_takes_all_that_is_left():
    entrance, trap = TRAPS["calendar"]
    loop = Loop(
        Endless(healthy(50, [entrance]), trap), politeness=OWN, budget=Budget(requests=200), traps=False
    ).start(f"{A}p/0")
    assert len(loop.run(limit=1000)) == 200


def test_an_error_page_is_no_page_and_its_links_are_not_followed():
    web = {A: page(A, "x", [f"{A}1"]), f"{A}1": page(f"{A}1", "Page not found", [f"{A}2"])}
    loop = Loop(web).start(A)
    loop.run()
    assert Close(1, State.DROPPED, "soft-404", 1) in loop.effects
    assert f"{A}2" not in loop.urls
    assert loop.crawl.tally.pages == 1
    assert loop.trace[-1].result == "soft-404"


def test_an_error_page_that_satisfies_is_given_the_benefit_of_the_doubt_once():
    links = [f"{A}1", f"{A}2"]
    web = {A: page(A, "x", links)} | {u: page(u, "wind not found") for u in links}
    loop = Loop(web, wants=Wants("wind")).start(A)
    loop.run()
    assert [p.matched for p in loop.pages] == [False, True]


def test_a_mirror_is_left_alone_once_it_is_known():
    paths = [f"p/{i}" for i in range(40)]
    web = {}
    for base in (A, B):
        for i, path in enumerate(paths):
            web[base + path] = page(
                base + path, f"text number {i} of {'abcdefgh'[i % 8] * 9}", [base + p for p in paths]
            )
    loop = Loop(web, strategy=BreadthFirst(), politeness=OWN).start(A + paths[0], B + paths[0])
    loop.run()
    loop.save(loop.crawl.drain())
    assert loop.crawl.tally.duplicates <= 8
    texts = {p.page.text for p in loop.pages}
    assert len(texts) == 40
    closed = [e.reason for e in loop.effects if isinstance(e, Close) and e.state is State.DROPPED]
    assert closed.count("mirror") > 25


def test_traps_do_not_change_a_crawl_without_traps():
    web = healthy(120)
    traces = []
    for traps in (True, False):
        loop = Loop(web, traps=traps, politeness=OWN).start(f"{A}p/0")
        loop.run()
        traces.append([d.line() for d in loop.trace])
    assert traces[0] == traces[1]
