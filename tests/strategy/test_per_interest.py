"""A strategy for each interest: turns, columns, and what each is taught."""

import numpy as np
import pytest

from clew.lab import open_web
from clew.lab.parsed_web import ParsedWeb
from clew.lab.simulate import simulate
from clew.predicate import compile as made_of
from clew.strategy import STRATEGIES, make
from clew.strategy.base import totals
from clew.strategy.per_interest import Turns, states_of

BOTH = {"wind": "wind AND turbine", "stars": "telescope"}


def test_even_turns_give_everybody_the_same_number_of_pages():
    turns = Turns(3, "even")
    for _ in range(10):
        turns.record(2, finds=2 if turns.now == 0 else 0)
        turns.end()
    assert turns.counts.tolist() == [8, 6, 6]


def test_greedy_turns_go_to_who_finds_and_try_the_others_now_and_then():
    turns = Turns(3, "greedy")
    for _ in range(1000):
        turns.record(1, finds=turns.now == 1)
        turns.end()
    assert turns.counts[1] > 900
    assert min(turns.counts.tolist()) > 2


def test_columns_are_called_after_interest_and_contribution():
    strategy = make("best-first", made_of(BOTH))
    parts = make("best-first", made_of("wind")).parts
    assert strategy.parts == (*[f"wind.{p}" for p in parts], *[f"stars.{p}" for p in parts])
    assert strategy.base.name == "best-first"


def crawled(strategy, share="even", match=BOTH, requests=60):
    web, wanted = ParsedWeb(open_web("demo")), made_of(match)
    made = make(strategy, wanted, share=share)
    return made, simulate(web, wanted, made, web.web.seeds(), requests)


@pytest.mark.parametrize("name", sorted({*STRATEGIES} - {"collaborative"}))
def test_every_strategy_serves_several_interests(name):
    made, course = crawled(name)
    assert course.requests == 60
    assert made.turns.counts.sum() > 30


def test_a_score_is_made_of_the_contributions_of_the_one_whose_turn_it_is():
    made, _ = crawled("intelligent")
    ids = made.candidates()
    rows = made.evaluate(ids)
    width, now = len(made.base.parts), made.turns.now
    others = np.delete(rows, range(now * width, (now + 1) * width), axis=1)
    assert len(ids) > 20
    assert not others.any()
    mine = list(made.each.values())[now]
    known = np.intersect1d(ids, mine.candidates())
    assert len(known) > 20
    assert totals(rows[np.isin(ids, known)]).all()


def test_each_learns_what_its_own_interest_makes_of_pages():
    made, _ = crawled("intelligent", requests=120)
    wind, stars = (one.knowledge for one in made.each.values())
    assert wind.pages == stars.pages
    assert wind.satisfied != stars.satisfied
    assert sorted(states_of(made.state())) == ["stars", "wind"]


def test_one_named_interest_crawls_like_one_without_a_name():
    one, named = crawled("intelligent", match="telescope"), crawled("intelligent", match={"t": "telescope"})
    assert one[1].finds == named[1].finds
