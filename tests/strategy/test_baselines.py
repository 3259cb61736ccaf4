"""Each baseline against numbers worked out by hand from its description."""

import json
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.learn.bandit import WAITING, Arms
from clew.learn.centroid import Centroid
from clew.learn.logistic import fit, sigmoid
from clew.page import Link, Links, Page
from clew.predicate import CallablePredicate
from clew.predicate import compile as compile_predicate
from clew.predicate.verdict import Verdict
from clew.strategy import Ache, Anthelion, Cosine, Focused, Shark, TagPath
from clew.strategy.features import around, topic_words
from clew.strategy.tagpath import TagPathGroups
from clew.testing.strategies import expansion_of

A, B, C, D = (f"http://{x}.example/" for x in "abcd")
BLIND = CallablePredicate(lambda page: True, "blind")


class Guesser:
    """A predicate whose guess about a link is the number in its anchor."""

    def judge(self, page):
        return Verdict(0.0, False)

    def estimate_links(self, links):
        return [float(anchor) if anchor.replace(".", "").isdigit() else 0.0 for anchor in links.anchors]

    def text(self):
        return "py:guesser"


def seen(source, score=0.0, links=(), ids=(), *, url=A, text="", fresh=None):
    """A judged page; links are (target, anchor, context, path), or the beginning of that."""
    rows = [Link(url, *link[:4]) if isinstance(link, tuple) else Link(url, link) for link in links]
    page = Page(url=url, text=text, language="en", links=Links.of(url, rows))
    new = [True] * len(rows) if fresh is None else fresh
    return expansion_of(source, page, Verdict(score, score >= 0.5), list(ids), new)


def learned(strategy, expansion):
    return strategy.observe(expansion).terms


# focused


def test_focused_gives_each_link_its_pages_degree():
    rows = learned(Focused(ties="age"), seen(0, 0.3, [B, C], [1, 2]))
    assert rows.tolist() == [[0.3, 0.0], [0.3, 0.0]]


@pytest.mark.parametrize("make_one", [Focused, partial(Shark, BLIND), partial(Cosine, BLIND), Ache])
def test_among_equals_the_dice_choose_and_never_among_others(make_one):
    page = seen(0, 0.3, [f"{A}{i}" for i in range(50)], range(1, 51))
    rows, again, other = (learned(make_one(seed=seed), page)[:, -1] for seed in (1, 1, 2))
    assert rows.tolist() == again.tolist() != other.tolist()
    assert len(set(rows.tolist())) == 50
    assert 0 <= rows.min() <= rows.max() < 1e-6


# shark


def test_shark_adds_up_what_is_inherited_the_anchor_and_the_text_around():
    """γ·δ·0.6 = 0.24; anchor guess 0.5: 0.2·0.8·0.5 = 0.08, context counts 1: 0.04; bare anchor with context
    guess 0.25: 0.2·0.2·0.25 = 0.01."""
    page = seen(0, 0.6, [(B, "0.5", "x"), (C, "more", "0.25"), (D, "", "")], [1, 2, 3])
    rows = learned(Shark(Guesser(), ties="age"), page)
    expected = [[0.24, 0.08, 0.04, 0.0], [0.24, 0.0, 0.01, 0.0], [0.24, 0.0, 0.0, 0.0]]
    assert rows == pytest.approx(np.array(expected), abs=1e-12)


def test_shark_passes_relevance_on_through_irrelevant_pages_and_halves_it_each_time():
    shark = Shark(Guesser(), ties="age")
    shark.observe(seen(0, 0.6, [B], [1]))
    rows = learned(shark, seen(1, 0.0, [C], [2], url=B))
    assert rows[0] == pytest.approx([0.8 * 0.5 * 0.3, 0.0, 0.0, 0.0])
    rows = learned(shark, seen(2, 0.0, [D], [3], url=C))
    assert rows[0] == pytest.approx([0.8 * 0.5 * 0.15, 0.0, 0.0, 0.0])
    assert list(shark.inherited_) == [3], "fetched pages are forgotten"


def test_shark_inherits_from_the_best_of_several_sources():
    shark = Shark(Guesser(), ties="age")
    shark.observe(seen(0, 0.0, [C, B], [2, 1]))
    shark.observe(seen(1, 1.0, [C], [2], url=B, fresh=[False]))
    assert shark.inherited_[2] == 0.5


