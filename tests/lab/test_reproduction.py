"""The paper's experiments: trials, tables, statements, and the document that shows them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from clew.errors import UsageError
from clew.lab.label_topics import web_topics
from clew.lab.reproduce import (
    Crawled,
    Trial,
    ariadne_figures,
    figures,
    fill,
    perform,
    points,
    sheets,
    statements,
)
from clew.lab.reproduce.ariadne import CASES
from clew.lab.reproduce.carried import Carried
from clew.lab.reproduce.figure import Line, percent
from clew.lab.reproduce.perform import open_corpus
from clew.lab.reproduce.sheets import histogram, marks, spread
from clew.lab.reproduce.statements import cases, rank_correlation
from clew.lab.reproduce.webs import DEMO, topic
from clew.lab.simulate import simulate
from clew.predicate import FormulaPredicate, parse
from clew.strategy import Setup, make
from clew.url import key

pytestmark = pytest.mark.slow

DOCUMENT = Path(__file__).parents[2] / "docs" / "reproduction.md"
SEED = "http://www.cinderford-directory.example/"


def trial(strategy: str = "composite", pages: int = 60, after: Trial | None = None) -> Trial:
    return Trial(DEMO, topic("wind"), (SEED,), strategy, pages, after)


def crawled(finds: tuple[int, ...], pages: int = 500, key: str = "") -> Crawled:
    return Crawled(key=key, finds=finds, pages=pages, targets=300, rate=0.01, locality=0.2, drawn=0.05)


def outcomes(every, better: str = "composite") -> dict[Trial, Crawled]:
    """Made up: one strategy finds every other page, the others every tenth."""
    found = {}
    for figure in every.values():
        for one in figure.trials:
            step = 2 if one.strategy == better else 10
            found[one] = crawled(tuple(range(step, one.pages + 1, step)), one.pages, one.key)
    return found


# trials


def test_a_trial_is_known_by_all_that_shapes_it():
    one = trial()
    others = [
        replace(one, pages=61),
        replace(one, strategy="random"),
        replace(one, wanted=topic("bees")),
        replace(one, seeds=("http://blog.lindow-herald.test/",)),
        replace(one, after=trial("learned")),
    ]
    assert len({t.key for t in (one, *others)}) == 6
    assert trial().key == one.key


def test_knowledge_changes_a_crawl(tmp_path):
    using = trial(after=Trial(DEMO, topic("wind"), ("http://blog.lindow-herald.test/",), "composite", 200))
    found = perform([trial(), using], tmp_path / "crawls.jsonl", workers=1)
    assert found[using].finds != found[trial()].finds
    assert found[using].targets == found[trial()].targets
    assert set(found[using].again) <= set(found[using].finds)
    assert found[using].again
    assert found[trial()].again == ()


def test_the_composite_counts_on_where_another_crawl_stopped():
    field = open_corpus(DEMO)
    wanted = field.predicate(topic("wind"), blind=True)
    first = make("intelligent", wanted, options={"weights": "balanced"})
    simulate(field.parsed_web, wanted, first, (SEED,), 200)
    second = Carried.build(Setup(predicate=wanted, seed=1, options={"weights": "balanced"}))
    second.take(first.knowledge)
    assert second.knowledge == first.knowledge
    assert second.knowledge.words is not first.knowledge.words
    before = first.knowledge.pages
    course = simulate(field.parsed_web, wanted, second, (SEED,), 50)
    assert second.knowledge.pages == before + course.pages
    assert first.knowledge.pages == before


def test_processes_and_their_number_do_not_show(tmp_path):
    trials = [trial(name, 40) for name in ("composite", "random", "breadth-first", "oracle")]
    one = perform(trials, tmp_path / "one.jsonl", workers=1)
    two = perform(trials, tmp_path / "two.jsonl", workers=2)
    assert one == two
    lines = [sorted((tmp_path / name).read_text().splitlines()) for name in ("one.jsonl", "two.jsonl")]
    assert lines[0] == lines[1]


def test_what_is_finished_is_not_crawled_again(tmp_path):
    file = tmp_path / "crawls.jsonl"
    told = []
    perform([trial(pages=20)], file, workers=1)
    found = perform([trial(pages=20), trial("random", 20)], file, workers=1, tell=told.append)
    assert [(p.done, p.total) for p in told] == [(2, 2)]
    assert len(file.read_text().splitlines()) == len(found) == 2


def test_every_request_of_a_field_brings_a_page():
    """So that the harvest is a share of pages, as the paper has it."""
    field = open_corpus(DEMO)
    assert not field.parsed_web.robots
    assert not field.parsed_web.dead_links


def test_the_oracle_is_never_behind(tmp_path):
    names = ("oracle", "composite", "random", "breadth-first")
    found = perform([trial(name) for name in names], tmp_path / "c.jsonl", workers=1)
    best = found[trial("oracle")].harvest(60)
    assert all(found[trial(name)].harvest(60) <= best for name in names)


# numbers


def test_harvest_is_of_the_pages_crawled():
    found = crawled((1, 2, 3, 9), pages=10)
    assert [found.harvest(n) for n in (1, 4, 10, 500)] == [1.0, 0.75, 0.4, 0.4]
    assert (found.until(4), found.until(5)) == (9, None)
    assert percent(found.rate) == "1.0 %"


def test_a_curve_is_the_mean_over_its_crawls():
    a, b = trial("composite", 100), trial("random", 100)
    found = {a: crawled(tuple(range(1, 101)), 100), b: crawled((), 100)}
    line = points(Line("both", (a, b)), found, 100)
    assert line[-1] == (100, 50.0)
    assert {y for _, y in line} == {50.0}
    assert line[0][0] >= 10


def test_spread_and_ranks():
    assert spread([4.0, 4.0]) == 0.0
    assert spread([0.0, 0.0]) == 0.0
    assert spread([1.0, 3.0]) == pytest.approx(2**0.5 / 2)
    assert rank_correlation([1.0, 2.0, 3.0], [9.0, 5.0, 1.0]) == -1.0
    assert rank_correlation([1.0, 1.0, 2.0, 2.0], [1.0, 2.0, 1.0, 2.0]) == 0.0


# statements


def test_statements_follow_the_numbers():
    every = figures()
    rows = {row[0]: row for row in statements(every, outcomes(every))[0].rows}
    assert rows["the combination is always superior to each factor"][3] == "yes"
    assert rows["for all kinds of predicates the harvest is much higher than random's"][3] == "yes"
    rows = {row[0]: row for row in statements(every, outcomes(every, better="sibling"))[0].rows}
    assert rows["the combination is always superior to each factor"][3] == "no"
    assert rows["which factor is best depends on the predicate"][3] == "no"


def test_each_case_counts_once():
    every = figures()
    found = cases(every, outcomes(every))
    places = [(case.trial.corpus, case.trial.wanted, case.trial.seeds) for case in found]
    assert len(places) == len(set(places)) > 15


# the document


def test_a_block_goes_between_its_marks_and_nowhere_else():
    text = "a\n<!-- x -->\n<!-- /x -->\nb\n<!-- y -->\nold\n<!-- /y -->\n"
    filled = fill(text, {"y": "new\n"})
    assert filled == "a\n<!-- x -->\n<!-- /x -->\nb\n<!-- y -->\n\nnew\n\n<!-- /y -->\n"
    assert fill(filled, {"y": "new\n"}) == filled
    with pytest.raises(UsageError, match="no place for z"):
        fill(text, {"z": "new\n"})


@pytest.mark.parametrize("name", sorted(figures()))
def test_the_document_has_the_tables_the_command_writes(name):
    """Columns and rows; a table typed by hand, or left from another catalogue, would differ."""
    every = figures()
    (block,) = re.findall(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", DOCUMENT.read_text("utf-8"), re.S)
    rest = block
    for sheet in sheets(every[name], outcomes(every)):
        heading = sheet.markdown().splitlines()[2]
        assert heading in rest
        rest = rest.partition(heading)[2]
        assert [row[0] for row in sheet.rows] == re.findall(r"^\| (.*?) \|", rest, re.M)[: len(sheet.rows)]
    assert every[name].paper in block
    assert f"clew lab reproduce {name}" in block


def test_the_document_shows_every_plot():
    text = DOCUMENT.read_text("utf-8")
    for file in DOCUMENT.with_suffix("").glob("*.svg"):
        assert f"({DOCUMENT.stem}/{file.name})" in text


def test_marks_are_shares_of_a_crawl():
    assert marks(300) == [30, 75, 150, 300]


ARIADNE_DOCUMENT = DOCUMENT.with_name("ariadne.md")


def made_up(figure) -> dict[Trial, Crawled]:
    return {
        one: replace(crawled((1, 2, 3), one.pages, one.key), distances=(0, 1, 5), behind=(0, 0, 3))
        for one in figure.trials
    }


@pytest.mark.parametrize("name", sorted(ariadne_figures()))
def test_the_page_on_ariadne_has_the_tables_the_command_writes(name):
    figure = ariadne_figures()[name]
    text = ARIADNE_DOCUMENT.read_text("utf-8")
    (block,) = re.findall(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", text, re.S)
    rest = block
    for sheet in sheets(figure, made_up(figure)):
        heading = sheet.markdown().splitlines()[2]
        assert heading in rest
        rest = rest.partition(heading)[2]
        assert [row[0] for row in sheet.rows] == re.findall(r"^\| (.*?) \|", rest, re.M)[: len(sheet.rows)]
    assert figure.paper in block
    for panel in figure.panels:
        assert f"(ariadne/{name}-{panel.name}.svg)" in block
        assert (ARIADNE_DOCUMENT.with_suffix("") / f"{name}-{panel.name}.svg").is_file()


def test_what_cannot_be_compared_with_ariadne_is_said_first():
    text = ARIADNE_DOCUMENT.read_text("utf-8")
    assert text.index("what cannot") < text.index("<!-- ariadne-precision -->")


def test_a_formula_of_topics_is_judged_from_the_least_degree_of_its_start_pages(tmp_path):
    figure = ariadne_figures(small=True)["ariadne-precision"]
    simple = figure.panels[1].lines[1].trials[0]
    found = perform([simple], tmp_path / "crawls.jsonl", workers=1)[simple]
    again = perform([simple], tmp_path / "crawls.jsonl", workers=1)[simple]
    assert again == found
    assert 0.2 <= found.threshold < 0.5
    assert len(found.finds) == len(found.distances) == len(found.behind) <= found.targets
    assert found.finds[: len(simple.seeds)] == (1, 2, 3), "start pages are finds"


def test_finds_far_away_are_counted_together():
    assert histogram([0, 1, 1, 12, 99]) == [1, 2, *[0] * 10, 2]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.corpus}-{case.name}")
def test_start_pages_of_ariadne_are_those_of_the_rule(case):
    """The first by a hash of the address that satisfy the formula to the degree stated."""
    try:
        field = open_corpus(case.corpus)
    except UsageError as missing:
        pytest.skip(str(missing))
    wanted = FormulaPredicate(parse(case.formula), topics=web_topics(field.parsed_web), threshold=case.least)
    pages = [page.url for _, page in field.parsed_web.pages() if wanted.judge(page).satisfied]
    assert case.starts == tuple(sorted(pages, key=key)[: len(case.starts)])
