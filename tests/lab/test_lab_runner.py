"""Experiments as a whole: the same results however they are run, and none run twice."""

from __future__ import annotations

import json
from dataclasses import replace
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


def test_dice_repeat_every_case_and_the_first_throw_is_the_run_there_was(tmp_path):
    """Three throws of `random` are three crawls; `breadth-first` has no dice and is run once."""
    one = run_experiment(Experiment.parse(GIVEN), tmp_path / "one", workers=1).runs()
    three = run_experiment(Experiment.parse(GIVEN | {"dice": 3}), tmp_path / "three", workers=2).runs()
    assert {key: run for key, run in three.items() if run.throw < 2} == one
    for case in {run.case for run in three.values()}:
        thrown = {
            run.throw: run.finds for run in three.values() if (run.case, run.strategy) == (case, "random")
        }
        assert sorted(thrown) == [1, 2, 3]
        assert len(set(thrown.values())) > 1
    assert {run.throw for run in three.values() if run.strategy == "breadth-first"} == {0}


def test_luck_is_counted_over_the_dice_of_each_case(tmp_path):
    results = run_experiment(Experiment.parse(GIVEN | {"dice": 3}), tmp_path, workers=1)
    runs, oracles = list(results.runs().values()), results.oracles()
    rows = {row.strategy: row for row in summarise(runs, oracles.values(), [40])[0].rows}
    mine = [run for run in runs if run.strategy == "random"]
    worst = [min(r.nauc for r in mine if r.case == case) for case in {run.case for run in mine}]
    luck = rows["random"].luck
    assert luck.dice == 3
    assert luck.worst == pytest.approx(sum(worst) / len(worst))
    assert luck.worst_share == pytest.approx(luck.worst / rows["random"].nauc)
    assert luck.worst_low <= luck.worst_share <= luck.worst_high < 1
    assert luck.sd_dice > 0
    none = rows["breadth-first"].luck
    assert (none.dice, none.sd_dice, none.worst_share) == (0, 0.0, pytest.approx(1.0))
    single = [run for run in runs if run.throw < 2]
    once = {row.strategy: row.luck for row in summarise(single, oracles.values(), [40])[0].rows}["random"]
    assert (once.worst_share, once.sd_dice) == (None, None)


def test_the_first_find_is_one_that_was_not_given(tmp_path):
    """Two seeds that satisfy are finds, but not the first one; a run without one counts with the budget."""
    warm = GIVEN | {
        "seeds": {"kind": "warm", "sets": 2, "reach": 0.0},
        "strategies": ["breadth-first"],
        "budget": 40,
    }
    results = run_experiment(Experiment.parse(warm), tmp_path, workers=1)
    runs, oracles = list(results.runs().values()), results.oracles()
    assert all(run.setting == "small from warm pages" and len(run.given) == 2 for run in runs)
    assert all(run.first is None or run.first > 2 for run in runs)
    cut = [replace(run, finds=run.given) for run in runs]
    luck = summarise(cut, oracles.values(), [40])[0].rows[0].luck
    assert (luck.nothing, luck.nothing_near, luck.first) == (1.0, 1.0, 40.0)


def test_lines_survive_a_torn_one(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"key":1}\n{"key":')
    append(path, {"key": 3})
    assert [row["key"] for row in read_lines(path)] == [1, 3]
    assert json.loads(path.read_bytes().splitlines()[-1]) == {"key": 3}


def test_results_that_are_none_say_so(tmp_path):
    with pytest.raises(UsageError, match="clew lab run"):
        Results(tmp_path).experiment()
