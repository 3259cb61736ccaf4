"""`clew lab run`, `show` and `report` through the real entry, on a small demo web."""

from __future__ import annotations

import json
from functools import partial

import pytest

from clew.cli.app import run
from clew.lab import DemoWeb

QUICK = """
corpora = "demo"
topics = [{ name = "wind", formula = '"wind farm" OR turbine' }]
seeds = { kind = "entry" }
budget = [20, 60]
strategies = ["breadth-first", { name = "best-first", label = "best" }]
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """An experiment that was run."""
    place = tmp_path_factory.mktemp("lab")
    (place / "quick.toml").write_text(QUICK)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("clew.lab.corpora.WEBS", {"demo": partial(DemoWeb, hosts=16, pages=300)})
        assert run(["lab", "run", str(place / "quick.toml"), "-o", str(place / "out"), "--workers", "1"]) == 0
    return place / "out"


def test_a_run_leaves_lines_a_summary_and_a_report(out):
    lines = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    assert [(line["strategy"], line["requests"]) for line in lines] == [("breadth-first", 60), ("best", 60)]
    tables = json.loads((out / "summary.json").read_text())["tables"]
    assert [table["budget"] for table in tables] == [20, 60]
    assert "<svg" in (out / "report.html").read_text()


def test_show_prints_a_row_for_each_strategy(out, capsys):
    assert run(["lab", "show", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "demo from entry pages, 60 requests, 1 cases (p against breadth-first)" in shown
    # Once in the table of each budget, and once in its table of luck.
    assert sum(line.startswith("best ") for line in shown.splitlines()) == 4
    assert shown.count("\nluck ") == 2


def test_show_speaks_json_and_takes_another_baseline(out, capsys):
    assert run(["lab", "show", str(out), "--against", "best", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert {table["baseline"] for table in tables} == {"best"}
    assert run(["lab", "show", str(out), "--against", "worst"]) == 2
    assert "choose from breadth-first, best" in capsys.readouterr().err


def test_the_report_can_be_written_anew(out, capsys):
    (out / "report.html").unlink()
    assert run(["lab", "report", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"].endswith("report.html")
    assert (out / "report.html").is_file()


def test_what_is_no_experiment_is_refused(tmp_path, capsys):
    assert run(["lab", "run", str(tmp_path / "none.toml")]) == 2
    assert run(["lab", "show", str(tmp_path)]) == 2
    assert "clew lab run" in capsys.readouterr().err
