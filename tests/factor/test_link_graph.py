"""What a fetch tells other candidates, held against its definition worked out in plain loops."""

import math

import numpy as np
import pytest

from clew.factor import link_graph as module
from clew.factor.link_graph import FAMILIES, WIDTH, LinkGraph

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


def follow(graph, story):
    candidate, satisfied, children = story
    graph.reserve(candidate + 1)
    graph.fetch(candidate, satisfied, graph.parents_of(candidate), REACH)
    return graph.link(candidate, satisfied, WORDS, children, REACH)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [8, 90])
def test_siblings_are_counted_once_each(seed, most):
    graph, told = LinkGraph(), Told(FAMILIES)
    for story in stories(seed, most):
        follow(graph, story)
        told.fetch(story[0], story[1], story[2].tolist())
    # The web is dense enough that some have more parents than count, or it is not.
    assert (graph.inlinks.max() > FAMILIES) == (most == 90)
    fetched = {page for page, _, _ in told.pages}
    for candidate in set(told.parents) - fetched:
        assert told.parents[candidate][:FAMILIES] == graph.parents_of(candidate)
        counted = (int(graph.siblings[candidate]), int(graph.good_siblings[candidate]))
        assert counted == told.siblings(candidate)


def test_all_links_count_in_the_totals_and_the_first_make_families():
    graph = LinkGraph()
    for page in range(40):
        graph.link(page, page % 2 == 0, WORDS, np.array([100, 200 + page]), REACH)
    assert graph.inlinks[100] == 40
    assert graph.good_inlinks[100] == 20
    assert graph.parents_of(100) == list(range(FAMILIES))
    graph.fetch(100, True, graph.parents_of(100), REACH)
    assert graph.siblings[200 : 200 + FAMILIES].tolist() == [1] * FAMILIES
    assert not graph.siblings[200 + FAMILIES : 240].any()
    assert graph.child_good[:40].tolist() == [1.0] * FAMILIES + [0.0] * (40 - FAMILIES)


def test_a_page_knows_what_its_links_were():
    graph = LinkGraph()
    graph.link(0, True, WORDS, np.array([1, 2, 3]), REACH)
    follow(graph, (1, True, np.array([], np.int64)))
    follow(graph, (2, False, np.array([], np.int64)))
    assert graph.link(4, False, WORDS, np.array([1, 2, 3]), REACH) == (2, 1)
    slot = int(graph.slot_of[4])
    assert (graph.child_seen[slot], graph.child_good[slot]) == (2.0, 1.0)


def test_links_beside_a_find_hear_of_it_by_their_distance():
    graph = LinkGraph()
    graph.link(0, False, WORDS, np.arange(10, 40), REACH)
    follow(graph, (12, True, np.array([], np.int64)))
    heard = [graph.neighbours[n, 0] for n in (12, 13, 16, 10)]
    assert heard == pytest.approx([1.0, math.exp(-1 / 4), math.exp(-1), math.exp(-2 / 4)], rel=1e-6)
    assert graph.good_neighbours[13, 0] == graph.neighbours[13, 0]
    # A page that links to two that were fetched hears of both where it stands.
    follow(graph, (14, False, np.array([], np.int64)))
    graph.link(50, False, WORDS, np.array([12, 60, 14]), REACH)
    assert graph.neighbours[60, 0] == pytest.approx(2 * math.exp(-1 / 4), rel=1e-6)
    assert graph.good_neighbours[60, 0] == pytest.approx(math.exp(-1 / 4), rel=1e-6)


def test_only_the_first_parents_are_heard_of_one_by_one():
    graph = LinkGraph()
    for page in range(WIDTH + 2):
        graph.link(page, False, WORDS, np.array([100, 101]), REACH)
    follow(graph, (100, True, np.array([], np.int64)))
    assert (graph.neighbours[101] > 0).all()
    assert graph.siblings[101] == 1


def test_a_bound_nobody_reaches_changes_nothing(monkeypatch):
    narrow = LinkGraph()
    for story in stories(3, 8):
        follow(narrow, story)
    monkeypatch.setattr(module, "FAMILIES", 100)
    wide = LinkGraph()
    for story in stories(3, 8):
        follow(wide, story)
    for name in ("siblings", "good_siblings", "neighbours", "good_neighbours", "parents", "inlinks"):
        assert (getattr(wide, name) == getattr(narrow, name)).all()


def test_what_a_redirect_leads_to_keeps_all_parents():
    graph = LinkGraph()
    for page in range(WIDTH + 3):
        graph.link(page, False, WORDS, np.array([100]), REACH)
    graph.succeed(100, 101)
    assert graph.parents_of(101) == list(range(WIDTH + 3))
    assert graph.parents_of(100) == []
    assert 101 in graph.children_of(WIDTH + 1)
