"""Tunnelling: when the focus widens and narrows, and to what."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.page import Page
from clew.policy.tally import Tally
from clew.policy.tunnel import READINGS, WAYS, WHEN, Tunnel, TunnelRules, raised
from clew.predicate import FormulaPredicate, parse
from clew.topic import Taxonomy, TopicLibrary, TopicModel

WORDS = {"a": "sport", "a.b": "sail"}
NARROW = "topic:tourism.sports.water.sailing AND topic:mv.rügen"


def tunnel(formula=NARROW, **rules):
    return Tunnel(parse(formula), TunnelRules(**{"session": 4, "when": "paper", **rules}))


def crawl(one, flags, degrees=(1.0, 0.0)):
    """Feed pages, `+` for a find; gives the formulas the focus changed to."""
    tally, changes = Tally(), []
    for flag in flags:
        found = flag == "+"
        tally.record_page(found)
        one.record_degrees([1.0] * len(one.parts) if found else list(degrees), 0.5)
        change = one.end_session(tally) if tally.pages % one.rules.session == 0 else None
        if change is not None:
            changes.append(str(change))
            one.take(change)
    return changes, tally


def test_it_climbs_as_the_paper_tells_and_comes_back_step_by_step():
    """Sailing on Rügen over water sports, sports and tourism; here sailing is rare until it is tourism."""
    one = tunnel()
    sailing, water = "topic:tourism.sports.water.sailing", "topic:tourism.sports.water"
    down, tally = crawl(one, "++++" + "----" * 4, degrees=(0.0, 1.0))
    assert down == [
        f"({sailing}^2 OR {water}) AND topic:mv.rügen",
        f"({sailing}^4 OR {water}^2 OR topic:tourism.sports) AND topic:mv.rügen",
        f"({sailing}^8 OR {water}^4 OR topic:tourism.sports^2 OR topic:tourism) AND topic:mv.rügen",
        f"({sailing}^8 OR {water}^4 OR topic:tourism.sports^2 OR topic:tourism) "
        "AND (topic:mv.rügen^2 OR topic:mv)",
    ]
    assert not tally.widest
    for _ in range(4):
        tally.record_page(False)
    assert one.end_session(tally) is None
    assert tally.widest, "the most general level"
    for _ in range(4):
        tally.record_page(True)
    assert str(one.end_session(tally)) == down[2]
    assert not tally.widest


def test_it_leaves_out_the_more_frequent_topic():
    changes, tally = crawl(tunnel("wind AND sea AND tea", way="drop"), "++++" + "----" * 3, (1.0, 0.0, 0.4))
    assert changes == ["sea AND tea", "sea"]
    assert tally.widest


def test_it_gives_the_rarer_topic_more_weight():
    changes, tally = crawl(tunnel("wind AND sea", way="reweight"), "++++" + "----" * 4, (1.0, 0.0))
    assert changes == ["wind AND sea^2", "wind AND sea^4", "wind AND sea^8"]
    assert tally.widest


@pytest.mark.parametrize(("reading", "expected"), [("visited", "wind"), ("lowered", "sea")])
def test_both_readings_of_what_is_rare_are_there(reading, expected):
    """Fewer pages are about wind; but where both are wanted, it is sea that is lacking most often."""
    one = tunnel("wind AND sea", way="drop", reading=reading, session=7)
    tally = Tally()
    pages = [(1, 1), (1, 1), (0.45, 0.4), (0.45, 0.4), (0.45, 0.4), (0.4, 0.5), (0.45, 0.55)]
    for degrees in pages:
        tally.record_page(False)
        one.record_degrees([*map(float, degrees)], 0.5)
    for found in [True] * 7 + [False] * 7:
        tally.record_page(found)
    assert (one.rarity.visited, one.rarity.lowered) == ({"wind": 2, "sea": 4}, {"sea": 3, "wind": 2})
    assert str(one.end_session(tally)) == expected


def test_what_is_denied_stays_denied():
    changes, _ = crawl(tunnel("topic:a.b AND NOT tea AND sea"), "++++----", (0.0, 1.0))
    assert changes == ["(topic:a.b^2 OR topic:a) AND sea AND NOT tea"]


@given(
    st.text("+-", min_size=1, max_size=120),
    st.sampled_from(WAYS),
    st.sampled_from(READINGS),
    st.sampled_from(WHEN),
)
def test_steps_are_undone_one_by_one_and_the_judged_formula_is_always_the_first(flags, way, reading, when):
    one = tunnel(way=way, reading=reading, when=when)
    crawl(one, flags)
    assert str(one.steps[0]) == NARROW
    assert len({str(step) for step in one.steps}) == len(one.steps)
    assert all(str(parse(str(step))) == str(step) for step in one.steps)


@given(st.text("+-", min_size=4, max_size=80))
def test_the_rule_of_the_paper_decides(flags):
    """s < a·r widens, s > b·r narrows if there was a step, otherwise nothing."""
    one, tally = tunnel("wind AND sea AND tea", way="drop"), Tally()
    for n, flag in enumerate(flags, 1):
        before = len(one.steps)
        tally.record_page(flag == "+")
        one.record_degrees([0.0, 1.0, 1.0], 0.5)
        if n % 4:
            continue
        if (change := one.end_session(tally)) is not None:
            one.take(change)
        s, r = flags[n - 4 : n].count("+") / 4, flags[:n].count("+") / n
        expected = min(3, before + 1) if s < 0.5 * r else max(1, before - 1) if s > 0.8 * r else before
        assert len(one.steps) == expected


def test_a_focus_of_an_earlier_session_is_taken_up():
    one, other = tunnel(), tunnel()
    crawl(one, "++++--------")
    for step in one.steps[1:]:
        other.take(parse(str(step)))
    assert list(map(str, other.steps)) == list(map(str, one.steps))
    other.take(parse(NARROW))
    assert len(other.steps) == 1


def test_a_page_that_was_sought_stays_worth_more_than_one_of_the_wider_topic():
    narrow, wide = parse("topic:a.b"), raised(parse("topic:a.b"))
    models = {name: TopicModel("keyword", (word,), np.array([8.0]), -4.0) for name, word in WORDS.items()}
    topics = TopicLibrary(Taxonomy(models), models, source="a test")
    judge = {text: FormulaPredicate(text, topics=topics).judge for text in (narrow, wide)}
    of_narrow, of_wide, of_none = (
        Page(url="http://a.example/", text=word) for word in ("sail", "sport", "tea")
    )
    assert judge[wide](of_narrow).score > judge[wide](of_wide).score > judge[wide](of_none).score
    assert judge[narrow](of_wide).score == judge[narrow](of_none).score


def test_a_trial_that_finds_nothing_more_ends_and_the_next_one_waits_longer():
    """By the paper's rule the focus would stay at its widest: finds never come back to the share they had."""
    wide = "topic:a.b^2 OR topic:a"
    changes, _ = crawl(tunnel("topic:a.b", when="lost"), "++++" + "----" * 12, (0.0,))
    assert changes == [wide, "topic:a.b", wide, "topic:a.b", wide, "topic:a.b"]
    places = [at for at, change in enumerate(sessions("++++" + "----" * 12)) if change == wide]
    assert [after - before for before, after in pairwise(places)] == [3, 5]
    stays, tally = crawl(tunnel("topic:a.b"), "++++" + "----" * 12, (0.0,))
    assert stays == [wide]
    assert tally.widest


def test_a_wider_focus_is_kept_while_it_finds_more_than_the_narrower_one_did():
    flags = "++++" * 10 + "----" + "+---" * 4 + "----"
    assert [at for at, change in enumerate(sessions(flags), 1) if change] == [11, 16]


def test_while_finds_still_come_the_scent_is_not_lost():
    """Fewer than before, two in a hundred pages; the paper's rule would widen the focus."""
    flags = "+" * 50 + ("+" + "-" * 49) * 6
    lost = crawl(tunnel("topic:a.b", when="lost", session=50), flags, (0.0,))[0]
    assert lost == []
    assert crawl(tunnel("topic:a.b", session=50), flags, (0.0,))[0]


def sessions(flags):
    """What the focus changed to at the end of each session of a crawl, when the scent is lost."""
    one, tally, found = tunnel("topic:a.b", when="lost"), Tally(), []
    for at in range(0, len(flags), 4):
        for flag in flags[at : at + 4]:
            tally.record_page(flag == "+")
            one.record_degrees([float(flag == "+")], 0.5)
        change = one.end_session(tally)
        if change is not None:
            one.take(change)
        found.append("" if change is None else str(change))
    return found
