"""Oracles on graphs small enough to try every crawl there is."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.lab.graph import Graph, dominators
from clew.lab.metrics import found
from clew.lab.oracle import achievable, bound

SIZE = 7


@st.composite
def cases(draw):
    """A graph of up to seven pages, its seeds and its targets."""
    size = draw(st.integers(2, SIZE))
    nodes = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(nodes, nodes), max_size=16))
    seeds = draw(st.lists(nodes, min_size=1, max_size=2, unique=True))
    targets = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    return Graph.of(size, edges), np.array(targets), seeds


def crawls(graph, seeds):
    """Every set of pages that some crawl can have fetched."""
    after = {v: set(graph.tails[graph.starts[v] : graph.starts[v + 1]].tolist()) for v in range(len(graph))}
    known = {frozenset()}
    edge = known
    while edge:
        grown = set()
        for pages in edge:
            open_ = set(seeds).union(*(after[v] for v in pages)) - pages
            grown |= {pages | {v} for v in open_}
        edge = grown - known
        known |= grown
    return known


def best(graph, targets, seeds, budget):
    """The most finds any crawl can have after 1, 2, … requests."""
    counts = [0] * (budget + 1)
    for pages in crawls(graph, seeds):
        if len(pages) <= budget:
            counts[len(pages)] = max(counts[len(pages)], sum(bool(targets[v]) for v in pages))
    return list(itertools.accumulate(counts, max))[1:]


@given(cases())
@settings(max_examples=2 * settings().max_examples, deadline=None)
def test_the_achievable_oracle_is_a_crawl_and_the_bound_is_one(case):
    """What the oracle finds some crawl finds; what the bound allows no crawl exceeds."""
    graph, targets, seeds = case
    most = best(graph, targets, seeds, SIZE)
    limit = bound(graph, targets, seeds, SIZE)
    finds = achievable(graph, targets, seeds, SIZE)
    for request in range(1, SIZE + 1):
        assert found(finds, request) <= most[request - 1] <= limit[request - 1]


@given(cases())
def test_the_achievable_oracle_finds_all_that_can_be_reached(case):
    graph, targets, seeds = case
    assert len(achievable(graph, targets, seeds, SIZE)) == int((targets & graph.reach(seeds)).sum())


@given(st.lists(st.integers(0, 5), max_size=SIZE - 1), st.lists(st.booleans(), min_size=SIZE, max_size=SIZE))
def test_on_a_tree_the_bound_is_reached(parents, targets):
    """Where every page has one way to it, the dominator tree is the graph, and the bound the optimum."""
    edges = [(min(parent, child), child + 1) for child, parent in enumerate(parents)]
    graph = Graph.of(SIZE, edges)
    flags = np.array(targets)
    assert list(bound(graph, flags, [0], SIZE)) == best(graph, flags, [0], SIZE)


@given(cases())
@settings(max_examples=2 * settings().max_examples, deadline=None)
def test_dominators_are_what_every_way_leads_through(case):
    """The chain of immediate dominators of a page is the set of pages without which it is out of reach."""
    graph, _, seeds = case
    above = dominators(graph, seeds)
    reach = graph.reach(seeds)
    edges = list(zip(graph.heads().tolist(), graph.tails.tolist(), strict=True))
    for node in range(len(graph)):
        assert (above[node] == -2) == (not reach[node])
        if not reach[node]:
            continue
        chain = set()
        at = int(above[node])
        while at >= 0:
            chain.add(at)
            at = int(above[at])
        needed = set()
        for other in range(len(graph)):
            if other == node:
                continue
            without = Graph.of(len(graph), [e for e in edges if other not in e])
            starts = [seed for seed in seeds if seed != other]
            if reach[other] and not (starts and without.reach(starts)[node]):
                needed.add(other)
        assert chain == needed


def test_a_hub_is_worth_more_than_a_lucky_link():
    """With no target in sight, the page that shows the most of them is fetched first."""
    graph = Graph.of(7, [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (2, 5)])
    targets = np.array([False, False, False, True, True, True, False])
    assert achievable(graph, targets, [0], 10) == (3, 4, 5)


def test_robots_requests_are_paid_for():
    """Each origin costs a request before its first page; the bound knows of one."""
    graph = Graph.of(3, [(0, 1), (1, 2)])
    targets = np.array([False, True, True])
    assert achievable(graph, targets, [0], 10, origins=np.array([0, 1, 1], np.int32)) == (4, 5)
    assert bound(graph, targets, [0], 5, robots=True) == (0, 0, 1, 2, 2)


def test_a_budget_cuts_the_oracle_off():
    graph = Graph.of(4, [(0, 1), (1, 2), (2, 3)])
    assert achievable(graph, np.array([True, False, True, True]), [0], 3) == (1, 3)


def test_of_several_copies_the_oracle_finds_one_and_goes_on_to_what_is_new():
    """Page 3 is a copy of page 1, and nearer than page 4."""
    graph = Graph.of(5, [(0, 1), (0, 2), (1, 3), (2, 4)])
    targets = np.array([False, True, False, True, True])
    assert achievable(graph, targets, [0], 10) == (2, 3, 5)
    assert achievable(graph, targets, [0], 10, originals=np.array([0, 1, 2, 1, 4])) == (2, 4)
