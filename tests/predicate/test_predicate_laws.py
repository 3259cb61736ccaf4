"""Laws of degrees, over random formulas and pages."""

from __future__ import annotations

import pytest
from formulas import formulas, pages, pure_atoms, weights
from hypothesis import given
from hypothesis import strategies as st

from clew.page import Page
from clew.predicate import And, AtLeast, FormulaPredicate, Not, Or, Weighted, compile, parse  # noqa: A004
from clew.predicate.atoms import Text
from clew.predicate.logic import SEMANTICS, weigh

degrees = st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.5, 1.0])
groups = st.lists(degrees, min_size=1, max_size=6)
semantics = st.sampled_from(["minmax", "product", "weighted"])
#: Those in which OR is what AND is under NOT: a mean has no such counterpart.
dual = st.sampled_from(["minmax", "product"])
few = st.lists(pure_atoms, min_size=2, max_size=4).map(tuple)


def score(formula, page, how="minmax"):
    return FormulaPredicate(formula, semantics=how).judge(page).score


@given(formulas(), pages, semantics)
def test_every_score_and_every_term_is_a_degree(formula, page, how):
    predicate = FormulaPredicate(formula, semantics=how)
    assert 0.0 <= predicate.judge(page).score <= 1.0
    assert all(0.0 <= term.degree <= 1.0 for term in predicate.terms(page))


@given(formulas(), pages, semantics, st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_leaving_out_what_cannot_matter_changes_neither_score_nor_outcome(formula, page, how, threshold):
    predicate = FormulaPredicate(formula, semantics=how, threshold=threshold)
    quick, full = predicate.judge(page), predicate.judge(page, explain=True)
    assert (quick.score, quick.satisfied) == (full.score, full.satisfied)
    assert len(quick.reasons) <= len(full.reasons) <= 12


@given(formulas(), pages, semantics)
def test_reasons_are_terms_with_the_degree_they_have(formula, page, how):
    predicate = FormulaPredicate(formula, semantics=how)
    true = {f"{term.text} {round(term.degree, 3)}" for term in predicate.terms(page)}
    assert set(predicate.judge(page).reasons) <= true
    assert predicate.judge(page).reasons


@given(pure_atoms, pure_atoms, pages)
def test_de_morgan_under_minmax(a, b, page):
    assert score(Not(And((a, b))), page) == score(Or((Not(a), Not(b))), page)
    assert score(Not(Or((a, b))), page) == score(And((Not(a), Not(b))), page)


@given(formulas(), formulas(), pages, dual)
def test_de_morgan_with_weights_and_under_product_but_for_rounding(a, b, page, how):
    neither, either = score(Not(Or((a, b))), page, how), score(Not(And((a, b))), page, how)
    assert neither == pytest.approx(score(And((Not(a), Not(b))), page, how), abs=1e-12)
    assert either == pytest.approx(score(Or((Not(a), Not(b))), page, how), abs=1e-12)


@given(st.lists(formulas(), min_size=2, max_size=4), pages, semantics, st.randoms(use_true_random=False))
def test_the_order_of_terms_does_not_matter(parts, page, how, dice):
    mixed = list(parts)
    dice.shuffle(mixed)
    for group in (And, Or):
        assert score(group(tuple(parts)), page, how) == score(group(tuple(mixed)), page, how)


@given(few, pages, semantics)
def test_atleast_one_is_or_and_atleast_all_is_and(parts, page, how):
    assert score(AtLeast(1, parts), page, how) == pytest.approx(score(Or(parts), page, how), abs=1e-12)
    assert score(AtLeast(len(parts), parts), page, how) == pytest.approx(
        score(And(parts), page, how), abs=1e-12
    )


@given(groups, st.data())
def test_atleast_under_minmax_is_the_kth_largest(values, data):
    count = data.draw(st.integers(1, len(values)))
    votes = [(value, 1) for value in values]
    assert SEMANTICS["minmax"].atleast(count, votes) == sorted(values, reverse=True)[count - 1]


@given(few, pages, semantics)
def test_a_weighted_vote_counts_as_that_many(parts, page, how):
    doubled = AtLeast(2, (Weighted(parts[0], 2), *parts[1:]))
    if how == "minmax":
        repeated = AtLeast(2, (parts[0], parts[0], *parts[1:]))
        assert score(doubled, page, how) == score(repeated, page, how)
    assert score(doubled, page, how) >= score(AtLeast(2, parts), page, how) - 1e-12


@given(
    semantics,
    st.lists(st.tuples(degrees, degrees, st.integers(1, 3)), min_size=1, max_size=5),
    st.integers(1, 4),
)
def test_a_higher_degree_never_lowers_the_outcome(how, pairs, count):
    logic = SEMANTICS[how]
    low = [min(a, b) for a, b, _ in pairs]
    high = [max(a, b) for a, b, _ in pairs]
    hefts = [float(heft) for _, _, heft in pairs]
    slack = 1e-12
    for rule in (logic.conj, logic.disj):
        assert rule(low) <= rule(high) + slack
        assert (
            weigh(rule, list(zip(hefts, low, strict=True)))
            <= weigh(rule, list(zip(hefts, high, strict=True))) + slack
        )
    votes = [int(heft) for heft in hefts]
    least = logic.atleast(count, list(zip(low, votes, strict=True)))
    assert least <= logic.atleast(count, list(zip(high, votes, strict=True))) + slack


@given(semantics, st.lists(st.tuples(weights, degrees), min_size=1, max_size=5))
def test_weights_keep_degrees_within_bounds_and_equal_weights_do_nothing(how, pairs):
    logic = SEMANTICS[how]
    values = [degree for _, degree in pairs]
    for rule in (logic.conj, logic.disj):
        found = weigh(rule, pairs)
        assert min(0.0, *values) <= found <= 1.0
        assert weigh(rule, [(7.0, value) for value in values]) == rule(values)
    assert min(values) - 1e-9 <= weigh(logic.disj, pairs)
    assert weigh(logic.conj, pairs) <= max(values) + 1e-9


def test_a_light_term_matters_little_and_the_heaviest_decides():
    assert weigh(min, [(1000.0, 1.0), (0.001, 0.0)]) == pytest.approx(1.0, abs=1e-5)
    assert weigh(min, [(1000.0, 0.0), (0.001, 1.0)]) == 0.0
    assert weigh(min, [(3.0, 1.0), (1.0, 0.0)]) == 0.5


@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 3000))
def test_presence_satisfies_absence_does_not_and_more_is_more(count, more, filler):
    filling = " ".join(["x"] * filler)
    fewer = Page(url="http://a.example/", text="wind " * count + filling)
    greater = Page(url="http://a.example/", text="wind " * count + filling, title="wind " * more)
    wind, calm = compile("wind"), compile("-wind")
    assert wind.judge(fewer).satisfied
    assert not calm.judge(fewer).satisfied
    assert wind.judge(greater).score >= wind.judge(fewer).score
    assert calm.judge(Page(url="http://a.example/", text=filling)).satisfied
    assert wind.judge(Page(url="http://a.example/", text=filling)).score == 0.0


