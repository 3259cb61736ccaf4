"""Stop rules: read with care, and each clause holds exactly when it says so."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import StopSyntaxError
from clew.policy.stop_rule import COUNTS, FLAGS, QUANTITIES, StopRule
from clew.policy.tally import Tally


class Ahead:
    """Prospects as given."""

    def __init__(self, best: float = 1.0, exhausted: bool = False, community: int = 0) -> None:
        self._best, self._exhausted, self._community = best, exhausted, community

    def best(self, enough: float = math.inf) -> float:
        return self._best

    def exhausted(self) -> bool:
        return self._exhausted

    def community(self) -> int:
        return self._community


def tally(flags: str, **more: float) -> Tally:
    found = Tally(**more)
    found.recall(flag == "+" for flag in flags)
    return found


@pytest.mark.parametrize(
    ("rule", "flags", "held"),
    [
        ("matches >= 2", "+-+", "matches >= 2"),
        ("matches > 2", "+-+", None),
        ("misses >= 3", "-+--", "misses >= 3"),
        ("stale >= 2", "-+--", "stale >= 2"),
        ("stale >= 3", "-+--", None),
        ("stale >= 3", "---", "stale >= 3"),
        ("precision < 0.5 over 4", "++++" + "---+", "precision < 0.5 over 4"),
        ("precision < 30% over 4", "----", "precision < 0.3 over 4"),
        ("precision < 0.5 over 4", "---", None),
        ("precision < 0.5", "-" * 49, None),
        ("precision < 0.5", "-" * 50, "precision < 0.5"),
        ("pages >= 5 or stale >= 2 and matches >= 1", "+--", "stale >= 2 and matches >= 1"),
        ("(pages >= 5 or stale >= 2) and matches >= 2", "+--", None),
        ("PAGES >= 3 OR matches >= 9", "---", "pages >= 3"),
    ],
)
def test_a_rule_holds_when_it_says_so(rule, flags, held):
    assert StopRule.parse(rule).met(tally(flags), 0.0, Ahead()) == held


@pytest.mark.parametrize(
    ("rule", "ahead", "held"),
    [
        ("best < 0.1", Ahead(best=0.05), True),
        ("best < 0.1", Ahead(best=0.1), False),
        ("best <= 0.1", Ahead(best=0.1), True),
        ("exhausted", Ahead(exhausted=True), True),
        ("exhausted", Ahead(), False),
        ("community", Ahead(community=10), True),
        ("community", Ahead(community=9), False),
        ("community >= 5", Ahead(community=9), True),
    ],
)
def test_what_lies_ahead_decides_too(rule, ahead, held):
    assert (StopRule.parse(rule).met(tally("-"), 0.0, ahead) is not None) == held


def test_time_and_bytes_are_written_as_people_do_and_count_over_sessions():
    rule = StopRule.parse("time >= 1h30m or bytes >= 2MB")
    assert rule.met(tally("", elapsed=5000.0), 399.0, Ahead()) is None
    assert rule.met(tally("", elapsed=5000.0), 400.0, Ahead()) == "time >= 1h30m"
    assert rule.met(tally("", wire=2_000_000), 0.0, Ahead()) == "bytes >= 2.0MB"


def test_the_widest_focus_is_what_tunnelling_says():
    rule, found = StopRule.parse("widest"), tally("--")
    assert rule.met(found, 0.0, Ahead()) is None
    found.widest = True
    assert rule.met(found, 0.0, Ahead()) == "widest"


@pytest.mark.parametrize(
    ("rule", "says", "column"),
    [
        ("matchs >= 5", "did you mean 'matches'?", 1),
        ("pages >= 1 or presicion < 0.1", "did you mean 'precision'?", 15),
        ("zzz", "choose from pages, matches", 1),
        ("matches", "'matches' needs a limit, such as matches >= 500", 1),
        ("exhausted >= 3", "'exhausted' stands alone", 1),
        ("stale >= 20 over 5", "'over' goes with precision", 18),
        ("stale >= 2.5", "'2.5' is not a whole number", 10),
        ("precision < 2", "precision is a share: write 0.02 or 2%", 13),
        ("time >= soon", "expected", 9),
        ("time >= 3parsecs", "is not a duration", 9),
        ("pages = 5", "write >= or <=", 7),
        ("pages >= 5 or", "expected a clause", 14),
        ("pages >= 5 pages >= 6", "expected a clause", 12),
        ("(pages >= 5", "expected a clause", 12),
        ("", "say when to stop", 1),
        ("(" * 60 + "exhausted" + ")" * 60, "at most 50 parentheses", 1),
    ],
)
def test_what_is_wrong_is_told_with_its_column(rule, says, column):
    with pytest.raises(StopSyntaxError) as caught:
        StopRule.parse(rule)
    assert says in str(caught.value)
    assert caught.value.position + 1 == column


@given(st.text(max_size=60))
def test_any_text_is_a_rule_or_a_syntax_error(text):
    try:
        rule = StopRule.parse(text)
    except StopSyntaxError:
        return
    assert StopRule.parse(str(rule)) == rule


_CLAUSE = st.one_of(
    st.sampled_from(FLAGS),
    st.floats(-1e9, 1e9).map(lambda x: f"best < {x:.17f}"),
    st.floats(0, 1).map(lambda x: f"precision < {x:.17f} over 3"),
    st.floats(0, 1e9).map(lambda x: f"time >= {x:.17f}"),
    st.integers(0, 10**14).map(lambda x: f"bytes >= {x}"),
    st.builds(
        lambda name, operator, limit: f"{name} {operator} {limit}",
        st.sampled_from(COUNTS),
        st.sampled_from([">=", ">", "<", "<="]),
        st.integers(0, 10**6),
    ),
)


@given(
    st.recursive(
        _CLAUSE, lambda inner: st.builds("({} or {} and {})".format, inner, inner, inner), max_leaves=8
    )
)
def test_a_rule_prints_back_as_itself(text):
    rule = StopRule.parse(text)
    assert StopRule.parse(str(rule)) == rule
    assert all(clause.name in QUANTITIES + FLAGS for clause in rule.clauses())


@given(st.lists(st.booleans(), max_size=80), st.integers(1, 90))
def test_precision_over_a_window_is_the_share_of_the_last_pages(flags, over):
    found = Tally()
    found.recall(flags)
    last = flags[-over:]
    assert found.precision(over) == (sum(last) / len(last) if last else 0.0)
    assert found.stale == next((i for i, flag in enumerate(reversed(flags)) if flag), len(flags))
