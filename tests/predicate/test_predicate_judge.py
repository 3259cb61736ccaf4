"""What single atoms say of pages, and how predicates are made."""

from __future__ import annotations

import math
import sys
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import ClewError, ConfigError, PredicateSyntaxError, UsageError
from clew.page import Links, Page
from clew.predicate import CallablePredicate, FormulaPredicate, Predicate, Verdict, compile, parse, view  # noqa: A004
from clew.predicate.atoms import Python, Resources, Text
from clew.predicate.atoms.python import find
from clew.predicate.view import PageView
from clew.words import tokens

ENGLISH = Page(
    url="https://blog.a.example/2020/Wind-Power?page=2",
    title="The wind farms of Iowa",
    description="About turbines",
    text="Farms make energy from the wind. A turbine's noise is not loud.\n"
    "The state of Iowa has many wind turbines.",
    main="Iowa has many wind turbines.",
    language="en",
    depth=2,
)
GERMAN = Page(
    url="http://b.example:8080/m%C3%BCnchen/",
    title="Windräder",
    text="Die Anlagen stehen auf See. Häuser in Straßen; Windräder drehen sich.",
    language="de",
    type="application/xhtml+xml",
    status=404,
)
CHINESE = Page(url="http://c.example/", text="中国的风力发电很多。", language="zh")


@pytest.mark.parametrize(
    ("formula", "page", "satisfied"),
    [
        ("turbine", ENGLISH, True),
        ("TURBINE", ENGLISH, True),
        ("farming", ENGLISH, True),  # one stem with farms
        ("noises", ENGLISH, True),
        ("iowa", ENGLISH, True),
        ("ocean", ENGLISH, False),
        ("the", ENGLISH, True),
        ("windrad", GERMAN, True),
        ("haus anlage strasse", GERMAN, True),
        ("windrad", ENGLISH, False),
        ("风力", CHINESE, True),
        ("力风", CHINESE, False),
        ('"wind turbine"', ENGLISH, True),
        ('"turbine wind"', ENGLISH, False),
        ('"state of iowa"', ENGLISH, True),
        ('"state iowa"', ENGLISH, False),  # stop words hold their place
        ('"iowa farms"', ENGLISH, False),  # a phrase does not run from the title into the text
        ('"state * iowa"', ENGLISH, True),
        ('"many wind turb*"', ENGLISH, True),
        ('"energy wind"~1', ENGLISH, False),
        ('"energy wind"~2', ENGLISH, True),
        ('"wind energy"~2', ENGLISH, True),  # in any order
        ('"wind wind"~3', ENGLISH, False),
        ("turb*", ENGLISH, True),
        ("*bine*", ENGLISH, True),
        ("turbi", ENGLISH, False),
        ("t*z", ENGLISH, False),
        ("*", ENGLISH, True),
        ("*", Page(url="http://a.example/"), False),
        ("title:farm", ENGLISH, True),
        ("title:turbine", ENGLISH, False),
        ("desc:turbine", ENGLISH, True),
        ("main:noise", ENGLISH, False),
        ("text:farm", ENGLISH, True),
        ("host:blog.a.example", ENGLISH, True),
        ("host:a.example", ENGLISH, False),
        ("host:*.a.example", ENGLISH, True),
        ("host:*.blog.a.example", ENGLISH, True),  # the domain and everything below
        ("host:*log.a.example", ENGLISH, True),
        ("host:*.example.org", ENGLISH, False),
        ("host:b.example", GERMAN, True),
        ("host:b.example:8080", GERMAN, True),
        ("host:b.example:80", GERMAN, False),
        ("host:/^blog[.]/", ENGLISH, True),
        ("url:wind-power", ENGLISH, True),
        ("url:*/2020/*", ENGLISH, True),
        ("url:*/2020", ENGLISH, False),
        ("url:münchen", GERMAN, True),
        (r"url:/\/20\d\d\//", ENGLISH, True),
        (r"url:/\/19\d\d\//", ENGLISH, False),
        ("lang:en", ENGLISH, True),
        ("lang:de", ENGLISH, False),
        ("lang:*", Page(url="http://a.example/"), False),
        ("type:html", ENGLISH, True),
        ("type:html", GERMAN, True),
        ("type:text", ENGLISH, True),
        ("type:text/html", GERMAN, False),
        ("type:*xhtml*", GERMAN, True),
        ("words:20", ENGLISH, True),
        ("words:>20", ENGLISH, False),
        ("words:>=20", ENGLISH, True),
        ("words:<20", ENGLISH, False),
        ("words:5..20", ENGLISH, True),
        ("depth:<=2", ENGLISH, True),
        ("status:404", GERMAN, True),
        ("/w.nd t/", ENGLISH, True),
        ("/IOWA/", ENGLISH, False),
        ("/IOWA/i", ENGLISH, True),
        ("/^The state/m", ENGLISH, True),
        ("title:/^The/", ENGLISH, True),
        ("turbine -ocean", ENGLISH, True),
        ("turbine -noise", ENGLISH, False),
        ("atleast(2, ocean, wind, iowa)", ENGLISH, True),
        ("atleast(2, ocean, wind, whale)", ENGLISH, False),
        ("atleast(3, ocean, wind^2, iowa)", ENGLISH, True),
        ("wind^4 ocean", ENGLISH, True),  # so light a term is not indispensable
        ("wind ocean^4", ENGLISH, False),
    ],
)
def test_a_formula_is_satisfied_by_the_page(formula, page, satisfied):
    assert compile(formula).judge(page).satisfied == satisfied