@given(formulas(st.builds(Text, st.sampled_from(["wind", "farm", "wind farm", "sea", "no*"]))), pages)
def test_without_weights_a_formula_of_words_is_satisfied_as_a_boolean_search_would_have_it(formula, page):
    def boolean(node):
        match node:
            case And():
                return all(map(boolean, node.parts))
            case Or():
                return any(map(boolean, node.parts))
            case Not() | Weighted():
                return boolean(node.part) != isinstance(node, Not)
            case AtLeast():
                return sum(map(boolean, node.parts)) >= node.count
        return compile(node).judge(page).score > 0

    if "^" not in str(formula):
        assert FormulaPredicate(formula).judge(page).satisfied == boolean(formula)


@given(formulas(), pages)
def test_the_printed_formula_judges_alike(formula, page):
    assert compile(formula).judge(page) == compile(parse(str(formula))).judge(page)


@given(groups)
def test_a_mean_lies_between_the_least_and_the_greatest_and_zero_rules_out(values):
    found = SEMANTICS["weighted"].conj(values)
    assert min(values) <= found <= max(values)
    assert SEMANTICS["weighted"].conj([*values, 0.0]) == 0.0


def test_a_weighted_conjunction_is_fagin_and_wimmers_formula():
    """By hand: weights 2/3 and 1/3 give (2/3 - 1/3) · 0.81 + 2 · 1/3 · √(0.81 · 0.49) = 0.27 + 0.42."""
    assert weigh(SEMANTICS["weighted"].conj, [(2.0, 0.81), (1.0, 0.49)]) == pytest.approx(0.69)
