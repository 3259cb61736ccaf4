"""Explored and exploited requests in report.html: a chart, its figures and the shares in words."""

import json
import re

import pytest

from clew.messages import Decision, Record
from clew.report import write_report
from clew.report.harvest_chart import exploration_bars
from clew.run import CrawlConfig
from clew.run.explain import part_names
from clew.run.exploration import ExplorationCounts
from clew.store import MemoryStore


def report(tmp_path, strategy, evidence):
    """The report of a crawl whose links had such evidence for them; every second is a find."""
    config = CrawlConfig(seeds=("http://a.example/",), match="wind", strategy=strategy)
    width = len(part_names(config))
    store = MemoryStore()
    store.set_meta(config=json.loads(config.to_json()))
    for seq, value in enumerate(evidence, 1):
        store.save(
            [
                Record(
                    Decision(
                        seq=seq, at=0.0, kind="page", url=f"http://a.example/{seq}", candidate=seq, attempt=0,
                        score=value, terms=(value, *[0.0] * (width - 1)), queue=0, status=200,
                        result="miss" if seq % 2 else "match", verdict=0.0, reasons=(), new=0, known=0,
                        dropped=(),
                    )
                )
            ]
        )  # fmt: skip
    path = tmp_path / "report.html"
    write_report(store, path, command="clew crawl")
    return path.read_text("utf-8")


def test_a_report_draws_explored_against_exploited_requests_and_says_the_shares(tmp_path):
    html = report(tmp_path, "intelligent", [-1.0, 0.0, 2.0, 2.0])
    assert "<h2>Explored and exploited</h2>" in html
    assert (
        "Up to the first find, 2 of 2 requests explored (100%), 1 find (harvest 0.500). Since the first "
        "find, all 2 requests went by what was known, 1 find (harvest 0.500)." in html
    )
    table = re.search(r'<table id="exploration">.*?</table>', html, re.S)[0]
    rows = [re.findall(r'<td class="n">(.*?)</td>', row) for row in table.split("<tr>")[2:]]
    assert rows == [
        ["1", "1", "0", "0", "0"],
        ["2", "1", "1", "0", "0"],
        ["3", "0", "0", "1", "0"],
        ["4", "0", "0", "1", "1"],
    ]


@pytest.mark.parametrize("strategy", ["breadth-first", "best-first"])
def test_nothing_is_drawn_for_a_strategy_that_cannot_tell(tmp_path, strategy):
    assert "Explored and exploited" not in report(tmp_path, strategy, [-1.0, 2.0])


def test_the_bars_of_a_stretch_fill_it_and_say_what_they_are():
    chart = str(
        exploration_bars(
            [
                ExplorationCounts(explored=3, explored_finds=1, exploited=1, exploited_finds=1),
                ExplorationCounts(exploited=4),
            ]
        )
    )
    heights = [float(height) for height in re.findall(r'<rect [^>]*height="([\d.]+)"', chart)]
    assert sum(heights[:3]) == pytest.approx(heights[3], abs=0.2)
    assert re.findall(r'class="share ([^"]*)"', chart) == ["c0", "c1 rest", "c1", "c0 rest"]
    assert "<title>requests 1 to 4: 3 of 4 requests explored (75%), 1 find" in chart
    assert exploration_bars([]) == ""
