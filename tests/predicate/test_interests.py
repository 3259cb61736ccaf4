"""Several predicates by name: how they are written, read and judged."""

import pytest

from clew.errors import ConfigError, PredicateSyntaxError
from clew.page import Links, Page
from clew.predicate import Interests, Verdict, notes
from clew.predicate import compile as compiled
from clew.predicate.interests import formulas, is_named, verdict_of, written
from clew.predicate.judge import canonical


def page(text):
    return Page(url="http://a.example/", text=text)


def test_a_page_satisfies_those_interests_whose_formulas_it_satisfies():
    both = compiled({"wind": "turbine", "solar": "panel"})
    assert both.judge(page("a turbine and a panel")).interests == ("wind", "solar")
    assert both.judge(page("a panel")).interests == ("solar",)
    neither = both.judge(page("a river"))
    assert (neither.satisfied, neither.interests, neither.score) == (False, (), 0.0)


def test_the_verdict_has_each_interests_own_and_says_whose_a_reason_is():
    verdict = compiled({"wind": "turbine", "solar": "panel"}).judge(page("a panel"))
    assert verdict.reasons[0].startswith("solar: panel ")
    assert not verdict_of(verdict, "wind").satisfied
    assert verdict_of(verdict, "solar").score == verdict.score
    alone = Verdict(0.0, False)
    assert verdict_of(alone, "wind") is alone


def test_links_are_estimated_by_the_interest_they_suit_best():
    both = compiled({"wind": "turbine", "solar": "panel"})
    links = Links("http://a.example/", ("http://a.example/1",), ("turbine",), ("",), ("",), ("",))
    assert list(both.estimate_links(links)) == list(compiled("turbine").estimate_links(links))


@pytest.mark.parametrize(
    "given",
    [
        {"wind": "turbine AND farm", "solar": "panel"},
        ["wind=turbine AND farm", "solar=panel"],
        "wind=turbine AND farm\nsolar=panel",
        ["wind=turbine AND\n  farm\n", "solar= panel "],
    ],
)
def test_interests_are_given_as_a_table_a_list_or_lines(given):
    assert formulas(written(given)) == {"wind": "turbine AND farm", "solar": "panel"}


def test_the_text_of_interests_makes_equal_ones():
    both = compiled("wind=turbine farm\nsolar=panel OR roof")
    assert isinstance(both, Interests)
    assert compiled(both.text()).text() == both.text() == canonical("wind=turbine farm\nsolar=panel OR roof")


def test_a_formula_that_looks_like_a_name_is_quoted():
    assert not is_named('"a=b" AND c')
    assert not is_named("words:>=100")
    assert not is_named("url:/id=7/")
    assert compiled('"a=b" AND c').text() == '"a=b" AND c'
    assert "put it in quotes" in str(notes("a=b")[0])
    assert not notes("wind=turbine\nsolar=panel")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["wind=a", "wind=b"], "'wind' is there twice"),
        (["wind=a", "b"], "'b' has no name"),
        (["a", "b"], "'a' has no name"),
        (["wind=", "solar=b"], "'wind' has no formula"),
        ({"no name": "a"}, "cannot name an interest"),
        ({"w" * 41: "a"}, "cannot name an interest"),
        ({"wind": ""}, "'wind' has no formula"),
    ],
)
def test_what_is_wrong_with_names_is_said(given, said):
    with pytest.raises(ConfigError, match=said):
        written(given)


def test_a_formula_that_does_not_parse_is_told_with_its_name():
    with pytest.raises(PredicateSyntaxError, match="solar: "):
        compiled("wind=turbine\nsolar=panel AND (")


def test_what_a_person_says_counts_for_the_interests_whose_formulas_agree_or_for_all():
    both = compiled({"wind": "turbine", "solar": "panel"})
    assert both.said(page("a panel"), True).interests == ("solar",)
    assert both.said(page("a river"), True).interests == ("wind", "solar")
    assert both.said(page("a panel"), False).interests == ()


def test_another_text_is_judged_with_the_same_threshold():
    both = compiled({"wind": "turbine", "solar": "panel"}, threshold=0.9)
    assert both.another("sea").threshold == 0.9
    assert both.another("a=sea\nb=tide").names == ("a", "b")
    assert compiled("wind", threshold=0.9).another("a=sea\nb=tide").threshold == 0.9
