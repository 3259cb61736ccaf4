"""`prior_crawl`: what another crawl knew is believed as far as it foretells what comes."""

import numpy as np
import pytest

from clew.factor import Discovery, Estimation, FetchOutcome, LearningState, LinkGraph
from clew.factor.link_features import Said
from clew.factor.prior_crawl import EVERY, PriorCrawl
from clew.knowledge import Knowledge, dumps, loads
from clew.page import Links, Page

#: What earlier words are believed before anything is fetched.
START = 0.5
NONE = np.zeros(0, np.int64)
TARGETS = tuple(f"http://a.example/{kind}/{i}.html" for kind in ("good", "bad") for i in range(10))


def found(numbers, targets):
    """New links of a page, as a factor meets them."""
    links = Links("http://a.example/", tuple(targets), *[("",) * len(targets)] * 4)
    return Discovery(
        Page(url="http://a.example/"), False, links, np.array(numbers), np.ones(len(targets), bool)
    )


def made(known=None):
    """Ten candidates whose URLs have the token `good`, ten with `bad`, all on one page."""
    own, graph = Knowledge(), LinkGraph()
    state = LearningState(own, graph, Estimation(), known)
    n = len(TARGETS)
    links = Links("http://a.example/", TARGETS, ("",) * n, ("",) * n, ("body/a",) * n, ("",) * n)
    state.features.note(0, links, range(n), Said.of([[]] * n), False)
    for i, target in enumerate(TARGETS):
        graph.tokens.append(own.tokens.numbers([target.split("/")[3]]), i)
    graph.reserve(n + 1)
    return state


def seen(state, candidate, satisfied, parents=(0,)):
    return FetchOutcome(
        candidate, satisfied, parents, NONE, state.graph.tokens.row(candidate).astype(np.int64), NONE
    )


def known():
    found = Knowledge(pages=100, satisfied=20)
    for word, good in (("good", True), ("bad", False)):
        for _ in range(20):
            found.tokens.count(found.tokens.numbers([word]), good)
    return found


def fetched(factor, state, outcomes):
    factor.learn(FetchOutcome(20, False, (), NONE, NONE, NONE))
    for candidate, satisfied in outcomes:
        factor.learn(seen(state, candidate, satisfied))
        state.knowledge.pages += 1
        state.knowledge.satisfied += satisfied
    factor.estimate()


def test_silent_without_earlier_knowledge():
    state = made()
    factor = PriorCrawl(state)
    fetched(factor, state, [(0, True), (10, False)])
    assert not factor.places
    assert not factor.evidence(np.arange(20)).any()


def test_what_was_foretold_and_came_is_believed():
    state = made(known())
    factor = PriorCrawl(state)
    fetched(factor, state, [(0, True), (10, False), (1, True), (11, False)])
    assert factor.beliefs["links"] > START + 0.2
    good, bad = factor.evidence(np.array([5, 15]))
    assert good > 0.5 > 0.0 > bad


def test_what_was_foretold_and_did_not_come_is_not():
    state = made(known())
    factor = PriorCrawl(state)
    before = float(factor.evidence(np.array([5]))[0])
    fetched(factor, state, [(i, False) for i in range(10)] * 3 + [(10, True)])
    assert factor.beliefs["links"] < START / 2
    assert 0.0 < float(factor.evidence(np.array([5]))[0]) < before / 2


def test_pages_that_led_to_several_finds_are_known_again():
    """A page of the first crawl leads to finds; the second crawl, from elsewhere, likes the link to it."""
    first = made()
    factor = PriorCrawl(first)
    factor.learn(seen(first, 0, False, ()))
    for candidate in range(1, 10):
        factor.learn(seen(first, candidate, True, (0,)))
    for candidate in range(10, 20):
        factor.learn(seen(first, candidate, False, (1,)))
    first.knowledge.pages, first.knowledge.satisfied = 20.0, 9.0
    assert first.knowledge.hub_features.row(EVERY) == (20.0, pytest.approx(8 / 11))
    assert first.knowledge.hub_features.row("file 0.html")[1] > 0.0
    second = made(loads(dumps(first.knowledge)))
    again = PriorCrawl(second)
    assert again.places is not None
    assert first.knowledge.hub_features == second.earlier.hub_features


def pages_known():
    """An earlier crawl that fetched all ten good pages, finds, and five of the bad ones."""
    found = known()
    for i, target in enumerate(TARGETS[:15]):
        found.places.count(found.places.numbers([target]), i < 10)
    return found


