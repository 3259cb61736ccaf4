"""`inherited`: counting on in another crawl's counts, as far as they are trusted, each page once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.factor.inherited import CARRIED, DISCOUNT, Inherited
from clew.knowledge import Knowledge, LinkTypes


def page(knowledge, words, satisfied):
    """Count a page; the numbers of its words."""
    knowledge.pages += 1
    knowledge.satisfied += satisfied
    numbers = knowledge.words.numbers(words)
    knowledge.words.count(numbers, satisfied)
    return numbers


def both():
    earlier, own = Knowledge(), Knowledge()
    page(earlier, ["wind", "farm"], True)
    page(earlier, ["farm"], False)
    earlier.links = LinkTypes(pp=2.0)
    return own, Inherited(own, earlier)


def row(inherited, word):
    seen, hits = inherited.counts("words")
    number = inherited.own.words.find(word)
    return float(seen[number]), float(hits[number])


def test_without_trust_only_own_counts_count():
    own, inherited = both()
    page(own, ["wind"], False)
    assert (inherited.pages, inherited.satisfied, inherited.links) == (1.0, 0.0, LinkTypes())
    assert row(inherited, "wind") == (1.0, 0.0)
    assert row(inherited, "farm") == (0.0, 0.0)


def test_with_trust_earlier_counts_are_added_at_a_discount():
    own, inherited = both()
    page(own, ["wind", "new"], False)
    inherited.trust = 1.0
    assert (inherited.pages, inherited.satisfied) == (1.0 + 2 * DISCOUNT, DISCOUNT)
    assert row(inherited, "wind") == (1.0 + DISCOUNT, DISCOUNT)
    assert row(inherited, "new") == (1.0, 0.0)
    assert inherited.links == LinkTypes(pp=2 * DISCOUNT)


def test_what_is_counted_on_does_not_change_what_this_crawl_learned():
    own, inherited = both()
    inherited.trust = 1.0
    page(own, ["wind"], True)
    assert dict(own.words.rows()) == {"wind": (1.0, 1.0)}


def test_a_page_that_both_fetched_counts_once():
    own, inherited = both()
    numbers = page(own, ["wind", "farm"], True)
    inherited.again({"words": numbers}, True)
    inherited.trust = 1.0
    assert inherited.pages == 2 * DISCOUNT
    assert row(inherited, "wind") == (DISCOUNT, DISCOUNT)
    inherited.trust = 0.0
    assert row(inherited, "wind") == (1.0, 1.0)


PAGES = st.lists(st.tuples(st.sets(st.sampled_from("abcdef"), min_size=1), st.booleans()), max_size=12)


@given(PAGES, PAGES, st.floats(0.0, 1.0), st.integers(0, 12))
def test_counts_are_counts_whatever_is_trusted(theirs, ours, trust, shared):
    """Never below nothing, never more hits than pages."""
    earlier, own = Knowledge(), Knowledge()
    for words, satisfied in theirs:
        page(earlier, sorted(words), satisfied)
    inherited = Inherited(own, earlier)
    for at, (words, satisfied) in enumerate(ours):
        numbers = page(own, sorted(words), satisfied)
        if at < shared:
            inherited.again({"words": numbers}, satisfied)
    inherited.trust = trust
    for name in CARRIED:
        seen, hits = inherited.counts(name)
        assert (hits >= -1e-9).all()
        assert (seen - hits >= -1e-9).all()
        assert np.isfinite(seen).all()
    assert inherited.pages >= inherited.satisfied - 1e-9
