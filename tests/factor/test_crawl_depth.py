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
from clew.predicate import compile as compile_predicate
from clew.strategy import make
from clew.testing import StaticWeb


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
    """A find, behind a redirect too, is as far for the strategy as the depth at which it was fetched."""
    web = DemoWeb()
    wanted = Blind("relevant", frozenset(web.relevant()))
    strategy = make("intelligent", wanted, seed=1)
    numbers: dict[str, int] = {}

    class Numbering(type(strategy)):
        def observe_many(self, expansions):
            for expansion in expansions:
                numbers.update(zip(expansion.links.targets, expansion.ids.tolist(), strict=True))
            return super().observe_many(expansions)

        def meet(self, expansion):
            numbers.update(zip(expansion.links.targets, expansion.ids.tolist(), strict=True))
            return super().meet(expansion)

    strategy.__class__ = Numbering
    run = simulate(ParsedWeb(web), wanted, strategy, web.seeds(), 200)
    known = [int(strategy.graph.distances[numbers[url]]) for url in run.found]
    assert known == list(run.distances)
    assert len(set(known)) > 2


@pytest.mark.parametrize("formula", [None, "turbine"])
def test_several_starting_points_get_their_turns_however_many_links_they_have(formula):
    """A hundred links of one page do not crowd out the six of another."""
    many = [f"http://a.example/many-{n}" for n in range(100)]
    few = [f"http://b.example/few-{n}" for n in range(6)]
    pages = {"http://a.example/": linking(many), "http://b.example/": linking(few)}
    pages |= {url: f"<title>{url}</title><p>Nothing to see at {url}." for url in [*many, *few]}
    web = StaticWeb(pages)
    wanted = Blind("nothing", frozenset()) if formula is None else compile_predicate(formula)
    asked = []
    parsed = ParsedWeb(web, robots=False)
    reply = parsed.outcome
    parsed.outcome = lambda task: asked.append(task.url) or reply(task)
    simulate(
        parsed, wanted, make("intelligent", wanted, seed=1), ("http://a.example/", "http://b.example/"), 16
    )
    assert sum(url in few for url in asked) >= 5


def linking(targets):
    return "<ul>" + "".join([f'<li><a href="{url}">{url[-6:]}</a>' for url in targets]) + "</ul>"
