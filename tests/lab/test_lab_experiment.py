"""Experiment files: what they may say, what topics and seeds come of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_webs import SmallWeb

from clew.errors import ConfigError
from clew.lab import experiment_plan as planning
from clew.lab.experiment import CorpusSpec, Experiment
from clew.lab.experiment_plan import ExperimentCorpus, ExperimentPlan
from clew.lab.predicates import Blind, Hinted
from clew.lab.suite import load_suite
from clew.page import Link, Links

SHIPPED = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))
LINKS = {"a.html": ["b.html", "c.html"], "b.html": ["a.html", "d.html"], "c.html": [], "d.html": ["c.html"]}
LABELS = {
    "a.html": ("subject.Art.Painting",),
    "b.html": ("subject.Art",),
    "c.html": ("subject.Music",),
    "d.html": ("subject.Art.Painting", "subject.Music"),
}
SAID = {"b.html": "turbines in the wind", "d.html": "the wind is up"}
BASE = {"name": "x", "corpora": "small", "topics": ["subject.Art"], "budget": 10, "strategies": ["random"]}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(planning, "open_web", lambda name: SmallWeb(LINKS, LABELS, SAID))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_experiments_that_are_shipped_can_be_read(path):
    suite = load_suite(path)
    assert suite.name == path.stem
    for part in suite.parts:
        assert {"breadth-first", "random"} <= {strategy.name for strategy in part.strategies}


def test_there_are_shipped_experiments():
    assert {path.stem for path in SHIPPED} >= {"quick", "wikispeedia", "wikispeedia-hard", "webkb"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"budgte": 3}, "no setting 'budgte'"),
        ({"strategies": []}, "strategies"),
        ({"strategies": ["random", "random"]}, "two strategies are called 'random'"),
        ({"baseline": "best"}, "the baseline 'best' is none of the strategies"),
        ({"budget": 0}, "at least one request"),
        ({"topics": [{"name": "nothing"}]}, "needs a label, a formula, or both"),
        ({"predicate": "open"}, "an open predicate needs topics that are listed, each with a formula"),
        ({"seeds": {"kind": "given"}}, "need urls"),
        ({"corpora": {"name": "small", "dead_links": "maybe"}}, "dead_links"),
    ],
)
def test_a_mistake_is_named(change, words):
    with pytest.raises(ConfigError, match=words):
        Experiment.parse(BASE | change)


def test_a_file_that_is_no_toml_or_not_there_says_so(tmp_path):
    with pytest.raises(ConfigError, match="there is no experiment"):
        Experiment.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("a = [")
    with pytest.raises(ConfigError, match="is not TOML"):
        Experiment.load(tmp_path / "bad.toml")


def test_dead_links_are_dropped_where_the_corpus_is_a_cutting():
    assert CorpusSpec.model_validate("wikispeedia:hard").dead_links == "drop"
    assert CorpusSpec.model_validate("webkb:texas").dead_links == "keep"


def test_other_keys_of_a_strategy_are_its_options():
    experiment = Experiment.parse(
        BASE | {"strategies": [{"name": "shark", "label": "s", "decay": 0.2, "weights": {"hint": 1}}]}
    )
    (spec,) = experiment.strategies
    assert (spec.label, spec.options, spec.weights) == ("s", {"decay": 0.2}, {"hint": 1.0})
    assert Experiment.parse(experiment.model_dump(mode="json")) == experiment


def test_a_page_belongs_to_all_subjects_above_its_own():
    field = ExperimentCorpus(CorpusSpec.model_validate("small"))
    names = {topic: [url.rsplit("/")[-1] for url in urls] for topic, urls in field.labelled.items()}
    assert names == {
        "subject.Art": ["a.html", "b.html", "d.html"],
        "subject.Art.Painting": ["a.html", "d.html"],
        "subject.Music": ["c.html", "d.html"],
    }


def test_topics_by_rule_are_those_of_the_right_size_and_depend_on_the_seed_alone():
    rule = BASE | {"topics": {"count": 1, "min": 2, "max": 2}, "seeds": {"reach": 0.0}}
    chosen = {
        ExperimentPlan(Experiment.parse(rule | {"seed": seed})).cases[0].topic.name for seed in range(12)
    }
    assert chosen == {"subject.Art.Painting", "subject.Music"}
    again = [ExperimentPlan(Experiment.parse(rule)).cases for _ in range(2)]
    assert again[0] == again[1]
    with pytest.raises(ConfigError, match="widen min and max"):
        ExperimentPlan(Experiment.parse(rule | {"topics": {"count": 9, "min": 1}}))


def test_random_seeds_reach_the_share_they_should():
    """From c nothing can be reached: it is never drawn alone for a topic of other pages."""
    experiment = Experiment.parse(BASE | {"seeds": {"sets": 20, "reach": 0.9}})
    for case in ExperimentPlan(experiment).cases:
        assert case.seeds[0].rsplit("/")[-1] in ("a.html", "b.html")
    with pytest.raises(ConfigError, match="lower reach"):
        ExperimentPlan(Experiment.parse(BASE | {"topics": [{"formula": "nowhere"}]}))


def test_warm_seeds_are_pages_that_satisfy(monkeypatch):
    """Two of the topic's pages, no copy of one another, from which others can be reached."""
    said = {"a.html": "much the same", "b.html": "much the same"} | {"d.html": "something else"}
    monkeypatch.setattr(planning, "open_web", lambda name: SmallWeb(LINKS, LABELS, said))
    experiment = Experiment.parse(BASE | {"seeds": {"kind": "warm", "sets": 9, "pages": 1}})
    cases = ExperimentPlan(experiment).cases
    assert {case.start for case in cases} == {"warm"}
    assert {case.seeds[0][-6:] for case in cases} == {"a.html", "b.html"}
    assert Experiment.parse(BASE | {"seeds": {"kind": "warm"}}).seeds[0].pages == 2
    with pytest.raises(ConfigError, match="to start from 3 of them leaves none to be found"):
        ExperimentPlan(Experiment.parse(BASE | {"seeds": {"kind": "warm", "pages": 3}}))


