"""What a crawl's page is told, of crawls in every state."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from served import PATIENCE, Served, crawl_demo, key_of, serving

from clew.dashboard.finds import WordMarker
from clew.dashboard.live import _FRESH as FRESH
from clew.dashboard.live import LiveCrawl
from clew.messages import Decision
from clew.report import gather
from clew.report.crawl_fold import MAX_STRETCHES, CrawlFold, Stretches
from clew.store import SqliteStore, open_reader
from clew.store.directory import holder

SECTIONS = {"state", "curve", "factors", "decisions", "hosts", "problems", "focus", "left", "update"}


def whole(path: Path) -> dict:
    live = LiveCrawl(path, path.name)
    live.update()
    while live.catching_up:
        live.update()
    live.close()
    return {name: json.loads(text) for name, (_, text) in live.sections.items()}


def test_the_page_says_what_status_and_report_say(crawls: Path):
    told = whole(crawls / "wind")
    with open_reader(str(crawls / "wind")) as reader:
        counts, facts = reader.counts(), gather(reader)
    state = told["state"]
    assert (state["pages"], state["finds"], state["requests"]) == (
        counts.pages,
        counts.matched,
        counts.requests,
    )
    assert (state["queue"], state["duplicates"]) == (counts.queued, counts.duplicates)
    assert list(zip(told["curve"]["pages"], told["curve"]["finds"], strict=True)) == list(facts.curve)
    assert state["status"] == "finished"
    assert {row["host"]: (row["pages"], row["finds"], row["requests"]) for row in told["hosts"]} == {
        host.host: (host.pages, host.matches, host.requests) for host in facts.hosts if host.requests
    }


def test_links_waiting_at_hosts_are_those_that_are_queued(crawls: Path):
    told = whole(crawls / "wind")
    with open_reader(str(crawls / "wind")) as reader:
        saved = reader.snapshot()
    assert saved is not None
    queued: dict[str, int] = {}
    for host, state in zip(saved.hosts.tolist(), saved.states.tolist(), strict=True):
        queued[saved.host_names[host]] = queued.get(saved.host_names[host], 0) + (state == 0)
    assert {row["host"]: row["queue"] for row in told["hosts"]} == {
        row["host"]: queued[row["host"]] for row in told["hosts"]
    }


def test_reading_in_small_steps_tells_the_same_as_at_once(crawls: Path, monkeypatch: pytest.MonkeyPatch):
    at_once = whole(crawls / "wind")
    monkeypatch.setattr("clew.dashboard.live._LINES", 7)
    monkeypatch.setattr("clew.dashboard.live._CANDIDATES", 11)
    monkeypatch.setattr("clew.dashboard.live.READING", 0.0)
    live = LiveCrawl(crawls / "wind", "wind")
    steps = 0
    while live.catching_up:
        live.update()
        steps += 1
    live.close()
    assert steps > 10
    assert {name: json.loads(text) for name, (_, text) in live.sections.items()} == at_once


def test_events_bring_every_section(dashboard: Served):
    found = dashboard.events(key_of("wind"), SECTIONS)
    assert found["state"]["formula"] == '"wind farm" OR turbine'
    assert found["factors"]["names"][0] == "content"
    assert " requests explored (" in found["factors"]["explored"]
    assert len(found["decisions"][0]["reasons"]) <= 3


def test_a_crawl_under_way_is_seen_running_and_growing_then_finished(tmp_path: Path):
    place = tmp_path / "wind"
    # Every twenty fetches it waits for a line from here, so that what is seen depends on nobody's speed.
    script = (
        "import asyncio, sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path; from served import crawl_demo\n"
        "from clew.fetch.replay import ReplayFetcher\n"
        "plain, asked = ReplayFetcher.fetch, [0]\n"
        "async def fetch(self, *a, **k):\n"
        "    asked[0] += 1\n"
        "    if asked[0] in (30, 60): await asyncio.to_thread(sys.stdin.readline)\n"
        "    return await plain(self, *a, **k)\n"
        "ReplayFetcher.fetch = fetch\n"
        "crawl_demo(Path(sys.argv[1]), 80)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(place), str(Path(__file__).parent)],
        stdin=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    try:
        while not (place / "clew.db").exists():
            assert process.poll() is None
            time.sleep(0.01)
        live = LiveCrawl(place, "wind")
        seen = set()
        grown = [0]
        while process.poll() is None:
            live.update()
            seen.add(live.status)
            if live.status == "running":
                assert holder(place) in (process.pid, None), "it, or nobody any more"
            if live.fold.curve.pages > grown[-1]:
                grown.append(live.fold.curve.pages)
                if len(grown) < 4:
                    process.stdin.write("go on\n")
                    process.stdin.flush()
            time.sleep(0.02)
        assert process.returncode == 0
        assert "running" in seen
        assert len(grown) > 2, "it was seen to grow"
        time.sleep(2 * FRESH)
        live.update()
        while live.catching_up:
            live.update()
        assert (live.status, live.fold.curve.pages) == ("finished", 80)
        live.close()
    finally:
        process.kill()
        process.wait()


def test_reading_a_running_crawl_leaves_its_lock_and_its_files_alone(tmp_path: Path):
    """The system lets go of a record lock when its process closes the file: the one who crawls may look
    too."""
    crawl_demo(tmp_path / "wind", 10)
    store = SqliteStore(tmp_path / "wind")
    live = LiveCrawl(tmp_path / "wind", "wind")
    live.update()
    assert live.status == "running"
    assert live.pid == os.getpid()
    probe = (
        "import sys; from pathlib import Path; from clew.store.directory import holder\n"
        "print(holder(Path(sys.argv[1])))"
    )
    told = subprocess.run(
        [sys.executable, "-c", probe, str(tmp_path / "wind")], capture_output=True, text=True, check=True
    )
    assert int(told.stdout) == os.getpid()
    store.close()
    live.close()
    assert holder(tmp_path / "wind") is None
    assert not list((tmp_path / "wind").glob("clew.db-*")), "the writer could put its log away"


def test_a_crawl_whose_process_was_killed_is_shown_as_crashed(tmp_path: Path, crawls: Path):
    shutil.copytree(crawls / "wind", tmp_path / "wind")
    with SqliteStore(tmp_path / "wind") as store:
        store.set_meta(stopped=None)
    told = whole(tmp_path / "wind")
    assert told["state"]["status"] == "crashed"
    assert told["problems"]["crashed"] is True
    assert told["state"]["finds"] > 0


def test_a_crawl_that_was_interrupted_is_stopped_and_can_go_on(tmp_path: Path, crawls: Path):
    shutil.copytree(crawls / "wind", tmp_path / "wind")
    with SqliteStore(tmp_path / "wind") as store:
        store.set_meta(stopped="interrupted")
    assert whole(tmp_path / "wind")["state"]["status"] == "stopped"


def test_a_damaged_crawl_is_told_and_harms_no_other(tmp_path: Path, crawls: Path):
    shutil.copytree(crawls / "wind", tmp_path / "wind")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "clew.db").write_bytes(b"no database")
    with serving(tmp_path) as served:
        listed = {row["key"]: row for row in served.ask("/api/overview").json()}
        assert listed[key_of("broken")]["status"] == "unreadable"
        assert listed[key_of("wind")]["finds"] > 0
        assert "broken" in served.events(key_of("broken"), {"trouble"})["trouble"]["text"]


def test_finds_are_listed_searched_filtered_and_opened(dashboard: Served):
    base = f"/crawl/{key_of('wind')}"
    first = dashboard.ask(f"{base}/finds?limit=5").json()
    assert len(first["finds"]) == 5
    assert any(
        marked and text.lower() in ("wind", "farm", "turbine", "turbines", "farms")
        for text, marked in first["finds"][0]["snippet"]
    )
    best = dashboard.ask(f"{base}/finds?sort=best&limit=100").json()["finds"]
    assert [find["degree"] for find in best] == sorted((find["degree"] for find in best), reverse=True)
    high = dashboard.ask(f"{base}/finds?least={best[3]['degree']}&limit=100").json()
    assert high["total"] >= 4
    assert all(find["degree"] >= best[3]["degree"] for find in high["finds"])
    word = next(text for text, marked in best[0]["snippet"] if marked)
    assert best[0]["id"] in [
        f["id"] for f in dashboard.ask(f"{base}/finds?q={word}&limit=100").json()["finds"]
    ]
    assert dashboard.ask(f"{base}/finds?q=%22").status == 400
    page = dashboard.ask(f"{base}/find/{best[0]['id']}").json()
    assert page["way"][-1]["url"] == page["url"]
    assert page["reasons"]
    assert dashboard.ask(f"{base}/find/999999").status == 404


def test_the_links_a_factor_moved_are_told_and_why_a_link_was_fetched(dashboard: Served):
    base = f"/crawl/{key_of('wind')}"
    dashboard.events(key_of("wind"), SECTIONS)
    moved = dashboard.ask(f"{base}/moved?factor=anchor").json()
    assert moved["up"]
    values = [item["value"] for item in moved["up"]]
    assert values == sorted(values, reverse=True)
    lines = dashboard.ask(f"{base}/explain?url={moved['up'][0]['url']}").json()["lines"]
    assert "fetched" in lines[1]
    assert dashboard.ask(f"{base}/moved?factor=nothing").json() == {"up": [], "down": []}


def test_the_graph_is_bounded_and_its_links_lead_from_seeds_to_finds(dashboard: Served):
    found = dashboard.ask(f"/crawl/{key_of('wind')}/graph").json()
    assert 0 < len(found["nodes"]) <= 240
    assert any(node["seed"] for node in found["nodes"])
    assert any(node["find"] for node in found["nodes"])
    followed = {to for _, to, way in found["edges"] if way}
    assert all(node["seed"] or at in followed for at, node in enumerate(found["nodes"]))
    assert all(
        0 <= node["x"] <= found["width"] and 0 <= node["y"] <= found["height"] for node in found["nodes"]
    )


def test_an_export_has_the_finds_and_a_report_is_a_file_to_keep(dashboard: Served):
    base = f"/crawl/{key_of('wind')}"
    total = dashboard.ask(f"{base}/finds").json()["total"]
    reply = dashboard.ask(f"{base}/export?format=csv")
    assert reply.headers["content-disposition"].startswith("attachment")
    assert len(list(csv.DictReader(io.StringIO(reply.body.decode())))) == total
    lines = dashboard.ask(f"{base}/export?format=jsonl").body.splitlines()
    assert len(lines) == total
    assert dashboard.ask(f"{base}/export?format=exe").status == 400
    report = dashboard.ask(f"{base}/report")
    assert report.headers["content-disposition"].startswith("attachment")
    assert report.body.startswith(b"<!doctype html>")


def test_suspended_directions_are_counted_when_asked_for(tmp_path: Path, dashboard: Served):
    assert dashboard.ask(f"/crawl/{key_of('wind')}/suspended").json() == {"level": None}
    crawl_demo(tmp_path / "sure", 60, confidence=0.9)
    with serving(tmp_path) as served:
        found = served.ask(f"/crawl/{key_of('sure')}/suspended").json()
        assert served.events(key_of("sure"), {"focus"})["focus"]["confidence"] == 0.9
    assert (found["level"], found["suspended"] >= 0) == (0.9, True)


def test_crawls_are_compared(dashboard: Served):
    keys = [key_of("wind"), key_of("wide")]
    rows = dashboard.ask("/api/compare?" + "&".join(f"c={key}" for key in keys)).json()
    assert [row["strategy"] for row in rows] == ["intelligent", "breadth-first"]
    assert rows[0]["finds"] > rows[1]["finds"]
    assert all(row["x"][-1] == row["pages"] and row["y"][-1] == row["finds"] for row in rows)
    assert dashboard.ask("/api/compare?c=nothing").status == 404


@given(st.lists(st.lists(st.floats(-10, 10), min_size=3, max_size=3), max_size=400))
def test_stretches_keep_the_mean_of_all_and_stay_few(rows):
    stretches = Stretches(3)
    for row in rows:
        stretches.add(row)
    told = stretches.rows
    assert len(told) <= MAX_STRETCHES
    assert [end for end, _ in told] == sorted({end for end, _ in told})
    if rows:
        assert told[-1][0] == len(rows)
        ends = [0, *[end for end, _ in told]]
        for column in range(3):
            total = sum(
                means[column] * (end - begin) for (end, means), begin in zip(told, ends, strict=False)
            )
            assert total == pytest.approx(sum(row[column] for row in rows), abs=1e-6)


@given(st.text(), st.text(), st.sampled_from(["en", "de", "", "zz"]))
def test_pieces_of_a_text_are_the_text(formula, text, language):
    marker = WordMarker(formula)
    assert "".join(piece for piece, _ in marker.whole(text, language)) == text
    for piece, marked in marker.snippet(text, language):
        assert not marked or piece in text


def decision(seq: int, **more: object) -> Decision:
    told: dict = {
        "seq": seq, "at": float(seq), "kind": "page", "url": "http://a.example/", "candidate": seq,
        "attempt": 0, "score": 0.0, "terms": (), "queue": 0, "status": 200, "result": "miss",
        "verdict": 0.0, "reasons": (), "new": 0, "known": 0, "dropped": (),
    }  # fmt: skip
    return Decision(**(told | more))


def test_a_command_is_marked_in_words_at_its_place():
    fold = CrawlFold()
    fold.take(1, decision(1))
    said = '{"command":"ban-host","host":"a.example"}'
    fold.take(1, decision(2, kind="command", result="ban-host", reasons=(said,)))
    fold.take(1, decision(3, kind="command", result="odd", reasons=("<no json>",)))
    assert [(mark.page, mark.text) for mark in fold.marks] == [(1, "host a.example banned"), (1, "<no json>")]


def test_a_stop_reaches_the_process_that_crawls(tmp_path: Path):
    sleeper = (
        "import signal, sys, time; from pathlib import Path; from clew.store import SqliteStore\n"
        # Where the tests themselves run in the background, a child would begin deaf to it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "store = SqliteStore(Path(sys.argv[1]))\n"
        "try:\n    print('up', flush=True); time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('stopped', flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", sleeper, str(tmp_path / "wind")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        with serving(tmp_path) as served:
            assert served.change(f"/crawl/{key_of('wind')}/resume").status == 400, "it runs already"
            assert served.change(f"/crawl/{key_of('wind')}/stop").status == 200
            assert process.stdout.readline() == "stopped\n"
            process.wait(PATIENCE)
            assert served.change(f"/crawl/{key_of('wind')}/stop").status == 400, "there is nothing to stop"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
