"""`explain` of a learning crawl: rank, runner-up, every factor's evidence, at the moment of choice."""

import json
import math

import pytest
from demo_crawls import learning_crawl

from clew.run.explain import explain
from clew.store import open_reader


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A learning crawl of the demo web, one request at a time."""
    path = tmp_path_factory.mktemp("factors") / "crawl"
    learning_crawl(path, 200)
    return path


@pytest.fixture(scope="module")
def finds(crawled):
    """The last five finds: each decision, and its explanation."""
    with open_reader(crawled) as reader:
        chosen = [d for d in reader.decisions() if d.result == "match"][-5:]
        return [(decision, explain(reader, decision.url)) for decision in chosen]


def test_the_chosen_link_was_first_and_its_grounds_are_those_it_was_chosen_on(finds):
    """What is reconstructed equals what was recorded when the link was chosen, for the last finds."""
    assert len(finds) == 5
    for decision, told in finds:
        assert told.factors is not None
        assert told.factors.rank == 1
        assert told.score == pytest.approx(decision.score, abs=1e-12)
        recorded = dict(told.parts)
        for ground in told.factors.grounds:
            assert ground.part == pytest.approx(recorded[ground.factor], abs=1e-12)
        assert any(ground.terms for ground in told.factors.grounds)
        text = "\n".join(told.lines(full=True))
        assert "rank     1 of" in text
        assert "without it, rank" in text
        assert json.dumps(told.as_dict())


def test_the_three_strongest_reasons_are_told_in_words(finds):
    for _, told in finds:
        reasons = [
            line for line in str(told).splitlines() if line.startswith(("  for it: ", "  against it: "))
        ]
        strongest = [ground for ground in told.factors.grounds if ground.part][:3]
        signs = ["for" if ground.part > 0 else "against" for ground in strongest]
        assert [line.split()[0] for line in reasons] == signs
        assert len(reasons) == 3
        assert "ratio" not in str(told)
        assert "e+" not in "\n".join(told.lines(full=True)), "a ratio nobody can read"
        assert len(told.lines()) < len(told.lines(full=True)) / 2


@pytest.mark.parametrize(
    "change",
    [
        lambda url: url.replace("http://", "https://"),
        lambda url: url.replace("http://", "http://www."),
        lambda url: f"{url}l",
        lambda url: url.replace(".test", ".tset").replace(".example", ".exmaple"),
    ],
)
def test_a_url_that_is_not_known_brings_the_nearest_that_is(crawled, change):
    with open_reader(crawled) as reader:
        known = [d.url for d in reader.decisions() if d.result == "match" and "://www." not in d.url][-1]
        assert f"the nearest URL that is known is {known}" in explain(reader, change(known)).notes
        assert not explain(reader, "http://zyzzyva.invalid/").notes


def test_only_what_was_counted_is_told_with_counts(finds):
    """The marks of a link have weights of a regression, words have counts."""
    _, told = finds[-1]
    grounds = {ground.factor: ground for ground in told.factors.grounds}
    assert grounds["context"].terms
    assert not any(term.seen for term in grounds["context"].terms)
    assert all(term.seen for term in grounds["content"].terms)
    mark, word = grounds["context"].terms[0].text, grounds["content"].terms[0].text
    lines = [line.strip() for line in told.lines(full=True)]
    marked = [line.removeprefix(mark) for line in lines if line.startswith(f"{mark}: ratio")]
    assert marked
    assert not any(" of " in line for line in marked)
    assert any(" of " in line for line in lines if line.startswith(f"{word}: ratio"))


def test_contributions_sum_to_the_score_for_every_page_fetched(crawled):
    with open_reader(crawled) as reader:
        pages = [d for d in reader.decisions() if d.kind == "page"]
    assert len(pages) >= 200
    assert all(math.isclose(math.fsum(d.terms), d.score, abs_tol=1e-9) for d in pages)


def test_a_waiting_link_is_explained_by_what_is_known_now(crawled):
    with open_reader(crawled) as reader:
        waiting = next(
            reader.url(i)
            for i in range(reader.snapshot().keys.size - 1, 0, -1)
            if reader.candidate(reader.url(i)).state == 0 and reader.candidate(reader.url(i)).via == "link"
        )
        told = explain(reader, waiting)
    assert told.fate == "waiting"
    assert told.factors.rank >= 1
    assert told.factors.runner_up
