"""Steering from the page: the same requests as `clew steer`, and what the page shows of what came of them."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from served import PATIENCE, Served, crawl_demo, key_of, serving

from clew.dashboard.live import LiveCrawl
from clew.run.steering import Steer, send
from clew.store import SqliteStore, open_reader
from clew.store.inbox import Inbox

KEY = key_of("wind")


def sections(path: Path) -> dict:
    live = LiveCrawl(path, path.name)
    while live.catching_up:
        live.update()
    live.close()
    return {name: json.loads(text) for name, (_, text) in live.sections.items()}


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that was interrupted; for copying only."""
    place = tmp_path_factory.mktemp("interrupted") / "wind"
    crawl_demo(place, 60)
    with SqliteStore(place) as store:
        store.set_meta(stopped="interrupted")
    return place


@pytest.fixture
def resting(interrupted: Path, tmp_path: Path) -> Iterator[Served]:
    """A dashboard of a crawl that was interrupted."""
    shutil.copytree(interrupted, tmp_path / "wind")
    with serving(tmp_path) as served:
        yield served


def test_a_preview_says_what_would_move_and_leaves_nothing_behind(resting: Served):
    host = next(iter(resting.events(KEY, {"hosts"})["hosts"]))["host"]
    found = resting.steer(KEY, {"ban_host": host, "boost": {"*/articles/*": 3}}, preview=True)
    assert found["state"] == "previewed"
    assert 0 < found["preview"]["moved"] <= found["preview"]["waiting"]
    assert len(found["preview"]["rises"]) <= 10
    assert all(moved["place_before"] > moved["place_after"] for moved in found["preview"]["rises"])
    assert Inbox(resting.folder / "wind").waiting() == []


def test_a_change_of_a_crawl_at_rest_waits_in_its_inbox_and_is_taken_in(resting: Served):
    found = resting.steer(KEY, {"pages": 90, "boost": {"*/articles/*": 3}})
    assert (found["state"], found["changes"]) == ("waiting", ["set-budget", "set-boost"])
    place = resting.folder / "wind"
    assert len(Inbox(place).waiting()) == 1
    crawl_demo(place, 60)
    told = sections(place)
    assert told["state"]["pages"] == told["state"]["budget"] == 90
    assert told["steering"]["boosts"] == [{"pattern": "*/articles/*", "factor": 3}]
    assert [mark["name"] for mark in told["curve"]["marks"]] == ["set-budget", "set-boost"]
    assert "boost" in told["factors"]["names"], "the part that scores have from then on has a name"
    boosted = [line for line in told["decisions"] if "/articles/" in line["url"]]
    assert boosted
    assert all(line["reasons"] for line in boosted)


def test_pages_judged_anew_are_the_finds_that_the_page_shows(resting: Served):
    place = resting.folder / "wind"
    with open_reader(str(place)) as reader:
        before = [page.url for page in reader.pages(matched=True, text=False)]
    resting.steer(KEY, {"match": '"wind farm"', "feedback": {before[0]: False}, "pages": 80})
    crawl_demo(place, 60)
    told = sections(place)
    with open_reader(str(place)) as reader:
        counts = reader.counts()
        matched = {page.url for page in reader.pages(matched=True, text=False)}
    assert counts.matched != len(before)
    assert told["state"]["finds"] == counts.matched == told["curve"]["finds"][-1]
    assert told["state"]["formula"] == told["focus"]["sought"] == '"wind farm"'
    assert before[0] not in matched
    with serving(resting.folder) as served:
        listed = served.ask(f"/crawl/{KEY}/finds?limit=100").json()
    assert {find["url"] for find in listed["finds"]} == matched
    assert sum(host["finds"] for host in told["hosts"]) == counts.matched


def test_a_pause_is_seen(tmp_path: Path):
    crawl_demo(tmp_path / "wind", 30)
    with SqliteStore(tmp_path / "wind") as store:
        store.set_meta(stopped="interrupted")
    send(tmp_path / "wind", Steer.of(pause=True, pages=60))
    store = SqliteStore(tmp_path / "wind")
    live = LiveCrawl(tmp_path / "wind", "wind")
    live.update()
    assert live.status == "running", "it has not taken it in yet"
    live.fold.commands.append('{"command":"set-paused","paused":true}')
    assert live.status == "paused"
    store.close()
    live.close()


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"match": "py:os:system"}, "py: runs code"),
        ({"match": "topic:nothing"}, "topic"),
        ({"boost": {"*": "much"}}, "factor"),
        ({"nonsense": 1}, "nonsense"),
        ({"ban_host": "no host at all"}, "not a host"),
        ({"feedback": {"http://never.example/": False}}, "was not fetched"),
        ({}, "say what to change"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence_and_nothing_is_left(
    resting: Served, wanted: dict, said: str
):
    assert said in resting.steer(KEY, wanted)["error"]
    assert Inbox(resting.folder / "wind").waiting() == []


def test_a_crawl_that_has_ended_says_what_lets_it_go_on(dashboard: Served):
    assert "has ended (pages)" in dashboard.steer(KEY, {"boost": {"*/a/*": 2}})["error"]


def test_a_preview_nobody_waits_for_any_more_is_given_up(resting: Served, monkeypatch: pytest.MonkeyPatch):
    cancelled = threading.Event()

    def slow(*_: object, progress: Callable[[int, int], None], **__: object) -> None:
        cancelled.wait(PATIENCE)
        progress(1, 2)
        raise AssertionError("it went on")

    monkeypatch.setattr("clew.dashboard.steer.send", slow)
    job = resting.change(f"/crawl/{KEY}/steer", {"wanted": {"match": "turbine"}, "preview": True}).json()
    resting.change(f"/crawl/{KEY}/unwanted", {"job": job["job"]})
    cancelled.set()
    while not (now := resting.ask(f"/crawl/{KEY}/steered").json()[0])["over"]:
        time.sleep(0.01)
    assert "nobody waits" in now["error"]


def test_what_is_left_and_what_chance_would_have_brought_are_told(crawls: Path):
    told = sections(crawls / "wind")
    least, about, most = told["left"]["left"]
    assert 0 <= least <= about <= most
    assert told["left"]["low"] <= told["left"]["middle"] <= told["left"]["high"] <= 1
    assert told["left"]["series"]["pages"][-1] == told["left"]["pages"]
    chance = told["curve"]["chance"]
    assert len(chance) == len(told["curve"]["pages"])
    assert 0 < chance[-1] < told["curve"]["finds"][-1]
    assert chance == sorted(chance)
    assert sections(crawls / "wide")["curve"]["chance"] == [], "it goes by no worth: it is chance"


def test_chance_is_near_what_a_crawl_at_random_finds(tmp_path: Path, crawls: Path):
    crawl_demo(tmp_path / "random", 120, strategy="random")
    truth = sections(tmp_path / "random")["state"]["finds"]
    told = sections(crawls / "wind")["curve"]["chance"][-1]
    assert truth / 4 <= told <= truth * 4
