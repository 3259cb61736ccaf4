"""Every formula of sections 3 and 4 of the 2001 paper, on a web small enough to do by hand.

Six pages are crawled, with smoothing off. Words are single letters repeated to be long enough to count.

    S   "alpha common"          not satisfying   links: A, B
    A   "alpha beta common"     satisfying       links: C, D, X
    B   "gamma common"          not satisfying   links: C, E, X
    C   "beta alpha common"     satisfying       links: A, Y
    D   "beta common"           satisfying       links: X
    E   "gamma common"          not satisfying   links: Y

Candidates left: X (linked from A, B, D) and Y (linked from C, E).
"""

import math

import numpy as np
import pytest

from clew import url as urls
from clew.factor import Estimation, log_ratio, significance
from clew.page import Link, Links, Page
from clew.predicate.verdict import Verdict
from clew.strategy import Intelligent
from clew.strategy.base import Expansion

URL = {
    "S": "http://start.example/",
    "A": "http://wind.example/farm",
    "B": "http://bread.example/oven",
    "C": "http://wind.example/mill",
    "D": "http://wind.example/sea",
    "E": "http://bread.example/rye",
    "X": "http://wind.example/new",
    "Y": "http://bread.example/new",
}
WEB = [
    ("S", "alpha common", False, "AB"),
    ("A", "alpha beta common", True, "CDX"),
    ("B", "gamma common", False, "CEX"),
    ("C", "beta alpha common", True, "AY"),
    ("D", "beta common", True, "X"),
    ("E", "gamma common", False, "Y"),
]
EXACT = Estimation(smoothing=0.0, temper=1.0, reach=0.0)


def crawl(how=EXACT, **more):
    """Feed the six outcomes to the strategy, in order; gives it and the candidates' numbers."""
    strategy = Intelligent(
        how=how,
        weights="product",
        refresh=0.0,
        tokens="paper",
        factors=("content", "url", "link", "sibling"),
        **more,
    )
    ids = {"S": 0}
    for name, text, good, out in WEB:
        fresh = np.array([t not in ids for t in out])
        for t in out:
            ids.setdefault(t, len(ids))
        links = Links.of(URL[name], [Link(URL[name], URL[t]) for t in out])
        page = Page(url=URL[name], text=text, language="en", links=links)
        numbers = np.array([ids[t] for t in out])
        verdict = Verdict(float(good), good)
        expansion = Expansion(ids[name], page, verdict, 0, links, urls.keys(links.targets), numbers, fresh)
        strategy.observe(expansion)
    return strategy, ids


P = 3 / 6


def test_counts_of_k():
    """Items (1) to (8)."""
    known = crawl()[0].knowledge
    assert (known.pages, known.satisfied) == (6, 3)
    assert known.words.row("alpha") == (3, 2)
    assert known.words.row("beta") == (3, 3)
    assert known.words.row("gamma") == (2, 0)
    assert known.words.row("common") == (6, 3)
    assert known.tokens.row("wind") == (3, 3)
    assert known.tokens.row("bread") == (2, 0)
    assert known.tokens.row("example") == (6, 3)
    # Links with both ends crawled: S-A np, S-B nn, A-C pp, A-D pp, B-C np, B-E nn, C-A pp.
    assert known.links.total == 7
    assert (known.links.pp, known.links.pn, known.links.np, known.links.nn) == (3, 0, 2, 2)


def test_words_of_linking_pages_are_counted_too():
    """The definition of Q_i: a word of some page linking to the crawled one."""
    known = crawl()[0].knowledge
    # A is linked from S when crawled; B from S; C from A and B; D from A; E from B.
    assert known.inlinks.row("alpha") == (4, 3)
    assert known.inlinks.row("beta") == (2, 2)
    assert known.inlinks.row("gamma") == (2, 1)


def evidence(strategy, number):
    return dict(zip(strategy.factors, strategy.evidence(np.array([number]))[0].tolist(), strict=True))


def test_content_eq_5_to_7_and_11():
    """S(C, Q) = |n_i^C/n_i − P| / sqrt(P(1−P)/n(C)); with t = 1 beta and gamma tell, others not."""
    how = Estimation(smoothing=0.0, temper=1.0, reach=0.0, threshold=1.0)
    deviation = math.sqrt(P * (1 - P) / 3)
    assert abs(2 / 3 - P) / deviation < 1.0 < abs(1.0 - P) / deviation
    strategy, ids = crawl(how)
    beta = math.log((3 / 3) / P)
    # X is linked from A (beta tells), B (gamma: ratio 0, log −inf) and D (beta tells).
    assert strategy.evidence_for(ids["X"])[0].terms[0].text == "gamma"
    assert evidence(strategy, ids["X"])["content"] == -math.inf
    # Only the linking pages' own terms, without the dead word: the mean over pages.
    strategy.knowledge.words.hits[strategy.knowledge.words.find("gamma")] = 0.5
    strategy._estimate()
    gamma = math.log((0.5 / 2) / P)
    strength = abs(0.5 / 2 - P) / deviation
    gamma = gamma if strength >= 1.0 else 0.0
    assert evidence(strategy, ids["X"])["content"] == pytest.approx((beta + gamma + beta) / 3, abs=1e-12)


def test_url_tokens_eq_8_to_10():
    """Tokens split at . and /; t = 1 makes wind (3 of 3) and bread (0 of 2) tell."""
    how = Estimation(smoothing=0.0, temper=1.0, reach=0.0, threshold=1.0)
    strategy, ids = crawl(how)
    assert evidence(strategy, ids["X"])["url"] == pytest.approx(math.log(1.0 / P), abs=1e-12)
    assert evidence(strategy, ids["Y"])["url"] == -math.inf


