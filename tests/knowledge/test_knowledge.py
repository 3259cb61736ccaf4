"""Knowledge is a commutative monoid, survives being saved, and refuses what it cannot trust."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import StoreForeign
from clew.knowledge import TABLES, Knowledge, LinkTypes, Table, dumps, frozen, loads
from clew.learn.checkpoint import arrays_of, fill

words = st.text("abcdé ", min_size=1, max_size=3)
counts = st.integers(0, 50)


@st.composite
def tables(draw):
    table = Table()
    for word, (hits, more) in draw(st.dictionaries(words, st.tuples(counts, counts), max_size=4)).items():
        numbers = table.numbers([word])
        table.seen[numbers] += hits + more
        table.hits[numbers] += hits
    return table


@st.composite
def knowledge(draw):
    hits, more = draw(counts), draw(counts)
    links = LinkTypes(*(float(draw(counts)) for _ in range(4)))
    return Knowledge(float(hits + more), float(hits), links, *(draw(tables()) for _ in TABLES))


@given(knowledge(), knowledge(), knowledge())
def test_merge_is_associative_commutative_with_identity(a, b, c):
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(b) == b.merge(a)
    assert a.merge(Knowledge()) == a


@given(knowledge(), knowledge())
def test_delta_is_what_merge_added(a, b):
    assert a.merge(b).delta(a) == b
    assert a.merge(a.merge(b).delta(a)) == a.merge(b)


@given(knowledge())
def test_saved_and_read_back_equal(a):
    assert loads(dumps(a)) == a


@given(knowledge(), knowledge())
def test_equal_knowledge_gives_equal_text(a, b):
    assert dumps(a.merge(b)) == dumps(b.merge(a))


@given(knowledge())
def test_a_discount_keeps_proportions(a):
    half = a.discounted(0.5)
    assert half.pages == a.pages / 2
    assert half.rate == a.rate
    assert half.discounted(2.0) == a


def test_merging_changes_neither():
    a, b = Knowledge(pages=2), Knowledge(pages=3)
    a.words.count(a.words.numbers(["x"]), True)
    a.merge(b).words.count(a.words.numbers(["x"]), True)
    assert a.words.row("x") == (1.0, 1.0)
    assert b.pages == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(format="x"), "not knowledge"),
        (lambda d: d.update(version=99), "upgrade clew"),
        (lambda d: d.update(version="1"), "no version"),
        (lambda d: d.update(pages=-1), "not a count"),
        (lambda d: d.update(pages=True), "not a count"),
        (lambda d: d.update(satisfied=7), "more pages satisfy"),
        (lambda d: d.update(links=[1, 2]), "four kinds"),
        (lambda d: d.update(tables=3), "tables are missing"),
        (lambda d: d["tables"].update(words=[["a"], [1.0], [2.0]]), "more hits than pages"),
        (lambda d: d["tables"].update(words=[["a", "a"], [1.0, 1.0], [0.0, 0.0]]), "not distinct"),
        (lambda d: d["tables"].update(words=[["a"], [1.0], []]), "differ in length"),
        (lambda d: d["tables"].update(words=[["a"], ["x"], [0.0]]), "not a count"),
        (lambda d: d.pop("pages"), "damaged"),
    ],
)
def test_damaged_or_foreign_data_is_refused_with_the_reason(change, said):
    plain = json.loads(dumps(Knowledge(pages=5, satisfied=1)))
    change(plain)
    with pytest.raises(StoreForeign, match=said):
        loads(json.dumps(plain))


@pytest.mark.parametrize("text", ["", "[]", "{", "nul", '"x"', "[" * 100_000, "NaN"])
def test_what_is_no_knowledge_at_all_is_refused(text):
    with pytest.raises(StoreForeign):
        loads(text)


@pytest.mark.parametrize("count", ["Infinity", "NaN", "1e308", "1" + "0" * 400])
def test_counts_that_no_crawl_can_reach_are_refused(count):
    text = dumps(Knowledge(pages=5, satisfied=1)).replace('"pages":5', f'"pages":{count}')
    with pytest.raises(StoreForeign, match="not a count"):
        loads(text)


@given(knowledge(), st.lists(words, max_size=6, unique=True), st.lists(words, max_size=6, unique=True))
def test_a_frozen_text_is_that_of_its_time_however_late_it_is_read(a, some, more):
    a.words.count(a.words.numbers(some), True)
    first, before = frozen(a), plain_text(a)
    a.words.count(a.words.numbers(more), False)
    second, after = frozen(a), plain_text(a)
    # The later one first, and again: what was sorted for one serves another.
    assert [second(), first(), second()] == [after, before, after]


def plain_text(known):
    """Knowledge as text, row by row."""
    rows = {name: sorted(getattr(known, name).rows()) for name in TABLES}
    plain = {
        "format": "clew-knowledge",
        "version": 1,
        "pages": known.pages,
        "satisfied": known.satisfied,
        "links": [known.links.pp, known.links.pn, known.links.np, known.links.nn],
        "tables": {
            name: [[w for w, _ in of], [s for _, (s, _) in of], [h for _, (_, h) in of]]
            for name, of in rows.items()
        },
    }
    return json.dumps(plain, separators=(",", ":"))


def test_a_checkpoint_has_the_words_of_pages_and_of_pages_that_link_once():
    known, again = Knowledge(), Knowledge()
    known.words.count(known.words.numbers(["wind", "farm"]), satisfied=True)
    known.inlinks.count(known.words.numbers(["farm", "sea"]), satisfied=False)
    arrays = dict(arrays_of(known))
    assert "words/text" in arrays
    assert "inlinks/text" not in arrays
    fill(again, dict(arrays))
    assert again == known
    assert again.inlinks.find("sea") == known.inlinks.find("sea") == 2
    for name in ("seen", "hits"):
        with pytest.raises(ValueError, match="columns"):
            fill(Knowledge(), {**arrays, f"inlinks/{name}": arrays[f"inlinks/{name}"][:-1]})
