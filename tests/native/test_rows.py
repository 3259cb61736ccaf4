"""The compiled loop over rows gives what its twin gives to the last bit; what is out of range is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import native
from clew.factor.ragged import Ragged

pytestmark = pytest.mark.skipif(native.sums is None, reason="not compiled here")


@given(
    st.lists(st.lists(st.integers(0, 19), max_size=30), max_size=8),
    st.lists(st.integers(0, 12), max_size=12),
    st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=20),
)
def test_sums_are_those_of_the_twin(filled, asked, weights):
    rows = Ragged()
    for number, items in enumerate(filled):
        rows.append(number, np.array(items, np.int64))
    ids, of = np.array(asked, np.int64), np.array(weights)
    compiled, interpreted = rows.sums(ids, of), rows.summed(ids, of)
    assert compiled.tobytes() == interpreted.tobytes()


def test_rows_far_apart_in_memory_are_read_as_well():
    rows = Ragged()
    rows.extend(0, np.array([1, 2, 0, 1]), np.array([0, 1, 2, 3]))
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
