"""`earlier`: what another crawl knew is believed as far as it foretells what comes."""

import numpy as np
import pytest

from clew.factor import Estimation, Memory, Seen, Sources
from clew.factor.earlier import EVERY, Earlier
from clew.factor.marks import Said
from clew.knowledge import Knowledge, dumps, loads
from clew.page import Links

#: What earlier knowledge is believed before anything is fetched: log odds of 2.
START = 1 / (1 + np.exp(-2))
NONE = np.zeros(0, np.int64)
TARGETS = tuple(f"http://a.example/{kind}/{i}.html" for kind in ("good", "bad") for i in range(10))


def made(known=None):
    """Ten candidates whose URLs have the token `good`, ten with `bad`, all on one page."""
    own, memory = Knowledge(), Memory()
    sources = Sources(own, memory, Estimation(), known)
    n = len(TARGETS)
    links = Links("http://a.example/", TARGETS, ("",) * n, ("",) * n, ("body/a",) * n, ("",) * n)
    sources.marks.note(0, links, range(n), Said.of([[]] * n), False)
    for i, target in enumerate(TARGETS):
        memory.tokens.append(i, own.tokens.numbers([target.split("/")[3]]))
    memory.reserve(n + 1)
    return sources


def seen(sources, candidate, satisfied, parents=(0,)):
    return Seen(
        candidate, satisfied, parents, NONE, sources.memory.tokens.row(candidate).astype(np.int64), NONE
    )


def known():
    found = Knowledge(pages=100, satisfied=20)
    for word, good in (("good", True), ("bad", False)):
        for _ in range(20):
            found.tokens.count(found.tokens.numbers([word]), good)
    return found


def fetched(factor, sources, outcomes):
    factor.learn(Seen(20, False, (), NONE, NONE, NONE))
    for candidate, satisfied in outcomes:
        factor.learn(seen(sources, candidate, satisfied))
        sources.knowledge.pages += 1
        sources.knowledge.satisfied += satisfied
    factor.estimate()


def test_silent_without_earlier_knowledge():
    sources = made()
    factor = Earlier(sources)
    fetched(factor, sources, [(0, True), (10, False)])
    assert not factor.speaks
    assert not factor.evidence(np.arange(20)).any()


def test_what_was_foretold_and_came_is_believed():
    sources = made(known())
    factor = Earlier(sources)
    fetched(factor, sources, [(0, True), (10, False), (1, True), (11, False)])
    assert factor.beliefs["links"] > START
    good, bad = factor.evidence(np.array([5, 15]))
    assert good > 0.5 > 0.0 > bad


def test_what_was_foretold_and_did_not_come_is_not():
    sources = made(known())
    factor = Earlier(sources)
    before = float(factor.evidence(np.array([5]))[0])
    fetched(factor, sources, [(i, False) for i in range(10)] * 3 + [(10, True)])
    assert factor.beliefs["links"] < START / 2
    assert 0.0 < float(factor.evidence(np.array([5]))[0]) < before / 2


def test_pages_that_led_to_several_finds_are_known_again():
    """A page of the first crawl leads to finds; the second crawl, from elsewhere, likes the link to it."""
    first = made()
    factor = Earlier(first)
    factor.learn(seen(first, 0, False, ()))
    for candidate in range(1, 10):
        factor.learn(seen(first, candidate, True, (0,)))
    for candidate in range(10, 20):
        factor.learn(seen(first, candidate, False, (1,)))
    first.knowledge.pages, first.knowledge.satisfied = 20.0, 9.0
    assert first.knowledge.ways.row(EVERY) == (20.0, pytest.approx(8 / 11))
    assert first.knowledge.ways.row("file 0.html")[1] > 0.0
    second = made(loads(dumps(first.knowledge)))
    again = Earlier(second)
    assert again.speaks
    assert first.knowledge.ways == second.earlier.ways
