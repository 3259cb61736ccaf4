"""Loops over rows of numbers and over hashes, held against plain Python to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import native
from clew.learn.rows import SparseRows
from clew.native import pure
from clew.url.index import KeyIndex

WEIGHT = st.floats(-1e6, 1e6)


@given(
    st.lists(st.lists(st.integers(0, 19), max_size=30), max_size=8),
    st.lists(st.integers(0, 12), max_size=12),
    st.lists(WEIGHT, min_size=20, max_size=20),
)
def test_items_of_a_row_are_added_from_first_to_last(loops, filled, asked, weights):
    rows = SparseRows()
    for items in filled:
        rows.append(items)
    expected = [
        native.left_sum([weights[item] for item in filled[row]]) if row < len(filled) else 0.0
        for row in asked
    ]
    found = rows.sums(np.array(asked, np.int64), np.array(weights))
    assert found.tobytes() == np.array(expected, np.float64).tobytes()


def test_rows_far_apart_in_memory_are_read_as_well(loops):
    rows = SparseRows()
    rows.extend(np.array([1, 2, 0, 1]), np.array([0, 1, 2, 3]))
    ids = np.array([0, 9, 1, 9, 3, 9])[::2]
    assert rows.sums(ids, np.array([1.0, 2.0, 4.0, 8.0])).tolist() == [1.0, 6.0, 8.0]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=40),
    st.lists(WEIGHT, min_size=7, max_size=7),
)
def test_values_are_added_to_their_places_from_first_to_last(loops, places, values):
    to, of = np.array(places, np.int32).reshape(-1, 2).T
    expected = [native.left_sum([values[b] for a, b in places if a == place]) for place in range(5)]
    assert native.gathered(to, of, np.array(values), 5).tobytes() == np.array(expected).tobytes()


@given(st.integers(0, 140), st.integers(0, 2**32))
def test_a_system_is_solved_to_the_same_bits_whatever_its_size(loops, size, seed):
    dice = np.random.default_rng(seed)
    rows = dice.standard_normal((size, size + 3)) * np.exp(3 * dice.standard_normal((size, 1)))
    matrix = (rows[:, None] * rows).sum(axis=2) + np.diag(dice.random(size))
    target = dice.standard_normal(size) * (dice.random(size) < 0.8)
    expected = np.empty(size)
    pure.solved(matrix, target, expected)
    found = native.solved(matrix, target)
    assert found.tobytes() == expected.tobytes()
    if size in range(1, 20):
        assert np.allclose((matrix * found).sum(axis=1), target, atol=1e-6)


def test_what_was_there_before_is_not_added_to(loops):
    found = np.ones(2)
    loops.gathered(np.array([1], np.int32), np.array([0], np.int32), np.array([4.0]), found)
    assert found.tolist() == [0.0, 4.0]


KEY = st.integers(0, 2**64 - 1)


@given(st.lists(KEY, unique=True, max_size=120), st.lists(KEY))
def test_keys_are_found_as_in_a_dictionary(loops, known, others):
    index = KeyIndex(16)
    index.insert(np.array(known, np.uint64), np.arange(len(known)))
    expected = {key: number for number, key in enumerate(known)}
    wanted = [*known, *others, 0]
    assert index.find(np.array(wanted, np.uint64)).tolist() == [expected.get(key, -1) for key in wanted]


@pytest.mark.parametrize("asked", [1, 40])
def test_a_full_table_is_looked_through_once(loops, asked):
    keys, ids = np.arange(64, dtype=np.uint64), np.zeros(64, np.int32)
    assert native.find(keys, ids, np.arange(99, 99 + asked, dtype=np.uint64)).tolist() == [-1] * asked


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 9), st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0])),
        max_size=60,
    ),
    st.lists(st.integers(0, 2), min_size=10, max_size=10),
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, math.nan]), min_size=10, max_size=10),
)
def test_the_best_entry_is_the_first_of_those_that_hold_when_sorted(loops, entries, states, scores):
    columns = np.array(entries, np.float64).reshape(-1, 3).T
    buffer = columns[0].astype(np.int32), columns[1].astype(np.int64), columns[2].copy()
    for host in range(5):
        for used in {0, len(entries) // 2, len(entries)}:
            holding = [
                (-score, number)
                for owner, number, score in entries[:used]
                if owner == host and states[number] == 0 and scores[number] == score
            ]
            found = loops.best(host, used, *buffer, np.array(states, np.uint8), np.array(scores))
            assert found == min(holding, default=(0.0, -1))[1]
