"""Communities among the finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.policy.community import Community


def largest(links: dict[int, set[int]], finds: set[int]) -> set[int]:
    """The largest community by trying every subset."""
    near: dict[int, set[int]] = {}
    for page, targets in links.items():
        for target in targets - {page}:
            near.setdefault(page, set()).add(target)
            near.setdefault(target, set()).add(page)
    for size in range(len(finds), 0, -1):
        for chosen in combinations(sorted(finds), size):
            if all(near.get(v) and 2 * len(near[v] & set(chosen)) >= len(near[v]) for v in chosen):
                return set(chosen)
    return set()


@given(st.dictionaries(st.integers(0, 6), st.sets(st.integers(0, 9), max_size=5), max_size=7), st.data())
def test_it_is_the_largest_set_of_finds_that_is_closer_linked_within_than_without(links, data):
    finds = data.draw(st.sets(st.sampled_from(sorted(links)))) if links else set()
    graph = Community()
    for page, targets in links.items():
        graph.add(page, np.array(sorted(targets), np.int64), find=page in finds)
    assert set(graph.members().tolist()) == largest(links, finds)


def test_a_look_is_taken_now_and_then():
    graph = Community()
    for page in range(49):
        graph.add(page, np.array([(page + 1) % 50, (page + 2) % 50]), find=True)
        assert graph.size() == 0
    graph.add(49, np.array([0, 1]), find=True)
    assert graph.size() == 50
