"""Directions: how deep candidates lie, what is counted, and when a direction is suspended."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.policy.confidence import Confidence


class Pages:
    """Pages of a made-up crawl, told to a `Confidence` one by one."""

    def __init__(self, level=0.9):
        self.sources = [-1]
        self.confidence = Confidence(level, self.sources.__getitem__)
        self.confidence.meet(np.array([0]), -1)

    def judge(self, candidate, *, find, new=0, known=()):
        """A page with so many new links and some to known candidates; gives the new ones."""
        fresh = list(range(len(self.sources), len(self.sources) + new))
        targets = np.array([*fresh, *known], np.int64)
        self.confidence.record(candidate, find=find, targets=targets, fresh=np.arange(len(targets)) < new)
        self.sources += [candidate] * new
        return fresh


def settled(level=0.5):
    """A crawl that has found a good deal, always two pages after the last find or the start."""
    pages = Pages(level)
    rest = pages.judge(0, find=False, new=4)
    for _ in range(20):
        below = pages.judge(rest.pop(), find=False, new=3)
        rest += pages.judge(below.pop(), find=True, new=2)
        for one in below:
            pages.judge(one, find=False)
    return pages, rest


def test_depth_is_counted_from_the_last_find_or_the_start():
    pages = Pages()
    a, b = pages.judge(0, find=False, new=2)
    (c,) = pages.judge(a, find=False, new=1)
    (d,) = pages.judge(c, find=True, new=1)
    (e,) = pages.judge(d, find=False, new=1)
    assert [pages.confidence.depth(one) for one in (0, a, b, c, d, e)] == [0, 1, 1, 2, 1, 2]


def test_p1_to_p4_are_what_pages_were_by_what_led_to_them():
    pages = Pages()
    a, b, c = pages.judge(0, find=False, new=3)
    (d, e) = pages.judge(a, find=True, new=2)
    pages.judge(b, find=False)
    pages.judge(c, find=False)
    pages.judge(d, find=True)
    pages.judge(e, find=False)
    shares = [pages.confidence.p(number) for number in (1, 2, 3, 4)]
    assert [(one.hits, one.of) for one in shares] == [(1, 2), (1, 2), (1, 3), (2, 3)]
    for one in shares:
        low, high = one.interval
        assert low < one.value < high


def test_a_link_of_a_find_brings_a_known_candidate_nearer_and_a_farther_one_does_not():
    pages = Pages()
    a, b = pages.judge(0, find=False, new=2)
    (c,) = pages.judge(a, find=False, new=1)
    (d,) = pages.judge(c, find=False, new=1)
    pages.judge(b, find=True, known=[d])
    assert pages.confidence.depth(d) == 1
    (e,) = pages.judge(d, find=False, new=1, known=[b, 0])
    assert [pages.confidence.depth(one) for one in (e, b, 0)] == [2, 1, 0]


def test_what_a_redirect_leads_to_is_as_deep_as_what_was_asked_for():
    pages = Pages()
    a, _ = pages.judge(0, find=False, new=2)
    (b,) = pages.judge(a, find=False, new=1)
    pages.confidence.close(b)
    pages.sources.append(b)
    pages.confidence.meet(np.array([len(pages.sources) - 1]), b)
    assert pages.confidence.depth(len(pages.sources) - 1) == 2


def test_before_finds_were_counted_nothing_is_suspended():
    pages = Pages()
    number = 0
    for _ in range(50):
        (number,) = pages.judge(number, find=False, new=1)
    assert pages.confidence.limits == (None, None)
    assert not pages.confidence.suspends(np.arange(len(pages.sources))).any()
    assert pages.confidence.why(number) == ""


def test_a_direction_past_the_limit_is_suspended_and_says_why():
    pages, rest = settled()
    start, limit = pages.confidence.limits
    assert start is not None
    assert limit is not None
    number, depth = rest[0], pages.confidence.depth(rest[0])
    while depth <= limit:
        assert not pages.confidence.suspends(np.array([number]))[0]
        (number,) = pages.judge(number, find=False, new=1)
        depth += 1
    start, limit = pages.confidence.limits
    assert pages.confidence.suspends(np.array([number, rest[-1]])).tolist() == [True, False]
    said = pages.confidence.why(number)
    assert said.startswith(f"suspended: {depth} pages since the ")
    assert said.endswith(f" of finds came within {limit}")


def test_a_find_that_links_to_it_resumes_what_was_suspended():
    pages, rest = settled()
    number = rest[0]
    for _ in range(30):
        (number,) = pages.judge(number, find=False, new=1)
    assert pages.confidence.suspends(np.array([number]))[0]
    pages.confidence.moved(len(pages.sources))
    pages.judge(rest[1], find=True, known=[number])
    assert number in pages.confidence.moved(len(pages.sources))
    assert not pages.confidence.suspends(np.array([number]))[0]


def test_a_higher_level_goes_no_less_deep():
    limits = []
    for level in (0.3, 0.5, 0.7, 0.9):
        pages, _ = settled(level)
        limits.append(pages.confidence.limits)
    for few, many in itertools.pairwise(limits):
        assert all(a is not None and b is not None and a <= b for a, b in zip(few, many, strict=True))


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.integers(0, 4)), max_size=60))
def test_counted_again_from_the_sources_it_is_the_same(steps):
    """Live, candidates are told of as they come; on resume, only their sources are known."""
    pages, told, judged = Pages(0.4), [], set()
    for place, find, new in steps:
        candidate = place % len(pages.sources)
        if candidate in judged:
            continue
        judged.add(candidate)
        known = [(place * 7) % len(pages.sources)]
        first = len(pages.sources)
        pages.judge(candidate, find=find, new=new, known=known)
        told.append((candidate, find, [*range(first, first + new), *known]))
    sources = np.array(pages.sources)
    again = Confidence(0.4, lambda number: int(sources[number]))
    for candidate, find, targets in told:
        links = np.array(targets, np.int64)
        again.record(candidate, find=find, targets=links, fresh=sources[links] == candidate)
    everyone = np.arange(len(sources))
    assert again.as_dict() == pages.confidence.as_dict()
    assert again.suspends(everyone).tolist() == pages.confidence.suspends(everyone).tolist()
    assert [again.depth(n) for n in everyone] == [pages.confidence.depth(n) for n in everyone]
