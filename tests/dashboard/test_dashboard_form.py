"""The form of a new crawl: what it refuses, and that the command line runs the file it writes unchanged."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from served import WEB, Served, key_of, serving

from clew.dashboard import form
from clew.dashboard.folder import CrawlFolder
from clew.errors import ClewError
from clew.run.config import SETTINGS
from clew.run.settings import load_config

GIVEN = {"seeds": list(WEB.seeds()), "match": WEB.formula(), "pages": "40"}


def test_the_file_gives_the_settings_that_were_filled_in(tmp_path: Path):
    more = {
        "time": "2h",
        "exclude": "*/a\n/[?&]b=/",
        "weights": {"content": "most", "url": "off"},
        "traps": False,
    }
    place = form.write({**GIVEN, **more}, CrawlFolder(tmp_path), "wind farms")
    config = load_config({}, cwd=place, environ={}).config
    assert (config.pages, config.time, config.traps) == (40, 7200.0, False)
    assert config.exclude == ("*/a", "/[?&]b=/")
    assert config.weights == {"content": 1.0, "url": 0.0}
    assert [file.name for file in place.iterdir()] == ["clew.toml"]


CODE = [
    "py:os:system",
    "wind AND py:os:system",
    "NOT py:a:b",
    "wind=py:os:system",
    "wind=turbine\nmine=py:os:system",
    [["wind", "turbine"], ["mine", "roof OR py:os:system"]],
]


@pytest.mark.parametrize("match", CODE)
def test_a_formula_that_names_code_is_refused_and_nothing_is_written(tmp_path: Path, match: object):
    with serving(tmp_path) as served:
        told = served.change("/api/settings", {"values": {**GIVEN, "match": match}, "name": "x"}).json()
        assert "Python code" in told["errors"]["match"]
        assert served.change("/api/formula", {"values": {"match": match}}).status == 400
        assert served.change("/api/start", {"values": {**GIVEN, "match": match}, "name": "x"}).status == 400
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", sorted(form.LEFT_OUT))
def test_what_reaches_beyond_the_folder_cannot_be_set(tmp_path: Path, key: str):
    with pytest.raises(ClewError):
        form.write({**GIVEN, key: "/tmp/x"}, CrawlFolder(tmp_path), "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/x", "-x", "x\0", "x" * 100])
def test_a_crawl_lies_in_the_folder(tmp_path: Path, name: str):
    with pytest.raises(ClewError):
        form.write(GIVEN, CrawlFolder(tmp_path), name)
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_is_told_by_setting(dashboard: Served):
    values = {"seeds": ["no address"], "match": "wind", "pages": "many", "time": "soon"}
    errors = dashboard.change("/api/settings", {"values": values, "name": "wind"}).json()["errors"]
    assert set(errors) == {"name", "seeds", "pages", "time"}
    told = dashboard.change("/api/settings", {"values": GIVEN, "name": "another"}).json()
    assert (told["errors"], told["ready"]) == ({}, True)


def test_a_formula_is_read_back_and_tried_on_a_text(dashboard: Served):
    said = dashboard.change(
        "/api/formula", {"values": {"match": "wind -noise"}, "text": "<p>A wind farm</p>"}
    ).json()
    (one,) = said["formulas"]
    assert (one["name"], one["text"], one["satisfied"]) == ("", "wind AND NOT noise", True)
    assert [term["degree"] > 0 for term in one["terms"]] == [True, False]


def test_several_formulas_are_written_as_the_table_that_the_command_line_takes(tmp_path: Path):
    pairs = [["wind", "turbine AND\nfarm"], [" solar ", "panel"], ["größe", '"a=b"']]
    place = form.write({**GIVEN, "match": pairs, "share": "greedy"}, CrawlFolder(tmp_path), "energy")
    text = (place / "clew.toml").read_text("utf-8")
    assert 'match = { wind = "turbine AND farm", solar = "panel", "größe" = ' in text
    config = load_config({}, cwd=place, environ={}).config
    assert config.match == 'wind=turbine AND farm\nsolar=panel\ngröße="a=b"'
    assert config.share == "greedy"
    typed = load_config(
        {"match": ("wind=turbine AND farm", "solar=panel", 'größe="a=b"')}, cwd=place, environ={}
    )
    assert typed.config.match == config.match


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([["wind", "turbine"], ["", "panel"]], "needs a name"),
        ([["wind", "turbine"], ["wind", "panel"]], "there twice"),
        ([["wind", "turbine"], ["solar", ""]], "has no formula"),
        ([["wind", "turbine"], ["solar roof", "panel"]], "cannot name an interest"),
        ([["wind", "turbine"], ["solar", "panel AND"]], "solar: expected a term after AND"),
        ([["wind", "turbine"], ["solar", "topic:sun"]], "topic"),
        ([["wind", "turbine"], "solar"], "pairs of a name and a formula"),
        ([["wind", 1]], "pairs of a name and a formula"),
    ],
)
def test_what_is_wrong_with_several_formulas_is_told_while_they_are_typed(
    dashboard: Served, pairs: list, said: str
):
    told = dashboard.change("/api/settings", {"values": {**GIVEN, "match": pairs}, "name": "another"}).json()
    assert said in told["errors"]["match"]
    assert not told["ready"]


def test_several_formulas_are_read_back_and_tried_one_by_one(dashboard: Served):
    match = [["wind", "turbine"], ["solar", "panel -roof"]]
    said = dashboard.change("/api/formula", {"values": {"match": match}}).json()
    assert [(one["name"], one["text"]) for one in said["formulas"]] == [
        ("wind", "turbine"),
        ("solar", "panel AND NOT roof"),
    ]
    said = dashboard.change("/api/formula", {"values": {"match": match}, "text": "a turbine"}).json()
    assert [one["satisfied"] for one in said["formulas"]] == [True, False]


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@given(st.fixed_dictionaries({}, optional={"match": TEXTS, "user_agent": TEXTS, "exclude": st.lists(TEXTS)}))
def test_any_text_comes_back_from_the_file(values):
    read = tomllib.loads(form.toml_of(values))
    for key, value in values.items():
        assert read[SETTINGS[key].dashed] == value


def test_begin_with_an_earlier_crawl_is_written_as_a_path_from_the_new_one(crawls: Path, tmp_path: Path):
    folder = CrawlFolder(crawls)
    values = form.given_values({**GIVEN, "use": [key_of("wind")]}, folder, crawls / "new")
    assert values["use"] == ["../wind"]
    with pytest.raises(ClewError):
        form.given_values({**GIVEN, "use": ["/etc"]}, folder, crawls / "new")
