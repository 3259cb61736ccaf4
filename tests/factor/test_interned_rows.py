"""Rows put together by arrays are those put together by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.factor import link_features as module
from clew.factor.interned_rows import InternedRows, first_of_each, woven
from clew.factor.link_features import LinkFeatures, Said, depth
from clew.page import Links

row = st.lists(st.integers(0, 5), max_size=6)
table = st.lists(row, min_size=1, max_size=6)


def flat(rows):
    return np.array([len(r) for r in rows], np.int64), np.array([n for r in rows for n in r], np.int32)


def rows_of(lengths, items):
    return [piece.tolist() for piece in np.split(items, np.cumsum(lengths)[:-1])]


@given(table, st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_rows_are_laid_out_piece_after_piece(known, wanted):
    pieces = InternedRows()
    assert [pieces.add(items) for items in known] == list(range(len(known)))
    wanted = [(a % len(known), b % len(known)) for a, b in wanted]
    lengths, items = pieces.laid_out(np.array(wanted))
    assert rows_of(lengths, items) == [known[a] + known[b] for a, b in wanted]


@given(table, table)
def test_pieces_kept_together_are_those_kept_one_by_one(first, then):
    one_by_one, together = InternedRows(), InternedRows()
    for rows in (first, then):
        numbers = [one_by_one.add(items) for items in rows]
        assert list(together.extend(*flat(rows))) == numbers
    assert (
        [together.row(n) for n in range(len(together))]
        == first + then
        == [one_by_one.row(n) for n in range(len(one_by_one))]
    )


@given(st.lists(st.tuples(row, row, row), min_size=1, max_size=6))
def test_threads_are_woven_row_by_row(rows):
    lengths, items = woven(*(flat(thread) for thread in zip(*rows, strict=True)))
    assert rows_of(lengths, items) == [a + b + c for a, b, c in rows]


@given(table)
def test_what_stands_in_a_row_twice_is_kept_where_it_stands_first(rows):
    assert rows_of(*first_of_each(*flat(rows))) == [list(dict.fromkeys(r)) for r in rows]


TARGETS = (
    "http://a.example/wind/farm.html",
    "http://a.example/wind/wind.html?q=/x",
    "http://a.example/",
    "http://b.example/wind/sea/",
    "https://a.example/wind/farm.html",
    f"http://a.example/{'deep/' * 70}x",
)


def links(targets):
    n = len(targets)
    return Links("http://a.example/wind/", targets, ("",) * n, ("",) * n, ("body/a",) * n, ("",) * n)


@pytest.mark.parametrize("remembered", [0, 100_000])
def test_a_link_has_the_same_marks_alone_and_among_others(monkeypatch, remembered):
    """And when everything that was remembered is forgotten in between."""
    together, alone = LinkFeatures(), LinkFeatures()
    words = [["sea"], [], ["wind", "sea"], [], [], ["wind"]]
    said = Said.of(words)
    together.note(0, links(TARGETS), range(len(TARGETS)), said, True)
    monkeypatch.setattr(module, "_REMEMBERED", remembered)
    starts = np.cumsum(said.lengths) - said.lengths
    for i, start in enumerate(starts.tolist()):
        one = Said(said.lengths[i : i + 1], said.numbers[start : start + len(words[i])], said.names)
        alone.note(i, links(TARGETS), [i], one, True)
    for i, target in enumerate(TARGETS):
        assert alone.rows.row(i).tolist() == together.rows.row(i).tolist()
        assert together.depths[i] == np.float32(depth(target)) == alone.depths[i]
    names = [together.names[i] for i in together.rows.row(1).tolist()]
    assert names.count("url wind") == 1, "a word of directory and file is one feature"
    assert {"below a.example/wind", "file wind.html", "ending html", "leads beside", "on a find"} <= set(
        names
    )


FILES = (
    "windFarm.html",
    "sea_12.html",
    "sea_13.html",
    "p1",
    "p2",
    "",
    "l%C3%A9",
    "wind.PDF",
    "farm-wind",
    "x.y.z",
)


@pytest.mark.parametrize("width", [8, module.WIDTH])
def test_files_read_together_have_the_marks_of_files_read_one_by_one(monkeypatch, width):
    """And give the same names to the columns, also where many features share one."""
    monkeypatch.setattr(module, "WIDTH", width)
    noted = []
    for many in (1, 1000):
        monkeypatch.setattr(module, "MANY", many)
        features = LinkFeatures()
        for first, chosen in ((0, FILES[:4]), (4, FILES[2:])):
            targets = tuple([f"http://a.example/{i % 2}/{file}" for i, file in enumerate(chosen)])
            said = Said.of([["wind", "sea"][: i % 3] for i in range(len(chosen))])
            features.note(first, links(targets), range(len(chosen)), said, True)
        noted.append(
            ([features.rows.row(n).tolist() for n in range(12)], features.names, features.depths.tolist())
        )
    assert noted[0] == noted[1]