def test_link_table_1_and_section_4():
    """I_l = (N_pp / (N_l P²))^m (N_np / (N_l P (1 − P)))^(k − m)."""
    strategy, ids = crawl()
    p = 3 / (7 * P * P)
    q = 2 / (7 * P * (1 - P))
    assert evidence(strategy, ids["X"])["link"] == pytest.approx(2 * math.log(p) + math.log(q), abs=1e-12)
    assert evidence(strategy, ids["Y"])["link"] == pytest.approx(math.log(p) + math.log(q), abs=1e-12)


def test_sibling_section_3_5_each_counted_once():
    """X's siblings: C and D (from A), C and E (from B): C once, so 2 of 3. Y's: A (from C): 1 of 1."""
    strategy, ids = crawl()
    assert evidence(strategy, ids["X"])["sibling"] == pytest.approx(math.log(2 / (3 * P)), abs=1e-12)
    assert evidence(strategy, ids["Y"])["sibling"] == pytest.approx(math.log(1 / (1 * P)), abs=1e-12)


def test_the_papers_own_sibling_example():
    """15 visited siblings of which 9 satisfy, P(C) = 0.1: the ratio is 6."""
    assert math.exp(log_ratio(np.array([15.0]), np.array([9.0]), 0.1, 0.0)[0]) == pytest.approx(
        6.0, abs=1e-12
    )


def test_the_papers_own_online_mall_example():
    """5 % against 0.1 %: an interest ratio of 50."""
    found = log_ratio(np.array([1000.0]), np.array([50.0]), 0.001, 0.0)[0]
    assert math.exp(found) == pytest.approx(50.0, abs=1e-9)


def test_both_readings_of_the_deviation():
    """n(C), as the 2001 paper prints, and N, as the 2002 paper does."""
    seen, hits = np.array([10.0]), np.array([6.0])
    over_satisfying = significance(seen, hits, 0.3, 30)[0]
    over_all = significance(seen, hits, 0.3, 100)[0]
    assert over_satisfying == pytest.approx(0.3 / math.sqrt(0.3 * 0.7 / 30), abs=1e-12)
    assert over_all == pytest.approx(0.3 / math.sqrt(0.3 * 0.7 / 100), abs=1e-12)


def test_the_priority_is_the_sum_of_its_contributions():
    strategy, ids = crawl(Estimation(smoothing=1.0))
    parts = strategy.evaluate(np.array([ids["X"], ids["Y"]]))
    assert parts[0].sum() > parts[1].sum()
    assert parts.shape == (2, 5)


def test_smoothing_keeps_every_logarithm_finite():
    strategy, ids = crawl(Estimation(smoothing=1.0, threshold=0.0))
    assert np.isfinite(strategy.evaluate(np.array(list(ids.values())))).all()


def test_the_inlink_reading_gives_other_ratios():
    how = {"smoothing": 0.0, "threshold": 0.0, "temper": 1.0}
    a, ids = crawl(Estimation(content="candidate", **how))
    b, _ = crawl(Estimation(content="inlink", **how))
    # Y is linked from C ("beta alpha common") and E ("gamma common").
    inlink = {"alpha": 3 / 4, "beta": 2 / 2, "gamma": 1 / 2, "common": 3 / 5}
    c_page = sum(math.log(inlink[w] / P) for w in ("beta", "alpha", "common"))
    e_page = sum(math.log(inlink[w] / P) for w in ("gamma", "common"))
    assert evidence(b, ids["Y"])["content"] == pytest.approx((c_page + e_page) / 2, abs=1e-12)
    assert evidence(a, ids["Y"])["content"] == -math.inf


def test_content_over_the_union_of_the_parents_words():
    """Section 3.2: a word of any page that links to the candidate counts, and counts once."""
    how = {"smoothing": 0.0, "threshold": 0.0, "temper": 1.0}
    strategy, ids = crawl(Estimation(parents="union", **how))
    strategy.knowledge.words.hits[strategy.knowledge.words.find("gamma")] = 0.5
    strategy._estimate()
    # X is linked from A ("alpha beta common"), B ("gamma common") and D ("beta common").
    ratios = {"alpha": (2 / 3) / P, "beta": (3 / 3) / P, "gamma": (0.5 / 2) / P, "common": (3 / 6) / P}
    union = sum(math.log(ratios[w]) for w in ("alpha", "beta", "gamma", "common"))
    assert evidence(strategy, ids["X"])["content"] == pytest.approx(union, abs=1e-12)
    # Y is linked from C ("beta alpha common") and E ("gamma common"): the same four words.
    assert evidence(strategy, ids["Y"])["content"] == pytest.approx(union, abs=1e-12)
    terms = strategy.evidence_for(ids["X"])[0].terms
    assert math.fsum(t.log_ratio for t in terms) == pytest.approx(union, abs=1e-12)


def test_the_union_reads_the_words_of_linking_pages_too():
    how = {"smoothing": 0.0, "threshold": 0.0, "temper": 1.0}
    strategy, ids = crawl(Estimation(parents="union", content="inlink", **how))
    # A's links: C and D. Of pages with a linking page that has the word: alpha 3 of 4, beta 2 of 2, …
    inlink = {"alpha": 3 / 4, "beta": 2 / 2, "gamma": 1 / 2, "common": 3 / 5}
    union = sum(math.log(share / P) for share in inlink.values())
    assert evidence(strategy, ids["Y"])["content"] == pytest.approx(union, abs=1e-12)
