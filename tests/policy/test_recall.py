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

NONE = np.zeros(0, np.int32)


def decided(number, result="miss", score=0.0, url="", reasons=()):
    return Decision(
        seq=number, at=0.0, kind="page", url=url or f"http://a.example/{number}", candidate=number, attempt=0,
        score=score, terms=(score,), queue=0, status=200, result=result, verdict=0.0, reasons=tuple(reasons),
        new=0, known=0, dropped=(),
    )  # fmt: skip


def after(outcomes):
    """An estimator that was told of these outcomes: (score, find)."""
    estimator = RecallEstimator()
    for number, (score, find) in enumerate(outcomes):
        estimator.record(decided(number, "match" if find else "miss", score))
    return estimator


def sources(count):
    return np.full(count, -1, np.int32)


def test_nothing_is_said_before_there_are_finds_to_go_by():
    assert after([(0.0, False)] * 500).estimate(np.zeros(100), sources(500)) is None
    assert after([(1.0, True)] * 4 + [(0.0, False)] * 500).estimate(np.zeros(100), sources(504)) is None
    assert after([(1.0, True)] * 19).estimate(np.zeros(100), sources(19)) is None


def test_the_longer_nothing_is_found_the_less_is_left():
    finds = [(1.0, True)] * 100
    looks = [
        after(finds + [(0.0, False)] * misses).estimate(np.full(1000, -1.0), sources(2000))
        for misses in (0, 50, 200, 800)
    ]
    assert [look.low for look in looks] == sorted(look.low for look in looks)
    assert looks[0].low < 0.5
    assert looks[-1].low > 0.85


def test_a_frontier_that_is_empty_leaves_nothing():
    look = after([(1.0, True)] * 30).estimate(np.zeros(0), sources(30))
    assert (look.low, look.high) == (1.0, 1.0)


def test_waiting_candidates_with_the_scores_of_finds_are_expected_to_be_some():
    history = [(2.0, True), (-2.0, False)] * 60
    alike, unlike = (after(history).estimate(np.full(500, s), sources(120)) for s in (2.0, -2.0))
    assert alike.left[1] > unlike.left[1]


@given(
    outcomes=st.lists(st.tuples(st.floats(-1e6, 1e6), st.booleans()), max_size=120),
    waiting=st.lists(st.floats(-1e6, 1e6), max_size=50),
)
def test_the_ends_are_in_order_and_no_more_is_left_than_waits_many_times_over(outcomes, waiting):
    look = after(outcomes).estimate(np.array(waiting), sources(len(outcomes)))
    if look is not None:
        assert 0 <= look.left[0] <= look.left[1] <= look.left[2]
        assert 0.0 < look.low <= look.middle <= look.high <= 1.0
        assert 0.0 <= look.unseen <= 1.0
        assert RecallEstimate.loads(look.dumps()).left == look.left


@given(outcomes=st.lists(st.booleans(), min_size=1, max_size=200), cut=st.integers(0, 200))
def test_told_the_trace_again_it_looks_when_and_as_it_would_have(outcomes, cut):
    """One estimator sees everything; another is made anew at a cut, from the trace and the journal."""
    waiting, found = np.linspace(-1, 1, 40), []
    for resumed in (False, True):
        estimator, journal = RecallEstimator(), []
        for number, find in enumerate(outcomes):
            if resumed and number == cut:
                estimator = after([(0.0, one) for one in outcomes[:number]])
                estimator.resume(journal)
            estimator.record(decided(number, "match" if find else "miss"))
            if estimator.due and (look := estimator.look(waiting, sources(200))) is not None:
                journal.append(Journal(number, look.dumps()))
        found.append((journal, estimator.last and estimator.last.dumps()))
    assert found[0] == found[1]


def test_finds_whose_links_came_lately_say_that_more_is_out_of_sight():
    outcomes = [(0.0, False)] * 60 + [(0.0, True)] * 20
    old, new = sources(80), np.arange(79, dtype=np.int32).repeat(1)
    new = np.concatenate([[-1], new]).astype(np.int32)  # each was first linked from the page before it
    waiting = np.zeros(50)
    assert after(outcomes).estimate(waiting, new).unseen > 0.9
    assert after(outcomes).estimate(waiting, old).unseen < 0.1


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
