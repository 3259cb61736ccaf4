"""A run in the lab: every request counted, and nothing seen before it is fetched."""

from __future__ import annotations

import re

import numpy as np
import pytest
from small_webs import SmallWeb

from clew.lab.metrics import found
from clew.lab.oracle import achievable, distinct
from clew.lab.parsed_web import ParsedWeb
from clew.lab.predicates import Blind
from clew.lab.simulate import simulate
from clew.page import Links, Page
from clew.strategy import STRATEGIES, BreadthFirst, make

# A web of 60 pages in which page i links to a few others; every page has a word that no other has.
PAGES = 60
LINKS = {
    f"p{i}.html": [f"p{(i * k + k) % PAGES}.html" for k in (2, 3, 7)] + [f"gone{i}.html"]
    for i in range(PAGES)
}
SAID = {name: f"the canary{name[1:-5]}x of this page" for name in LINKS}
LABELS = {name: (("seven",) if int(name[1:-5]) % 7 == 0 else ("other",)) for name in LINKS}
CANARY = re.compile(r"canary(\d+)x")


def web() -> SmallWeb:
    return SmallWeb(LINKS, LABELS, SAID)


def targets(small: SmallWeb) -> frozenset[str]:
    return frozenset(url for url in small.urls() if "seven" in small.labels(url))


def words(value: object) -> str:
    """All text a value holds."""
    if isinstance(value, Page):
        return " ".join(
            [value.url, value.title, value.text, value.main, value.description, words(value.links)]
        )
    if isinstance(value, Links):
        return " ".join([*value.targets, *value.anchors, *value.contexts])
    return repr(value)


class Spy:
    """Stands between the engine and a strategy, and writes down all that the strategy is given."""

    def __init__(self, strategy, small):
        self.strategy = strategy
        self.small = small
        self.name, self.parts = strategy.name, strategy.parts
        self.seen: list[tuple[str, frozenset[str]]] = []

    def _note(self, expansion):
        told = f"{words(expansion.page)} {words(expansion.links)} {expansion.verdict!r}"
        self.seen.append((told, frozenset(self.small.asked)))

    def seeds(self, keys):
        return self.strategy.seeds(keys)

    def score(self, expansion):
        self._note(expansion)
        return self.strategy.score(expansion)

    def observe(self, expansion):
        self._note(expansion)
        return self.strategy.observe(expansion)

    def state(self):
        return self.strategy.state()

    def restore(self, state):
        self.strategy.restore(state)

    def __getattr__(self, name):
        return getattr(self.strategy, name)


class Told:
    """A predicate with nothing to it but its three methods: no list of targets to peek at."""

    __slots__ = ("_ask", "judged")

    def __init__(self, wanted):
        blind = Blind("seven", wanted)
        self._ask = lambda page: blind.judge(page)
        self.judged = []

    def judge(self, page):
        self.judged.append(page.url)
        return self._ask(page)

    def estimate_links(self, links):
        return [0.0] * len(links)

    def text(self):
        return "seven"


#: Those that follow links; the candidates of the other come from a log.
LINKED = tuple(name for name in STRATEGIES if name != "collaborative")


@pytest.mark.parametrize("name", LINKED)
def test_no_strategy_sees_a_page_before_it_is_fetched(name):
    """Canary words stand in the text of every page: those a strategy is shown are of fetched pages only.

    The web itself notes what is read: nothing but what was asked for, and not before.
    """
    small = web()
    predicate = Told(targets(small))
    spy = Spy(make(name, predicate, seed=1), small)
    course = simulate(ParsedWeb(small), predicate, spy, (small.url("p1.html"),), 50)
    assert course.requests == len(small.asked) == 50
    assert spy.seen
    for told, fetched in spy.seen:
        for number in CANARY.findall(told):
            assert small.url(f"p{number}.html") in fetched
    assert set(predicate.judged) <= set(small.asked)
    assert any(CANARY.search(told) for told, _ in spy.seen), "the spy must be able to see canaries at all"


@pytest.mark.parametrize("name", tuple(STRATEGIES))
def test_a_strategy_does_as_well_without_a_predicate_to_peek_into(name):
    """The lab's own predicate knows all targets; a run with one that hides them is the same run."""
    courses = []
    for make_predicate in (lambda wanted: Blind("seven", wanted), Told):
        small = web()
        predicate = make_predicate(targets(small))
        strategy = make(name, predicate, seed=1)
        courses.append(simulate(ParsedWeb(small), predicate, strategy, (small.url("p1.html"),), 50))
    assert courses[0].finds == courses[1].finds


