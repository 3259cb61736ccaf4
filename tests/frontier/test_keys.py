"""The key index agrees with a dict, whatever is put in and in whatever batches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.frontier import KeyIndex
from clew.url import index as module

keys = st.integers(0, 2**64 - 1) | st.integers(0, 40)


@given(
    st.lists(st.lists(keys, max_size=60), max_size=12), st.lists(keys, max_size=40), st.sampled_from([0, 32])
)
def test_finds_what_a_dict_finds(batches, probes, few):
    """Keys that are not where they are looked for first are followed together or one by one."""
    before, module._FEW = module._FEW, few
    try:
        compare(batches, probes)
    finally:
        module._FEW = before


def compare(batches, probes):
    index, model = KeyIndex(4), {}
    for batch in batches:
        fresh = [k for k in dict.fromkeys(batch) if k not in model]
        first = len(model)
        index.insert(np.array(fresh, np.uint64), np.arange(first, first + len(fresh)))
        model.update(zip(fresh, range(first, first + len(fresh)), strict=True))
    wanted = [*probes, *model]
    assert index.find(np.array(wanted, np.uint64)).tolist() == [model.get(k, -1) for k in wanted]
    assert len(index) == len(model)


def test_colliding_keys_are_kept_apart():
    """Keys that fall on one place of a small table all stay findable."""
    many = np.arange(0, 3000, dtype=np.uint64) << np.uint64(52)
    many = np.unique(many)
    index = KeyIndex(4)
    index.insert(many, np.arange(len(many)))
    assert index.find(many).tolist() == list(range(len(many)))
    assert index.find(np.array([1], np.uint64)).tolist() == [-1]


@given(st.lists(keys, unique=True, max_size=200))
def test_many_keys_may_have_one_number(some):
    index = KeyIndex(4)
    index.insert(np.array(some, np.uint64), np.zeros(len(some), np.int64))
    assert index.find(np.array(some, np.uint64)).tolist() == [0] * len(some)
