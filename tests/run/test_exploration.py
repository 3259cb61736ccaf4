"""Explored and exploited requests: told apart by what strategies declare, folded from traces, explained."""

import numpy as np
import pytest
from demo_crawls import learning_crawl
from hypothesis import given
from hypothesis import strategies as st

from clew.engine.commands import InForce, SetStrategy, dumps
from clew.errors import StoreForeign
from clew.messages import Decision, State, Via
from clew.policy import Budget
from clew.run.explain import explain, part_names
from clew.run.exploration import (
    MAX_STRETCHES,
    ExplorationCounts,
    ExplorationFold,
    ScoreSplitter,
    link_yield,
)
from clew.store import open_reader
from clew.strategy import OWN, find

COLUMNS = ("content", "liveness", "url_depth", "opic", "chance")
#: Contributions of a link that nothing speaks for, and of one that something does.
DULL, LIKED = (0.0, -0.7, -1.1, 0.5, 0.2), (2.0, -0.7, -1.1, 0.5, 0.2)


def line(seq, terms=(), result="miss", kind="page", reasons=()):
    return Decision(
        seq=seq, at=0.0, kind=kind, url=f"http://a.example/{seq}", candidate=seq, attempt=0, score=0.0,
        terms=tuple(terms), queue=0, status=200, result=result, verdict=0.0, reasons=reasons, new=0, known=0,
        dropped=(),
    )  # fmt: skip


