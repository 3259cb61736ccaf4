"""Tests of the tests: permutation, Holm, bootstrap, and the figures of merit they are applied to."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.lab import metrics
from clew.lab.statistics import EXACT, holm, interval, ratio_interval, sign_flip, variance_components

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


def _made(rng, *, dice, starts, topics, size=(60, 6, 5), drop=0.0):
    """Runs whose variances are known; each is left out with the chance `drop`."""
    found: dict[str, dict[str, list[float]]] = {}
    for topic in range(size[0]):
        level = rng.normal(0.0, topics)
        for start in range(size[1]):
            case = level + rng.normal(0.0, starts)
            runs = [case + rng.normal(0.0, dice) for _ in range(size[2]) if rng.random() >= drop]
            found.setdefault(str(topic), {})[str(start)] = runs
    return found


@pytest.mark.parametrize("drop", [0.0, 0.5])
@pytest.mark.parametrize(
    "sds", [(0.2, 0.1, 0.05), (0.05, 0.2, 0.1), (0.1, 0.0, 0.2)], ids=("dice", "starts", "topics")
)
def test_variances_are_told_apart_also_where_runs_are_missing(sds, drop):
    """The mean over many made experiments is what they were made with."""
    rng = np.random.default_rng(3)
    dice, starts, topics = sds
    found = [
        variance_components(_made(rng, dice=dice, starts=starts, topics=topics, drop=drop)) for _ in range(20)
    ]
    for name, sd in (("dice", dice), ("starts", starts), ("topics", topics)):
        assert np.mean([getattr(one, name) for one in found]) == pytest.approx(sd**2, abs=0.0025)


def test_what_was_not_repeated_has_no_variance():
    once = variance_components({"a": {"1": [0.5]}})
    assert (once.dice, once.starts, once.topics) == (None, None, None)
    two = variance_components({"a": {"1": [0.5]}, "b": {"1": [1.5], "2": []}, "c": {}})
    assert (two.dice, two.starts, two.topics) == (None, None, pytest.approx(0.5))
    assert variance_components({}).topics is None


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)), min_size=1, max_size=12))
@settings(deadline=None, max_examples=30)
def test_an_interval_of_a_ratio_is_around_it_and_within_its_units(pairs):
    above, below = [a for a, _ in pairs], [b for _, b in pairs]
    low, high = ratio_interval(above, below)
    ratios = [a / b for a, b in pairs]
    assert min(ratios) - 1e-9 <= low <= high <= max(ratios) + 1e-9
    assert ratio_interval(above, below) == (low, high)


def test_a_ratio_over_nothing_found_has_no_interval():
    assert all(np.isnan(ratio_interval([0.0], [0.0])))
    assert all(np.isnan(ratio_interval([], [])))
