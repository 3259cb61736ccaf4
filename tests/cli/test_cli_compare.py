"""`clew compare`: two crawls side by side."""

from __future__ import annotations

from pathlib import Path


def test_a_crawl_compared_with_itself_has_found_the_same(clew, crawled: Path):
    said = clew("compare", crawled, crawled, "--json")
    figures = said.json()
    assert said.code == 0
    assert figures["common"] == figures["together"] == figures["a"]["finds"] == figures["b"]["finds"] > 0
    assert figures["estimate"]["total"] == figures["common"]
    assert figures["estimate"]["low"] <= figures["estimate"]["total"] <= figures["estimate"]["high"]
    text = clew("compare", crawled, crawled).out
    assert "by Chapman's estimate" in text
    assert "recall of both together" in text


def test_what_is_no_crawl_is_said(clew, crawled: Path, tmp_path: Path):
    said = clew("compare", crawled, tmp_path / "nothing")
    assert said.code == 1
    assert "does not exist" in said.err


def test_the_report_has_recall_as_a_band_where_there_were_finds_enough(clew, crawled: Path, tmp_path: Path):
    place = tmp_path / "report.html"
    assert clew("report", crawled, "--output", place).code == 0
    assert '<polygon class="band"' in place.read_text("utf-8")
    assert clew("status", crawled, "--json").json()["recall"]["low"] > 0