def test_a_blind_predicate_leaves_shark_what_is_inherited_or_the_pages_found():
    found = seen(0, 1.0, [(B, "wind"), (C, "bread")], [1, 2], text="wind farm")
    published = learned(Shark(BLIND, examples="none", ties="age"), found)
    assert published.tolist() == [[0.4, 0.0, 0.0, 0.0]] * 2
    by_example = learned(Shark(BLIND, ties="age"), found)
    assert by_example[0] == pytest.approx([0.4, 0.16 / math.sqrt(2), 0.04, 0.0])
    assert by_example[1].tolist() == [0.4, 0.0, 0.0, 0.0]


def test_shark_stops_using_examples_once_the_predicate_has_guessed():
    shark = Shark(Guesser(), ties="age")
    shark.observe(seen(0, 1.0, [(B, "1")], [1], text="wind farm"))
    assert learned(shark, seen(5, 1.0, [(C, "wind")], [2])).tolist() == [[0.4, 0.0, 0.0, 0.0]]


# cosine


def test_cosine_starts_from_the_wanted_words_and_goes_on_with_the_pages_found():
    """Before: (2, 1)·(1, 1)/(√5·√2); after a find of (1, 2): 2/√5."""
    cosine = Cosine(compile_predicate('"wind farm" -noise'))
    before = learned(cosine, seen(0, 0.0, [B], [1], text="wind wind bread"))
    assert before[0, 0] == pytest.approx(2 / math.sqrt(10))
    cosine.observe(seen(1, 1.0, [], [], text="wind farm the farm"))
    after = learned(cosine, seen(2, 0.0, [C], [2], text="farm"))
    assert after[0, 0] == pytest.approx(2 / math.sqrt(5))


def test_cosine_can_keep_to_the_wanted_words():
    cosine = Cosine(compile_predicate("wind"), topic="words")
    cosine.observe(seen(1, 1.0, text="farm"))
    assert learned(cosine, seen(2, 0.0, [C], [2], text="farm"))[0, 0] == 0.0
    assert cosine.state() == ""


def test_wanted_words_of_a_black_box_are_none():
    assert topic_words(BLIND) == ()
    assert topic_words(compile_predicate("wind* OR the OR turbine")) == ("turbine",)


def test_a_topic_forgets_its_lightest_words():
    topic = Centroid(limit=2)
    topic.add({f"w{i}": i for i in range(1, 6)})
    assert list(topic.state()["weights"]) == ["w5", "w4"]
    assert topic.cosine({"w5": 5, "w4": 4}) == pytest.approx(1.0)


# ache


def taught(**options):
    """An Ache that saw ten links: those with `wind` in the anchor led to finds."""
    ache = Ache(first=11, every=11, **options)
    links = [(f"{B}{i}", "wind" if i % 2 else "bread", "", "") for i in range(10)]
    ache.observe(seen(0, 0.0, [*links, (C, "wind"), (D, "bread")], range(1, 13)))
    for i in range(9):
        assert ache.observe(seen(i + 1, float(i % 2), url=f"{B}{i}")).moved is None
    return ache, ache.observe(seen(10, 1.0, url=f"{B}9")).moved


def test_ache_goes_by_the_source_page_until_its_first_model():
    rows = learned(Ache(ties="age"), seen(0, 0.7, [(B, "wind")], [1]))
    assert rows.tolist() == [[0.7, 0.0, 0.0, 0.0, 0.0, 0.0]]


def test_ache_gives_every_queued_link_a_new_score_from_each_model():
    ache, moved = taught()
    assert moved.ids.tolist() == [11, 12]
    anchor = Ache.parts.index("anchor")
    assert moved.terms[0, anchor] > 0 > moved.terms[1, anchor]
    assert moved.terms[:, 0].tolist() == [0.0, 0.0]
    weights = ache.weights_
    sums = [weights[np.frombuffer(ache.rows_[i], np.int32)].sum() for i in (11, 12)]
    assert moved.terms.sum(axis=1) == pytest.approx(np.array(sums))


def test_ache_scores_new_links_by_the_same_model():
    ache, moved = taught()
    again = seen(0, 0.0, [(C, "wind"), (D, "bread")], [20, 21], url=f"{B}z")
    assert learned(ache, again) == pytest.approx(moved.terms)


def test_ache_stands_by_the_better_of_two_links_to_a_page():
    ache, _ = taught()
    before = ache.rows_[12]
    ache.observe(seen(30, 0.0, [(D, "wind"), (C, "bread")], [12, 11], url=f"{B}z", fresh=[False, False]))
    assert ache.rows_[12] != before
    assert ache.weights_[np.frombuffer(ache.rows_[11], np.int32)].sum() > 0, "and not by the worse"