def folded(lines, strategy="intelligent", names=COLUMNS):
    fold = ExplorationFold(strategy, names)
    for one in lines:
        fold.take(one)
    return fold


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A learning crawl of the demo web, one request at a time."""
    path = tmp_path_factory.mktemp("exploration") / "crawl"
    return path, learning_crawl(path, 120)


# what explores


def test_a_request_explores_when_the_evidence_for_it_sums_to_no_more_than_nothing():
    splitter = ScoreSplitter("intelligent", COLUMNS)
    assert splitter.split(DULL).explored
    assert splitter.split((0.0, 0.0, -1.1, 0.5, 0.2)).explored, "nothing was known of it"
    assert not splitter.split(LIKED).explored
    assert not splitter.split((0.8, -0.7, -9.0, -2.0, -0.5)).explored, "what explores speaks against it"


@given(st.lists(st.floats(-50, 50), min_size=5, max_size=5))
def test_evidence_and_what_explores_sum_to_the_score(terms):
    split = ScoreSplitter("intelligent", COLUMNS).split(terms)
    assert split.evidence + sum(value for _, value in split.exploring) == pytest.approx(sum(terms), abs=1e-9)
    assert [name for name, _ in split.exploring] == ["url_depth", "opic", "chance"]


def test_what_is_put_first_whatever_it_is_worth_neither_explores_nor_exploits():
    assert ScoreSplitter("intelligent", COLUMNS).split((0.0, 0.0, 0.0, 0.0, 1000.3)) is None
    worst = ScoreSplitter("intelligent", COLUMNS).split((-1e9, 0.0, 0.0, 0.0, 0.3))
    assert worst.explored, "a ratio of nothing is no reason to put a link first"


def test_what_users_and_rules_add_to_a_score_is_neither():
    """A boost, and a direction that is suspended, are no evidence."""
    splitter = ScoreSplitter("intelligent", (*COLUMNS, "suspended", "boost"))
    assert splitter.split((*DULL, -(2.0**32), 5.0)) == ScoreSplitter("intelligent", COLUMNS).split(DULL)


def test_contributions_are_known_by_former_names_and_by_those_of_an_interest():
    old = ScoreSplitter("intelligent", ("alive", "shallow", "chance")).split((-0.5, -1.0, 0.25))
    assert (old.evidence, dict(old.exploring)) == (-0.5, {"shallow": -1.0, "chance": 0.25})
    names = ("wind.content", "wind.chance", "solar.content", "solar.chance")
    two = ScoreSplitter("intelligent", names)
    assert not two.split((0.0, 0.0, 1.5, 0.1)).explored
    assert two.split((0.0, 0.0, -1.5, 0.1)).explored


def test_only_strategies_that_measure_against_chance_are_split():
    split = {name for name in OWN if ScoreSplitter(name, find(name).parts_of({}, {}))}
    assert split == {"intelligent", "collaborative", "random"}
    assert ScoreSplitter("random", ("dice",)).split((0.9,)).explored, "a random order always explores"
    assert not ScoreSplitter("nobody's", COLUMNS)


# the fold


def test_requests_and_finds_are_counted_up_to_the_first_find_and_since():
    fold = folded(
        [
            line(1, (0.0, 0.0, 0.0, 0.0, 1000.0)),
            line(2, DULL),
            line(3, DULL, "failed"),
            line(4, DULL, "match"),
            line(5, LIKED, "match"),
            line(6, LIKED),
            line(7, DULL),
            line(8, kind="robots"),
        ]
    )
    assert fold.until_first == ExplorationCounts(explored=3, explored_finds=1)
    assert fold.counts == ExplorationCounts(explored=4, explored_finds=1, exploited=2, exploited_finds=1)
    assert fold.sentences() == [
        "Up to the first find, 3 of 3 requests explored (100%), 1 find (harvest 0.333).",
        "Since the first find, 1 of 3 requests explored (33%), no finds (harvest 0.000); "
        "2 went by what was known, 1 find (harvest 0.500).",
    ]
    assert folded([line(1, DULL)]).sentences()[0].startswith("Nothing was found: ")
    assert folded([]).sentences() == []


def test_a_find_among_the_start_pages_is_the_first_find():
    fold = folded([line(1, (0.0, 0.0, 0.0, 0.0, 1000.0), "match"), line(2, DULL)])
    assert fold.until_first == ExplorationCounts()
    assert len(fold.sentences()) == 1


def test_commands_change_what_the_contributions_are():
    before = InForce(Budget(), {}, "wind", strategy="intelligent")
    breadth = dumps(SetStrategy("breadth-first"), before, columns=("depth",))
    chance = dumps(SetStrategy("random"), before, columns=("dice",))
    fold = folded(
        [
            line(1, LIKED),
            line(2, kind="command", reasons=(breadth,)),
            line(3, (-1.0,)),
            line(4, kind="command", reasons=(chance,)),
            line(5, (0.5,)),
            line(6, LIKED),
        ]
    )
    assert fold.counts == ExplorationCounts(explored=1, exploited=1), "the last has columns of before"


@pytest.mark.parametrize("entry", ['{"command":', '{"command":"x","columns":7}', '["command":1]', "[]"])
def test_a_line_that_cannot_be_read_changes_nothing(entry):
    assert folded([line(1, kind="command", reasons=(entry,)), line(2, DULL)]).counts.explored == 1


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=400))
def test_stretches_are_few_and_sum_to_the_whole(outcomes):
    fold = folded(
        line(seq, LIKED if liked else DULL, "match" if found else "miss")
        for seq, (liked, found) in enumerate(outcomes)
    )
    assert len(fold.stretches) <= MAX_STRETCHES
    assert sum(fold.stretches, start=ExplorationCounts()) == fold.counts
    assert [part.requests for part in fold.stretches[:-1]] == [fold.step] * (len(fold.stretches) - 1)
    assert fold.counts.requests == len(outcomes)


# a crawl


def test_before_the_first_find_a_crawl_explores_unless_the_formula_speaks_for_a_link(crawled):
    path, config = crawled
    names = part_names(config)
    splitter, text = ScoreSplitter(config.strategy, names), names.index("link_text")
    with open_reader(path) as reader:
        pages = [d for d in reader.decisions() if d.kind == "page"]
    first = next(at for at, d in enumerate(pages) if d.result == "match")
    early = [(splitter.split(d.terms), d.terms[text] > 0.0) for d in pages[: first + 1]]
    told = [(split.explored, hinted) for split, hinted in early if split is not None]
    assert (True, False) in told
    assert (False, False) not in told
    since = [splitter.split(d.terms) for d in pages[first + 1 :]]
    assert sum(not split.explored for split in since if split) > len(since) / 2


def test_an_explanation_says_that_a_link_was_tried_to_explore_and_what_it_taught(crawled):
    path, config = crawled
    splitter = ScoreSplitter(config.strategy, part_names(config))
    with open_reader(path) as reader:
        pages = [d for d in reader.decisions() if d.kind == "page" and d.new and splitter.split(d.terms)]
        tried = next(d for d in pages if splitter.split(d.terms).explored and d.result == "miss")
        told = explain(reader, tried.url)
        assert told.split == splitter.split(tried.terms)
        assert f"  tried    to explore: what was known gave it {told.split.evidence:+.3g}; " in str(told)
        assert f"  taught   no find; {tried.new} new link" in str(told)
        found = told.as_dict()
        assert found["exploration"]["explored"] is True
        assert found["exploration"]["exploring"]["chance"] == tried.terms[-1]
        assert found["led_to"]["new"] == tried.new

        liked = next(d for d in reversed(pages) if not splitter.split(d.terms).explored)
        told = explain(reader, liked.url)
        assert "  tried " not in str(told)
        assert told.as_dict()["exploration"]["explored"] is False
        assert told.as_dict()["led_to"]["new"] == liked.new

        seed = explain(reader, config.seeds[0])
        assert (seed.split, seed.led_to) == (None, None), "somebody gave it"


def test_what_a_page_led_to_is_what_became_of_the_links_that_were_new_on_it(crawled):
    with open_reader(crawled[0]) as reader:
        lines = [d for d in reader.decisions() if d.result in ("match", "miss") and d.new]
        fetched = {d.candidate for d in reader.decisions() if d.result in ("match", "miss", "duplicate")}
        finds = {page.id for page in reader.pages(matched=True)}
        told = {d.candidate: link_yield(reader, d.candidate) for d in lines[:40]}
        for d in lines[:40]:
            rows = [reader.candidate(reader.url(int(n))) for n in np.unique(reader.outlinks(d.candidate))]
            new = {row.id for row in rows if row.source == d.url and row.via == Via.LINK}
            found = told[d.candidate]
            assert (found.links, found.new) == (len(rows), d.new) == (len(rows), len(new))
            assert (found.fetched, found.finds) == (len(new & fetched), len(new & finds))
            assert found.failed == sum(row.state is State.FAILED for row in rows if row.id in new)
    assert sum(found.finds for found in told.values())


def test_links_that_lead_out_of_a_damaged_crawl_are_told_and_not_followed(crawled, monkeypatch):
    path, config = crawled
    splitter = ScoreSplitter(config.strategy, part_names(config))
    with open_reader(path) as reader:
        d = [d for d in reader.decisions() if d.kind == "page" and splitter.split(d.terms)][-1]
        monkeypatch.setattr(type(reader), "outlinks", lambda self, candidate: np.array([10**9]))
        with pytest.raises(StoreForeign, match="are damaged"):
            link_yield(reader, d.candidate)
        told = explain(reader, d.url)
    assert told.led_to is None
    assert any("damaged" in note for note in told.notes)
