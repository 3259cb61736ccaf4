"""Link importance kept up page by page is what the whole graph gives at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.learn.checkpoint import arrays_of, fill
from clew.learn.link_importance import Hits, InDegree, PageRank, measure

GRAPHS = st.integers(2, 25).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=6, unique=True), min_size=n, max_size=n)
)


def learned(found, graph):
    for source, targets in enumerate(graph):
        found.link(source, np.array(targets, np.int64))
    return found


def power_iteration(graph, damping, rounds=300):
    ranks = np.full(len(graph), 1 - damping)
    for _ in range(rounds):
        new = np.full(len(graph), 1 - damping)
        for source, targets in enumerate(graph):
            onward = [t for t in targets if t != source]
            for target in onward:
                new[target] += damping * ranks[source] / len(onward)
        ranks = new
    return ranks


@settings(deadline=None)
@given(GRAPHS)
def test_pagerank_kept_up_is_that_of_the_whole_graph(graph):
    found = learned(PageRank(0.85, tolerance=1e-12), graph)
    assert found.ranks(np.arange(len(graph))) == pytest.approx(power_iteration(graph, 0.85), rel=1e-6)


@settings(deadline=None)
@given(GRAPHS)
def test_a_coarse_tolerance_keeps_the_balance(graph):
    """A rank is 1 - d and what was handed on by the pages that link there, whatever is still held back."""
    found = learned(PageRank(0.85, tolerance=0.05), graph)
    pages = np.arange(len(graph))
    ranks, exact = found.ranks(pages), power_iteration(graph, 0.85)
    given_on = ranks - np.where([bool(set(t) - {s}) for s, t in enumerate(graph)], found.residues[pages], 0.0)
    expected = np.full(len(graph), 0.15)
    for source, targets in enumerate(graph):
        onward = [t for t in targets if t != source]
        for target in onward:
            expected[target] += 0.85 * given_on[source] / len(onward)
    assert ranks == pytest.approx(expected)
    assert (ranks <= exact + 1e-9).all()


@settings(deadline=None)
@given(GRAPHS)
def test_in_degree_counts_each_linking_page_once(graph):
    found = learned(InDegree(), graph)
    learned(found, graph)  # told again, nothing is counted twice
    counts = [sum(page in t for s, t in enumerate(graph) if s != page) for page in range(len(graph))]
    assert found.counts[: len(graph)].tolist() == counts


def test_hits_comes_to_the_principal_authorities():
    graph = [[5, 6, 7], [5, 6], [5], [7], [5, 6, 7], [], [], []]
    found = learned(Hits(), graph)
    found.work_out(200)
    matrix = np.zeros((8, 8))
    for source, targets in enumerate(graph):
        matrix[source, targets] = 1.0
    vector = np.abs(np.linalg.eigh(matrix.T @ matrix)[1][:, -1])
    assert found.importance(np.arange(8)) == pytest.approx(vector / vector.max(), abs=1e-6)


@pytest.mark.parametrize("name", ["pagerank", "indegree", "hits"])
@settings(deadline=None)
@given(graph=GRAPHS, cut=st.integers(0, 25))
def test_taken_up_from_a_checkpoint_it_goes_on_the_same(name, graph, cut):
    whole, first, second = measure(name), learned(measure(name), graph[:cut]), measure(name)
    fill(second, dict(arrays_of(first)))
    for source, targets in enumerate(graph):
        moved = whole.link(source, np.array(targets, np.int64))
        if source >= cut:
            assert second.link(source, np.array(targets, np.int64)).tolist() == moved.tolist()
    pages = np.arange(len(graph))
    assert second.importance(pages).tolist() == whole.importance(pages).tolist()
