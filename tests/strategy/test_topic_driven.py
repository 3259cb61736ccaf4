"""`topic-driven`: likeness to examples and link importance, each a named part of the score."""

import numpy as np
import pytest

from clew.errors import ConfigError
from clew.page import Link, Links, Page
from clew.predicate import compile as compile_predicate
from clew.predicate.verdict import Verdict
from clew.run.settings import make_config
from clew.strategy import make
from clew.testing import StrategyContract
from clew.testing.strategies import expansion_of
from clew.topic import Example
from clew.training.train import like

A = "http://a.example/"


def examples(*texts):
    return like(
        [Example(f"{A}{i}", Page(url=f"{A}{i}", text=text, language="en")) for i, text in enumerate(texts)]
    )


def page_of(text, *links):
    found = [Link(A, f"{A}{target}", anchor, around, "") for target, anchor, around in links]
    return Page(url=A, text=text, language="en", links=Links.of(A, found))


def strategy(**more):
    return make(
        "topic-driven",
        compile_predicate("anything"),
        like=examples("homework and lectures of a course", "course syllabus with homework"),
        **more,
    )


def observed(found, source, page, ids, fresh=None):
    return found.observe(expansion_of(source, page, Verdict(0.0, False), ids, fresh or [True] * len(ids)))


class TestByExamples(StrategyContract):
    """The topic is the examples', so another focus changes nothing of it."""

    def make(self):
        return make("topic-driven", self.predicate, like=examples("wind turbine farm"), weights={"url": 1.0})


class TestByInDegree(StrategyContract):
    def make(self):
        return make("topic-driven", self.predicate, options={"importance": "indegree"})


class TestBySite(StrategyContract):
    def make(self):
        return make("topic-driven", self.predicate, weights={"site": 1.0})


class TestByHits(StrategyContract):
    def make(self):
        return make(
            "topic-driven", self.predicate, options={"importance": "hits"}, weights={"importance": 1.0}
        )


def test_the_source_is_the_cosine_of_equation_one_with_its_square_roots():
    """Topic (wind, farm) with counts 1, 1; page (wind, sea): 1 / (√2 · √2)."""
    found = make("topic-driven", compile_predicate("x"), like=examples("wind farm alpha"))
    row = observed(found, 0, page_of("wind sea beta", ("b", "", "")), [1]).terms[0]
    assert row[0] == pytest.approx(1 / 3)


def test_each_criterion_reads_its_own_part_of_a_link():
    found = strategy(weights=dict.fromkeys(("anchor", "context", "url"), 1.0))
    page = page_of(
        "bread and butter",
        ("x1", "homework", "more"),
        ("x2", "more", "homework of the week"),
        ("homework.html", "more", "more"),
        ("x3", "more", "more"),
    )
    rows = observed(found, 0, page, [1, 2, 3, 4]).terms
    assert (rows[:, 1] > 0).tolist() == [True, False, False, False]
    assert (rows[:, 2] > 0).tolist() == [False, True, False, False]
    assert (rows[:, 3] > 0).tolist() == [False, False, True, False]


def test_a_page_whose_links_are_dead_is_worth_less_as_a_source():
    found = strategy()
    page = page_of("course homework lectures", *((f"x{i}", "", "") for i in range(4)))
    before = observed(found, 0, page, [1, 2, 3, 4]).terms[0, 0]
    gone = found.observe(expansion_of(1, Page(url=f"{A}x0", status=404), Verdict(0.0, False), [], []))
    assert gone.moved.ids.tolist() == [2, 3, 4]
    assert (gone.moved.terms[:, 0] < before).all()


@pytest.mark.parametrize("importance", ["pagerank", "indegree", "hits"])
def test_what_more_pages_link_to_is_more_important(importance):
    found = strategy(options={"importance": importance}, weights={"importance": 1.0})
    observed(found, 0, page_of("one", ("b", "", ""), ("c", "", "")), [1, 2])
    scored = observed(found, 5, page_of("two", ("b", "", "")), [1], [False])
    worth = dict(zip(scored.moved.ids.tolist(), scored.moved.terms[:, -1].tolist(), strict=True))
    assert worth[1] > found.evaluate(np.array([2]))[0, -1] >= 0.0


def test_a_criterion_that_is_off_says_nothing():
    found = strategy(weights=dict.fromkeys(("source", "anchor", "context", "site", "importance"), 0.0))
    rows = observed(found, 0, page_of("course", ("homework", "homework", "homework")), [1]).terms
    assert rows[0, [0, 1, 2, 4, 5]].tolist() == [0.0] * 5
    assert rows[0, 3] > 0


def site_of(found, *ids):
    return found.evaluate(np.array(ids))[:, -2].tolist()


def test_a_directory_whose_pages_were_alike_is_worth_more_and_a_host_that_is_dead_less():
    found = strategy(weights={"site": 1.0})
    places = ("x/1", "x/2", "y/1", "y/2")
    targets = [*(f"{A}{place}" for place in places), "http://b.example/1", "http://b.example/2"]
    links = Links.of(A, [Link(A, target, "", "", "") for target in targets])
    observed(found, 0, Page(url=A, links=links), [1, 2, 3, 4, 5, 6])
    assert site_of(found, 2, 4, 6) == [0.0] * 3
    for source, text in ((1, "course homework"), (3, "bread")):
        observed(found, source, Page(url=targets[source - 1], text=text, language="en"), [])
    gone = expansion_of(5, Page(url=targets[4], status=404), Verdict(0.0, False), [], [])
    assert found.observe(gone).moved.ids.tolist() == [2, 4, 6]
    alike, other, dead = site_of(found, 2, 4, 6)
    assert alike > other > dead > 0


def test_pages_beside_one_that_led_to_the_topic_are_worth_more():
    """Two directories of pages that are not alike; from one of them a link leads to a page that is."""
    found = strategy(weights={"site": 1.0})
    rows = [f"{A}{where}/{number}" for where in ("list", "else") for number in (1, 2)]
    links = Links.of(A, [Link(A, target, "", "", "") for target in rows])
    observed(found, 0, Page(url=A, links=links), [1, 2, 3, 4])
    for source, beyond in ((1, 5), (3, 6)):
        url = rows[source - 1]
        led = Links.of(url, [Link(url, f"{A}deep/{beyond}", "", "", "")])
        observed(found, source, Page(url=url, text="bread", language="en", links=led), [beyond])
    listed, other = site_of(found, 2, 4)
    assert listed == other
    observed(found, 5, Page(url=f"{A}deep/5", text="course homework", language="en"), [])
    listed, other = site_of(found, 2, 4)
    assert listed > other


def test_levels_are_weights_and_a_mistyped_one_names_the_nearest():
    given = {"seeds": ("http://a.example/",), "match": "x", "strategy": "topic-driven"}
    config = make_config(given | {"weights": "source=most,anchor=second,importance=off,url=0.7"})
    assert config.weights == {"source": 1.0, "anchor": 0.3, "importance": 0.0, "url": 0.7}
    assert make_config(given | {"weights": {"anchor": "second"}}).weights == {"anchor": 0.3}
    with pytest.raises(ConfigError, match="did you mean 'second'"):
        make_config(given | {"weights": "anchor=secnd"})
    with pytest.raises(ConfigError, match="did you mean 'importance'"):
        make("topic-driven", compile_predicate("x"), weights={"importanc": 1.0})