def test_ache_trains_at_the_first_when_twice_as_many_and_then_every_so_often():
    ache = Ache(first=2, every=3)
    due = []
    for i in range(12):
        ache.observe(seen(i, 0.0))
        due.append(ache.due_)
    assert sorted(set(due)) == [2, 4, 7, 10, 13]


def test_ache_makes_no_model_of_a_handful_of_finds():
    ache = Ache(first=3, every=3)
    ache.observe(seen(0, 0.0, [(B, "wind"), (C, "bread")], [1, 2]))
    ache.observe(seen(1, 1.0, url=B))
    assert ache.observe(seen(2, 0.0, url=C)).moved is None
    assert ache.weights_ is None


def test_words_around_are_those_next_to_the_anchor():
    context = " ".join([f"b{i}" for i in range(20)] + ["the", "anchor"] + [f"c{i}" for i in range(20)])
    links = Links(A, (B, C), ("the anchor", ""), (context, "just words"), ("", ""), ("", ""))
    words, bare = around(links, 10)
    assert words == [f"b{i}" for i in range(10, 20)] + [f"c{i}" for i in range(10)]
    assert bare == ["just", "words"]


@given(st.lists(st.tuples(st.sets(st.integers(1, 12), max_size=5), st.booleans()), min_size=1, max_size=40))
def test_a_fitted_model_cannot_be_improved(examples):
    """At the weights found, the slope of the penalised log loss is nothing in every direction."""
    rows = [np.array([0, *sorted(columns)], np.int32) for columns, _ in examples]
    labels = np.array([float(label) for _, label in examples])
    weights = fit([row.tobytes() for row in rows], labels, 13, ridge=0.5)
    slope = 0.5 * weights
    for row, label in zip(rows, labels, strict=True):
        slope[row] += sigmoid(np.array([weights[row].sum()]))[0] - label
    assert np.abs(slope).max() < 1e-4


# anthelion


def test_anthelion_multiplies_the_hosts_success_rate_and_the_links_chance():
    """One find on a.example: rate (1+1)/(1+2); unknown hosts 1/2. One step of the classifier moved the
    bias from 0 to 0.5, and the common log odds went a twentieth of that way, so a link of unknown words
    has the chance σ(0.5 − 0.025), but for the dice."""
    anthelion = Anthelion(explore=0.0)
    rows = learned(anthelion, seen(0, 1.0, [f"{A}x", f"{B}y"], [1, 2]))
    chance = math.log(1 / (1 + math.exp(-0.475)))
    assert rows[0] == pytest.approx([math.log(2 / 3), chance, 0.0, 0.0], abs=2e-6)
    assert rows[1] == pytest.approx([math.log(1 / 2), chance, 0.0, 0.0], abs=2e-6)


def test_anthelion_rescores_the_links_of_the_host_it_visited():
    anthelion = Anthelion(explore=0.0)
    anthelion.observe(seen(0, 1.0, [f"{A}x", f"{A}z", f"{B}y"], [1, 2, 3]))
    moved = anthelion.observe(seen(1, 0.0, url=f"{A}x")).moved
    assert moved.ids.tolist() == [2]
    assert moved.terms[0, 0] == pytest.approx(math.log(2 / 4))


def test_anthelion_gives_a_host_its_turn_when_the_dice_say_so():
    anthelion = Anthelion(explore=1.0, half=1e9)
    anthelion.observe(seen(0, 0.0, [f"{A}x", f"{B}y"], [1, 2]))
    rows = anthelion.score(seen(0, 0.0, [f"{A}x", f"{B}y"], [1, 2]))
    assert sorted(rows[:, 3].tolist()) == [0.0, 1.0]
    assert rows[rows[:, 3] == 1.0].tolist() == [[0.0, 0.0, 0.0, 1.0]]
    assert rows.sum(axis=1).max() == 1.0


def test_anthelions_dice_fall_less_often_with_time():
    def turns(anthelion, since):
        anthelion.pages_ = since
        count = 0
        for _ in range(300):
            anthelion.turns_.clear()
            anthelion.pages_ += 1
            anthelion._throw()
            count += bool(anthelion.turns_)
        return count

    fresh = Anthelion(seed=1, explore=0.5, half=200.0)
    fresh.observe(seen(0, 0.0, [f"{B}y"], [1]))
    assert turns(fresh, 0) > 3 * turns(fresh, 5000) > 0


