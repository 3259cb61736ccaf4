"""The estimate of recall: what it says, when it says nothing, and that it is a fold over the trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import StopSyntaxError, StoreForeign
from clew.learn.share import wilson
from clew.messages import Decision, Journal
from clew.policy import StopRule
from clew.policy.recall import KnownTargets, RecallEstimate, RecallEstimator, TwoCrawls


def decided(number, result="miss", url="", reasons=()):
    return Decision(
        seq=number, at=0.0, kind="page", url=url or f"http://a.example/{number}", candidate=number, attempt=0,
        score=0.0, terms=(0.0,), queue=0, status=200, result=result, verdict=0.0, reasons=tuple(reasons),
        new=0, known=0, dropped=(),
    )  # fmt: skip


def after(outcomes):
    """An estimator that was told of these outcomes: whether each fetch was a find."""
    estimator = RecallEstimator()
    for number, find in enumerate(outcomes):
        estimator.record(decided(number, "match" if find else "miss"))
    return estimator


def alone(count):
    """Candidates each of which a page of its own was the first to link to."""
    return np.arange(count, dtype=np.int32)


def listed(count):
    """Candidates all of which one page was the first to link to."""
    return np.zeros(count, np.int32)


FOUND, MISSED = [True], [False]


def test_nothing_is_said_before_there_are_finds_to_go_by():
    assert after(MISSED * 500).estimate(100, alone(500)) is None
    assert after(FOUND * 4 + MISSED * 500).estimate(100, alone(504)) is None
    assert after(FOUND * 19).estimate(100, alone(19)) is None


def test_the_longer_nothing_is_found_the_less_is_left():
    looks = [after(FOUND * 100 + MISSED * misses).estimate(1000, alone(1000)) for misses in (0, 50, 200, 800)]
    lows = [look.low for look in looks]
    assert lows == sorted(lows)
    assert lows[0] < 0.1
    assert lows[-1] > 0.6


def test_finds_of_one_list_end_with_it_and_finds_by_the_way_do_not():
    """The same lull, after finds that came by a list, and after finds that came one by one."""
    estimator = after(FOUND * 100 + MISSED * 40)
    by_list, one_by_one = (estimator.estimate(1000, sources(140)) for sources in (listed, alone))
    assert by_list.low > 0.8
    assert one_by_one.low < 0.5
    assert one_by_one.left[1] > 10 * by_list.left[1]


def test_seeds_are_no_list():
    estimator = after(FOUND * 100 + MISSED * 40)
    seeds = np.full(140, -1, np.int32)
    assert estimator.estimate(1000, seeds) == estimator.estimate(1000, alone(140))


def test_the_more_waits_the_more_is_left():
    estimator = after((FOUND + MISSED) * 60)
    left = [estimator.estimate(waiting, alone(120)).left for waiting in (10, 100, 1000, 10000)]
    assert left == sorted(left)
    assert left[0] != left[-1]


def test_a_crawl_ten_times_as_long_with_as_much_more_of_all_has_the_same_recall():
    small = after((FOUND + MISSED * 3) * 100).estimate(2_000, alone(400))
    large = after((FOUND + MISSED * 3) * 1000).estimate(20_000, alone(4000))
    assert large.middle == pytest.approx(small.middle, abs=0.02)


def test_an_interval_leaves_out_where_recall_is_least_likely():
    """Near the end all is possible above, and what is left out is below; amid the crawl it is both."""
    end = after(FOUND * 100 + MISSED * 200).estimate(300, listed(300))
    amid = after((FOUND + MISSED) * 60).estimate(200, alone(120))
    assert end.high == 1.0
    assert end.low > 0.9
    assert 0.0 < amid.low < amid.middle < amid.high < 1.0


def test_a_frontier_that_is_empty_leaves_nothing():
    look = after(FOUND * 30).estimate(0, alone(30))
    assert (look.low, look.high) == (1.0, 1.0)


@given(
    outcomes=st.lists(st.booleans(), max_size=120), waiting=st.integers(0, 10**9), parts=st.integers(1, 120)
)
def test_the_ends_are_in_order_and_no_more_is_left_than_waits(outcomes, waiting, parts):
    look = after(outcomes).estimate(waiting, alone(len(outcomes)) % parts - 1)
    if look is not None:
        assert 0 <= look.left[0] <= look.left[1] <= look.left[2] <= waiting
        assert 0.0 < look.low <= look.middle <= look.high <= 1.0
        assert 0.0 <= look.unseen <= 1.0
        assert RecallEstimate.loads(look.dumps()).left == look.left


@given(outcomes=st.lists(st.booleans(), min_size=1, max_size=200), cut=st.integers(0, 200))
def test_told_the_trace_again_it_looks_when_and_as_it_would_have(outcomes, cut):
    """One estimator sees everything; another is made anew at a cut, from the trace and the journal."""
    found = []
    for resumed in (False, True):
        estimator, journal = RecallEstimator(), []
        for number, find in enumerate(outcomes):
            if resumed and number == cut:
                estimator = after(outcomes[:number])
                estimator.resume(journal)
            estimator.record(decided(number, "match" if find else "miss"))
            if estimator.due and (look := estimator.look(40, alone(200))) is not None:
                journal.append(Journal(number, look.dumps()))
        found.append((journal, estimator.last and estimator.last.dumps()))
    assert found[0] == found[1]


def test_finds_whose_links_came_lately_say_that_more_is_out_of_sight():
    estimator = after(MISSED * 60 + FOUND * 20)
    old = np.full(80, -1, np.int32)
    new = np.arange(-1, 79, dtype=np.int32)  # each was first linked from the page before it
    assert estimator.estimate(50, new).unseen > 0.9
    assert estimator.estimate(50, old).unseen < 0.1


@pytest.mark.parametrize(
    "entry", ['{"recall":[1,2]}', '{"recall":[9,9,0,0,0,0,0]}', '{"recall":"x"}', '{"recall":']
)
def test_a_damaged_entry_is_told(entry):
    with pytest.raises(StoreForeign):
        RecallEstimate.loads(entry)


def test_entries_about_something_else_are_passed_over():
    assert RecallEstimate.loads('{"command":"ban-host"}') is None


def test_known_targets_count_when_they_are_come_upon_by_redirects_too():
    known = KnownTargets([f"http://a.example/{n}" for n in range(5)])
    known.record(decided(0, "match"))
    known.record(decided(1, "miss"))  # no target by the formula
    known.record(decided(7, "match", url="http://a.example/new"))
    known.record(decided(2, "redirect", reasons=["http://a.example/new"]))
    known.record(decided(3, "redirect", reasons=["http://a.example/later"]))
    known.record(decided(8, "duplicate", url="http://a.example/later"))
    assert (known.found, known.counted) == (3, 4)


@given(st.integers(0, 300), st.integers(0, 300))
def test_wilson_holds_the_share_it_was_made_of(found, more):
    low, high = wilson(found, found + more)
    assert 0.0 <= low <= (found / (found + more) if found + more else 0.5) <= high <= 1.0


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500))
def test_two_crawls_never_say_there_is_less_than_they_found(first, second, common):
    both = TwoCrawls(first + common, second + common, common)
    low, high = both.interval
    assert both.together <= low <= high
    assert all(0.0 <= share <= 1.0 for share in both.recall(both.together))


def test_clauses_that_look_at_recall_are_the_lower_end_and_say_so():
    assert str(StopRule.parse("recall >= 90%")) == "recall >= 0.9"
    for wrong in ("recall < 0.9", "known <= 0.5", "recall >= 1.5", "recall"):
        with pytest.raises(StopSyntaxError):
            StopRule.parse(wrong)
