"""`opic`: what candidates count by the links to them."""

import numpy as np
import pytest

from clew.factor import FACTORS, Estimation, FetchOutcome, LearningState, LinkGraph
from clew.factor.opic import Opic
from clew.factor.url_depth import Bold
from clew.knowledge import Knowledge

NONE = np.zeros(0, np.int64)


@pytest.fixture
def factor():
    return Opic(LearningState(Knowledge(), LinkGraph(), Estimation()))


def fetch(factor, candidate, children, satisfied=False):
    graph = factor.state.graph
    graph.reserve(max([candidate, *children], default=0) + 1)
    graph.open[list(children)] = graph.slot_of[list(children)] < 0
    parents = graph.parents_of(candidate)
    factor.learn(FetchOutcome(candidate, satisfied, tuple(parents), NONE, NONE, NONE))
    graph.fetch(candidate, satisfied, parents, 4.0)
    graph.link(candidate, satisfied, NONE, np.array(children, np.int64), 4.0)
    factor.estimate()


def test_a_page_hands_what_it_has_to_its_links_in_equal_shares(factor):
    cash = factor.state.graph.cash
    fetch(factor, 0, [1, 2, 3, 4])
    assert cash[1:5].tolist() == [0.25] * 4
    fetch(factor, 1, [5, 6])
    assert cash[5:7].tolist() == [0.125] * 2


def test_links_near_the_start_come_before_those_of_a_corner(factor):
    """A list of three on the second page is worth more than one of twenty on the third."""
    fetch(factor, 0, [1, 2])
    fetch(factor, 1, [3, 4, 5])
    fetch(factor, 3, range(10, 30))
    near, corner = factor.evidence(np.array([4, 12]))
    assert near > 0.0 > corner


def test_a_page_that_many_finds_link_to_comes_to_much(factor):
    fetch(factor, 0, range(1, 20))
    for number in range(1, 6):
        fetch(factor, number, [50, 60 + number, 70 + number], satisfied=True)
    shared, single = factor.evidence(np.array([50, 61]))
    assert shared > single


def test_every_starting_point_has_as_much_to_give(factor):
    fetch(factor, 0, [2, 3])
    fetch(factor, 1, [4, 5])
    assert factor.evidence(np.array([2]))[0] == factor.evidence(np.array([4]))[0]


def test_it_is_the_less_heard_the_more_was_found_lately(factor):
    fetch(factor, 0, [1, 2, 3, 4])
    fetch(factor, 1, range(10, 40))
    before = factor.evidence(np.array([2]))[0]
    for number in range(10, 30):
        fetch(factor, number, [], satisfied=True)
    assert 0.0 < factor._bold < 0.25
    assert before > 0.0


def test_a_candidate_that_no_page_led_to_is_worth_least(factor):
    """Those of a sitemap, say."""
    fetch(factor, 0, [1, 2, 3])
    factor.state.graph.reserve(9)
    factor.state.graph.open[8] = True
    factor.estimate()
    assert factor.evidence(np.array([8]))[0] == pytest.approx(-2.0)
    assert factor.terms(8)[0].log_ratio == pytest.approx(-2.0)


def test_every_reason_to_look_elsewhere_says_that_it_explores():
    bold = {name for name, factor in FACTORS.items() if issubclass(factor, Bold)}
    assert bold == {name for name, factor in FACTORS.items() if factor.spec.explores}
    assert "opic" in bold