# tagpath


def test_tagpath_scores_the_mean_of_a_place_and_a_bonus_for_the_untried():
    """Two places. After one find behind the list: mean 1, one pull; after a miss: mean 1/2, two pulls. Time
    is read at 2, then at 3 when 3 pages are in."""
    tagpath = TagPath(explore=1.0)
    listed, told = "html/body/div.list/ul/li/a", "html/body/p/a"
    links = [(f"{A}{i}", "", "", listed if i < 3 else told) for i in range(5)]
    rows = learned(tagpath, seen(0, 0.0, links, [1, 2, 3, 4, 5]))
    assert rows.tolist() == [[0.0, math.sqrt(math.log(2)), 0.0]] * 5
    moved = tagpath.observe(seen(1, 1.0, url=f"{A}0")).moved
    assert moved.ids.tolist() == [2, 3]
    assert moved.terms[0].tolist() == [1.0, math.sqrt(math.log(2)), 0.0]
    moved = tagpath.observe(seen(2, 0.0, url=f"{A}1")).moved
    parts = dict(zip(moved.ids.tolist(), moved.terms.tolist(), strict=True))
    assert parts[3] == [0.5, math.sqrt(math.log(3) / 2), 0.0]
    assert parts[4] == parts[5] == [0.0, math.sqrt(math.log(3)), 0.0]


def test_places_group_paths_that_share_most_of_their_steps():
    places = TagPathGroups(alike=0.6)
    long = "html/body/div.page/div.main/table/tr/td/a"
    assert places.learn(long) == 0
    assert places.learn(long.replace("/td/", "/th/")) == 0
    assert places.find("html/body/nav/ul/li/a") == -1
    assert places.learn("html/body/nav/ul/li/a") == 1
    twin = TagPathGroups(alike=0.6)
    twin.restore(json.loads(json.dumps(places.state())))
    assert twin.find(long) == 0
    assert twin.state() == places.state()


def test_places_stop_opening_groups_when_there_are_enough():
    places = TagPathGroups(most=2)
    assert [places.learn(path) for path in ("a", "b", "c", "d")][:2] == [0, 1]
    assert places.count == 2


# arms


@given(
    st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1), st.booleans()), max_size=60),
    st.integers(1, 4),
)
def test_the_best_of_an_arm_stand_in_front(steps, width):
    """Whatever was filed and fetched: a front is full or nobody waits, and nobody who waits ranks higher."""
    arms = Arms(width=width)
    for _ in range(3):
        arms.new()
    ranks, where = {}, {}
    for number, (arm, rank, fetch) in enumerate(steps):
        arms.add(number, arm, rank)
        ranks[number], where[number] = rank, arm
        if fetch:
            gone = min(ranks)
            assert arms.take(gone) == where[gone]
            del ranks[gone]
    for arm in range(3):
        mine = [number for number in ranks if where[number] == arm]
        front = [number for number in mine if arms.in_front(number)]
        assert len(front) == min(width, len(mine))
        waiting = [ranks[number] for number in mine if number not in front]
        assert not waiting or min(ranks[number] for number in front) >= max(waiting)
    twin = Arms(width=width)
    twin.restore(json.loads(json.dumps(arms.state())))
    assert json.dumps(twin.state()) == json.dumps(arms.state())


def test_a_link_that_is_never_fetched_does_not_hold_its_place_for_ever():
    """One forbidden by robots.txt, say: the strategy is never told what became of it."""
    arms = Arms(width=1, patience=3)
    arms.new()
    arms.add(1, 0, 0.9)
    arms.add(2, 0, 0.1)
    for _ in range(3):
        arms.credit(0, 0.0)
    assert not arms.in_front(2)
    arms.credit(0, 0.0)
    assert arms.in_front(2)
    assert arms.take(1) == 0, "its arm is still credited if it comes after all"


def test_those_behind_wait_below_all_in_front():
    tagpath = TagPath()
    links = [(f"{A}{i}", "", "", "html/body/a") for i in range(40)]
    rows = learned(tagpath, seen(0, 0.0, links, range(1, 41)))
    assert sorted(rows[:, 2].tolist()) == [WAITING] * 8 + [0.0] * 32
    first = 1 + int(np.flatnonzero(rows[:, 2] == 0.0)[0])
    moved = tagpath.observe(seen(first, 0.0, url=f"{A}{first - 1}")).moved
    assert (moved.terms[:, 2] == 0.0).all()
    assert len(moved.ids) == 32
