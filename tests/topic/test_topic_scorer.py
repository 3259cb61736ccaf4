"""A topic's degrees depend on its model and the text, to the last bit, and on nothing else."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import StoreForeign, UsageError
from clew.page import Links, Page
from clew.predicate import FormulaPredicate, parse
from clew.predicate import compile as compile_predicate
from clew.predicate.link_estimate import relaxed
from clew.topic import Example, Taxonomy, TopicLibrary, TopicModel, TopicScorers
from clew.topic.document import TextReader
from clew.topic.model import dumps, loads

SAILING = TopicModel("linear", ("boat", "harbour", "sail", "wind"), np.array([4.0, 2.5, 9.0, 0.7]), -2.1)
POWER = TopicModel("linear", ("boat", "grid", "turbin", "wind"), np.array([-2.0, 5.0, 8.0, 3.3]), -1.7)
LIKE = TopicModel("like", ("boat", "sail"), np.array([0.6, 0.8]), 0.0)
LIBRARY = TopicLibrary(
    Taxonomy(["sports.sailing", "energy.wind-power"]),
    {"sports.sailing": SAILING, "energy.wind-power": POWER},
    {"good pages": LIKE},
    "topics",
)
WORDS = [
    "sail",
    "sailing",
    "boats",
    "wind",
    "turbines",
    "grid",
    "the",
    "of",
    "harbour",
    "cooking",
    "été",
    "3",
]
texts = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)


def page(text: str, title: str = "") -> Page:
    return Page(url="http://a.example/", text=text, title=title, language="en")


def links(*anchors: str) -> Links:
    targets = tuple(f"http://a.example/{i}" for i in range(len(anchors)))
    blank = ("",) * len(anchors)
    return Links("http://a.example/", targets, anchors, blank, blank, blank)


@given(st.lists(texts, max_size=5), texts)
def test_a_topic_added_later_changes_no_degree_of_another(before, text):
    """Not even in the last bit, and whatever was read before."""
    alone, among = TopicScorers({"a": SAILING}), TopicScorers({"a": SAILING, "b": POWER, "c": LIKE})
    for other in before:
        among.page(page(other))
    assert alone.page(page(text)).degrees[0] == among.page(page(text)).degrees[0]
    one, many = alone.links(links(text, "wind")), among.links(links(text, "wind"))
    assert one[:, 0].tolist() == many[:, 0].tolist()


@given(texts, texts)
def test_degrees_and_guesses_are_degrees(text, anchor):
    scorers = TopicScorers({"a": SAILING, "b": POWER, "c": LIKE})
    found = np.concatenate([scorers.page(page(text)).degrees, scorers.links(links(anchor, ""))[0]])
    assert ((found >= 0.0) & (found <= 1.0)).all()


def test_a_degree_is_the_logistic_function_of_the_named_parts():
    """By hand: three stems of which one stands twice; lengths 1 and 1 + log 2."""
    reading = TopicScorers({"a": SAILING}).page(page("sail boat boat cooking"))
    twice = 1 + np.log(2)
    length = np.sqrt(1 + twice**2 + 1)
    score = -2.1 + 9.0 / length + 4.0 * twice / length
    assert reading.degrees[0] == pytest.approx(1 / (1 + np.exp(-score)), abs=1e-6)
    assert reading.parts.sum() - 2.1 == pytest.approx(score, abs=1e-5)


def test_a_cosine_is_one_for_the_example_itself():
    assert TopicScorers({"c": LIKE}).page(page("sail " * 20 + "boat " * 20)).degrees[0] > 0.98
    assert TopicScorers({"c": LIKE}).page(page("cooking")).degrees[0] == 0.0


def test_a_link_without_a_known_word_says_nothing_and_one_with_the_word_speaks():
    found = TopicScorers({"a": SAILING, "b": POWER}).links(links("read more", "sailing boats", ""))
    assert found[0].tolist() == [0.0, 0.0] == found[2].tolist()
    assert found[1, 0] > 0.5 > found[1, 1] == 0.0


def test_words_met_by_the_thousand_are_forgotten_without_a_different_degree(monkeypatch):
    from clew.topic import document

    scorers = TopicScorers({"a": SAILING})
    first = scorers.page(page("sail boat cooking")).degrees
    monkeypatch.setattr(document, "MAX_FORMS", 0)
    for text in ("kitchen table", "other words here", "sail boat cooking"):
        last = scorers.page(page(text)).degrees
    assert first.tolist() == last.tolist()


def test_title_words_count_more_than_words_of_the_text():
    scorers = TopicScorers({"a": SAILING})
    plain, titled = (scorers.page(p).degrees[0] for p in (page("sail cooking"), page("cooking", "sail")))
    assert titled > plain


def test_a_text_reader_numbers_its_own_stems_first():
    reader = TextReader(["boat", "sail"])
    found = reader.page(page("kitchen sails"))
    assert found.numbers.tolist() == [1, 2]
    assert reader.names(found.numbers) == ["sail", "kitchen"]


# models at rest


def test_a_model_comes_back_as_it_was_written():
    again = loads(dumps(SAILING), "x")
    assert (again.stems, again.weights.tolist(), again.bias) == (
        SAILING.stems,
        SAILING.weights.tolist(),
        SAILING.bias,
    )


def _spoiled(**change: object) -> str:
    return json.dumps(json.loads(dumps(SAILING)) | change)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is damaged"),
        ("[" * 100_000, "is damaged"),
        ("[]", "is no topic model"),
        (_spoiled(**{"clew-topic-model": 99}), "is of version 99, and this clew reads version 1"),
        (_spoiled(weights={"sail": float("nan")}), "holds NaN, which is no number"),
        (_spoiled(weights={"sail": "9"}), "has a weight that is no number"),
        (_spoiled(weights={"sail": True}), "has a weight that is no number"),
        (_spoiled(weights={"sail": 1e300}), "has a weight that is no number"),
        (_spoiled(bias=None), "has a weight that is no number"),
        (_spoiled(kind="pickle"), "is damaged"),
        (_spoiled(prior=0), "is damaged"),
        (" " * 4_000_001, "has more than 4 MB"),
    ],
)
def test_what_is_no_model_is_refused_in_a_sentence(text, why):
    with pytest.raises(StoreForeign) as caught:
        loads(text, "model.json")
    assert str(caught.value) == f"model.json {why}: train the topic again with clew topic train"


def test_a_library_kept_by_a_crawl_comes_back_and_a_damaged_one_is_refused():
    kept = json.loads(json.dumps(LIBRARY.as_data()))
    again = TopicLibrary.from_data(kept, "crawl")
    assert again.digest == LIBRARY.digest
    assert again.taxonomy.topics == LIBRARY.taxonomy.topics
    for data in (None, {}, kept | {"models": []}, kept | {"topics": [".."]}, kept | {"topics": 3}):
        with pytest.raises(StoreForeign):
            TopicLibrary.from_data(data, "crawl")


# the tree


def test_examples_of_topics_that_exclude_each_other_must_differ():
    tree = Taxonomy(["a.b", "c"])
    same = [Example("one.txt", page("sail")), Example("two.txt", page("sail"))]
    tree.check_disjoint({"a": same[:1], "a.b": same[1:]})
    with pytest.raises(UsageError) as caught:
        tree.check_disjoint({"a.b": same[:1], "c": same[1:]})
    assert "one.txt and two.txt" in str(caught.value)


def test_an_inner_topic_takes_the_examples_of_its_subtopics_and_what_it_is_not_from_the_rest():
    tree = Taxonomy(["a.b", "a.c", "d"])
    examples = {path: [Example(path, page(path))] for path in ("any", "a.b", "a.c", "d")}
    assert [example.place for example in tree.indirect("a", examples)] == ["a.b", "a.c"]
    assert [example.place for example in tree.others("a", examples)] == ["any", "d"]
    assert [example.place for example in tree.others("a.b", examples)] == ["any", "a.c", "d"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sailin", "there is no topic 'sailin': did you mean 'sports.sailing'?"),
        ("zzz", "there is no topic 'zzz': there are energy, energy.wind-power, sports, sports.sailing"),
        ("sports", "the topic sports has no model yet: clew topic train sports"),
    ],
)
def test_a_topic_that_is_not_there_is_told_with_its_column_and_the_nearest(name, said):
    with pytest.raises(UsageError) as caught:
        compile_predicate(f"wind AND topic:{name}", topics=LIBRARY)
    assert str(caught.value).startswith(f"{said} at column 10")


def test_a_formula_without_any_topics_says_where_to_get_some():
    with pytest.raises(UsageError, match="clew topic new sailing, or say where yours are with --topics DIR"):
        compile_predicate("topic:sailing")


# in formulas


def test_topics_combine_with_every_other_term_and_say_which_words_gave_the_degree():
    wanted = compile_predicate('topic:sailing AND lang:en AND NOT topic:wind-power OR "x y"', topics=LIBRARY)
    verdict = wanted.judge(page("Sailing boats in the harbour"))
    assert verdict.satisfied
    assert any(
        reason.startswith("topic:sailing ") and reason.endswith("(sail, boat, harbour)")
        for reason in verdict.reasons
    )


def test_a_bound_makes_a_topic_crisp():
    degree = compile_predicate("topic:sailing", topics=LIBRARY).judge(page("sail wind grid cooking")).score
    for bound, expected in ((degree - 0.01, 1.0), (degree + 0.01, 0.0)):
        formula = f"topic:sailing>{bound:.6f}"
        assert (
            compile_predicate(formula, topics=LIBRARY).judge(page("sail wind grid cooking")).score == expected
        )


def test_any_is_every_page():
    assert compile_predicate("topic:any", topics=LIBRARY).judge(page("")).score == 1.0
    assert compile_predicate("topic:any AND wind").judge(page("wind")).satisfied


def test_like_is_read_by_the_place_it_names():
    wanted = compile_predicate('like:"good pages">0.5', topics=LIBRARY)
    assert wanted.judge(page("sail boat")).satisfied
    assert not wanted.judge(page("wind")).satisfied


def test_a_predicate_keeps_the_part_of_the_topics_it_may_need():
    wanted = compile_predicate("topic:sailing", topics=LIBRARY)
    assert isinstance(wanted, FormulaPredicate)
    assert wanted.topics.taxonomy.topics == ("sports", "sports.sailing")
    assert tuple(wanted.topics.models) == ("sports.sailing",)


# links


def test_the_links_of_a_page_are_guessed_by_topics_and_words_together():
    wanted = compile_predicate("topic:sailing AND baltic", topics=LIBRARY)
    both, one, none = wanted.estimate_links(links("sailing the Baltic", "sailing boats", "cooking"))
    assert both > one > none == 0.0


def test_the_relaxed_formulas_of_the_paper():
    formula = parse("topic:sailing AND topic:rügen AND NOT hotel")
    assert str(relaxed(formula, "any")) == "topic:sailing OR topic:rügen"
    assert str(relaxed(formula, "rarer")) == "topic:sailing"
    rare = {"topic:sailing": 9.0, "topic:rügen": 2.0}
    assert str(relaxed(formula, "rarer", lambda part: rare[str(part)])) == "topic:rügen"
    assert relaxed(formula, "whole") is formula


def test_a_link_with_one_of_two_topics_is_worth_more_under_the_relaxed_formula():
    guess = {}
    for how in ("whole", "any", "rarer"):
        wanted = compile_predicate("topic:wind-power AND topic:sailing", topics=LIBRARY, link_formula=how)
        guess[how] = wanted.estimate_links(links("sailing boats"))[0]
    assert guess["any"] > guess["whole"] > guess["rarer"] == 0.0


def test_a_focus_made_of_a_predicate_knows_its_topics_and_those_above_them():
    """What a crawl seeks may be widened to a topic above one that it judges by, and to no other."""
    above = TopicLibrary(LIBRARY.taxonomy, {**LIBRARY.models, "sports": POWER}, LIBRARY.likes, LIBRARY.source)
    judged = compile_predicate("topic:sports.sailing", threshold=0.7, topics=above, link_formula="any")
    focus = judged.another("topic:sports OR boat")
    assert (focus.threshold, focus.semantics, focus.link_formula) == (0.7, "minmax", "any")
    alone = compile_predicate("topic:sports OR boat", threshold=0.7, topics=above, link_formula="any")
    text = page("wind turbines and the grid")
    assert focus.judge(text) == alone.judge(text)
    assert focus.judge(text).score > judged.judge(text).score
    with pytest.raises(UsageError):
        judged.another("topic:energy.wind-power")
