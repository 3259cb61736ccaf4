"""What a fetch tells other candidates, held against its definition worked out in plain loops."""

import math

import numpy as np
import pytest

from clew.factor import memory as module
from clew.factor.memory import FAMILIES, WIDTH, Memory

REACH = 4.0
WORDS = np.array([1, 2])


class Told:
    """The same by definition: every count from the whole story, each time."""

    def __init__(self, bound):
        self.bound = bound
        self.pages = []
        self.parents = {}

    def fetch(self, candidate, satisfied, children):
        self.pages.append((candidate, satisfied, children))
        for child in children:
            self.parents.setdefault(child, []).append(len(self.pages) - 1)

    def siblings(self, candidate):
        """(fetched, finds) among those that have a parent in common with a candidate."""
        fetched = {page: good for page, good, _ in self.pages}
        mine = set(self.parents.get(candidate, [])[: self.bound])
        alike = [c for c in fetched if c != candidate and mine & set(self.parents.get(c, [])[: self.bound])]
        return len(alike), sum(fetched[c] for c in alike)


def stories(seed, most):
    """Fetches in a random web: a candidate, whether it is a find, and its links."""
    dice = np.random.default_rng(seed)
    n = int(dice.integers(30, 120))
    for candidate in dice.permutation(n)[:80].tolist():
        children = dice.permutation(n)[: int(dice.integers(0, most))]
        yield candidate, bool(dice.random() < 0.3), children[children != candidate].astype(np.int64)


def follow(memory, story):
    candidate, satisfied, children = story
    memory.reserve(candidate + 1)
    memory.fetch(candidate, satisfied, memory.parents_of(candidate), REACH)
    return memory.link(candidate, satisfied, WORDS, children, REACH)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [8, 90])
def test_siblings_are_counted_once_each(seed, most):
    memory, told = Memory(), Told(FAMILIES)
    for story in stories(seed, most):
        follow(memory, story)
        told.fetch(story[0], story[1], story[2].tolist())
    # The web is dense enough that some have more parents than count, or it is not.
    assert (memory.inlinks.max() > FAMILIES) == (most == 90)
    fetched = {page for page, _, _ in told.pages}
    for candidate in set(told.parents) - fetched:
        assert told.parents[candidate][:FAMILIES] == memory.parents_of(candidate)
        counted = (int(memory.siblings[candidate]), int(memory.good_siblings[candidate]))
        assert counted == told.siblings(candidate)


def test_all_links_count_in_the_totals_and_the_first_make_families():
    memory = Memory()
    for page in range(40):
        memory.link(page, page % 2 == 0, WORDS, np.array([100, 200 + page]), REACH)
    assert memory.inlinks[100] == 40
    assert memory.good_inlinks[100] == 20
    assert memory.parents_of(100) == list(range(FAMILIES))
    memory.fetch(100, True, memory.parents_of(100), REACH)
    assert memory.siblings[200 : 200 + FAMILIES].tolist() == [1] * FAMILIES
    assert not memory.siblings[200 + FAMILIES : 240].any()
    assert memory.child_good[:40].tolist() == [1.0] * FAMILIES + [0.0] * (40 - FAMILIES)


def test_a_page_knows_what_its_links_were():
    memory = Memory()
    memory.link(0, True, WORDS, np.array([1, 2, 3]), REACH)
    follow(memory, (1, True, np.array([], np.int64)))
    follow(memory, (2, False, np.array([], np.int64)))
    assert memory.link(4, False, WORDS, np.array([1, 2, 3]), REACH) == (2, 1)
    slot = int(memory.slot_of[4])
    assert (memory.child_seen[slot], memory.child_good[slot]) == (2.0, 1.0)


def test_links_beside_a_find_hear_of_it_by_their_distance():
    memory = Memory()
    memory.link(0, False, WORDS, np.arange(10, 40), REACH)
    follow(memory, (12, True, np.array([], np.int64)))
    heard = [memory.near[n, 0] for n in (12, 13, 16, 10)]
    assert heard == pytest.approx([1.0, math.exp(-1 / 4), math.exp(-1), math.exp(-2 / 4)], rel=1e-6)
    assert memory.near_good[13, 0] == memory.near[13, 0]
    # A page that links to two that were fetched hears of both where it stands.
    follow(memory, (14, False, np.array([], np.int64)))
    memory.link(50, False, WORDS, np.array([12, 60, 14]), REACH)
    assert memory.near[60, 0] == pytest.approx(2 * math.exp(-1 / 4), rel=1e-6)
    assert memory.near_good[60, 0] == pytest.approx(math.exp(-1 / 4), rel=1e-6)


def test_only_the_first_parents_are_heard_of_one_by_one():
    memory = Memory()
    for page in range(WIDTH + 2):
        memory.link(page, False, WORDS, np.array([100, 101]), REACH)
    follow(memory, (100, True, np.array([], np.int64)))
    assert (memory.near[101] > 0).all()
    assert memory.siblings[101] == 1


def test_a_bound_nobody_reaches_changes_nothing(monkeypatch):
    narrow = Memory()
    for story in stories(3, 8):
        follow(narrow, story)
    monkeypatch.setattr(module, "FAMILIES", 100)
    wide = Memory()
    for story in stories(3, 8):
        follow(wide, story)
    for name in ("siblings", "good_siblings", "near", "near_good", "parents", "inlinks"):
        assert (getattr(wide, name) == getattr(narrow, name)).all()


def test_what_a_redirect_leads_to_keeps_all_parents():
    memory = Memory()
    for page in range(WIDTH + 3):
        memory.link(page, False, WORDS, np.array([100]), REACH)
    memory.succeed(100, 101)
    assert memory.parents_of(101) == list(range(WIDTH + 3))
    assert memory.parents_of(100) == []
    assert 101 in memory.pages[WIDTH + 1].children
