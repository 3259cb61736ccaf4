"""The depth of the next relevant page: the paper's formulas and propositions, and of random trees."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.learn.search_depth import OutDegrees, SearchDepth, binary

GOLDEN = (math.sqrt(5) - 1) / 2
#: P4 at which the second level is as likely as the first (propositions 1 and 4), and the third as the second.
FIRST, SECOND = GOLDEN ** (1 / 2), GOLDEN ** (1 / 4)


def paper(p4, p1=None, depths=30):
    """The formulas 5 to 7, as they are printed."""
    found = []
    for i in range(1, depths + 1):
        if p1 is None:
            found.append((1 - p4 ** (2**i)) * p4 ** (2**i - 2))
        elif i == 1:
            found.append(1 - (1 - p1) ** 2)
        else:
            found.append((1 - p4 ** (2**i)) * (1 - p1) ** 2 * p4 ** (2**i - 4))
    return found


def test_the_papers_example_has_its_means_and_its_mode():
    relevant, irrelevant = SearchDepth(0.999, p2=0.9), SearchDepth(0.999)
    assert round(relevant.mean(), 3) == 7.210
    assert round(irrelevant.mean(), 3) == 8.652
    assert relevant.mode() == irrelevant.mode() == 9
    assert relevant.never() == pytest.approx(0.0) == irrelevant.never()


@given(st.floats(0.01, 0.9999), st.floats(0.0, 1.0))
def test_the_recursion_gives_the_papers_formulas_for_two_links_a_page(p4, p1):
    two = OutDegrees([0, 0, 5])
    for mine, printed in (
        (SearchDepth(p4), paper(p4)),
        (SearchDepth(p4, two), paper(p4)),
        (SearchDepth(p4, p2=1 - p1), paper(p4, p1)),
        (SearchDepth(p4, two, p2=1 - p1), paper(p4, p1)),
    ):
        np.testing.assert_allclose(mine.mass(30), printed, atol=1e-12)


def rising(masses):
    return [after > before for before, after in itertools.pairwise(masses)]


@given(st.floats(FIRST + 1e-6, 0.9999))
def test_proposition_1_from_an_irrelevant_page_confidence_rises_to_one_peak_and_falls(p4):
    depth = SearchDepth(p4)
    peak = math.ceil((math.log(-math.log(GOLDEN)) - math.log(-math.log(p4))) / math.log(2))
    assert depth.mode() == peak > 1
    masses = depth.mass(peak + 3)
    assert all(rising(masses[:peak]))
    assert not any(rising(masses[peak - 1 :]))


@given(st.floats(0.05, FIRST - 1e-6))
def test_proposition_1_below_the_golden_bound_confidence_falls_from_the_first_level(p4):
    assert not any(rising(SearchDepth(p4).mass(5)))


def test_proposition_1_at_the_bound_the_first_two_levels_are_alike():
    masses = SearchDepth(FIRST).mass(5)
    assert masses[0] == pytest.approx(masses[1])
    assert not any(rising(masses[1:]))


@given(st.floats(SECOND + 1e-6, 0.9999), st.floats(0.0, 0.99))
def test_proposition_2_from_a_relevant_page_the_peak_beyond_the_first_level_does_not_depend_on_p1(p4, p1):
    depth = SearchDepth(p4, p2=1 - p1)
    peak = SearchDepth(p4).mode()
    assert depth.mode() == peak > 2
    masses = depth.mass(peak + 3)
    assert all(rising(masses[1:peak]))
    assert not any(rising(masses[peak - 1 :]))


@given(st.floats(0.3, SECOND - 1e-6), st.floats(0.0, 0.99))
def test_proposition_2_below_its_bound_confidence_falls_from_the_second_level(p4, p1):
    assert not any(rising(SearchDepth(p4, p2=1 - p1).mass(6)[1:]))


@given(st.floats(SECOND + 1e-3, 0.9999), st.floats(0.0, 0.9), st.floats(0.01, 0.1))
def test_proposition_3_the_peak_falls_as_p1_grows(p4, p1, more):
    """The paper prints P4 for P1, and "increasing"; its proof has it right."""
    peak = SearchDepth(p4).mode()
    lower, higher = (SearchDepth(p4, p2=1 - p).mass(peak)[-1] for p in (p1, p1 + more))
    assert higher < lower


@given(st.floats(SECOND + 1e-6, 0.999), st.floats(1e-5, 0.0009))
def test_proposition_4_the_peak_moves_out_as_p4_grows(p4, more):
    assert SearchDepth(p4).mode() <= SearchDepth(p4 + more).mode()


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any), st.floats(0.0, 1.0))
def test_the_generating_function_is_that_of_the_distribution(counts, x):
    expected = sum(count * x**number for number, count in enumerate(counts)) / sum(counts)
    assert OutDegrees(counts)(x) == pytest.approx(expected)
    assert OutDegrees(counts)(1.0) == pytest.approx(1.0)


def searched(rng, counts, p2, p4, levels):
    """The level of the first relevant page of one random tree; 0 if there is none."""
    shares = np.array(counts) / sum(counts)
    pages, chance = int(rng.choice(len(counts), p=shares)), p2
    for level in range(1, levels + 1):
        if not pages:
            return 0
        if (rng.random(pages) >= chance).any():
            return level
        pages, chance = int(rng.choice(len(counts), size=pages, p=shares).sum()), p4
    return 0


@pytest.mark.parametrize(
    ("counts", "p2", "p4"), [([3, 4, 2, 0, 1], 0.8, 0.95), ([5, 1, 1, 3], 0.97, 0.9), ([0, 7, 3], 0.9, 0.97)]
)
def test_simulated_random_trees_have_their_first_find_where_the_recursion_says(counts, p2, p4):
    rng, trees, levels = np.random.default_rng(7), 4000, 8
    found = np.bincount([searched(rng, counts, p2, p4, levels) for _ in range(trees)], minlength=levels + 1)
    expected = SearchDepth(p4, OutDegrees(counts), p2).mass(levels)
    for level, share in enumerate(expected, 1):
        error = math.sqrt(share * (1 - share) / trees)
        assert abs(found[level] / trees - share) < 4 * error + 1e-9


def test_quantiles_are_those_of_the_searches_that_come_to_a_find():
    half = SearchDepth(0.5, OutDegrees([1, 1]))  # every second page leads nowhere
    # q(i) = (1 + q(i - 1) / 2) / 2 falls to 2/3, by a quarter of the rest each time.
    assert half.never() == pytest.approx(2 / 3)
    assert [half.quantile(level) for level in (0.5, 0.75, 0.76, 0.9, 0.95)] == [1, 1, 2, 2, 3]
    assert half.mean() == pytest.approx(4 / 3)


def test_where_nothing_is_ever_found_there_is_no_quantile():
    assert SearchDepth(1.0, binary).quantile(0.9) is None
    assert SearchDepth(0.5, OutDegrees([])).quantile(0.9) is None
