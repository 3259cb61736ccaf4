"""`parent_relevance` and `hub_potential`: who links to a candidate, and where it leads."""

import numpy as np
import pytest

from clew.factor import (
    Context,
    Estimation,
    FetchOutcome,
    HubPotential,
    LearningState,
    LinkGraph,
    LinkLocality,
    Liveness,
    ParentRelevance,
)
from clew.factor.link_features import Said
from clew.knowledge import Knowledge
from clew.page import Links

NONE = np.zeros(0, np.int64)
#: Candidates 0 to 9 are lists, 10 to 19 articles, 100 and up what stands behind them.
LISTS, ARTICLES = range(10), range(10, 20)


@pytest.fixture
def state():
    found = LearningState(Knowledge(), LinkGraph(), Estimation())
    targets = [f"http://a.example/list/l{i}.html" for i in LISTS]
    targets += [f"http://a.example/text/t{i}.html" for i in range(10)]
    n = len(targets)
    page = Links("http://a.example/", tuple(targets), ("",) * n, ("",) * n, ("a",) * n, ("",) * n)
    found.features.note(0, page, range(n), Said.of([[]] * n), False)
    return found


class Teacher:
    """Fetches candidates: factors learn, the graph links."""

    def __init__(self, state, *factors):
        self.state, self.factors = state, (Context(state), *factors)

    def fetch(self, candidate, satisfied=False, children=()):
        graph, known = self.state.graph, self.state.knowledge
        graph.reserve(candidate + 1)
        parents = graph.parents_of(candidate)
        for factor in self.factors:
            factor.learn(FetchOutcome(candidate, satisfied, tuple(parents), NONE, NONE, NONE))
        known.pages += 1
        known.satisfied += satisfied
        graph.fetch(candidate, satisfied, parents, 4.0)
        graph.link(candidate, satisfied, NONE, np.array(children, np.int64), 4.0)
        for factor in self.factors:
            factor.estimate()


def test_links_of_the_first_find_are_liked_before_any_was_followed(state):
    """The paper's ratio is of all links, and while none of a find was followed it says no."""
    parents, link = ParentRelevance(state), LinkLocality(state)
    teacher = Teacher(state, parents, link)
    for number in range(5):
        teacher.fetch(10 + number, children=[200 + number, 11 + number])
    teacher.fetch(15, satisfied=True, children=[300])
    miss, find = parents.evidence(np.array([200, 300]))
    assert find == pytest.approx(np.log((1 + 1 / 6) / 2 * 6))
    assert miss == pytest.approx(np.log(1 / 2))
    assert link.evidence(np.array([300]))[0] < 0.0 < find


def test_a_page_like_those_that_led_to_finds_is_thought_to_lead_there_though_none_was_a_find(state):
    hubs, context = HubPotential(state), Context(state)
    teacher = Teacher(state, hubs)
    behind = 100
    for number in range(4):
        for place, good in ((LISTS[number], True), (ARTICLES[number], False)):
            children = range(behind, behind + 10)
            teacher.fetch(place, children=children)
            for child in children:
                teacher.fetch(child, satisfied=good)
            behind += 10
    for _ in range(5):
        hubs.estimate()
        context.estimate()
    likely, unlikely = hubs.evidence(np.array([LISTS[8], ARTICLES[8]]))
    assert likely > unlikely + 1.0
    # As pages they are alike: neither kind was a find.
    assert context.evidence(np.array([LISTS[8]]))[0] == pytest.approx(
        context.evidence(np.array([ARTICLES[8]]))[0], abs=0.2
    )


def test_terms_and_constant_sum_to_the_evidence(state):
    hubs = HubPotential(state)
    teacher = Teacher(state, hubs)
    teacher.fetch(0, children=[10, 11, 100])
    teacher.fetch(100, satisfied=True)
    teacher.fetch(1, children=[10])
    told = sum(term.log_ratio for term in hubs.terms(10))
    assert told + hubs.model.bias == pytest.approx(hubs.evidence(np.array([10]))[0])
    assert any("linking pages" in term.text for term in hubs.terms(10))


def test_examples_and_pages_stay_together_when_old_ones_are_forgotten(state):
    state.features.examples.limit = 4
    hubs = HubPotential(state)
    teacher = Teacher(state, hubs)
    for candidate in range(6):
        teacher.fetch(candidate, children=[100 + candidate])
    assert hubs._slots == list(range(6))[-len(state.features.examples) :]


def test_before_any_page_led_to_a_find_all_are_thought_to_lead_there_as_often_as_chance(state):
    """Not every other link, which would be worth more than anything that is known."""
    hubs = HubPotential(state)
    teacher = Teacher(state, hubs)
    for number in ARTICLES:
        teacher.fetch(number, satisfied=number == 10)
    odds = hubs._odds(np.array([LISTS[0]]))[0]
    assert odds < np.log(0.1 / 0.9) + 0.1


def test_a_page_that_is_likely_not_there_leads_nowhere(state):
    hubs, alive = HubPotential(state), Liveness(state)
    teacher = Teacher(state, alive, hubs)
    behind = 100
    for number in range(4):
        children = range(behind, behind + 10)
        teacher.fetch(LISTS[number], children=children)
        for child in children:
            teacher.fetch(child, satisfied=True)
        behind += 10
    mine = np.array([LISTS[8]])
    before = hubs.evidence(mine)[0]
    # The same links, had they all been dead but for those four.
    state.liveness.model.bias = -4.0
    alive.forget()
    chance = np.exp(alive.evidence(mine)[0]) / (1.0 + np.exp(-hubs._odds(mine)[0]))
    assert hubs.evidence(mine)[0] == pytest.approx(np.log(chance / (1.0 - chance)))
    assert hubs.evidence(mine)[0] < before - 2.0
    assert "whether there is a page" in {term.text for term in hubs.terms(LISTS[8])}
