"""The factors of a log: every formula of the 2002 paper on an example worked out by hand."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from clew import url as urls
from clew.factor import FACTORS, Estimation, FetchOutcome, LearningState, LinkGraph
from clew.factor.visit_counts import VisitCounts
from clew.knowledge import Knowledge
from clew.lab.visit_logs import visit_log
from clew.page import Page
from clew.topic import TopicModel, TopicScorers

PAGES = [f"http://a.example/{number}" for number in range(8)]
#: Whom each visited, one visit after the other.
WALKS = {"ann": (0, 1, 2), "bob": (1, 3), "cat": (3, 4, 5), "dan": (0, 3, 5), "eve": (6, 7)}
#: Crawled, with words; 0, 3 and 6 are finds. Three more misses are unknown to the log: N = 7, P(U) = 3/7.
WORDS = {0: (1, 2, 4, 5), 1: (2, 3), 3: (1, 3), 6: (1,)}
FINDS = {0, 3, 6}
P = 3 / 7
NONE = np.zeros(0, np.int64)


def crawled(*, topics=None, texts=None, **how):
    """The factors after the crawl; candidate numbers are page numbers."""
    visits = [(who, 1000 * i, PAGES[page]) for who, walk in WALKS.items() for i, page in enumerate(walk)]
    usual = {"smoothing": 0.0, "visit_reach": 1, "signature_share": 1.0}
    counts = VisitCounts(visit_log(visits))
    state = LearningState(
        Knowledge(), LinkGraph(), Estimation(**{**usual, **how}), visits=counts, topics=topics
    )
    factors = {
        name: FACTORS[name](state) for name in ("visit_frequency", "visit_signature", "visit_temporal")
    }
    state.visits.meet(np.arange(8), urls.keys(PAGES))
    for number in [0, 1, 3, 6, 8, 9, 10]:
        url = PAGES[number] if number < 8 else f"http://b.example/{number}"
        words = np.array(WORDS.get(number, ()), np.int64)
        page = Page(url=url, text=(texts or {}).get(number, ""))
        outcome = FetchOutcome(number, number in FINDS, (), words, NONE, NONE, url=url, page=page)
        for factor in factors.values():
            factor.learn(outcome)
        state.knowledge.pages += 1
        state.knowledge.satisfied += number in FINDS
    for factor in factors.values():
        factor.estimate()
    return factors, state


def evidence(factor, *numbers):
    return factor.evidence(np.array(numbers)).tolist()


def test_frequency_by_hand():
    """I(U|R_i) = P(U|R_i) / P(U): 7/6 for ann and bob (one find of two), 7/3 for the others (eq. 1, 2)."""
    factors, _ = crawled(visit_threshold=0.0)
    wanted = [log(7 / 6), log(7 / 3), log(7 / 3) + log(7 / 3), 0.0]
    assert evidence(factors["visit_frequency"], 2, 4, 5, 8) == pytest.approx(wanted, abs=1e-12)


def test_the_significance_of_a_person_by_hand():
    """|1/2 - 3/7| and |1 - 3/7|, over sqrt(P (1 - P) / N) (eq. 3)."""
    from clew.factor.visit_frequency import deviations

    factors, state = crawled(visit_threshold=2.0)
    sd = sqrt(P * (1 - P) / 7)
    counts = factors["visit_frequency"].counts
    found = deviations(counts.seen, counts.hits, state)
    wanted = [(1 / 2 - P) / sd, (1 / 2 - P) / sd, (1 - P) / sd, (1 - P) / sd, (1 - P) / sd]
    assert found.tolist() == pytest.approx(wanted, abs=1e-12)
    assert evidence(factors["visit_frequency"], 2, 4) == pytest.approx([0.0, log(7 / 3)], abs=1e-12)
    for over, size in (("satisfying", 3), ("own", counts.seen)):
        other = deviations(counts.seen, counts.hits, crawled(visit_deviation=over)[1])
        assert other == pytest.approx(
            np.abs(counts.hits / counts.seen - P) / np.sqrt(P * (1 - P) / size), abs=1e-12
        )


def test_signature_by_hand():
    """ann's finds have three of five words to themselves and share one: (1 + 1/2 + 0 + 1 + 1)/5 over 1/2 is
    7/5; everybody else's SF is 1, so the mean is 1.08 and the deviation 0.16 (eq. 4 to 8)."""
    factors, _ = crawled(visit_threshold=1.9)
    signature = factors["visit_signature"]
    assert signature.values.tolist() == pytest.approx([1.4, 1.0, 1.0, 1.0, 1.0], abs=1e-12)
    assert signature.spread() == pytest.approx((1.08, 0.16), abs=1e-12)
    assert evidence(signature, 2, 4, 8) == pytest.approx([log(1.4), 0.0, 0.0], abs=1e-12)


