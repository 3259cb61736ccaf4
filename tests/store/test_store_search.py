"""Searching a crawl: words, phrases, prefixes; an index that keeps up and never touches the crawl."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import StoreForeign, UsageError
from clew.store import SqliteStore, open_reader
from clew.store.query import Query, snippet
from clew.testing.stores import fetched, found

TEXTS = (
    "Wind farms make turbine noise at night.",
    "The noise of a turbine is low; wind is free.",
    "Größe und Lärm der Windräder in Köln",
    "Nothing of interest here.",
)


def search(directory: Path, query: str, **options):
    with open_reader(directory) as reader:
        return reader.search(query, **options)


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    directory = tmp_path / "crawl"
    with SqliteStore(directory) as store:
        store.save([found(0, [f"http://a.example/{number}" for number in range(4)])])
        for number, text in enumerate(TEXTS):
            store.save(fetched(number, f"http://a.example/{number}", text=text, matched=number == 1))
    return directory


def numbers(directory: Path, query: str, **options: bool) -> list[int]:
    return sorted(int(hit.url[-1]) for hit in search(directory, query, **options))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("turbine noise", [0, 1]),
        ("TURBINE AND noise", [0, 1]),
        ('"turbine noise"', [0]),
        ("turb*", [0, 1]),
        ("wind*", [0, 1, 2]),
        ("wind -farms", [1]),
        ("koln", [2]),
        ("lärm große", [2]),
        ("absent", []),
        ("it's OR NEAR(wind)", []),
        ('noise"turbine"', [0, 1]),
        ("title", [0, 1, 2, 3]),
    ],
)
def test_queries_find_what_they_say(crawl: Path, query: str, expected: list[int]) -> None:
    assert numbers(crawl, query) == expected


def test_the_finds_alone(crawl: Path) -> None:
    assert numbers(crawl, "noise", matched=True) == [1]


def test_a_hit_shows_the_words_in_their_place(crawl: Path) -> None:
    (hit,) = search(crawl, '"turbine noise"')
    assert hit.snippet == "Wind farms make [turbine] [noise] at night."
    assert (hit.title, hit.score, hit.matched) == ("Title of http://a.example/0", 1.0, False)


def test_the_crawl_itself_is_not_written_to(crawl: Path) -> None:
    before = (crawl / "clew.db").read_bytes()
    assert search(crawl, "wind")
    assert (crawl / "clew.db").read_bytes() == before
    assert (crawl / "search.db").exists()


def test_pages_fetched_later_are_found_and_only_they_are_indexed(crawl: Path) -> None:
    told: list[tuple[int, int]] = []
    search(crawl, "wind", progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 4)]
    with SqliteStore(crawl) as store:
        store.save([found(4, ["http://a.example/4"]), *fetched(4, "http://a.example/4", text="fresh wind")])
        store.flush()
        search(crawl, "fresh", progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 4), (5, 5)]
    assert numbers(crawl, "fresh") == [4]
    assert numbers(crawl, "wind -noise") == [4]


def test_the_index_of_another_crawl_is_not_used(crawl: Path, tmp_path: Path) -> None:
    search(crawl, "wind")
    with SqliteStore(tmp_path / "other") as store:
        store.save([found(0, ["http://a.example/7"]), *fetched(0, "http://a.example/7", text="wind")])
    (crawl / "search.db").rename(tmp_path / "other" / "search.db")
    assert numbers(tmp_path / "other", "wind") == [7]


def test_a_damaged_index_is_made_anew(crawl: Path) -> None:
    search(crawl, "wind")
    path = crawl / "search.db"
    path.write_bytes(path.read_bytes()[:5000])
    assert numbers(crawl, "wind") == [0, 1]


def test_a_foreign_index_is_refused_and_left_alone(crawl: Path) -> None:
    with closing(sqlite3.connect(crawl / "search.db")) as connection, connection:
        connection.execute("CREATE TABLE notes (text)")
    before = (crawl / "search.db").read_bytes()
    with pytest.raises(StoreForeign, match="not a search index"):
        search(crawl, "wind")
    assert (crawl / "search.db").read_bytes() == before


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ('"wind', "quote that is not closed"),
        ("", "no word to look for"),
        ("!!! *", "no word to look for"),
        ("-wind", "no word to look for"),
    ],
)
def test_a_query_that_asks_nothing_says_what_to_do(crawl: Path, query: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        search(crawl, query)


@given(st.text(max_size=60))
def test_whatever_is_typed_is_valid_for_the_index(text: str) -> None:
    """Nothing a user types can be a syntax error of SQLite's."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE pages USING fts5 (text)")
        try:
            query = Query.parse(text)
        except UsageError:
            return
        connection.execute("SELECT * FROM pages WHERE pages MATCH ?", (query.fts(),)).fetchall()


@given(st.text(max_size=300), st.integers(1, 20))
def test_a_snippet_is_short_and_made_of_the_text(text: str, width: int) -> None:
    shown = snippet(text, Query.parse("a b*"), width)
    words = [word for word in shown.replace("[", "").replace("]", "").split() if word != "…"]
    folded = " ".join(text.replace("[", "").replace("]", "").split())
    assert " ".join(words).strip() in folded or "…" in text
