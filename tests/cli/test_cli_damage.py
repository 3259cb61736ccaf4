"""Damage within a crawl: every reading verb leaves out what it cannot read, counts it, names it, goes on."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

NO_TEXT = "CAST(X'66c328ff' AS TEXT)"
#: What is damaged, how, and how it is named.
DAMAGE = {
    "undecodable title": (f"UPDATE pages SET title = {NO_TEXT} WHERE seq = {{find}}", "pages {find}"),
    "foreign score": ("UPDATE pages SET score = 'much' WHERE seq = {find}", "pages {find}"),
    "foreign text": ("UPDATE texts SET text = 7 WHERE candidate = {candidate}", "pages {find}"),
    "undecodable line": (f"UPDATE trace SET url = {NO_TEXT} WHERE seq = 5", "trace 5"),
    "foreign line": ("UPDATE trace SET queue = 'long' WHERE seq = 5", "trace 5"),
    "foreign reasons": ("UPDATE trace SET dropped = '[[1]]' WHERE seq = 5", "trace 5"),
    "foreign host": ("UPDATE hosts SET requests = 'many' WHERE id = 0", "hosts 0"),
    "undecodable host": (f"UPDATE hosts SET memory = {NO_TEXT} WHERE id = 0", "hosts 0"),
    "foreign setting": ("INSERT INTO meta VALUES ('odd', '{{')", "meta odd"),
}
PAGES, LINES = ("undecodable title", "foreign score", "foreign text"), ("undecodable line", "foreign line")
HOSTS, META = ("foreign host", "undecodable host"), ("foreign setting",)
#: Which damage each verb meets.
VERBS = {
    ("status", "DIR"): (*HOSTS, *META, "foreign reasons"),
    ("status", "DIR", "--json"): (*HOSTS, *META, "foreign reasons"),
    ("export", "DIR"): PAGES,
    ("export", "DIR", "-f", "csv"): PAGES,
    ("export", "DIR", "-f", "parquet", "-o", "OUT"): PAGES,
    ("export", "DIR", "-f", "warc", "-o", "OUT"): ("undecodable title", "foreign score"),
    ("search", "DIR", "wind"): PAGES,
    ("explain", "DIR", "URL"): (*LINES, *PAGES),
    ("trace", "DIR"): (*LINES, "foreign reasons"),
    ("trace", "DIR", "--json"): (*LINES, "foreign reasons"),
    ("report", "DIR"): (*LINES, *HOSTS, *META, "foreign reasons", "undecodable title", "foreign score"),
    ("knowledge", "show", "DIR"): (),
}


@pytest.fixture
def damaged(crawled: Path, tmp_path: Path):
    """A copy of a crawl, its first find, and a way to damage it."""
    directory = tmp_path / "farms"
    # Without an index that another test may have left: pages in it are not read again.
    shutil.copytree(crawled, directory, ignore=shutil.ignore_patterns("search.db*"))
    with closing(sqlite3.connect(directory / "clew.db", isolation_level=None)) as db:
        find, candidate, url = db.execute(
            "SELECT p.seq, p.candidate, c.url FROM pages p JOIN candidates c ON c.id = p.candidate "
            "WHERE p.matched"
        ).fetchone()

        def damage(kind: str) -> str:
            statement, name = DAMAGE[kind]
            db.execute(statement.format(find=find, candidate=candidate))
            return name.format(find=find)

        yield directory, url, damage


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_what_is_damaged_is_left_out_counted_and_named(clew, damaged, tmp_path: Path, verb, kind: str):
    if "parquet" in verb:
        pytest.importorskip("pyarrow")
    directory, url, damage = damaged
    name = damage(kind)
    words = {"DIR": directory, "URL": url, "OUT": tmp_path / "out"}
    said = clew(*(words.get(word, word) for word in verb))
    met = kind in VERBS[verb]
    assert said.code == (1 if met and verb[0] == "export" else 0), said.err
    assert "unexpected" not in said.err
    assert said.out or "OUT" in verb
    if met:
        assert f"damaged parts could not be read and were left out: {name}" in said.err
        assert "clew doctor" in said.err


def test_one_page_less_is_exported_and_all_others_are(clew, damaged):
    directory, url, damage = damaged
    whole = clew("export", directory).lines()
    damage("undecodable title")
    assert clew("export", directory).lines() == [page for page in whole if page["url"] != url]


def test_doctor_says_what_is_lost_and_repair_has_it_fetched_again(clew, damaged, site):
    directory, url, damage = damaged
    assert clew("doctor", directory).code == 0
    assert "everything is as clew left it" in clew("doctor", directory).out
    name = damage("foreign score")
    (archive,) = (directory / "pages").glob("*.warc.gz")
    with closing(sqlite3.connect(directory / "clew.db")) as db:
        candidate, offset = db.execute("SELECT candidate, offset FROM pages WHERE seq = 90").fetchone()
        (flipped,) = db.execute("SELECT url FROM candidates WHERE id = ?", (candidate,)).fetchone()
    data = bytearray(archive.read_bytes())
    data[offset + 300] ^= 1
    archive.write_bytes(data)

    told = clew("doctor", directory, "--json")
    found = told.json()
    assert told.code == 1
    assert (found["ok"], found["pages"], found["replies"]) == (False, 119, 118)
    assert found["lost"] == [flipped]
    assert found["unreadable"] == [name]
    assert f"lost     {flipped}" in clew("doctor", directory).out

    repaired = clew("doctor", directory, "--repair")
    assert repaired.code == 0, repaired.out
    assert "2 pages are queued" in repaired.out
    assert clew("doctor", directory, "--json").json()["ok"]
    again = clew("crawl", "-d", directory, *site.options(400), "--requests", "none", "--time", "10m")
    assert again.code == 0, again.err
    urls = [page["url"] for page in clew("export", directory).lines()]
    assert url in urls
    assert sorted(set(urls)) == sorted(urls)
    assert clew("doctor", directory, "--json").json()["ok"]


def test_repair_is_for_a_crawl_that_is_named(clew):
    said = clew("doctor", "--repair")
    assert said.code == 2
    assert "needs DIR" in said.err
