"""Every strategy that can be chosen by name keeps the contract, whether the predicate can guess or not."""

from typing import ClassVar

import pytest

from clew.predicate import CallablePredicate
from clew.strategy import STRATEGIES, Scored, make
from clew.testing import StrategyContract

BASELINES = ("focused", "shark", "cosine", "ache", "anthelion", "tagpath")
#: Small enough that models are trained and dice are thrown within the contract's small crawl.
BRISK = {"ache": {"first": 10, "every": 12}, "anthelion": {"explore": 0.9}}


class Chosen(StrategyContract):
    more: ClassVar[dict[str, object]] = {}

    def make(self):
        return make(self.name, self.predicate, seed=3, options={**BRISK.get(self.name, {}), **self.more})


class TestOpen(Chosen):
    @pytest.fixture(autouse=True, params=tuple(STRATEGIES))
    def _named(self, request):
        self.name = request.param


class TestBlind(Chosen):
    """The predicate has nothing to say of links: the crawler learns yes or no after each fetch."""

    predicate = CallablePredicate(lambda page: "turbine" in page.text, "blind")

    @pytest.fixture(autouse=True, params=BASELINES)
    def _named(self, request):
        self.name = request.param


class TestForgetful(Chosen):
    """With room for a handful of candidates, the others are treated as strangers."""

    more: ClassVar[dict[str, object]] = {"memory": 5}

    @pytest.fixture(autouse=True, params=["shark", "ache", "anthelion", "tagpath"])
    def _named(self, request):
        self.name = request.param


def test_the_contract_tells_a_strategy_that_learns_while_scoring():
    """The suite can fail: a strategy that counts its scorings is found out."""

    class Counting:
        name, parts = "counting", ("n",)

        def __init__(self):
            self.inner, self.n = make("focused", StrategyContract.predicate), 0

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def observe(self, expansion):
            return Scored(self.score(expansion))

        def score(self, expansion):
            self.n += 1
            return self.inner.score(expansion) + self.n

    class Checked(StrategyContract):
        def make(self):
            return Counting()

    for check in ("test_scoring_never_changes_anything", "test_scoring_more_often_changes_no_decision"):
        with pytest.raises(AssertionError):
            getattr(Checked(), check)()
