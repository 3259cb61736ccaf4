"""docs/benchmarks.md is made of the figures of one run of every benchmark, or not at all."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
BENCH = HOME / "bench"
DOCUMENT = (HOME / "docs" / "benchmarks.md").read_text("utf-8")


@pytest.fixture(scope="module")
def bench():
    """The modules of bench/, which is no package: `run`, `tables` and `record`."""
    before = set(sys.modules)
    sys.path.insert(0, str(BENCH))
    held = {name: sys.modules.pop(name, None) for name in ("run", "tables", "record")}
    try:
        import run

        yield run
    finally:
        sys.path.remove(str(BENCH))
        for name in ("run", "tables", "record"):
            sys.modules.pop(name, None)
            if held[name] is not None and name in before:
                sys.modules[name] = held[name]


@pytest.fixture
def results(bench):
    """One whole run, of round numbers."""
    stamp = {
        "commit": "abc123",
        "run": "2026-01-02T03:04:05+00:00",
        "cores": 2,
        "processor": "a processor",
        "python": "3.11.0",
        "load": 0.5,
    }
    row = {"strategy": "learned", "nauc": 0.5, "low": 0.4, "high": 0.6, "recall": 0.7, "p": None}
    figures = {
        "walk": [
            {"web": "w", "strategy": "best-first", "files": 60.0, "calls": 900.5, "calls_in_clew": 700.0}
        ],
        "browser": [
            {"with": "no browser", "pages": 60, "cpu_seconds": 1.5, "pages_per_cpu_second": 40.0},
            {"with": "a browser", "pages": 60, "cpu_seconds": 45.0, "pages_per_cpu_second": 1.33},
        ],
        "dashboard": {
            "pages": 1000,
            "candidates": 9000,
            "first_look": {
                "first_paint": 0.5,
                "figures_and_curve": 1.25,
                "all_taken_in": 8.0,
                "update_ms_most": 26.0,
            },
            "second_look": {"first_paint": 0.25, "figures_and_curve": 0.75, "update_ms_most": 3.0},
            "crawling": {
                "update_ms_median": 6.5,
                "update_ms_most": 24.5,
                "ratio": 0.99,
                "ratio_standard_error": 0.01,
            },
        },
        "parse_speed": {"pages": 2, "kb": 30.0, "links": 40, "ms": {"  a stage": 0.25}},
        "robots_speed": [{"what": "read", "files": 4000, "ms_median": 0.1, "ms_max": 30.0}],
        "frontier_memory": [
            {
                "candidates": 1000,
                "rss_before": 2**20,
                "rss_after": 2**21,
                "bytes_per_candidate": 215.4,
                "seconds_per_page": 0.002,
            }
        ],
        "topics": {
            "quality": [
                {
                    "kind": "linear",
                    "examples": 20,
                    "subjects": 54,
                    "auc": [0.98, 0.97, 0.99],
                    "least_auc": 0.91,
                    "calibration_error": [0.03, 0.02, 0.04],
                }
            ],
            "speed": {
                "topics": 10,
                "documents": 200,
                "train_seconds": 8.1,
                "page_milliseconds": 0.19,
                "share_of_parsing": 0.29,
            },
        },
        "recall": {
            "judged": {
                "runs": 40,
                "topics": 20,
                "covered": 0.91,
                "covered_at_looks": 0.93,
                "stopped": 30,
                "reached": 0.87,
                "median_cost": 1.4,
            },
            "tuned": dict.fromkeys(
                ("runs", "topics", "covered", "covered_at_looks", "stopped", "reached", "median_cost")
            ),
        },
        "confidence": [
            {
                "web": "detours",
                "strategy": "best-first",
                "level": 0.9,
                "topics": 9,
                "off": 0.4,
                "on": 0.5,
                "ratio": 1.25,
                "interval": [1.1, 1.4],
                "least": 0.9,
            }
        ],
        "climbing": [
            {
                "web": "w",
                "topics": [{"topic": "a.b", "off": 9, "climb": 9}],
                "ratio": [1.0, 0.99, 1.01],
                "least": 0.97,
                "all": 1.0,
                "changes": 4,
            }
        ],
        "tunnelling": [
            {
                "kind": "narrow",
                "web": "regions:2",
                "formulas": [{"formula": "topic:a.b AND topic:c.d", "finds": {"off": 9, "climb": 12}}],
                "ways": [{"way": "climb", "ratio": [1.33, 1.2, 1.41], "least": 1.1, "changes": 7}],
            }
        ],
        "visits": [
            {"what": "import", "lines": 10**6, "visits": 594083, "lines_per_cpu_s": 385770, "MB": 134},
            {"what": "read", "visits": 594083, "cpu_s": 1.93},
            {"what": "page", "ms_without": 2.1, "ms_with": 2.5, "ratio": 1.19},
            {"what": "scoring", "added": 0.1},
        ],
        "learning_memory": {"bytes_a_page": 1987, "curve": [[0, 80.1], [2500, 150.2]]},
        "exact": {"alike": 2374, "of": 2374, "loops": 43, "equal": 9, "rows": 9},
        "reprioritise": [
            {"candidates": 1e4, "pages": 101, "settle_lease_ms": 8.5, "ms": 7.5, "best": 1.0, "audits": 51}
        ],
        "topic_driven_cost": [{"candidates": 1e4, "pages": 97, "ms": 5.25}],
        "resume": {
            "pages": 2000,
            "candidates": 33000,
            "checkpoint_mb": 15.0,
            "seconds": {"making_checkpoint": 0.02},
            "per_1000_pages": {"crawling": 4.0, "learning_again": 2.0, "from_checkpoint": 0.1},
            "of_crawling": {"learning_again": 0.5, "from_checkpoint": 0.025},
        },
        "soak": {
            "rss_mb_by_third": [1.0, 2.0, 3.0],
            "files_by_third": [4, 5, 6],
            "threads_by_third": [3, 3, 3],
            "wal_mb_by_third": [7.0, 8.0, 9.0],
            "pages": 30000,
            "seconds": 76.8,
            "log_mb": 7.6,
        },
        "speed": {
            "strategy": "best-first",
            "compare": {"best-first": 4.0, "the libraries alone": 2.0},
            "memory": {"best-first": 124.0},
            "stalls": {"best-first": {"cpu_ms": 25.0, "wall_ms": 21.0}},
            "two": {"ratio": 1.9, "load": 0.1},
        },
        "factors": [
            {
                "corpus": "w",
                "crawls": 4,
                "pages": 1600,
                "finds": 0.28,
                "factors": [{"factor": "link", "size": 1.0, "outcome": 0.2, "weight": 0.3, "alike": "url 1"}],
            }
        ],
        "reuse": {
            "budgets": [100, 500],
            "ratios": [
                {"kind": "same", "budget": 100, "finds": 92.2, "without": 18.7, "ratio": [4.93, 3.91, 6.42]}
            ],
            "topics": [
                {
                    "topic": "folk",
                    "pages": 303,
                    "found_before": 153,
                    "plain": [9.0, 97.3],
                    "same": [8.0, 162.3],
                }
            ],
        },
        "steering": [
            {
                "strategy": "best-first",
                "candidates": 1_000_001,
                "weights": {
                    "seconds": 0.5,
                    "cpu_seconds": 0.4,
                    "longest_gap": 0.3,
                    "longest_gap_before": 0.2,
                    "pages_meanwhile": 7,
                },
                "formula": {
                    "seconds": 4.5,
                    "cpu_seconds": 4.4,
                    "longest_gap": 0.6,
                    "longest_gap_before": 0.2,
                    "pages_meanwhile": 80,
                    "taught_seconds": 20.5,
                    "taught_cpu_seconds": 20.4,
                    "taught_longest_gap": 0.7,
                    "taught_pages_meanwhile": 300,
                },
            }
        ],
        "interests": {
            "related, even": {
                "trios": 24,
                "interests": 63,
                "each_median": 1.05,
                "each_reached": 0.98,
                "together": 1.27,
                "together_interval": [1.13, 1.48],
            }
        },
        "learning": [
            {
                "experiment": "webkb",
                "tables": [{"setting": "webkb", "budget": 600, "baseline": "balanced", "rows": [row]}],
            }
        ],
    }
    return {name: {"stamp": dict(stamp), "figures": found} for name, found in figures.items()}


def test_every_benchmark_is_run_and_has_its_place_in_the_document(bench):
    scripts = {path.name for path in BENCH.glob("*.py") if "\ndef main(" in path.read_text("utf-8")}
    assert scripts - {"run.py"} == {words[0] for words in bench.PLAN.values()} - {"speed/run.py"}
    places = re.findall(r"^<!-- (\w+) -->$", DOCUMENT, re.M)
    assert sorted(places) == sorted(["stamp", *bench.PLAN])
    assert set(bench.tables.MAKERS) == set(bench.PLAN) == set(bench.SHORT)


def test_one_run_fills_every_table_and_says_where_it_was_made(bench, results):
    made = bench.tables.filled(DOCUMENT, results, bench.PLAN)
    told = re.sub(r"^<!-- (\w+) -->$.*?^<!-- /\1 -->$", "", made, flags=re.M | re.S)
    assert told == re.sub(r"^<!-- (\w+) -->$.*?^<!-- /\1 -->$", "", DOCUMENT, flags=re.M | re.S)
    assert "2026-01-02, commit `abc123`" in made
    for figure in (
        "900",
        "| a browser | 60 | 45.00 | 1.33 | 30.1 |",
        "| the longest | 26.0 ms |",
        "| 0.990 ± 0.010 |",
        "| judged | 40 | 20 | 0.91 | 0.93 | 30 | 0.87 | 1.4 |",
        "| climb | 1.330 [1.200, 1.410] | 1.1 | 7 |",
        "| related, even | 24 | 63 | 1.05 | 0.98 | 1.27 | 1.13 to 1.48 |",
        "| detours | best-first | 0.400 | 0.500 | 1.250 [1.100, 1.400] | 9 |",
        "| w | 1 | 1.000 [0.990, 1.010] | 0.97 | 1.0 | 4 |",
        "| 10,000 | 97 | 5.25 ms | 1.00 |",
        "| best-first | 1,000,001 | a formula, all taught | 20.50 | 20.40 | 0.70 | 0.20 | 300 |",
        "0.250",
        "4,000",
        "215",
        "1,987",
        "2,374",
        "8.50 ms",
        "76.8 s",
        "1.90 times",
        "4.93 [3.91, 6.42]",
    ):
        assert figure in made
    assert "No figures yet" not in made


def test_what_several_runs_measured_is_not_put_together(bench, results):
    results["speed"]["stamp"]["commit"] = "def456"
    with pytest.raises(SystemExit, match="2 runs"):
        bench.tables.filled(DOCUMENT, results, bench.PLAN)


def test_a_benchmark_that_was_run_alone_or_not_at_all_is_missed(bench, results):
    del results["soak"], results["walk"]["stamp"]["run"]
    with pytest.raises(SystemExit, match=r"for walk, soak: run `make bench`"):
        bench.tables.filled(DOCUMENT, results, bench.PLAN)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["walk", "frontier_memory", "exact", "learning"])
def test_a_benchmark_runs_in_its_short_form(bench, name):
    """Those that need no recorded web; `python bench/run.py --short` runs them all."""
    assert bench.figures(name, short=True)
