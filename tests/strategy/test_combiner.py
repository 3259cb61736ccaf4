"""Weights: evidence in, contributions out that a frontier can order, whatever the evidence."""

from __future__ import annotations

import numpy as np
import pytest

from clew import factor as factors
from clew.lab import DemoWeb
from clew.lab.parsed_web import ParsedWeb
from clew.lab.predicates import Blind
from clew.lab.simulate import simulate
from clew.strategy import make
from clew.strategy.combiner import BalancedWeights, FixedWeights, LearnedWeights

FACTORS = ("content", "sibling")


def specs(*names):
    return [factors.FACTORS[name].spec for name in names]


@pytest.mark.parametrize(
    "combiner", [FixedWeights(FACTORS, {}), BalancedWeights(FACTORS), LearnedWeights(specs(*FACTORS))]
)
def test_a_ratio_of_nothing_is_the_worst_and_still_a_number(combiner):
    """Without smoothing a ratio may be 0: its logarithm must neither spread nor take a link out of line."""
    evidence = np.array([[1.0, -np.inf], [2.0, 0.5], [-np.inf, -np.inf], [0.0, -1.0]])
    combiner.fit(evidence)
    scores = combiner.apply(evidence).sum(axis=1)
    assert np.isfinite(scores).all()
    assert np.argsort(scores).tolist() == [2, 0, 3, 1]


def test_balanced_weights_are_one_over_the_mean_size():
    combiner = BalancedWeights(FACTORS)
    combiner.fit(np.array([[1.0, 0.0], [-3.0, 0.0]]))
    assert combiner.weights.tolist() == [0.5, 0.0]
    combiner.fit(np.array([[1.0, -np.inf], [-3.0, 4.0]]))
    assert combiner.weights.tolist() == [0.5, 0.25]


@pytest.fixture(scope="module")
def parsed():
    return ParsedWeb(DemoWeb())


@pytest.mark.parametrize("weights", ["balanced", "product", "learned"])
def test_a_crawl_by_the_printed_formulas_goes_on_to_the_end(parsed, weights):
    web = parsed.web
    wanted = Blind("wind", frozenset(web.relevant()))
    options = {"weights": weights, "smoothing": 0.0, "temper": 1.0, "tokens": "paper"}
    strategy = make("intelligent", wanted, seed=1, options=options)
    course = simulate(parsed, wanted, strategy, web.seeds(), 300)
    assert (course.requests, course.stop) == (300, "requests")
    assert len(course.finds) > 5


def test_where_a_page_leads_counts_the_less_the_more_is_found_anyway():
    """A sure list is worth more than a likely find while little is found, and nothing during a harvest."""
    factors = ("sibling", "hub_potential")
    evidence = np.array([[1.0, -8.0], [-2.0, 4.0]])
    combiner = LearnedWeights(specs(*factors))
    combiner.fit(evidence)
    find, page = combiner.apply(evidence).sum(axis=1)
    assert page > find
    for _ in range(200):
        combiner.observe(evidence[0], satisfied=True)
    combiner.observe(evidence[0], satisfied=False)
    combiner.fit(evidence)
    find, page = combiner.apply(evidence).sum(axis=1)
    assert page < find
    assert combiner.weights[1] == 1.0


def test_where_a_page_leads_never_counts_against_it():
    combiner = LearnedWeights(specs("sibling", "hub_potential"))
    parts = combiner.apply(np.array([[1.0, -50.0], [1.0, 0.0], [1.0, 50.0]]))
    assert (np.diff(parts[:, 1]) > 0).all()
    assert parts[0, 1] == pytest.approx(0.0, abs=1e-4)
