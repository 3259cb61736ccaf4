"""`context`, `liveness`, `url_depth`: what can be told of a link before it is followed."""

import numpy as np
import pytest

from clew.factor import Context, Estimation, FetchOutcome, LearningState, LinkGraph, Liveness, UrlDepth
from clew.factor.link_features import LinkFeatures, Said, depth
from clew.knowledge import Knowledge
from clew.page import Links

NONE = np.zeros(0, np.int64)


def links(source, *targets, path="body/ul/li/a"):
    n = len(targets)
    return Links(source, targets, ("",) * n, ("",) * n, (path,) * n, ("",) * n)


def seen(candidate, satisfied=False, alive=True):
    return FetchOutcome(candidate, satisfied, (), NONE, NONE, NONE, alive)


@pytest.fixture
def state():
    """Candidates 0 to 9 in /people/, 10 to 19 in /papers/, linked from one page; 20 on another host."""
    found = LearningState(Knowledge(), LinkGraph(), Estimation())
    people = [f"http://a.example/people/p{i}.html" for i in range(10)]
    papers = [f"http://a.example/papers/q{i}.ps" for i in range(10)]
    page = links("http://a.example/index.html", *people, *papers, "http://b.example/")
    found.features.note(0, page, range(21), Said.of([[]] * 21), False)
    return found


def taught(factor, outcomes):
    teacher = Context(factor.state)
    for candidate, satisfied, alive in outcomes:
        teacher.learn(seen(candidate, satisfied, alive))
        factor.estimate()
    return factor


def test_links_like_those_that_were_finds_are_liked(state):
    """Of two directories, the one that had finds; a link of which nothing is known lies between."""
    outcomes = [(0, True, True), (10, False, True), (1, True, True), (11, False, True), (2, True, True)]
    context = taught(Context(state), outcomes)
    people, papers = context.evidence(np.array([5, 15]))
    assert people > 0.5 > -0.5 > papers
    assert context.evidence(np.array([500])) == 0.0


def test_a_row_gives_the_same_number_alone_and_among_others(state):
    context = taught(Context(state), [(0, True, True), (10, False, True), (1, True, True)])
    ids = np.arange(21)
    together = context.evidence(ids)
    assert [float(context.evidence(np.array([i]))[0]) for i in ids] == together.tolist()


def test_terms_name_the_marks_and_sum_to_the_evidence(state):
    context = taught(Context(state), [(0, True, True), (10, False, True), (1, True, True)])
    terms = context.terms(5)
    assert "below a.example/people" in {term.text for term in terms}
    assert sum(term.log_ratio for term in terms) == pytest.approx(context.evidence(np.array([5]))[0])


def test_liveness_is_the_log_probability_that_there_is_a_page(state):
    outcomes = [(i, False, True) for i in range(4)] + [(i, False, False) for i in range(10, 14)]
    alive = taught(Liveness(state), outcomes)
    people, papers = alive.evidence(np.array([6, 16]))
    assert -0.5 < people < 0.0
    assert papers < -1.0


def test_nothing_is_said_while_all_outcomes_are_alike(state):
    context = taught(Context(state), [(0, False, True), (10, False, True)])
    assert not context.evidence(np.arange(21)).any()
    assert context.terms(3) == []


def test_shallow_pages_are_liked_until_something_is_found(state):
    factor = UrlDepth(state)
    factor.estimate()
    top, below = factor.evidence(np.array([20, 0]))
    assert top == 0.0 > below == pytest.approx(-depth("http://a.example/people/p0.html"))
    for _ in range(50):
        factor.learn(seen(0, True))
    assert factor.evidence(np.array([0]))[0] == below, "nothing moves between two estimates"
    factor.estimate()
    assert below / 5 < factor.evidence(np.array([0]))[0] < 0.0


def test_a_candidate_without_marks_is_no_example(state):
    Context(state).learn(seen(99, True))
    assert len(state.features.examples) == 0


def test_marks_tell_where_a_link_leads():
    features = LinkFeatures()
    page = links(
        "http://a.example/b/c/page.html",
        "http://a.example/b/",
        "http://a.example/b/c/d/x",
        "http://z.example/",
    )
    features.note(0, page, range(3), Said.of([["wind"], [], []]), True)
    names = [{features.names[i] for i in features.rows.row(n).tolist()} for n in range(3)]
    assert {"leads up", "anchor wind", "on a find", "from a.example/b/c"} <= names[0]
    assert {"leads down", "below a.example/b/c/d", "url d"} <= names[1]
    assert {"leads elsewhere", "host z.example"} <= names[2]


def outcome(candidate, url, alive):
    return FetchOutcome(candidate, False, (), NONE, NONE, NONE, alive, url)


def test_hosts_that_gave_no_page_are_as_likely_alive_as_such_hosts_were(state):
    """Four strange hosts were tried in vain: the fifth is taken for dead, the host of the pages is not."""
    targets = [f"http://h{i}.example/" for i in range(5)]
    state.features.note(21, links("http://a.example/", *targets), range(5), Said.of([[]] * 5), False)
    alive, context = Liveness(state), Context(state)
    for number, url in [(0, "http://a.example/people/p0.html"), (1, "http://a.example/people/p1.html")]:
        context.learn(seen(number))
        alive.learn(outcome(number, url, True))
    for number in range(4):
        context.learn(seen(21 + number, alive=False))
        alive.learn(outcome(21 + number, targets[number], False))
    alive.estimate()
    strange, known = alive.evidence(np.array([25, 5]))
    plain = Context.evidence(alive, np.array([25]))[0] + alive.model.bias
    # The first page of a.example was a strange host's, and there it was.
    assert strange == pytest.approx(-np.logaddexp(0.0, -plain) + np.log(2 / 6))
    assert known > strange + 1.0


def test_a_web_without_dead_links_makes_links_ever_surer(state):
    alive = taught(Liveness(state), [(i, False, True) for i in range(9)])
    assert alive.evidence(np.array([15]))[0] == pytest.approx(np.log(10 / 11))
