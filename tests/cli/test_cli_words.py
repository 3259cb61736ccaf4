"""When something is missing or nothing came of it, the command line says what, and what to do."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["crawl"], "crawl needs --directory DIR: Where the crawl is kept."),
        (["status"], "status needs DIR: The directory of a crawl."),
        (["lab", "serve"], "lab serve needs CORPUS"),
    ],
)
def test_what_was_left_out_is_named_and_explained(clew, arguments, says):
    said = clew(*arguments)
    assert said.code == 2
    assert says in said.err
    assert f"see clew {' '.join(arguments)} --help" in said.err


def test_a_seed_that_may_not_be_visited_says_why_and_how_it_may(clew):
    said = clew("crawl", "http://127.0.0.1:9/", "-m", "x", "-d", "none", "--parse-workers", 0)
    assert said.code == 4
    assert "--allow-private 127.0.0.1" in said.err


def test_a_seed_that_is_not_there_says_so(clew, site):
    said = clew("crawl", "http://nowhere.example/", "-m", "x", "-d", "none", *site.options(5))
    assert "http://nowhere.example/  the server answers HTTP 404" in said.err


def test_a_search_without_hits_says_so(clew, crawled):
    said = clew("search", crawled, "zyzzyva")
    assert said.code == 3
    assert said.out == ""
    assert "nothing found" in said.err


def test_a_redirect_that_was_followed_is_not_left_out(clew, crawled):
    shown = clew("status", crawled)
    assert clew("status", crawled, "--json").json()["redirected"] > 0
    assert "redirected" in shown.out
    assert "redirect " not in shown.out.partition("left out")[2]


def test_a_negated_term_shows_the_degree_of_its_negation(clew, tmp_path):
    (tmp_path / "page.html").write_text("<p>wind farm")
    shown = clew("check", "wind -host:a.example -farm", "page.html").out
    assert "NOT host:a.example  1.000" in shown
    assert float(shown.rpartition("NOT farm")[2].split()[0]) < 0.5
