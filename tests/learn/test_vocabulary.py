"""Words in arrays are numbered, told and put in order as words in a dictionary and a list are."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.knowledge import Knowledge, dumps, frozen, loads
from clew.learn import Table
from clew.learn import counts as tables
from clew.learn.vocabulary import DictVocabulary, PackedVocabulary, PackedWords, told

#: Few letters, so that words come again; some of several bytes, half a pair, and the mark between words.
WORD = st.text(alphabet="abé風\ud800\n\U0001f600", max_size=4)
CALLS = st.lists(st.lists(WORD, max_size=30), max_size=6)


@given(CALLS)
def test_many_are_numbered_as_few_are(calls):
    few, many = DictVocabulary(), PackedVocabulary()
    for words in calls:
        assert many.listed(words) == few.listed(words)
    assert list(many.names) == few.names
    assert len(many.names) == len(few.names)
    asked = ["a", "zzz", *few.names]
    assert many.found(asked) == few.found(asked)


@given(CALLS, st.lists(st.integers(0, 3)))
def test_words_are_told_as_they_were_given(calls, asked):
    names, plain = PackedWords(), []
    for words in calls:
        names.extend(words)
        plain += words
    numbers = np.array([i for i in asked if i < len(plain)], np.int64)
    assert told(names, numbers) == told(plain, numbers) == [plain[i] for i in numbers]
    assert [names[i] for i in range(len(names))] == plain
    assert names[1:] == plain[1:]
    for beyond in (len(plain), -len(plain) - 1):
        with pytest.raises(IndexError):
            names[beyond]


def test_a_thousand_words_are_found_again():
    index = PackedVocabulary()
    words = [f"w{i}" for i in range(3000)]
    assert index.listed(words[:10]) == list(range(10))
    assert index.listed(words) == list(range(3000))
    assert index.names.many(np.array([2999, 0, 1234])) == ["w2999", "w0", "w1234"]


@given(CALLS)
def test_both_kinds_of_table_are_put_into_the_same_words(calls):
    texts = []
    for many in (False, True):
        table = Table(many=many)
        known = Knowledge(pages=9.0, words=table)
        for words in calls:
            table.count(table.numbers(set(words)), satisfied=False)
            dumps(known)  # what is sorted by now stays so
        texts.append(dumps(known))
    assert texts[0] == texts[1]
    assert loads(texts[0]) == Knowledge(pages=9.0, words=table)


def test_new_words_find_their_place_among_pieces_of_sorted_ones(monkeypatch):
    monkeypatch.setattr(tables, "PIECE", 3)
    table = Table(many=True)
    for round_ in range(6):
        table.add(words := [f"{7 * i % 20:02}{round_}" for i in range(9)], np.ones(9), np.zeros(9))
        order = table.frozen().order().tolist()
        assert [table.names[i] for i in order] == sorted(table.names)
        assert set(words) <= set(table.names)


def test_an_older_state_is_told_after_a_newer_one():
    known = Knowledge(pages=9.0)
    known.words.add(["wind", "farm"], np.ones(2), np.zeros(2))
    before = frozen(known)
    known.words.add(["sea", "farm"], np.ones(2), np.zeros(2))
    assert json.loads(dumps(known))["tables"]["words"] == [["farm", "sea", "wind"], [2, 1, 1], [0, 0, 0]]
    assert json.loads(before())["tables"]["words"] == [["farm", "wind"], [1, 1], [0, 0]]
