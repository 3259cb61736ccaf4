"""Sparse rows stay what they were while they grow, and those put together by arrays are those put together by
hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.learn.rows import SparseRows, first_of_each, woven

row = st.lists(st.integers(0, 5), max_size=6)
table = st.lists(row, min_size=1, max_size=6)


@pytest.mark.parametrize("held", [False, True])
def test_rows_outlive_growth(held):
    rows = SparseRows()
    rows.append(np.arange(5))
    seen = rows.row(0) if held else None
    for number in range(1, 400):
        rows.append(np.full(100, number))
    rows.extend(np.array([2, 1]), np.arange(30_000, 30_003))
    assert rows.row(0).tolist() == list(range(5))
    assert all((rows.row(n) == n).all() and len(rows.row(n)) == 100 for n in range(1, 400))
    assert rows.row(400).tolist() == [30_000, 30_001]
    assert rows.row(401).tolist() == [30_002]
    assert seen is None or seen.tolist() == list(range(5))


def flat(rows):
    return np.array([len(r) for r in rows], np.int64), np.array([n for r in rows for n in r], np.int32)


def rows_of(lengths, items):
    return [piece.tolist() for piece in np.split(items, np.cumsum(lengths)[:-1])]


@given(table, st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_rows_are_laid_out_piece_after_piece(known, wanted):
    pieces = SparseRows()
    assert [pieces.append(items) for items in known] == list(range(len(known)))
    wanted = [(a % len(known), b % len(known)) for a, b in wanted]
    lengths, items = pieces.gather(np.array(wanted))
    assert rows_of(lengths, items) == [known[a] + known[b] for a, b in wanted]


@given(table, table)
def test_pieces_kept_together_are_those_kept_one_by_one(first, then):
    one_by_one, together = SparseRows(), SparseRows()
    for rows in (first, then):
        numbers = [one_by_one.append(items) for items in rows]
        assert list(together.extend(*flat(rows))) == numbers
    assert (
        [together.row(n).tolist() for n in range(len(together))]
        == first + then
        == [one_by_one.row(n).tolist() for n in range(len(one_by_one))]
    )


@given(st.lists(st.tuples(row, row, row), min_size=1, max_size=6))
def test_threads_are_woven_row_by_row(rows):
    lengths, items = woven(*(flat(thread) for thread in zip(*rows, strict=True)))
    assert rows_of(lengths, items) == [a + b + c for a, b, c in rows]


@given(table)
def test_what_stands_in_a_row_twice_is_kept_where_it_stands_first(rows):
    assert rows_of(*first_of_each(*flat(rows))) == [list(dict.fromkeys(r)) for r in rows]


@given(table, st.integers(0, 6), st.integers(0, 6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_rows_keep_some_of_their_items_and_the_others_all(known, one, other, kept):
    first, last = sorted((min(one, len(known)), min(other, len(known))))
    rows = SparseRows()
    rows.extend(*flat(known))
    rows.retain(first, last, np.array(kept))
    rows.append([1, 2])
    expected = [[i for i in row if kept[i] or not first <= n < last] for n, row in enumerate(known)]
    assert [rows.row(n).tolist() for n in range(len(rows))] == [*expected, [1, 2]]
