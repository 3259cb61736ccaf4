"""Experiments as a whole: the same results however they are run, and none run twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_webs import SmallWeb

from clew.errors import ClewError, ConfigError, UsageError
from clew.lab import experiment_plan as planning
from clew.lab import runner
from clew.lab.experiment import Experiment
from clew.lab.results import Results, append, read_lines
from clew.lab.runner import run_experiment
from clew.lab.summary import mean_curve, summarise

PAGES = 80
LINKS = {f"p{i}.html": [f"p{(i * k + k) % PAGES}.html" for k in (2, 3, 7)] for i in range(PAGES)}
LABELS = {
    name: tuple(label for label, step in (("seven", 7), ("five", 5)) if int(name[1:-5]) % step == 0)
    for name in LINKS
}
GIVEN = {
    "name": "small",
    "corpora": "small",
    "topics": ["seven", "five"],
    "seeds": {"sets": 2, "pages": 2, "reach": 0.2},
    "budget": [10, 40],
    "strategies": [
        "breadth-first",
        "random",
        {"name": "best-first", "label": "best", "weights": {"hint": 0.5}},
    ],
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Whatever corpus is asked for, it is the small web."""
    monkeypatch.setattr(planning, "open_web", lambda name: SmallWeb(LINKS, LABELS))


def files(directory: Path) -> dict[str, bytes]:
    """Everything in a directory but how long it took."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name != "timings.jsonl"}


def test_the_number_of_workers_does_not_show(tmp_path):
    """One process or three: the same files, byte for byte."""
    experiment = Experiment.parse(GIVEN)
    one = run_experiment(experiment, tmp_path / "one", workers=1)
    three = run_experiment(experiment, tmp_path / "three", workers=3)
    assert files(tmp_path / "one") == files(tmp_path / "three")
    assert len(one.runs()) == 2 * 2 * 3
    assert list(one.runs()) == list(three.runs())


def test_what_is_finished_is_not_run_again_and_what_was_cut_off_is(tmp_path, monkeypatch):
    experiment = Experiment.parse(GIVEN)
    run_experiment(experiment, tmp_path, workers=1)
    whole = files(tmp_path)
    lines = (tmp_path / "runs.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "runs.jsonl").write_bytes(b"".join(lines[3:-1]) + lines[-1][:40])
    done = []
    run_experiment(experiment, tmp_path, workers=1, tell=done.append)
    assert len(done) == 4
    assert (done[0].done, done[-1].done, done[-1].total) == (13, 16, 16)
    assert files(tmp_path) == whole


def test_another_option_is_another_run_and_leftovers_do_not_show(tmp_path):
    """A changed strategy is run anew; the runs of the old one are in no table."""
    run_experiment(Experiment.parse(GIVEN), tmp_path, workers=1)
    changed = GIVEN | {"strategies": ["breadth-first", {"name": "best-first", "label": "best"}]}
    done = []
    results = run_experiment(Experiment.parse(changed), tmp_path, workers=1, tell=done.append)
    assert len(done) == 4
    assert {run.strategy for run in results.runs().values()} == {"breadth-first", "best"}
    assert len(read_lines(results.runs_path)) == 8


def test_a_broken_strategy_is_named(tmp_path, monkeypatch):
    """A failure inside a run says which strategy failed where, and what was finished before is kept."""

    def broken(parsed_web, predicate, strategy, *rest, **more):
        if strategy.name == "random":
            raise ZeroDivisionError("dice")
        return whole(parsed_web, predicate, strategy, *rest, **more)

    whole = runner.simulate
    monkeypatch.setattr(runner, "simulate", broken)
    with pytest.raises(ClewError, match="random failed in small/random/seven/1: ZeroDivisionError: dice"):
        run_experiment(Experiment.parse(GIVEN), tmp_path, workers=1)
    assert [run.strategy for run in Results(tmp_path).runs().values()] == ["breadth-first"]


def test_an_interrupt_keeps_what_is_finished(tmp_path):
    def stop(progress):
        if progress.done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(Experiment.parse(GIVEN), tmp_path / "in two", workers=2, tell=stop)
    done = []
    run_experiment(Experiment.parse(GIVEN), tmp_path / "in two", workers=1, tell=done.append)
    assert len(done) == 16 - 7
    run_experiment(Experiment.parse(GIVEN), tmp_path / "at once", workers=1)
    assert files(tmp_path / "in two") == files(tmp_path / "at once")


def test_mistakes_in_a_strategy_show_before_anything_is_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "open_web", lambda name: pytest.fail("opened"))
    for strategies in (["best-frist"], [{"name": "random", "colour": "red"}]):
        with pytest.raises(ConfigError):
            run_experiment(Experiment.parse(GIVEN | {"strategies": strategies}), tmp_path, workers=1)


def test_a_smaller_budget_is_the_beginning_of_the_run(tmp_path):
    """Tables for a budget of 10 are those of an experiment that ends there."""
    long = run_experiment(Experiment.parse(GIVEN), tmp_path / "long", workers=1)
    short = run_experiment(Experiment.parse(GIVEN | {"budget": 10}), tmp_path / "short", workers=1)
    first = summarise(list(long.runs().values()), long.oracles().values(), [10])[0]
    second = summarise(list(short.runs().values()), short.oracles().values(), [10])[0]
    assert [(r.strategy, r.nauc, r.recall, r.p) for r in first.rows] == [
        (r.strategy, r.nauc, r.recall, r.p) for r in second.rows
    ]


def test_the_topic_is_the_unit(tmp_path):
    """A mean is over topics of the means over their seed sets, and a pair's wins are counted by topic."""
    results = run_experiment(Experiment.parse(GIVEN), tmp_path, workers=1)
    runs = list(results.runs().values())
    table = summarise(runs, results.oracles().values(), [40], "random")[0]
    for row in table.rows:
        mine = [run for run in runs if run.strategy == row.strategy]
        by_topic = [sum(run.nauc for run in mine if run.topic == topic) / 2 for topic in ("seven", "five")]
        assert row.nauc == pytest.approx(sum(by_topic) / 2)
        assert list(row.topics.values()) == pytest.approx(by_topic)
        assert row.low <= row.nauc <= row.high
        assert (row.p is None) == (row.strategy == "random")
    assert table.cases == 4
    assert all(pair.wins + pair.losses <= 2 and pair.p <= pair.holm for pair in table.pairs)
    with pytest.raises(UsageError, match="choose from breadth-first, random, best"):
        summarise(runs, results.oracles().values(), [40], "worst")


def test_a_mean_curve_ends_at_the_mean_recall(tmp_path):
    results = run_experiment(Experiment.parse(GIVEN), tmp_path, workers=1)
    mine = [run for run in results.runs().values() if run.strategy == "random"]
    table = summarise(mine, results.oracles().values(), [40])[0]
    line = mean_curve(mine, 40)
    assert line[0] == (0, 0.0)
    assert line[-1] == (40, pytest.approx(table.rows[0].recall))


def test_lines_survive_a_torn_one(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"key":1}\n{"key":')
    append(path, {"key": 3})
    assert [row["key"] for row in read_lines(path)] == [1, 3]
    assert json.loads(path.read_bytes().splitlines()[-1]) == {"key": 3}


def test_results_that_are_none_say_so(tmp_path):
    with pytest.raises(UsageError, match="clew lab run"):
        Results(tmp_path).experiment()