def test_every_request_is_counted():
    """robots.txt, a redirect, a dead link and two pages: five requests."""
    small = SmallWeb(
        {"a.html": ["b.html", "gone.html"], "b.html": [">c.html"], "c.html": []}, {"c.html": ("x",)}
    )
    predicate = Blind("x", frozenset({small.url("c.html")}))
    course = simulate(ParsedWeb(small), predicate, BreadthFirst(), (small.url("a.html"),), 100)
    assert (course.requests, course.pages, course.failed, course.hosts) == (5, 2, 1, 1)
    assert course.stop == "frontier empty"
    assert course.finds == (5,) or course.finds == (4,)


def test_dead_links_can_be_left_out():
    small = SmallWeb({"a.html": ["gone.html", "b.html"], "b.html": []})
    parsed_web = ParsedWeb(small, dead_links=False, robots=False)
    course = simulate(parsed_web, Blind("x", frozenset()), BreadthFirst(), (small.url("a.html"),), 100)
    assert (course.requests, course.failed) == (2, 0)


def test_the_graph_has_the_ways_a_crawl_has():
    """Redirects are ways; what robots.txt forbids, what is out of scope and what is dead is not."""
    small = SmallWeb(
        {"a.html": ["b.html", "no/c.html", "d.jpg", "gone.html"], "b.html": [">e.html"], "no/c.html": [],
         "d.jpg": [], "e.html": []},
        robots="User-agent: *\nDisallow: /no/\n",
    )  # fmt: skip
    parsed_web = ParsedWeb(small)
    reached = parsed_web.graph.reach([0])
    assert [url.rsplit(".example/")[1] for url, yes in zip(parsed_web.urls, reached, strict=True) if yes] == [
        "a.html",
        "b.html",
        "e.html",
    ]


@pytest.mark.parametrize("name", ["breadth-first", "random", "best-first"])
def test_no_run_beats_what_the_graph_allows(name):
    """A crawl to the end finds exactly what can be reached, and never before the oracle does."""
    small = web()
    parsed_web = ParsedWeb(small)
    wanted = targets(small)
    mask = parsed_web.graph.reach([1]) & [url in wanted for url in parsed_web.urls]
    predicate = Blind("seven", wanted)
    course = simulate(parsed_web, predicate, make(name, predicate), (parsed_web.urls[1],), 1000)
    oracle = achievable(parsed_web.graph, mask, [1], 1000, origins=parsed_web.origins)
    assert len(course.finds) == int(mask.sum()) == len(oracle)
    assert all(found(course.finds, r) <= found(oracle, r) for r in (len(oracle) + 1, len(oracle) + 5))


def test_contributions_are_kept_along_the_run():
    small = web()
    predicate = Blind("seven", targets(small))
    course = simulate(ParsedWeb(small), predicate, make("best-first", predicate), (small.url("p1.html"),), 40)
    assert set(course.parts) == {"source", "hint"}
    assert max(course.parts["source"]) <= 1.0


def test_a_copy_is_recorded_and_never_a_find():
    """As in a crawl: of pages with the same text the first fetched is the find, for the oracle too."""
    ways = {"a.html": ["b.html", "c.html", "d.html"], "b.html": [], "c.html": [], "d.html": []}
    told = "the turbines of the wind farm turn"
    small = SmallWeb(ways, said={"b.html": told, "c.html": told, "d.html": f"{told} slowly"})
    parsed_web = ParsedWeb(small)
    wanted = frozenset(small.url(f"{name}.html") for name in "bcd")
    predicate = Blind("wind", wanted)
    course = simulate(parsed_web, predicate, BreadthFirst(), (small.url("a.html"),), 100)
    assert (course.pages, course.finds) == (4, (3, 5))
    assert course.found == (small.url("b.html"), small.url("d.html"))
    assert parsed_web.originals.tolist() == [0, 1, 1, 3]
    mask = np.array([url in wanted for url in parsed_web.urls])
    assert distinct(mask, parsed_web.originals) == 2
    oracle = achievable(
        parsed_web.graph, mask, [0], 100, origins=parsed_web.origins, originals=parsed_web.originals
    )
    assert oracle == (3, 4)
