"""`crawl_depth`: how far candidates are from where the crawl began."""

import numpy as np
import pytest

from clew.factor import Estimation, LearningState, LinkGraph
from clew.factor.crawl_depth import CrawlDepth
from clew.knowledge import Knowledge
from clew.lab import DemoWeb
from clew.lab.parsed_web import ParsedWeb
from clew.lab.predicates import Blind
from clew.lab.simulate import simulate
from clew.strategy import make


@pytest.fixture
def factor():
    found = CrawlDepth(LearningState(Knowledge(), LinkGraph(), Estimation()))
    found.state.graph.reserve(4)
    found.state.graph.distances[1:4] = [1, 1, 5]
    return found


def test_what_is_near_the_start_comes_first(factor):
    near, as_near, far = factor.evidence(np.array([1, 2, 3]))
    assert 0.0 > near == as_near > far
    assert factor.terms(3)[0].text == "5 links from where the crawl began"


def test_from_the_first_find_on_it_is_silent(factor):
    factor.state.knowledge.satisfied = 1
    factor.estimate()
    assert not factor.evidence(np.array([1, 2, 3])).any()
    assert not factor.terms(3)


def test_a_crawl_counts_the_links_to_every_candidate():
    """As the engine does: a candidate's distance is its depth in the frontier."""
    web = ParsedWeb(DemoWeb())
    nothing = Blind("nothing", frozenset())
    strategy = make("intelligent", nothing, seed=1)
    depths: dict[int, int] = {}

    class Watching(type(strategy)):
        def observe_many(self, expansions):
            for expansion in expansions:
                for number in expansion.ids[expansion.fresh].tolist():
                    depths[number] = expansion.depth + 1
            return super().observe_many(expansions)

    strategy.__class__ = Watching
    simulate(web, nothing, strategy, web.web.seeds(), 60)
    known = strategy.graph.distances
    assert len(set(depths.values())) > 2
    assert {number: int(known[number]) for number in depths} == depths


def test_before_the_first_find_the_links_of_each_page_get_their_turn():
    """A blind crawl of which nothing is found does not spend itself on one page's links."""
    web = ParsedWeb(DemoWeb())
    nothing = Blind("nothing", frozenset())
    strategy = make("intelligent", nothing, seed=1)
    simulate(web, nothing, strategy, web.web.seeds(), 200)
    graph = strategy.graph
    tried = [int(graph.child_seen[slot]) for slot in range(graph.fetched) if len(graph.children_of(slot)) > 5]
    with_one = sum(count > 0 for count in tried)
    assert with_one > 0.6 * len(tried)
