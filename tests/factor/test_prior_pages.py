"""`places`: pages that an earlier crawl fetched are what they were, unless it turns out otherwise."""

import numpy as np
import pytest

from clew.factor.prior_pages import FIND, MISS, START, STRANGE, PriorPages
from clew.knowledge import Knowledge

FINDS = tuple(f"http://a.example/find/{i}" for i in range(20))
MISSES = tuple(f"http://a.example/miss/{i}" for i in range(20))
STRANGERS = tuple(f"http://b.example/{i}" for i in range(20))
ALL = (*FINDS, *MISSES, *STRANGERS)


def made(hubs=()):
    known = Knowledge(pages=40, satisfied=20)
    for url in (*FINDS, *MISSES):
        known.places.count(known.places.numbers([url]), url in FINDS)
    for url in hubs:
        known.hubs.add([url], np.array([1.0]), np.array([0.8]))
    places = PriorPages(known)
    places.meet(range(60), ALL)
    return places


def told(places, *candidates):
    places.estimate()
    return places.evidence(np.array(candidates)).tolist()


def test_pages_are_known_again_by_their_addresses():
    places = made()
    assert [places.kind(i) for i in (0, 20, 40, 10_000)] == [FIND, MISS, STRANGE, STRANGE]
    assert places.known(np.array([0, 20, 40, 10_000])).tolist() == [True, True, False, False]


def test_former_finds_are_wanted_and_former_misses_are_not():
    find, miss, strange = told(made(), 0, 20, 40)
    assert find > 2.0
    assert -2.0 < miss < -1.0
    assert strange == 0.0


def test_former_misses_may_lead_to_former_finds_that_are_out_of_sight():
    """Little is held against them until every former find is in sight."""
    places = PriorPages(made().earlier)
    places.meet(range(20), MISSES)
    assert told(places, 0) == [-0.5]
    places.meet(range(20, 40), FINDS)
    assert told(places, 0)[0] < -1.0


def test_a_few_former_finds_that_are_none_end_the_trust():
    places = made()
    for i in range(3):
        places.learn(i, False)
    assert places.silent
    assert places.trust == 0.0
    assert told(places, 10, 20, 40) == [0.0, 0.0, 0.0]


def test_two_are_enough():
    """What is clear must not be tried again, however rare finds are."""
    places = made()
    for i in (*range(40, 60), 0, 1):
        places.learn(i, False)
    assert told(places, 10) == [0.0]


def test_once_silent_a_lucky_find_is_no_reason_to_fetch_the_others():
    places = made()
    for i in (0, 1, 2, *range(40, 50)):
        places.learn(i, i == 40)
    places.learn(3, True)
    places.learn(4, False)
    assert told(places, 10) == [0.0]


def test_former_misses_that_are_misses_again_cannot_bring_trust_back():
    """Most pages are misses, whatever is looked for."""
    places = made()
    for i in range(3):
        places.learn(i, False)
    for i in (40, 41, 42, *range(20, 40)):
        places.learn(i, i in (40, 41, 42))
    assert places.trust < 0.05


def test_one_former_find_that_is_none_does_not_outweigh_many_that_are():
    places = made()
    for i in range(6):
        places.learn(i, i != 3)
    assert places.trust > 0.95
    assert told(places, 10)[0] == pytest.approx(4.0)


def test_finds_among_former_misses_end_the_trust_too():
    places = made()
    for i in range(40, 50):
        places.learn(i, i % 2 == 0)
    for i in range(20, 23):
        places.learn(i, True)
    assert places.trust < 0.05


def test_former_misses_that_still_are_none_prove_nothing_where_finds_are_rare():
    places = made()
    for i in range(40, 60):
        places.learn(i, False)
    for i in range(20, 40):
        places.learn(i, False)
    assert places.odds == pytest.approx(START, abs=0.5)


def test_for_something_related_former_finds_stay_worth_what_they_turn_out():
    """A third of the former finds are finds: not the same, but better than chance."""
    places = made()
    for i in range(40, 60):
        places.learn(i, False)
    for i in range(18):
        places.learn(i, i % 3 == 2)
    assert places.trust < 0.5
    assert 1.0 < told(places, 19)[0] < 4.0


def test_pages_that_led_to_finds_are_wanted_while_there_are_finds_out_of_sight():
    known = made(hubs=MISSES[:1]).earlier
    early = PriorPages(known)
    early.meet([0, 1], [MISSES[0], MISSES[1]])
    hub, other = told(early, 0, 1)
    assert hub > 2.0 > 0.0 > other
    late = PriorPages(known)
    late.meet(range(22), [*MISSES[:2], *FINDS])
    hub, other = told(late, 0, 1)
    assert hub <= 0.0
