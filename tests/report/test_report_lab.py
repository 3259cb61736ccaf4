"""An experiment's report: whole, self-contained, and safe whatever a topic is called."""

from __future__ import annotations

import re

import pytest

from clew.lab.experiment import Experiment
from clew.lab.results import Oracle, Results, RunResult
from clew.lab.summary import summarise
from clew.report.lab import write_lab_report
from clew.report.line_chart import plot

NASTY = "<script>alert(1)</script>"


def run(strategy: str, topic: str, number: int, finds: tuple[int, ...]) -> RunResult:
    return RunResult(
        key=f"{strategy}{topic}{number}", corpus="small", start="random", topic=topic, set=number,
        strategy=strategy, budget=20, targets=4, reachable=4, requests=20, pages=18, failed=1, hosts=1,
        stop="requests", nauc=0.5, nauc_bound=0.4, recall=len(finds) / 4, to50=None, to80=None, to90=None,
        finds=finds, parts={"content": (0.1, -0.2), "link": (0.3, 0.4)},
    )  # fmt: skip


@pytest.fixture
def results(tmp_path):
    found = Results(tmp_path)
    experiment = Experiment.parse(
        {
            "name": "x",
            "corpora": "small",
            "topics": [NASTY, "b"],
            "budget": [10, 20],
            "strategies": ["random"],
        }
    )
    runs = [run(s, t, 1, f) for s, f in (("random", (5, 19)), (NASTY, (2, 3, 4))) for t in (NASTY, "b")]
    oracles = [
        Oracle(
            key=t, case=f"small/random/{t}/1", targets=4, reachable=4, finds=(2, 3, 4, 5), bound=(1, 2, 3, 4)
        )
        for t in (NASTY, "b")
    ]
    found.begin(experiment, [item.key for item in (*runs, *oracles)])
    for item in (*runs, *oracles):
        found.add(item)
    return found


def test_the_report_shows_tables_curves_and_contributions(results, tmp_path):
    tables = summarise(list(results.runs().values()), results.oracles().values(), [10, 20], "random")
    path = tmp_path / "report.html"
    write_lab_report(results, tables, path)
    html = path.read_text("utf-8")
    assert html.count("small from random pages") == 2
    assert html.count("<svg") == 1 + 2  # find curves, and contributions of each strategy
    assert "oracle" in html
    for row in tables[1].rows:
        assert f"{row.nauc:.3f}" in html


def test_the_report_asks_nothing_of_the_network_and_runs_nothing_foreign(results, tmp_path):
    tables = summarise(list(results.runs().values()), results.oracles().values(), [20])
    path = tmp_path / "report.html"
    write_lab_report(results, tables, path)
    html = path.read_text("utf-8")
    assert NASTY not in html
    assert "&lt;script&gt;alert(1)" in html
    assert not re.findall(r"""(?:src|href)=["']?(?!#)""", html)
    assert "default-src &#39;none&#39;" in html


def test_a_plot_takes_negative_numbers_none_and_one():
    assert "polyline" in plot([("a", [(0, -2.0), (10, 3.0)])], "x", "y")
    assert "svg" in plot([], "x", "y")
    assert "svg" in plot([("a", [(5, 0.0)])], "x", "y")
    assert "nan" not in plot([("a", [(0, float("nan")), (1, 1.0)])], "x", "y")
