"""The compiled loop over rows gives what its twin gives to the last bit; what is out of range is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import native
from clew.frontier import sorted_runs
from clew.learn import rows as sparse
from clew.learn.rows import SparseRows
from clew.url.index import KeyIndex
from clew.words import forms

pytestmark = pytest.mark.skipif(native.sums is None, reason="not compiled here")


@given(
    st.lists(st.lists(st.integers(0, 19), max_size=30), max_size=8),
    st.lists(st.integers(0, 12), max_size=12),
    st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=20),
)
def test_sums_are_those_of_the_twin(filled, asked, weights):
    rows = SparseRows()
    for items in filled:
        rows.append(items)
    ids, of = np.array(asked, np.int64), np.array(weights)
    compiled, interpreted = rows.sums(ids, of), rows.summed(ids, of)
    assert compiled.tobytes() == interpreted.tobytes()


def test_rows_far_apart_in_memory_are_read_as_well():
    rows = SparseRows()
    rows.extend(np.array([1, 2, 0, 1]), np.array([0, 1, 2, 3]))
    ids = np.array([0, 9, 1, 9, 3, 9])[::2]
    assert rows.sums(ids, np.array([1.0, 2.0, 4.0, 8.0])).tolist() == [1.0, 6.0, 8.0]


@pytest.mark.parametrize(
    ("starts", "items", "weights", "found"),
    [
        ([0, 2], [0, 5], [1.0], [0.0]),
        ([0, 2], [0, -1], [1.0], [0.0]),
        ([0, 9], [0, 0], [1.0], [0.0]),
        ([-3, 2], [0, 0], [1.0], [0.0]),
        ([0, 2], [0, 0], [1.0], [0.0, 0.0]),
    ],
)
def test_what_is_out_of_range_is_refused(starts, items, weights, found):
    with pytest.raises(IndexError):
        native.sums(
            np.array(starts, np.int64),
            np.array(items, np.int32),
            np.zeros(1, np.int64),
            np.array(weights),
            np.array(found),
        )


def test_other_kinds_of_numbers_are_refused():
    one = np.zeros(2, np.int64)
    with pytest.raises(TypeError):
        native.sums(one, one, one, np.zeros(1), np.zeros(2))
    with pytest.raises(TypeError):
        native.sums(one)


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=8))
def test_rows_lose_the_same_items_as_by_the_twin(rows):
    lengths = np.array([len(row) for row in rows], np.int64)
    items = np.array([item for row in rows for item in row], np.int32)
    compiled, interpreted = sparse.first_of_each(lengths, items), sparse.single(lengths, items)
    assert [part.tolist() for part in compiled] == [part.tolist() for part in interpreted]


def test_long_rows_are_left_to_the_twin(monkeypatch):
    monkeypatch.setattr(native, "first_of_each", lambda *given: pytest.fail("too long"))
    lengths, items = sparse.first_of_each(np.array([1000]), np.arange(1000, dtype=np.int32) % 7)
    assert (lengths.tolist(), items.tolist()) == ([7], list(range(7)))


def test_rows_longer_than_their_items_are_refused():
    room = np.zeros(2, np.int64), np.zeros(3, np.int32)
    with pytest.raises(IndexError):
        native.first_of_each(np.array([2, 2]), np.zeros(3, np.int32), *room)
    with pytest.raises(IndexError):
        native.first_of_each(np.array([-1, 2]), np.zeros(3, np.int32), *room)
    with pytest.raises(IndexError):
        native.first_of_each(np.array([1, 2]), np.zeros(3, np.int32), room[0], room[1][:2])


@given(st.lists(st.integers(0, 2**64 - 1), unique=True, max_size=60), st.lists(st.integers(0, 2**64 - 1)))
def test_keys_are_found_as_by_the_twin(known, others):
    index = KeyIndex(16)
    index.insert(np.array(known, np.uint64), np.arange(len(known)))
    wanted = np.array([*known, *others, 0], np.uint64)
    assert index.find(wanted).tolist() == index.found(wanted).tolist()
    assert index.find(wanted)[: len(known)].tolist() == list(range(len(known)))


def test_a_full_table_is_looked_through_once():
    keys, ids, found = np.arange(4, dtype=np.uint64), np.zeros(4, np.int32), np.zeros(1, np.int64)
    native.find(keys, ids, np.array([9], np.uint64), found)
    assert found.tolist() == [-1]
    with pytest.raises(IndexError):
        native.find(keys[:3], ids[:3], keys, np.zeros(4, np.int64))
    with pytest.raises(IndexError):
        native.find(keys, ids, keys, found)


@given(st.lists(st.sampled_from(["wind", "é", "a" * 8, "b" * 9, "c" * 16, "d" * 17, " ", "", "x" * 40])))
def test_words_are_hashed_as_by_the_twin(words):
    text = " ".join(words).encode()
    compiled, interpreted = forms.hashed(text), forms.spelled(b" " * 8 + text + b" " * 8)
    assert [part.tolist() for part in compiled] == [part.tolist() for part in interpreted]


def test_a_text_without_its_blanks_is_refused():
    room = np.zeros(9, np.uint64), np.zeros(9, np.int64), np.zeros(9, np.int64)
    for text in (b"wind", b" " * 8 + b"wind" * 4, b"wind" * 4 + b" " * 8):
        with pytest.raises(IndexError):
            native.hashed(text, *room)
    with pytest.raises(IndexError):
        native.hashed(b" " * 8 + b"a b c" + b" " * 8, *[part[:2] for part in room])


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 9), st.sampled_from([-1.0, -0.0, 0.0, 0.5, 2.0])),
        max_size=60,
    ),
    st.lists(st.integers(0, 2), min_size=10, max_size=10),
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, math.nan]), min_size=10, max_size=10),
)
def test_the_best_entry_is_that_of_the_twin(entries, states, scores):
    hosts, numbers, entered = (
        (list(column) for column in zip(*entries, strict=True)) if entries else ([], [], [])
    )
    buffer = np.array(hosts, np.int32), np.array(numbers, np.int64), np.array(entered, np.float64)
    now = np.array(states, np.uint8), np.array(scores)
    for host in range(5):
        for used in {0, len(entries) // 2, len(entries)}:
            assert native.best(host, used, *buffer, *now) == sorted_runs._best(host, used, *buffer, *now)


def test_a_tray_longer_than_it_is_or_with_unknown_candidates_is_refused():
    buffer = np.zeros(2, np.int32), np.array([0, 7]), np.zeros(2)
    with pytest.raises(IndexError):
        native.best(0, 3, *buffer, np.zeros(9, np.uint8), np.zeros(9))
    with pytest.raises(IndexError):
        native.best(0, 2, *buffer, np.zeros(7, np.uint8), np.zeros(9))
    with pytest.raises(TypeError):
        native.best(0, 2, *buffer, np.zeros(9), np.zeros(9))
