"""Suites: several experiments in one file, the halves that tune and judge, and a log of every look."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from clew.cli.app import run
from clew.errors import ConfigError, UsageError
from clew.lab.corpora import open_web
from clew.lab.made_webs import SHAPES, MadeWeb
from clew.lab.parsed_web import ParsedWeb
from clew.lab.suite import load_suite

HOME = Path(__file__).parents[2] / "experiments"
FILE = """
log = "looks.jsonl"
dice = 2
strategies = ["random", "breadth-first"]
budget = 20

[[parts]]
name = "one"
corpora = { name = "made:hosts:5", robots = "ignore" }
topics = ["chess"]
seeds = [{ kind = "entry" }, { kind = "warm" }]

[[parts]]
name = "two"
corpora = { name = "made:hubs:5", robots = "ignore" }
topics = ["bees"]
"""


def topics(half: str) -> dict[str, set[str]]:
    return {
        part.name: {topic.name for topic in part.topics} for part in load_suite(HOME / f"{half}.toml").parts
    }


def test_no_topic_that_judges_is_one_to_tune_on():
    tune, judge = topics("tune"), topics("judge")
    assert len(tune["miniweb"] | judge["miniweb"]) >= 40
    for name in ("miniweb", "wikispeedia", "hard", "texas"):
        assert not tune[name] & judge[name]
    for name in ("wikispeedia", "hard"):
        assert len(tune[name] | judge[name]) >= 24
        branches = [{topic.split(".")[1] for topic in half[name]} for half in (tune, judge)]
        assert not branches[0] & branches[1]
    assert "washington" not in tune
    assert "cornell" not in judge
    webs = [
        {corpus.name for part in load_suite(HOME / f"{half}.toml").parts for corpus in part.corpora}
        for half in ("tune", "judge")
    ]
    assert not {name for name in webs[0] & webs[1] if name.startswith("made:")}


def test_a_look_at_the_judging_half_leaves_lines_and_one_that_is_broken_off_leaves_one(
    tmp_path, capsys, monkeypatch
):
    small = partial(MadeWeb, seed=5, pages=300)
    monkeypatch.setattr("clew.lab.corpora.made_web", lambda spec: small(spec.split(":")[1]))
    path = tmp_path / "judge.toml"
    path.write_text(FILE)
    assert run(["lab", "run", str(path), "-o", str(tmp_path / "out"), "--workers", "1"]) == 0
    shown = capsys.readouterr().out
    assert "made:hosts:5 from warm pages" in shown
    assert "all webs" in shown
    begun, finished = [json.loads(line) for line in (tmp_path / "looks.jsonl").read_text().splitlines()]
    assert (begun["event"], finished["event"]) == ("begun", "finished")
    assert finished["parts"] == ["one", "two"]
    assert set(finished["figures"]["made:hosts:5 from entry pages, 20 requests"]) == {
        "random",
        "breadth-first",
    }
    words = [
        "lab",
        "run",
        str(path),
        "-o",
        str(tmp_path / "out"),
        "--part",
        "two",
        "--workers",
        "1",
        "--json",
    ]
    assert run(words) == 0
    assert {row["strategy"] for row in json.loads(capsys.readouterr().out)["overall"]} == {
        "random",
        "breadth-first",
    }
    path.write_text(FILE.replace('"bees"', '"ants"'))
    assert run(["lab", "run", str(path), "-o", str(tmp_path / "out"), "--workers", "1"]) == 2
    events = [json.loads(line)["event"] for line in (tmp_path / "looks.jsonl").read_text().splitlines()]
    assert events == ["begun", "finished", "begun", "finished", "begun"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('log = "looks.jsonl"', "log = 3"), "log is the name of a file"),
        (('name = "two"', 'name = "one"'), "need names, each another"),
        (('name = "two"', 'name = "../two"'), "leave out slashes"),
        (('name = "two"', 'nam = "two"'), "part 2: there is no setting 'nam'"),
    ],
)
def test_a_mistake_in_a_suite_is_named(change, words, tmp_path):
    path = tmp_path / "judge.toml"
    path.write_text(FILE.replace(*change))
    with pytest.raises(ConfigError, match=words):
        load_suite(path)


def test_a_part_that_is_not_there_is_told_with_those_that_are(tmp_path):
    path = tmp_path / "judge.toml"
    path.write_text(FILE)
    with pytest.raises(ConfigError, match="choose one, two"):
        load_suite(path).only(["three"])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_made_web_is_a_function_of_its_seed_and_most_of_it_can_be_reached(shape):
    webs = [MadeWeb(shape, seed=seed, pages=400, dead=0.5) for seed in (3, 3, 4)]
    bodies = [[web.get(url).body for url in web.urls()] for web in webs]
    assert bodies[0] == bodies[1] != bodies[2]
    parsed = ParsedWeb(webs[0])
    assert parsed.graph.reach([parsed.number[webs[0].seeds()[0]]]).mean() > 0.8
    articles = [page for _, page in parsed.pages() if webs[0].labels(page.url)]
    links = [target in parsed.number for page in articles for target in page.links.targets]
    assert 0.4 < 1 - sum(links) / len(links) < 0.6


@pytest.mark.parametrize("name", ["made:nothing", "made:hubs:x", "made:hubs:1:2:3", "made:hubs:1:100"])
def test_a_made_web_that_is_none_is_told(name):
    with pytest.raises(UsageError, match="made"):
        open_web(name)