def test_a_page_is_cut_into_words_once_for_all_terms_and_only_where_asked(monkeypatch):
    """Wildcards and words near each other need the list of all words; plain terms are searched for."""
    cut = []
    monkeypatch.setattr(view, "tokens", lambda text: cut.append(text) or tokens(text))
    assert compile("words:20 AND (ocean OR wind) AND iowa AND title:farm").judge(ENGLISH).satisfied
    assert compile('"wind turbines" AND lang:en').judge(ENGLISH).satisfied
    assert cut == []
    assert compile("(win* OR oce*) AND io* AND title:far*").judge(ENGLISH).satisfied
    assert sorted(cut) == sorted([ENGLISH.text, ENGLISH.title])
    cut.clear()
    compile("lang:de AND win*").judge(ENGLISH)
    assert cut == []


@given(
    st.lists(
        st.sampled_from(("wind", "winds", "windy", "farm", "farms", "farming", "a", "it's")), max_size=30
    ),
    st.sampled_from(("wind", "farm", "windy farm", "wind farm", "farm farm", "it's a", "farm the wind")),
)
def test_searching_a_text_counts_what_cutting_it_counts(words, phrase):
    """Terms are found in the folded text as often as in the list of its words."""
    page = Page(url="http://a.example/", text=" ".join(words), language="en")
    matcher = Text(phrase).matcher(Resources(find))
    searched = matcher.degree(PageView(page))
    whole = PageView(page)
    assert whole.index("text").unique == set(words)  # cut, so that it is counted and not searched
    assert whole.index("title").unique == set()
    assert matcher.degree(whole) == searched


def test_more_occurrences_give_a_higher_degree_and_the_title_counts():
    def degree(**fields):
        return compile("wind").judge(Page(url="http://a.example/", **fields)).score

    assert 0.5 < degree(text="wind " + "x " * 9000) < degree(text="wind x x") < degree(text="wind wind x")
    assert degree(text="x", title="wind") > degree(text="wind")
    assert degree(text="wind " * 10_000) <= 1.0


def test_a_page_without_a_language_is_taken_for_english():
    assert compile("turbine").judge(Page(url="http://a.example/", text="turbines")).satisfied


def test_cheap_terms_are_asked_first_and_the_dear_left_out_when_settled():
    verdict = compile("turbine AND lang:de").judge(ENGLISH)
    assert verdict == Verdict(0.0, False, ("lang:de 0.0",))
    explained = FormulaPredicate(parse("turbine AND lang:de")).judge(ENGLISH, explain=True)
    assert explained.score == 0.0
    assert len(explained.reasons) == 2


def test_terms_tells_of_every_term_in_the_order_of_the_formula():
    terms = FormulaPredicate(parse("wind^2 -(noise OR lang:de) wind")).terms(ENGLISH)
    assert [(term.text, term.negated, term.weight) for term in terms] == [
        ("wind", False, 2.0),
        ("noise", True, 1.0),
        ("lang:de", True, 1.0),
    ]
    assert terms[2].cost < terms[0].cost


def test_the_most_telling_reason_comes_first():
    met = compile("wind AND lang:en AND NOT ocean").judge(ENGLISH)
    assert met.reasons[0] in ("ocean 0.0", "lang:en 1.0")
    missed = FormulaPredicate(parse("wind AND ocean")).judge(ENGLISH, explain=True)
    assert missed.reasons[0] == "ocean 0.0"