def test_signatures_of_topics_by_hand():
    """ann's pages: 0, a find about wind and sea, and 1, a miss about wind: (1/2 + 1) / 2 over 1/2 is 3/2.
    bob's: 1 and 3, a find about oil: (0 + 1) / 2 over 1/2 is 1. All of cat's and dan's are finds: 1. Of eve's
    page no topic is known: she is not counted (2.3.1)."""
    models = {name: TopicModel("keyword", (name,), np.array([8.0]), -2.0) for name in ("oil", "sea", "wind")}
    texts = {0: "wind sea", 1: "wind", 3: "oil", 6: "nothing"}
    factors, _ = crawled(
        topics=TopicScorers(models), texts=texts, signature_features="topics", visit_threshold=1.0
    )
    signature = factors["visit_signature"]
    assert signature.values.tolist() == pytest.approx([1.5, 1.0, 1.0, 1.0, 1.0], abs=1e-12)
    mean, deviation = signature.spread()
    assert (mean, deviation) == pytest.approx((4.5 / 4, sqrt((0.375**2 + 3 * 0.125**2) / 4)), abs=1e-12)
    assert evidence(signature, 2) == pytest.approx([log(1.5)], abs=1e-12)
    both, _ = crawled(topics=TopicScorers(models), texts=texts, signature_features="both")
    # Five words and two topics: (1 + 1/2 + 0 + 1 + 1 + 1/2 + 1) / 7 over 1/2.
    assert both["visit_signature"].values[0] == pytest.approx(10 / 7, abs=1e-12)


def test_signature_as_section_3_prints_it():
    """Without the denominator P(V_i): the mean of r^u_ij / r_ij alone."""
    factors, _ = crawled(visit_threshold=0.0, visit_signature="printed")
    assert factors["visit_signature"].values.tolist() == pytest.approx([0.7, 0.5, 1.0, 1.0, 1.0], abs=1e-12)


def test_temporal_by_hand():
    """Next to finds lie 0, 1, 3, 4, 5, 7: of those crawled, 0 and 3 of 0, 1, 3 are finds; outside, 6 of 6."""
    factors, _ = crawled()
    temporal = factors["visit_temporal"]
    assert np.flatnonzero(temporal.local).tolist() == [0, 1, 3, 4, 5, 7]
    assert (temporal.seen.tolist(), temporal.hits.tolist()) == ([1.0, 3.0], [1.0, 2.0])
    wanted = [log(2 / 3 / P), log(1 / P), 0.0]
    assert evidence(temporal, 4, 2, 8) == pytest.approx(wanted, abs=1e-12)


def test_the_composite_is_the_product():
    """Eq. 12, for 2 (ann's, not next to a find) and 5 (cat's and dan's, next to one)."""
    factors, _ = crawled(visit_threshold=1.9)
    total = [
        sum(column) for column in zip(*[evidence(factor, 2, 5) for factor in factors.values()], strict=True)
    ]
    assert total == pytest.approx([log(1.4) + log(7 / 3), log(49 / 9) + log(14 / 9)], abs=1e-12)


def test_a_page_that_the_log_does_not_know_has_ratio_one():
    factors, _ = crawled()
    for factor in factors.values():
        assert evidence(factor, 8, 9, 10) == [0.0, 0.0, 0.0]
        assert factor.support(np.array([8])).tolist() == [0.0]


def test_explanations_count_people_and_never_fewer_than_k():
    factors, state = crawled(visit_threshold=2.0)
    said = [term.text for factor in factors.values() for term in factor.terms(5)]
    assert said == ["2 people with a strong interest", "1 person came here right before or after a find"]
    state.visits.log.k = 3
    said = [term.text for factor in factors.values() for term in factor.terms(5)]
    assert said == ["visited right before or after a find"]
    assert factors["visit_frequency"].support(np.array([5])).tolist() == [0.0]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        # Bob, cat and dan visited page 3.
        ((0.9, 0.8, 0.7), ["3 people with a strong interest"]),
        ((0.9, 0.2, 0.3), ["3 people with a strong or some interest"]),
        ((0.9, -0.2, -0.3), ["3 people with a strong or little interest"]),
        ((0.9, 0.2, -0.3), ["3 people with a strong or some or little interest"]),
        ((0.9, 0.8, 0.0), []),
    ],
)
def test_the_difference_to_all_tells_of_no_group_of_fewer_than_k(weights, said):
    factors, state = crawled()
    factor = factors["visit_frequency"]
    factor.weights = np.array([0.0, *weights, 0.0])
    state.visits.log.k = 3
    terms = factor.terms(3)
    assert [term.text for term in terms] == said
    counted = int(factor.support(np.array([3]))[0])
    assert counted == sum(int(term.text.split()[0]) for term in terms)
    assert not terms or terms[0].log_ratio == pytest.approx(factor.evidence(np.array([3]))[0])


def test_temporal_locality_does_not_cross_sessions():
    far = visit_log([("ann", 0, PAGES[0]), ("ann", 3_600_000, PAGES[1]), ("ann", 3_601_000, PAGES[2])])
    assert far.neighbours(1, 5).tolist() == [2]
