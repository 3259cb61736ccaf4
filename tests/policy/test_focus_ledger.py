"""What changes of focus cost and led to, against a count by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.policy.focus_ledger import FocusLedger

STEPS = st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 30), st.booleans())), max_size=60)
"""None for a change of focus; else a page: which earlier one led to it, and whether it is a find."""


@given(STEPS)
def test_every_page_counts_for_the_focus_it_was_fetched_under_and_finds_for_those_their_path_crossed(steps):
    ledger = FocusLedger[int]()
    pages: list[tuple[int | None, bool, int]] = []
    period = 0
    for step in steps:
        if step is None:
            period += 1
            ledger.record_change(f"{period - 1}", f"{period}")
            continue
        back, find = step
        source = back % len(pages) if pages and back else None
        ledger.record_page(len(pages), source, find=find)
        pages.append((source, find, period))
    crossed = []
    for source, find, _ in pages:
        met = set()
        while find and source is not None:
            source, relevant, when = pages[source]
            if not relevant:
                met.add(when)
        crossed.append(met)
    assert [(one.before, one.after) for one in ledger.changes] == [
        (str(n), str(n + 1)) for n in range(period)
    ]
    for number, change in enumerate(ledger.changes, start=1):
        mine = [find for _, find, when in pages if when == number]
        assert (change.finds, change.off_topic) == (sum(mine), len(mine) - sum(mine))
        assert change.pages == sum(when < number for _, _, when in pages)
        assert change.led_to == sum(number in met for met in crossed)
    assert ledger.tunnelled == sum(map(bool, crossed))


def test_sources_that_lead_round_end():
    ledger = FocusLedger[str]()
    ledger.record_source("a", "b")
    ledger.record_source("b", "a")
    ledger.record_page("c", "a", find=True)
    assert ledger.tunnelled == 0
