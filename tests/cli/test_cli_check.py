"""`clew check`: a formula read back, a page scored, each term's share."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

PAGE = """<html lang="en"><title>Wind farms</title><body><p>The wind farm has forty turbines, and the people
like the wind farm well enough to have asked for ten more turbines next year.</p></body></html>"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    return path


def test_a_formula_alone_is_read_back_and_reads_back_the_same(clew):
    first = clew("check", 'wind   farm OR ("x y")', "--json")
    assert first.code == 0
    formula = first.json()["formula"]
    assert clew("check", formula).out.strip() == formula


def test_a_file_is_scored_term_by_term(clew, page: Path):
    said = clew("check", '"wind farm" AND turbine -lang:de', page, "--json")
    result = said.json()
    assert said.code == 0
    assert result["satisfied"] is True
    assert result["score"] >= 0.5
    assert {"formula", "score", "satisfied", "terms"} <= set(result)
    assert [term["negated"] for term in result["terms"]].count(True) == 1
    text = clew("check", '"wind farm" AND turbine', page).out
    assert '"wind farm"' in text
    assert "satisfied" in text


def test_a_page_that_does_not_satisfy_exits_3(clew, page: Path):
    said = clew("check", "zyzzyva", page)
    assert said.code == 3
    assert "not satisfied" in said.out


def test_a_formula_may_begin_with_a_minus(clew, page: Path):
    assert clew("check", "-zyzzyva", page).code == 0


def test_a_syntax_error_points_at_the_column_and_exits_2(clew):
    said = clew("check", "wind AND (farm")
    assert said.code == 2
    assert "column" in said.err
    assert "^" in said.err


def test_a_missing_file_is_said_with_a_hint(clew):
    said = clew("check", "wind", "example.org")
    assert said.code == 2
    assert "https://example.org" in said.err


def test_a_page_from_stdin(clew, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PAGE.encode()), encoding="utf-8"))
    assert clew("check", '"wind farm"', "-", "--json").json()["satisfied"] is True


def test_a_page_from_the_web_through_the_proxy(clew, site):
    said = clew("check", site.formula, site.seeds[0], "--proxy", site.proxy, "--json")
    assert said.code in (0, 3), said.err
    assert said.json()["url"] == site.seeds[0]


def test_a_page_that_is_not_there(clew, site):
    said = clew("check", "wind", "http://nowhere.example/", "--proxy", site.proxy)
    assert said.code != 0
    assert said.out == ""
