"""Knowledge used again: the order stays exact, what was found before is found at once, old files are read."""

import json
from functools import cache

import numpy as np
import pytest

from clew.knowledge import dumps, loads
from clew.lab.parsed_web import ParsedWeb
from clew.lab.predicates import Blind
from clew.lab.simulate import simulate
from clew.strategy import Intelligent
from clew.testing import DemoWeb

pytestmark = pytest.mark.slow


@cache
def field():
    """A small web and what is looked for on it."""
    web = DemoWeb()
    return ParsedWeb(web, robots=False), Blind("wind", frozenset(web.relevant()))


@cache
def learned():
    """What a crawl of 400 requests leaves behind, as text."""
    strategy = Intelligent(7)
    parsed_web, wanted = field()
    simulate(parsed_web, wanted, strategy, parsed_web.web.seeds(), 400)
    assert strategy.knowledge.satisfied > 5
    return dumps(strategy.knowledge)


def crawled(requests=60, **options):
    parsed_web, wanted = field()
    strategy = Intelligent(3, **options)
    return simulate(parsed_web, wanted, strategy, parsed_web.web.seeds(), requests), strategy


@pytest.mark.parametrize("weights", ["learned", "balanced"])
def test_with_knowledge_too_the_order_is_that_of_the_naive_loop(weights):
    fast, _ = crawled(35, known=loads(learned()), weights=weights)
    slow, _ = crawled(35, known=loads(learned()), weights=weights, exact="yes")
    assert fast.finds == slow.finds
    assert fast.parts == slow.parts
    assert any(fast.parts["prior_crawl"])


def test_what_was_found_before_is_found_at_once():
    plain, _ = crawled(40)
    again, strategy = crawled(40, known=loads(learned()))
    assert len(again.finds) > 1.5 * len(plain.finds)
    assert strategy.learners["prior_crawl"].places.trust > 0.9


def test_what_a_crawl_leaves_behind_is_its_own():
    """Not what it was given: that is merged by `clew knowledge merge`, once, by who wants it."""
    _, strategy = crawled(20, known=loads(learned()))
    kept = loads(strategy.state())
    assert kept.pages == strategy.knowledge.pages <= 20
    assert len(dict(kept.places.rows())) == kept.pages


def test_knowledge_saved_before_addresses_were_kept_is_read_and_used():
    plain = json.loads(learned())
    for name in ("places", "hubs"):
        del plain["tables"][name]
    known = loads(json.dumps(plain))
    assert not len(known.places)
    _, strategy = crawled(20, known=known)
    earlier = strategy.learners["prior_crawl"]
    assert earlier.places is not None
    assert np.abs(earlier.evidence(np.arange(strategy.graph.size))).max() > 0.0
