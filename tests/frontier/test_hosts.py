"""Politeness by law: no host leased early, none with two requests under way, no URL leased twice."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.frontier import Frontier, Hosts, Politeness, ReadyHosts
from clew.messages import State


def fill(hosts, frontier, layout):
    n = frontier.count
    numbers = hosts.numbers([f"h{h}.example" for h, _ in layout])
    parts = np.array([[s] for _, s in layout], np.float64).reshape(len(layout), 1)
    frontier.add(np.arange(n, n + len(layout), dtype=np.uint64), numbers, np.zeros(len(layout)), -1, parts)
    hosts.touch_all(numbers)


layouts = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30)


@settings(max_examples=2 * settings().max_examples)
@given(layouts, st.lists(st.floats(0, 3), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_no_host_early_none_twice_at_once_no_candidate_twice(layout, waits, dice):
    frontier = Frontier(1)
    hosts = Hosts(Politeness(delay=2.0, own=lambda h: h == "h4.example", own_limit=3))
    ready = ReadyHosts(frontier, hosts)
    fill(hosts, frontier, layout)
    now, under_way, last_end, leased = 0.0, [], {}, []
    for wait in waits:
        now += wait
        candidate = ready.pick(now)
        if candidate >= 0:
            host = hosts[int(frontier.hosts[candidate])]
            busy = [h for _, h in under_way if h is host]
            assert len(busy) < (3 if host.name == "h4.example" else 1)
            if host.name != "h4.example" and host.name in last_end:
                assert now >= last_end[host.name] + 2.0
            leased.append(candidate)
            frontier.close(candidate, State.LEASED)
            hosts.begin(host)
            under_way.append((candidate, host))
        if under_way and dice.random() < 0.5:
            done, host = under_way.pop(dice.randrange(len(under_way)))
            frontier.close(done, State.FETCHED)
            hosts.end(host, now)
            last_end[host.name] = now
    assert len(leased) == len(set(leased))


@given(layouts)
def test_the_pick_is_the_best_of_all_free_hosts(layout):
    """With everybody free, candidates leave in order of score, the oldest first among equals."""
    frontier = Frontier(1)
    hosts = Hosts(Politeness(own=lambda h: True, own_limit=100))
    ready = ReadyHosts(frontier, hosts)
    fill(hosts, frontier, layout)
    order = []
    while (candidate := ready.pick(0.0)) >= 0:
        frontier.close(candidate, State.LEASED)
        hosts.begin(hosts[int(frontier.hosts[candidate])])
        order.append(candidate)
    assert order == sorted(range(len(layout)), key=lambda i: (-layout[i][1], i))


def test_next_ready_names_the_first_resting_host():
    frontier = Frontier(1)
    hosts = Hosts(Politeness(delay=5.0))
    ready = ReadyHosts(frontier, hosts)
    fill(hosts, frontier, [(0, 1.0), (0, 0.5), (1, 0.2)])
    for expected in (0, 2):
        candidate = ready.pick(10.0)
        assert candidate == expected
        frontier.close(candidate, State.LEASED)
        hosts.begin(hosts[int(frontier.hosts[candidate])])
    assert ready.pick(10.0) == -1
    assert ready.next_ready() is None
    hosts.end(hosts[0], 12.0)
    assert ready.pick(12.0) == -1
    assert ready.next_ready() == 17.0
    assert ready.pick(17.0) == 1


steps = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])), max_size=6),
        st.lists(st.tuples(st.integers(0, 20), st.sampled_from([0.0, 0.25, 0.75, 2.0])), max_size=6),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=3 * settings().max_examples)
@given(steps, st.sampled_from([0.0, 3.0]))
def test_hosts_that_are_told_what_changed_offer_what_they_would_if_all_were_looked_at(steps, wait):
    """Filing and re-scoring tell hosts of candidates; the pick is that of a look at every host there is."""
    frontier = Frontier(1)
    hosts = Hosts(Politeness(own=lambda h: h != "h0.example", own_limit=100, delay=1.0, margin=0.0))
    ready = ReadyHosts(frontier, hosts)
    hosts.not_before = wait
    for now, (filed, scored) in enumerate(steps):
        n = frontier.count
        numbers = ready.receiving([f"h{h}.example" for h, _ in filed])
        parts = np.array([[s] for _, s in filed], np.float64).reshape(len(filed), 1)
        keys = np.arange(n, n + len(filed), dtype=np.uint64)
        ready.consider(frontier.add(keys, numbers, np.zeros(len(filed)), -1, parts))
        moved = {i: s for i, s in scored if i < frontier.count}
        ids = np.array(sorted(moved), np.int64)
        frontier.rescore(ids, np.array([[moved[i]] for i in ids.tolist()], np.float64).reshape(len(ids), 1))
        ready.consider(ids)
        picked = ready.pick(float(now))
        hosts.touch_all(np.arange(len(hosts)))
        assert picked == ready.pick(float(now))
        if picked >= 0:
            frontier.close(picked, State.LEASED)
            hosts.begin(hosts[int(frontier.hosts[picked])])
