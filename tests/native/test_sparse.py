"""The compiled loop over a sparse matrix gives what its twin gives; what is out of range is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import native
from clew.learn.logistic import gathered, summed

pytestmark = pytest.mark.skipif(native.gathered is None, reason="not compiled here")

PLACES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=40)
VALUES = st.lists(st.floats(-1e6, 1e6), min_size=7, max_size=7)


@given(PLACES, VALUES)
def test_sums_are_those_of_the_twin(places, values):
    to, of = np.array(places, np.int32).reshape(-1, 2).T.copy()
    compiled, interpreted = gathered(to, of, np.array(values), 5), summed(to, of, np.array(values), 5)
    assert compiled.tobytes() == interpreted.tobytes()


@pytest.mark.parametrize(
    ("to", "of"), [([0, 5], [0, 0]), ([0, -1], [0, 0]), ([0, 0], [0, 7]), ([0, 0], [0, -1]), ([0, 0], [0])]
)
def test_what_is_out_of_range_is_refused(to, of):
    with pytest.raises(IndexError):
        native.gathered(np.array(to, np.int32), np.array(of, np.int32), np.zeros(7), np.zeros(5))


def test_other_kinds_of_numbers_are_refused():
    small, values = np.zeros(2, np.int32), np.zeros(2)
    for given_ in (
        (small.astype(np.int64), small, values, values),
        (small, small.astype(np.int64), values, values),
        (small, small, values.astype(np.float32), values),
        (small, small, values, values.astype(np.float32)),
        (small, small, values),
    ):
        with pytest.raises(TypeError):
            native.gathered(*given_)
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        native.gathered(small, small, values, fixed)


def test_what_was_there_before_is_not_added_to():
    found = np.ones(2)
    native.gathered(np.array([1], np.int32), np.array([0], np.int32), np.array([4.0]), found)
    assert found.tolist() == [0.0, 4.0]
