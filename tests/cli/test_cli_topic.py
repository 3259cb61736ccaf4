"""`clew topic`: from examples to a formula, and a crawl that goes on with the topics it began with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from two_subjects import LAND, SEA, words_about


def write(folder: Path, words: list[str], count: int = 12) -> None:
    folder.mkdir(parents=True)
    for number in range(count):
        text = " ".join(words_about(words, number))
        (folder / f"{number}.txt").write_text(f"{text} and page{number}")


@pytest.fixture
def topics(clew, tmp_path: Path) -> Path:
    """Two trained topics, in the working directory."""
    for name, words in (("sailing", SEA), ("farming", LAND)):
        write(tmp_path / name, words)
        assert clew("topic", "new", name).code == 0
        assert clew("topic", "add", name, tmp_path / name).code == 0
    assert clew("topic", "train").code == 0
    return tmp_path / "topics"


def page(tmp_path: Path, words: list[str]) -> Path:
    path = tmp_path / "page.html"
    path.write_text(f"<html lang=en><title>{words[0]}</title><p>{' '.join(words)} in the summer")
    return path


def test_topics_are_made_trained_listed_shown_tested_and_removed(clew, topics, tmp_path):
    listed = clew("topic", "list", "--json").json()
    assert [(row["topic"], row["kind"], row["examples"]) for row in listed] == [
        ("farming", "linear", 12),
        ("sailing", "linear", 12),
    ]
    assert all(row["auc"] > 0.9 for row in listed)
    shown = clew("topic", "show", "sailing", "--json").json()
    assert {word["stem"] for word in shown["words"][:3]} <= {*SEA}
    assert len(shown["examples"]["positive"]) == 12
    assert "telling word" in clew("topic", "show", "sailing").out
    tested = clew("topic", "test", "--json").json()
    assert {"topics", "confusion", "reliability"} == set(tested)
    assert sum(row["count"] for row in tested["confusion"] if row["is"] == row["taken_for"]) >= 22
    assert "taken for" in clew("topic", "test").out
    assert "add 8 more, 20 would do" in clew("topic", "train", "--all").err
    assert clew("topic", "remove", "farming").code == 2
    assert clew("topic", "remove", "farming", "--yes").code == 0
    assert [row["topic"] for row in clew("topic", "list", "--json").json()] == ["sailing"]


def test_check_shows_the_words_behind_a_degree_and_every_topic(clew, topics, tmp_path):
    said = clew("check", "topic:sailing AND lang:en", page(tmp_path, SEA), "--json")
    assert said.code == 0
    result = said.json()
    assert len(result["terms"][0]["words"]) == 3
    assert list(result["topics"]) == ["sailing", "farming"]
    assert result["topics"]["sailing"] > 0.5 > result["topics"]["farming"]
    assert clew("check", "topic:sailing", page(tmp_path, LAND)).code == 3
    assert "did you mean 'sailing'?" in clew("check", "topic:sailin").err
    elsewhere = clew("check", "topic:sailing", "--topics", tmp_path / "nowhere")
    assert elsewhere.code == 2
    assert "make one with clew topic new" in elsewhere.err


def test_like_needs_no_topic(clew, tmp_path):
    write(tmp_path / "good pages", SEA)
    clewed = clew("check", f'like:"{tmp_path / "good pages"}">0.3', page(tmp_path, SEA), "--json")
    assert clewed.json()["satisfied"] is True
    assert clew("check", f'like:"{tmp_path / "good pages"}">0.3', page(tmp_path, LAND)).code == 3
    missing = clew("check", "like:gone")
    assert missing.code == 2
    assert "there is no file or folder 'gone'" in missing.err


def test_keywords_alone_make_a_topic(clew, tmp_path):
    assert clew("topic", "new", "sailing", "--keyword", "sail=2", "--keyword", "boat").code == 0
    trained = clew("topic", "train")
    assert trained.code == 0
    assert "made of keywords alone" in trained.err
    assert clew("check", "topic:sailing", page(tmp_path, ["sailing", "boat", "sail", "boats"])).code == 0
    assert clew("topic", "new", "x", "--keyword", "sail=-1").code == 2
    assert clew("topic", "train", "--kind", "magic").code == 2


def test_the_finds_of_a_crawl_are_examples_and_a_crawl_keeps_its_topics(clew, site, tmp_path):
    """Resumed without the folder, and with another model in it, it goes on with the topics it began with."""
    words = site.crawl(tmp_path / "words", 60)[len(site.seeds) :]
    assert clew("crawl", *site.seeds, *words, "--ordered").code == 0
    write(tmp_path / "land", LAND)
    clew("topic", "new", "found", "--kind", "keyword")
    assert clew("topic", "add", "found", f"crawl:{tmp_path / 'words'}").code == 0
    clew("topic", "add", "any", tmp_path / "land")
    assert clew("topic", "train").code == 0
    crawl = ["crawl", *site.seeds, "-m", "topic:found", "-d", tmp_path / "crawl", *site.options(30)]
    assert clew(*crawl, "--ordered").code == 0
    whole = ["crawl", *site.seeds, "-m", "topic:found", "-d", tmp_path / "whole", *site.options(60)]
    assert clew(*whole, "--ordered").code == 0
    model = tmp_path / "topics" / "found" / "model.json"
    changed = json.loads(model.read_text())
    changed["bias"] = 50.0
    model.write_text(json.dumps(changed))
    resumed = clew("crawl", "-d", tmp_path / "crawl", "--pages", 45, "--proxy", site.proxy)
    assert resumed.code == 0
    assert "found changed since the crawl began" in resumed.err
    shutil.rmtree(tmp_path / "topics")
    assert clew("crawl", "-d", tmp_path / "crawl", "--pages", 60, "--proxy", site.proxy).code == 0
    finds = [
        {row["url"]: row["score"] for row in clew("export", tmp_path / name, "-f", "jsonl").lines()}
        for name in ("crawl", "whole")
    ]
    shared = finds[0].keys() & finds[1].keys()
    assert len(shared) > 20
    assert {url: finds[0][url] for url in shared} == {url: finds[1][url] for url in shared}
    url = next(iter(shared))
    assert "topic:found" in clew("explain", tmp_path / "crawl", url).out


def test_the_start_pages_give_the_threshold(clew, site, tmp_path):
    easy = ["crawl", *site.seeds, "-m", "the OR words:>0", "-d", tmp_path / "b", *site.options(20)]
    said = clew(*easy, "--threshold", "start")
    assert said.code == 0
    assert "threshold 1, the least degree above 0 of the start pages" in said.err
    bad = clew(*easy[:-1], 20, "--threshold", "begin")
    assert bad.code == 2
    assert "must be a number above 0 and at most 1, or start" in bad.err
