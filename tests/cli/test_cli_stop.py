"""`--stop`: a crawl ends by its rule, says by which clause, and status tells how far the others are."""

from __future__ import annotations


def test_a_crawl_says_which_clause_stopped_it_and_status_how_far_each_is(clew, site, tmp_path):
    rule = (
        "matches >= 3 or stale >= 900 or precision < 1% over 400 or best < -1000000 or community or exhausted"
    )
    started = site.crawl(tmp_path / "farms", 200)
    said = clew(*started, "--stop", rule)
    assert said.code == 0, said.err
    assert "matches >= 3" in said.err
    told = clew("status", tmp_path / "farms", "--json").json()
    assert told["stopped"] == "matches >= 3"
    clauses = {one["clause"]: one for one in told["stop"]}
    assert list(clauses) == [
        "matches >= 3",
        "stale >= 900",
        "precision < 0.01 over 400",
        "best < -1000000",
        "community",
        "exhausted",
    ]
    assert clauses["matches >= 3"]["met"]
    assert clauses["precision < 0.01 over 400"]["value"] == "too early to say"
    assert clauses["exhausted"]["value"] == "no"
    assert "stops when" in clew("status", tmp_path / "farms").out
    # Another rule on resume: it is no part of what the crawl is.
    said = clew("crawl", "-d", tmp_path / "farms", "--stop", "community >= 2 or matches >= 5")
    assert said.code == 0, said.err
    told = clew("status", tmp_path / "farms", "--json").json()
    assert told["stopped"] in ("community >= 2", "matches >= 5")
    assert told["matched"] >= 3


def test_a_rule_that_does_not_parse_is_told_before_anything_is_done(clew, site, tmp_path):
    said = clew(*site.crawl(tmp_path / "farms"), "--stop", "matchs >= 3")
    assert said.code == 2
    assert "did you mean 'matches'? at column 1" in said.err
    assert not (tmp_path / "farms").exists()
