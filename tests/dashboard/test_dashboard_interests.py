"""A crawl of several interests in the dashboard: finds, requests and curve of each, by its name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from served import SEVERAL, Served, crawl_demo, key_of

from clew.dashboard.finds import WordMarker
from clew.dashboard.live import LiveCrawl
from clew.report import gather
from clew.run.steering import Steer, send
from clew.store import SqliteStore, open_reader

BASE = f"/crawl/{key_of('several')}"


def whole(path: Path) -> dict:
    live = LiveCrawl(path, path.name)
    while live.catching_up:
        live.update()
    live.close()
    return {name: json.loads(text) for name, (_, text) in live.sections.items()}


def test_each_interest_has_its_finds_its_share_of_requests_and_its_curve(crawls: Path):
    told = whole(crawls / "several")["interests"]
    with open_reader(str(crawls / "several")) as reader:
        counts, facts = reader.counts(), gather(reader)
        chosen = [line for line in reader.decisions() if line.kind == "page" and max(line.terms) < 500]
    assert {one["name"]: one["formula"] for one in told["each"]} == SEVERAL
    assert {one["name"]: one["finds"] for one in told["each"] if one["finds"]} == counts.by_interest
    assert sum(one["requests"] for one in told["each"]) == len(chosen), "all but the start pages"
    assert sum(one["share"] for one in told["each"]) == pytest.approx(1)
    assert min(one["share"] for one in told["each"]) > 0.2, "they are even"
    for one, line in zip(told["each"], told["series"], strict=True):
        assert line[-1] == one["finds"]
        assert list(zip(told["pages"], line, strict=True)) == list(map(tuple, facts.interests[one["name"]]))


def test_a_crawl_of_one_interest_has_none_to_tell_apart(crawls: Path, dashboard: Served):
    told = whole(crawls / "wind")["interests"]
    assert (told["each"], told["pages"], told["series"]) == ([], [], [])
    finds = dashboard.ask(f"/crawl/{key_of('wind')}/finds").json()["finds"]
    assert all(find["interests"] == [] for find in finds)


def test_reading_in_small_steps_tells_the_same_as_at_once(crawls: Path, monkeypatch: pytest.MonkeyPatch):
    at_once = whole(crawls / "several")
    monkeypatch.setattr("clew.dashboard.live._LINES", 7)
    monkeypatch.setattr("clew.dashboard.live._CANDIDATES", 11)
    monkeypatch.setattr("clew.dashboard.live.READING", 0.0)
    assert whole(crawls / "several") == at_once


def test_finds_carry_their_interests_and_can_be_filtered_by_one(dashboard: Served):
    every = dashboard.ask(f"{BASE}/finds?limit=100").json()
    wind = dashboard.ask(f"{BASE}/finds?limit=100&interest=wind").json()
    assert 0 < wind["total"] < every["total"]
    assert {find["id"] for find in wind["finds"]} == {
        find["id"] for find in every["finds"] if "wind" in find["interests"]
    }
    assert dashboard.ask(f"{BASE}/finds?interest=nobody").json()["total"] == 0
    assert any(marked for _, marked in wind["finds"][0]["snippet"]), "words of a named formula are marked"
    page = dashboard.ask(f"{BASE}/find/{wind['finds'][0]['id']}").json()
    assert "wind" in page["interests"]
    kept = dashboard.ask(f"{BASE}/export?format=jsonl&for=wind").body.splitlines()
    assert len(kept) == wind["total"]
    assert "it has football, stars, wind" in dashboard.ask(f"{BASE}/export?for=nobody").json()["error"]


def test_words_of_every_formula_are_marked():
    marker = WordMarker("wind=turbine\nsolar=panel AND NOT roof")
    told = marker.whole("a turbine, a panel and a roof", "en")
    assert [text for text, marked in told if marked] == ["turbine", "panel"]


def test_other_formulas_are_other_interests_from_then_on(crawls: Path, tmp_path: Path):
    shutil.copytree(crawls / "several", tmp_path / "several")
    with SqliteStore(tmp_path / "several") as store:
        store.set_meta(stopped="interrupted")
    wanted = {"stars": SEVERAL["stars"], "sea": "offshore OR vessel"}
    send(tmp_path / "several", Steer.of(match=wanted, pages=120))
    crawl_demo(tmp_path / "several", 100, match=SEVERAL)
    told = whole(tmp_path / "several")
    with open_reader(str(tmp_path / "several")) as reader:
        counts = reader.counts()
    each = {one["name"]: one for one in told["interests"]["each"]}
    assert list(each) == ["stars", "sea"]
    assert {name: one["finds"] for name, one in each.items()} == counts.by_interest
    assert told["state"]["finds"] == counts.matched
    assert each["sea"]["requests"] > 0


def test_weights_are_those_of_the_strategy_of_each(crawls: Path):
    told = whole(crawls / "several")
    assert "content" in told["steering"]["parts"]
    assert not [part for part in told["steering"]["parts"] if "." in part]
    assert "wind.content" in told["factors"]["names"]
    words = dict(zip(told["factors"]["names"], told["factors"]["words"], strict=True))
    assert words["wind.content"] == words["stars.content"] != ""
    assert Steer.of(weights=dict.fromkeys(told["steering"]["parts"], 1.0)).weights


def test_the_report_has_the_share_and_the_curve_of_each(dashboard: Served):
    html = dashboard.ask(f"{BASE}/report").body.decode()
    assert "share of requests" in html
    assert html.count(" %</td>") == len(SEVERAL)
    assert all(f'<th class="n">{name}</th>' in html for name in SEVERAL)