def test_seeds_can_be_given_or_the_webs_own():
    given = {"kind": "given", "urls": [["http://a.example/b.html#x"], ["http://a.example/d.html"]]}
    experiment = Experiment.parse(BASE | {"seeds": [{"kind": "entry"}, given]})
    cases = ExperimentPlan(experiment).cases
    assert [(c.start, c.number, c.seeds[0][-6:]) for c in cases] == [
        ("entry", 1, "a.html"),
        ("given", 1, "b.html"),
        ("given", 2, "d.html"),
    ]
    with pytest.raises(ConfigError, match="has no page"):
        ExperimentPlan(Experiment.parse(BASE | {"seeds": given | {"urls": [["http://b.example/"]]}}))


def test_label_and_formula_make_the_targets_together():
    field = ExperimentCorpus(CorpusSpec.model_validate("small"))
    parse = lambda topic: Experiment.parse(BASE | {"topics": [topic]}).topics[0]  # noqa: E731
    tails = lambda topic: sorted(url[-6:] for url in field.targets(parse(topic)))  # noqa: E731
    assert tails({"formula": "wind"}) == ["b.html", "d.html"]
    assert tails({"formula": "wind", "label": "subject.Music"}) == ["d.html"]
    with pytest.raises(ConfigError, match="has the label"):
        field.targets(parse("subject.Sport"))


def test_a_blind_predicate_says_nothing_of_links_and_an_open_one_does():
    field = ExperimentCorpus(CorpusSpec.model_validate("small"))
    links = Links.of("http://a.example/", [Link("http://a.example/", "http://a.example/x", "wind farm")])
    both = Experiment.parse(BASE | {"topics": [{"formula": "wind", "label": "subject.Music"}]}).topics[0]
    blind = field.predicate(both, blind=True)
    hinted = field.predicate(both, blind=False)
    assert isinstance(blind, Blind)
    assert list(blind.estimate_links(links)) == [0.0]
    assert isinstance(hinted, Hinted)
    assert hinted.estimate_links(links)[0] > 0
    page = field.parsed_web.page("http://a.example/b.html")
    assert not blind.judge(page).satisfied
    assert not hinted.judge(page).satisfied
    formula = field.predicate(both.model_copy(update={"label": ""}), blind=False)
    assert formula.judge(page).satisfied
