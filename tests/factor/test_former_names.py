"""Factors by the names they had before: options, weights, settings, experiments and knowledge still load."""

import json

import pytest

from clew.errors import StoreForeign
from clew.factor import FACTORS, canonical
from clew.knowledge import Knowledge, dumps, loads
from clew.lab.experiment import Experiment
from clew.lab.experiment_plan import make_strategy
from clew.predicate import compile as compile_predicate
from clew.run.build import strategy_of
from clew.run.factor_report import FACTOR_WORDS
from clew.run.settings import load_config
from clew.strategy import Intelligent, make

FORMER = {
    "kin": "parent_relevance",
    "near": "neighbour",
    "alive": "liveness",
    "ways": "hub_potential",
    "shallow": "url_depth",
    "hint": "link_text",
    "earlier": "prior_crawl",
}
#: As the columns of stored crawls have them.
ORDER = (
    *("content", "url", "link", "sibling", "anchor", "hub", "parent_relevance", "neighbour", "context"),
    *("liveness", "hub_potential", "url_depth", "link_text", "prior_crawl"),
    *("visit_frequency", "visit_signature", "visit_temporal", "opic", "crawl_depth"),
)
WIND = compile_predicate("wind")


def same(one, other):
    """Both hear the same factors and weigh them alike."""
    return (one.parts, one.combiner.weights.tolist()) == (other.parts, other.combiner.weights.tolist())


def test_the_order_of_factors_is_that_of_stored_columns():
    assert tuple(name for name in FACTORS if name in FACTORS.own) == ORDER


def test_every_factor_can_be_told_in_words():
    assert list(FACTOR_WORDS) == list(FACTORS.own)


@pytest.mark.parametrize(("former", "name"), FORMER.items())
def test_a_former_name_is_that_of_one_factor(former, name):
    assert canonical(former) == name
    assert [known for known, factor in FACTORS.items() if former in factor.spec.aliases] == [name]


@pytest.mark.parametrize(("former", "name"), FORMER.items())
def test_an_option_and_a_weight_with_a_former_name_give_the_same_strategy(former, name):
    old = make("intelligent", WIND, options={"factors": f"content,{former}"})
    assert same(old, make("intelligent", WIND, options={"factors": f"content,{name}"}))
    old = make("intelligent", WIND, weights={former: 2.0, "url": 1.0})
    assert same(old, make("intelligent", WIND, weights={name: 2.0, "url": 1.0}))
    assert Intelligent.parts_of({former: 2.0}, {}) == (name, "chance")


@pytest.mark.parametrize(("former", "name"), FORMER.items())
def test_settings_with_a_former_name_give_the_same_strategy(former, name, tmp_path):
    basic = {"seeds": ("http://a.example/",), "match": "wind"}

    def built(**given):
        config = load_config(basic | given, cwd=tmp_path, environ={}).config
        return strategy_of(config, WIND)

    assert same(built(factors=("url", former)), built(factors=("url", name)))
    assert same(built(weights=f"{former}=0.5"), built(weights=f"{name}=0.5"))


@pytest.mark.parametrize(("former", "name"), FORMER.items())
def test_an_experiment_with_a_former_name_gives_the_same_strategy(former, name):
    def built(given):
        strategy = {"name": "intelligent", "label": "one"} | given
        rest = {"name": "x", "corpora": "small", "topics": ["art"], "budget": 10, "strategies": [strategy]}
        return make_strategy(Experiment.parse(rest).strategies[0], WIND, 0)

    assert same(built({"factors": ["url", former]}), built({"factors": ["url", name]}))
    assert same(built({"weights": {former: 3.0}}), built({"weights": {name: 3.0}}))


def test_a_knowledge_file_of_before_is_read_whole():
    """The table that is `hub_features` now was written as `ways`."""
    tables = {
        "words": [["wind"], [3.0], [1.0]],
        "ways": [["", "file index.html"], [4.0, 2.0], [0.5, 0.25]],
        "places": [["http://a.example/"], [1.0], [1.0]],
    }
    plain = {"format": "clew-knowledge", "version": 1, "pages": 4, "satisfied": 1, "links": [0, 0, 0, 1]}
    found = loads(json.dumps(plain | {"tables": tables}))
    assert found.hub_features.row("file index.html") == (2.0, 0.25)
    assert found.places.row("http://a.example/") == (1.0, 1.0)
    assert loads(dumps(found)) == found
    assert "ways" not in json.loads(dumps(found))["tables"]


def test_a_damaged_table_is_refused_under_its_former_name_too():
    plain = json.loads(dumps(Knowledge(pages=1)))
    del plain["tables"]["hub_features"]
    plain["tables"]["ways"] = [["x"], [1.0]]
    with pytest.raises(StoreForeign, match="three columns"):
        loads(json.dumps(plain))
