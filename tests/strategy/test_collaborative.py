"""`collaborative`: Figure 1 of the 2002 paper, and the log beside links."""

from __future__ import annotations

import numpy as np
import pytest

from clew.lab import DemoWeb
from clew.lab.parsed_web import ParsedWeb
from clew.lab.predicates import Blind
from clew.lab.simulate import simulate
from clew.lab.visit_logs import visit_log
from clew.predicate import compile as compile_predicate
from clew.strategy import make
from clew.testing import StrategyContract, made_log


@pytest.fixture(scope="module")
def web():
    return DemoWeb()


@pytest.fixture(scope="module")
def parsed(web):
    return ParsedWeb(web)


@pytest.fixture(scope="module")
def targets(web, parsed):
    wanted = compile_predicate(web.formula())
    return sorted(parsed.urls[n] for n, page in parsed.pages() if wanted.judge(page).satisfied)


@pytest.fixture(scope="module")
def log(parsed, targets):
    visits = []
    for line in made_log(parsed, {"wind": targets}, people=40, robots=0):
        fields = line.split()
        visits.append((fields[2], int(float(fields[0]) * 1000), fields[6]))
    return visit_log(visits)


def crawled(parsed, targets, name, log, *, seeds=(), budget=120, **options):
    wanted = Blind("wind", frozenset(targets))
    strategy = make(name, wanted, options=options, visits=log)
    return simulate(parsed, wanted, strategy, seeds, budget), strategy


def test_the_log_can_be_the_only_start(parsed, targets, log):
    course, strategy = crawled(parsed, targets, "collaborative", log)
    assert course.requests == 120
    assert len(course.finds) > 0.3 * 120
    assert strategy.counts.fetched.sum() >= 100


def test_it_stops_when_the_list_is_empty_and_min_cand_pages_were_crawled(parsed, targets, log):
    """Nothing satisfies: no page is ever promising, so that all there is are samples."""
    few, _ = crawled(parsed, ["http://nowhere.example/"], "collaborative", log, min_cand=20, budget=200)
    assert (few.stop, few.requests < 60) == ("frontier empty", True)


def test_pages_enter_with_a_ratio_above_the_threshold_only(parsed, targets, log):
    _, low = crawled(parsed, targets, "collaborative", log, min_cand=30)
    _, high = crawled(parsed, targets, "collaborative", log, min_cand=30, above=1000)
    assert (high.counts.candidate >= 0).sum() < (low.counts.candidate >= 0).sum()


def test_lazy_updates_come_close_to_exact_ones_and_a_refresh_of_zero_is_exact(parsed, targets, log):
    exact, _ = crawled(parsed, targets, "collaborative", log, exact="yes")
    always, _ = crawled(parsed, targets, "collaborative", log, refresh=0)
    lazy, _ = crawled(parsed, targets, "collaborative", log, refresh=0.2)
    assert always.found == exact.found
    assert len(lazy.finds) >= 0.8 * len(exact.finds)


def test_the_log_helps_intelligent_and_its_factors_stand_in_the_score(web, parsed, targets, log):
    seeds = web.seeds()
    alone, plain = crawled(parsed, targets, "intelligent", None, seeds=seeds, budget=250)
    both, strategy = crawled(parsed, targets, "intelligent", log, seeds=seeds, budget=250)
    assert set(strategy.parts) - set(plain.parts) == {"visit_frequency", "visit_signature", "visit_temporal"}
    assert len(both.finds) > len(alone.finds)


@pytest.mark.slow
def test_every_score_of_intelligent_with_a_log_is_exact(web, parsed, targets, log):
    exact, _ = crawled(parsed, targets, "intelligent", log, seeds=web.seeds(), budget=60, exact="yes")
    usual, _ = crawled(parsed, targets, "intelligent", log, seeds=web.seeds(), budget=60)
    assert usual.found == exact.found
    assert usual.parts == exact.parts


class TestCollaborativeContract(StrategyContract):
    def make(self):
        hosts = ("farms.example", "news.example", "bakery.example")
        pages = [f"http://{hosts[i % 3]}/{'ab'[i % 2]}/{i}" for i in range(60)]
        visits = [(f"{i % 7}", 1000 * i, url) for i, url in enumerate(pages * 2)]
        return make("collaborative", self.predicate, visits=visit_log(visits))


def test_a_log_of_nobody_is_no_log():
    empty = np.zeros(0, np.int64)
    assert make("collaborative", Blind("x", frozenset())).log.find(empty.astype(np.uint64)).tolist() == []