def test_former_finds_come_first_and_words_are_asked_for_the_rest():
    state = made(pages_known())
    factor = PriorCrawl(state)
    factor.meet(found(range(20), TARGETS))
    former, missed, strange = factor.evidence(np.array([5, 12, 17]))
    assert former > 2.0 > 0.0 > strange > missed
    assert [t.text for t in factor.terms(5)] == ["the earlier crawl found it"]
    assert [t.text for t in factor.terms(17)] == ["bad"]


def test_former_finds_found_again_make_the_other_factors_count_on():
    state = made(pages_known())
    factor = PriorCrawl(state)
    factor.meet(found(range(20), TARGETS))
    assert state.inherited.trust == 0.0
    fetched(factor, state, [(0, True), (1, True)])
    assert state.inherited.trust > 0.9
    assert state.known.pages > 40
    assert state.knowledge.pages == 2


def test_former_finds_that_are_none_silence_it():
    state = made(pages_known())
    factor = PriorCrawl(state)
    factor.meet(found(range(20), TARGETS))
    fetched(factor, state, [(i, False) for i in range(4)])
    assert not any(factor.beliefs.values())
    assert state.inherited.trust == 0.0
    former, missed, strange = factor.evidence(np.array([5, 12, 17]))
    assert (former, missed, strange) == (0.0, 0.0, 0.0)


def test_one_former_find_found_again_may_be_luck():
    """To count on in the earlier counts takes two."""
    state = made(pages_known())
    factor = PriorCrawl(state)
    factor.meet(found(range(20), TARGETS))
    fetched(factor, state, [(0, True)])
    assert state.inherited.trust == 0.0
    fetched(factor, state, [(1, True)])
    assert state.inherited.trust > 0.9


def linked(state, slots):
    """Fetched pages, slot by slot, with the candidates they link to."""
    for candidate, children in slots:
        state.graph.link(candidate, False, NONE, np.array(children), 4.0)


def silenced():
    """The seed (20) links to 0, 1 and 17; the former finds 0 and 1 link to 15 and 16, and to 17 too."""
    state = made(pages_known())
    factor = PriorCrawl(state)
    factor.meet(found(range(20), TARGETS))
    linked(state, [(20, [0, 1, 17]), (0, [15, 17]), (1, [15, 16])])
    return state, factor


def test_links_that_stand_only_where_earlier_knowledge_led_in_vain_come_later():
    state, factor = silenced()
    fetched(factor, state, [(0, False), (1, False)])
    assert factor.evidence(np.array([15, 16, 17, 18])).tolist() == [-1.0, -1.0, 0.0, 0.0]
    vain = "found only where the earlier crawl led in vain"
    assert factor.terms(15)[0].text == vain
    assert vain not in [term.text for term in factor.terms(17)]


def test_they_do_not_while_the_same_may_be_looked_for():
    state, factor = silenced()
    fetched(factor, state, [(0, False), (1, True)])
    assert factor.evidence(np.array([15]))[0] == pytest.approx(factor.evidence(np.array([17]))[0])


def test_pages_fetched_after_it_fell_silent_are_not_held_against_their_links():
    state, factor = silenced()
    fetched(factor, state, [(0, False), (1, False)])
    linked(state, [(2, [18])])
    factor.learn(seen(state, 2, False))
    factor.estimate()
    assert factor.evidence(np.array([18]))[0] == 0.0


def test_pages_are_remembered_by_address_with_those_that_led_to_several_finds():
    state = made()
    factor = PriorCrawl(state)
    for candidate, parents in ((0, ()), (1, (0,)), (2, (0,)), (3, (1,))):
        outcome = FetchOutcome(candidate, candidate > 0, parents, NONE, NONE, NONE, True, TARGETS[candidate])
        factor.learn(outcome)
    known = loads(dumps(state.knowledge))
    assert dict(known.places.rows()) == {t: (1.0, float(i > 0)) for i, t in enumerate(TARGETS[:4])}
    # The first page led to two finds, the second to one only.
    assert dict(known.hubs.rows()) == {TARGETS[0]: (1.0, 0.25)}


def test_an_address_too_long_to_keep_is_not_kept():
    state = made()
    factor = PriorCrawl(state)
    factor.learn(FetchOutcome(0, True, (), NONE, NONE, NONE, True, "http://a.example/" + "a" * 1000))
    assert not len(state.knowledge.places)
    assert loads(dumps(state.knowledge)) == state.knowledge
