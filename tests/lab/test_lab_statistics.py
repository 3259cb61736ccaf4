"""Tests of the tests: permutation, Holm, bootstrap, and the figures of merit they are applied to."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.lab import metrics
from clew.lab.statistics import EXACT, holm, interval, sign_flip

values = st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3))
finds = st.lists(st.integers(1, 60), unique=True, max_size=30).map(sorted)


@given(st.lists(values, min_size=1, max_size=8))
@settings(deadline=None)
def test_few_pairs_are_tested_exactly(differences):
    """The p-value is the share of all sign assignments with a sum as extreme as the one seen."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * d for sign, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    expected = sum(total >= observed - 1e-9 for total in sums) / len(sums)
    assert sign_flip(differences) == pytest.approx(expected)


@given(st.lists(values, min_size=1, max_size=24), st.floats(0.1, 10))
@settings(deadline=None, max_examples=30)
def test_a_p_value_is_a_share_and_knows_no_sign(differences, scale):
    p = sign_flip(differences)
    assert 0 < p <= 1
    assert sign_flip([-d for d in differences]) == pytest.approx(p, abs=0.02)


def test_sampling_agrees_with_enumeration():
    """Just above the limit of exactness, adding a pair without difference changes nothing."""
    rng = np.random.default_rng(3)
    some = rng.normal(0.4, 1.0, EXACT).tolist()
    more = [*some, *([1e-9] * 3)]
    assert sign_flip(more) == pytest.approx(sign_flip(some), abs=0.02)


def test_no_difference_is_no_evidence_and_equal_ones_are_as_much_as_can_be():
    assert sign_flip([0.0, 0.0]) == 1.0
    assert sign_flip([]) == 1.0
    assert sign_flip([0.1] * 10) == 2 / 2**10


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0.0001, 1), min_size=1, max_size=8))
def test_holm_only_raises_and_keeps_the_order(p_values):
    corrected = holm(p_values)
    assert list(corrected) == list(p_values)
    assert all(p_values[name] <= corrected[name] <= 1 for name in p_values)
    order = sorted(p_values, key=lambda name: p_values[name])
    assert all(corrected[a] <= corrected[b] for a, b in itertools.pairwise(order))
    assert all(corrected[name] <= min(1.0, len(p_values) * p_values[name]) + 1e-12 for name in p_values)


@given(st.lists(values, min_size=1, max_size=20), st.integers(0, 5))
@settings(deadline=None, max_examples=30)
def test_an_interval_holds_the_mean_and_stays_within_the_data(data, seed):
    low, high = interval(data, seed)
    assert min(data) - 1e-9 <= low <= high <= max(data) + 1e-9
    assert low - 1e-9 <= np.mean(data) <= high + 1e-9 or len(data) < 4
    assert interval(data, seed) == (low, high)


@given(finds, st.integers(1, 60))
def test_the_area_is_the_sum_of_the_curve(some, budget):
    assert metrics.area(some, budget) == sum(metrics.found(some, r) for r in range(1, budget + 1))


@given(finds, finds, st.integers(1, 60))
def test_naucs_order_is_that_of_the_areas(some, oracle, budget):
    share = metrics.nauc(some, oracle, budget)
    best = metrics.area(oracle, budget)
    assert (share is None) == (best == 0)
    assert share is None or share * best == pytest.approx(metrics.area(some, budget))
    assert metrics.nauc(oracle, oracle, budget) in (None, 1.0)


@given(finds, st.floats(0.01, 1), st.integers(1, 60))
def test_requests_to_a_share_is_the_first_request_with_it(some, share, budget):
    reachable = max(1, len(some))
    at = metrics.requests_to(share, some, reachable, budget)
    enough = [r for r in range(budget + 1) if metrics.found(some, r) >= share * reachable - 1e-9]
    assert at == (enough[0] if enough else None)


def test_a_curve_has_both_ends_and_never_falls():
    line = metrics.curve([1, 5, 9], 10, points=4)
    assert line[0] == (0, 0)
    assert line[-1] == (10, 3)
    assert all(a <= b for (_, a), (_, b) in itertools.pairwise(line))