def test_no_more_than_twelve_reasons():
    many = " OR ".join(f"word{i}" for i in range(40))
    assert len(compile(many).judge(ENGLISH).reasons) == 12


def test_product_multiplies():
    page = Page(url="http://a.example/", text=" ".join(["wind", "sea", *["x"] * 498]))
    assert compile("wind sea").judge(page).score == 0.75
    assert compile("wind sea", semantics="product").judge(page).score == 0.75 * 0.75
    assert compile("wind OR sea", semantics="product").judge(page).score == 1 - 0.25 * 0.25


def test_the_threshold_decides():
    page = Page(url="http://a.example/", text=" ".join(["wind", *["x"] * 499]))
    assert compile("wind", threshold=0.75).judge(page).satisfied
    assert not compile("wind", threshold=0.76).judge(page).satisfied
    for wrong in (0, -1, 1.5, math.nan):
        with pytest.raises(ConfigError):
            compile("wind", threshold=wrong)
    with pytest.raises(ConfigError, match="minmax or product"):
        compile("wind", semantics="maximin")


@pytest.fixture
def rules(monkeypatch):
    module = types.ModuleType("clew_test_rules")
    module.long = lambda page: len(page.text) > 20
    module.half = lambda page: 0.5
    module.percent = lambda page: 87
    module.forgetful = lambda page: None
    module.broken = lambda page: 1 / 0
    module.constant = 3
    monkeypatch.setitem(sys.modules, "clew_test_rules", module)
    return module


def test_the_users_own_function_is_a_term(rules):
    wanted = compile("wind AND py:clew_test_rules:long", allow_python=True)
    assert wanted.judge(ENGLISH).satisfied
    assert wanted.text() == "wind AND py:clew_test_rules:long"
    assert compile("py:clew_test_rules:half", allow_python=True).judge(ENGLISH).score == 0.5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("percent", "clew_test_rules:percent gave 87"),
        ("forgetful", "clew_test_rules:forgetful gave None"),
        ("broken", "clew_test_rules:broken failed on https://blog.a.example/.*ZeroDivisionError"),
    ],
)
def test_an_error_in_the_users_function_names_it(rules, name, message):
    wanted = compile(f"py:clew_test_rules:{name}", allow_python=True)
    with pytest.raises(ClewError, match=message):
        wanted.judge(ENGLISH)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("py:clew_test_rules:gone", "has no gone"),
        ("py:clew_test_rules:constant", "is not a function"),
        ("py:clew_no_such_module:f", "cannot import clew_no_such_module"),
    ],
)
def test_a_function_that_cannot_be_found_is_a_usage_error(rules, name, message):
    with pytest.raises(UsageError, match=message):
        compile(name, allow_python=True)


def test_code_is_never_run_from_text_without_leave(rules):
    with pytest.raises(PredicateSyntaxError, match="only on the command line"):
        compile("py:clew_test_rules:long")


def test_functions_can_be_found_another_way():
    predicate = FormulaPredicate(Python("any", "name"), resolve=lambda module, name: lambda page: 0.25)
    assert predicate.judge(ENGLISH).score == 0.25


def long_enough(page):
    return len(page.text) > 20


def test_any_callable_is_a_predicate():
    wanted = compile(long_enough)
    assert isinstance(wanted, CallablePredicate)
    assert isinstance(wanted, Predicate)
    assert wanted.judge(ENGLISH) == Verdict(1.0, True, (f"{wanted.text()} 1.0",))
    assert wanted.text() == f"py:{__name__}:long_enough"
    assert wanted.estimate_links(
        Links("http://a.example/", ("http://b.example/",), ("b",), ("",), ("",), ("",))
    ) == [0.0]
    with pytest.raises(ClewError, match=r"mine gave 'yes'"):
        CallablePredicate(lambda page: "yes", "mine").judge(ENGLISH)


def test_compile_takes_formulas_and_predicates_and_refuses_the_rest():
    predicate = compile(Text("wind"))
    assert isinstance(predicate, Predicate)
    assert compile(predicate) is predicate
    with pytest.raises(UsageError, match="not int"):
        compile(3)
    assert "wind" in repr(predicate)


def test_a_page_that_is_not_on_the_web_is_judged_too():
    page = Page(url="notes.txt", text="wind")
    assert compile("wind -host:a.example -host:/a/ -host:a:80").judge(page).satisfied
