"""The reading verbs, on a finished crawl."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from clew.store import open_reader, open_store

FIELDS = {"url", "status", "title", "score", "matched", "depth", "source", "fetched_at", "lang", "text"}


def test_status_gives_the_figures(clew, crawled: Path):
    said = clew("status", crawled, "--json")
    figures = said.json()
    assert said.code == 0
    assert figures["pages"] == 120
    assert figures["matched"] > 0
    assert figures["stopped"] == "pages"
    assert figures["elapsed"] > 0
    text = clew("status", crawled).out
    assert "120 of 120" in text
    assert str(figures["matched"]) in text


def test_status_tells_of_audits_when_there_were_any(clew, crawled: Path, tmp_path: Path):
    assert "audits" not in clew("status", crawled).out
    copy = tmp_path / "audited"
    shutil.copytree(crawled, copy)
    with closing(open_store(copy)) as store:
        store.set_meta(audits=[40, 39])
    assert clew("status", copy, "--json").json()["audits"] == [40, 39]
    assert "39 of 40 choices checked were the best (97.50%)" in clew("status", copy).out


@pytest.mark.parametrize("verb", ["status", "export", "report", "trace"])
def test_a_directory_that_is_no_crawl_is_said_clearly(clew, tmp_path: Path, verb):
    said = clew(verb, tmp_path / "nothing")
    assert said.code == 1
    assert "does not exist" in said.err
    assert not (tmp_path / "nothing").exists()


def test_export_as_json_lines_has_every_page_once_with_all_fields(clew, crawled: Path):
    records = clew("export", crawled, "--format", "jsonl").lines()
    assert len({record["url"] for record in records}) == len(records) == 120
    assert all(set(record) >= FIELDS for record in records)
    finds = clew("export", crawled, "--matched").lines()
    assert finds == [record for record in records if record["matched"]]


def test_export_as_csv(clew, crawled: Path):
    rows = list(csv.DictReader(io.StringIO(clew("export", crawled, "-f", "csv").out)))
    assert len(rows) == 120


def test_export_to_a_file_says_how_many_on_stderr(clew, crawled: Path, tmp_path: Path):
    said = clew("export", crawled, "--matched", "-o", tmp_path / "finds.jsonl")
    count = len((tmp_path / "finds.jsonl").read_text().splitlines())
    assert said.out == ""
    assert f"{count} pages" in said.err


def test_the_name_of_the_file_says_the_format_and_a_contradiction_is_refused(
    clew, crawled: Path, tmp_path: Path
):
    assert clew("export", crawled, "--matched", "-o", tmp_path / "finds.CSV").code == 0
    assert (tmp_path / "finds.CSV").read_text("utf-8").startswith("url,status,")
    assert clew("export", crawled, "--matched", "-o", tmp_path / "finds.warc.gz").code == 0
    assert (tmp_path / "finds.warc.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert clew("export", crawled, "--matched", "-o", tmp_path / "finds.txt").code == 0
    assert (tmp_path / "finds.txt").read_text("utf-8").startswith("{")
    said = clew("export", crawled, "-f", "jsonl", "-o", tmp_path / "more.csv")
    assert said.code == 2
    assert "is the name of a csv file" in said.err
    assert not (tmp_path / "more.csv").exists()


def test_export_as_warc_through_a_pipe_is_a_warc_file(crawled: Path):
    ran = subprocess.run(
        [sys.executable, "-m", "clew.cli", "export", str(crawled), "--format", "warc"],
        capture_output=True,
        check=True,
    )
    assert ran.stdout.startswith(b"\x1f\x8b")


def test_an_unknown_format_names_the_nearest(clew, crawled: Path):
    said = clew("export", crawled, "--format", "json")
    assert said.code == 2
    assert "did you mean 'jsonl'" in said.err


def test_search_finds_words_and_says_when_there_are_none(clew, crawled: Path):
    hits = clew("search", crawled, "turbine", "--limit", "3", "--json")
    assert hits.code == 0
    assert 1 <= len(hits.lines()) <= 3
    assert all("url" in hit and "snippet" in hit for hit in hits.lines())
    assert hits.lines()[0]["url"] in clew("search", crawled, "turbine").out
    assert clew("search", crawled, "zyzzyva").code == 3
    assert clew("search", crawled, "-turbine").code == 2


def test_explain_tells_of_a_find_and_of_a_stranger(clew, crawled: Path):
    find = clew("export", crawled, "--matched").lines()[0]["url"]
    told = clew("explain", crawled, find, "--json").json()
    assert told["url"] == find
    assert told["fate"] == "fetched"
    assert find in clew("explain", crawled, find).out
    assert "never seen" in clew("explain", crawled, "http://stranger.example/").out
    assert clew("explain", crawled, "no address").code == 2


def test_trace_has_a_line_for_each_decision_in_both_forms(clew, crawled: Path):
    lines = clew("trace", crawled).out.splitlines()
    objects = clew("trace", crawled, "--json").lines()
    assert len(lines) == len(objects) >= 120
    assert [int(line.split()[0]) for line in lines] == [entry["seq"] for entry in objects]


def test_report_is_written_where_asked(clew, crawled: Path, tmp_path: Path):
    said = clew("report", crawled, "-o", tmp_path / "r.html")
    assert said.out.strip() == str(tmp_path / "r.html")
    html = (tmp_path / "r.html").read_text()
    assert "clew crawl http" in html
    assert "<polyline" in html
    assert json.loads(clew("report", crawled, "-o", tmp_path / "r.html", "--json").out)["report"]


def test_reading_does_not_disturb_a_crawl_that_is_open(clew, site, tmp_path: Path):
    from clew.store import SqliteStore

    farms = tmp_path / "farms"
    clew(*site.crawl(farms, 5))
    store = SqliteStore(farms)
    try:
        assert clew("status", farms, "--json").json()["pages"] == 5
        busy = clew("crawl", "-d", farms)
        assert busy.code == 1
        assert "in use" in busy.err or "already open" in busy.err
    finally:
        store.close()


def test_a_report_tells_hosts_that_were_asked_from_those_known_by_links_alone(crawled: Path):
    with open_reader(crawled) as reader:
        asked = sum(1 for _ in reader.hosts())
        linked = reader.counts().hosts - asked
    assert linked > 1
    html = (crawled / "report.html").read_text("utf-8")
    assert f"{linked} hosts are known by links alone, and were not asked." in html
    assert "with the most pages are shown" not in html, f"all {asked} are"
