"""The frontier's queues give the same order as a plain sorted list."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.frontier import queue, sorted_runs
from clew.frontier.queue import Frontier
from clew.messages import State

HOSTS = 3
scores = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0])
step = st.one_of(
    st.tuples(st.just("add"), st.lists(st.tuples(st.integers(0, HOSTS - 1), scores), max_size=8)),
    st.tuples(st.just("pop"), st.integers(0, HOSTS - 1)),
    st.tuples(st.just("rescore"), st.lists(st.tuples(st.integers(0, 60), scores), max_size=6)),
    st.tuples(st.just("requeue"), st.integers(0, 60)),
    st.tuples(st.just("sort"), st.none()),
)


class Model:
    """The obvious implementation."""

    def __init__(self):
        self.score, self.host, self.state = [], [], []

    def head(self, host):
        live = [i for i, s in enumerate(self.state) if s == "queued" and self.host[i] == host]
        return min(live, key=lambda i: (-self.score[i], i), default=-1)


def act(frontier, model, kind, what):
    if kind == "add":
        n = len(model.score)
        model.host += [h for h, _ in what]
        model.score += [s for _, s in what]
        model.state += ["queued"] * len(what)
        frontier.add(
            np.arange(n, n + len(what), dtype=np.uint64),
            np.array([h for h, _ in what], np.int64),
            np.zeros(len(what)),
            -1,
            np.array([[s] for _, s in what], np.float64).reshape(len(what), 1),
        )
    elif kind == "pop":
        head = model.head(what)
        assert frontier.head(what) == head
        if head >= 0:
            model.state[head] = "leased"
            frontier.close(head, State.LEASED)
    elif kind == "rescore":
        chosen = {i: s for i, s in what if i < len(model.score)}
        for i, s in chosen.items():
            if model.state[i] == "queued":
                model.score[i] = s
        frontier.rescore(
            np.array(list(chosen), np.int64),
            np.array([[s] for s in chosen.values()], np.float64).reshape(len(chosen), 1),
        )
    elif kind == "requeue":
        if what < len(model.state) and model.state[what] == "leased":
            model.state[what] = "queued"
            frontier.close(what, State.QUEUED)
    else:
        frontier.sort()


@settings(max_examples=3 * settings().max_examples)
@given(st.lists(step, max_size=40), st.sampled_from([1, 4, 4096]), st.sampled_from([2, 9, 4096]))
def test_head_is_the_best_oldest_candidate(steps, floor, buffer):
    """With any floor for re-sorting and any buffer: adding, popping, re-scoring, re-queueing in any order."""
    before = queue._FLOOR, sorted_runs.BUFFER_SIZE
    queue._FLOOR, sorted_runs.BUFFER_SIZE = floor, buffer
    try:
        frontier, model = Frontier(1), Model()
        for kind, what in steps:
            act(frontier, model, kind, what)
            assert [frontier.head(h) for h in range(HOSTS)] == [model.head(h) for h in range(HOSTS)]
            assert frontier.queued == model.state.count("queued")
    finally:
        queue._FLOOR, sorted_runs.BUFFER_SIZE = before


def test_scores_are_sums_of_their_parts():
    frontier = Frontier(2)
    frontier.add(np.array([1], np.uint64), np.array([0]), np.zeros(1), -1, np.array([[0.25, 0.5]]))
    assert frontier.scores[0] == frontier.terms[0].sum() == 0.75
    frontier.rescore(np.array([0]), np.array([[1.0, 0.5]]))
    assert frontier.scores[0] == frontier.terms[0].sum() == 1.5


def test_a_fetched_candidate_is_not_rescored():
    """What was decided stays as it was, so that an explanation shows what was true then."""
    frontier = Frontier(1)
    frontier.add(np.array([1], np.uint64), np.array([0]), np.zeros(1), -1, np.array([[1.0]]))
    frontier.close(0, State.FETCHED)
    frontier.rescore(np.array([0]), np.array([[9.0]]))
    assert frontier.scores[0] == 1.0
    assert frontier.head(0) == -1


@given(st.lists(st.tuples(st.integers(0, HOSTS - 1), scores), max_size=30))
def test_right_after_a_sort_the_best_of_every_host_is_known_at_once(candidates):
    frontier, model = Frontier(1), Model()
    act(frontier, model, "add", candidates)
    frontier.sort()
    hosts, heads = frontier.run_heads()
    assert dict(zip(hosts.tolist(), heads.tolist(), strict=True)) == {
        h: model.head(h) for h in set(model.host)
    }
