"""`clew demo` and `clew lab serve`, whole."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_demo_crawls_three_ways_compares_and_can_be_run_again(clew, tmp_path: Path):
    first = clew("demo", "--pages", "150", "--json")
    assert first.code == 0, first.err
    runs = {run["strategy"]: run for run in first.json()["runs"]}
    assert set(runs) == {"breadth-first", "best-first", "intelligent"}
    assert all(run["pages"] == 150 for run in runs.values())
    assert runs["best-first"]["finds"] > runs["breadth-first"]["finds"]
    assert runs["intelligent"]["finds"] > runs["breadth-first"]["finds"]
    assert set(first.json()["ratios"]) == {"best-first", "intelligent"}
    html = (tmp_path / "demo" / "report.html").read_text()
    assert html.count("<polyline") == 3
    again = clew("demo", "--pages", "60")
    assert again.code == 0, again.err
    assert "times fewer fetches per find" in again.out
    assert re.search(r"best-first +60", again.out)


@pytest.mark.slow
def test_the_demo_shows_what_people_add(clew, tmp_path: Path):
    said = clew("demo", "--pages", "120", "--interest", "people", "--json")
    assert said.code == 0, said.err
    finds = {run["strategy"]: run["finds"] for run in said.json()["runs"]}
    assert list(finds) == ["breadth-first", "intelligent", "both"]
    assert finds["both"] > finds["intelligent"]
    assert "clew visits audit" in said.err
    html = (tmp_path / "demo" / "both" / "report.html").read_text()
    assert "people" in html


@pytest.mark.slow
def test_the_demo_tunnels_to_two_topics(clew, tmp_path: Path):
    said = clew("demo", "--pages", "300", "--interest", "topics", "--json")
    assert said.code in (0, 3), said.err
    runs = {run["strategy"]: run for run in said.json()["runs"]}
    assert list(runs) == ["breadth-first", "focused", "tunnelling"]
    assert runs["tunnelling"]["focus"][0]["after"].startswith("topic:wind AND (topic:coast.")
    assert not runs["focused"]["focus"]
    assert runs["focused"]["finds"] > runs["breadth-first"]["finds"]
    listed = clew("topic", "list", "--topics", tmp_path / "demo" / "topics", "--json").json()
    assert [row["topic"] for row in listed] == ["coast", "coast.gannet-rock", "wind"]
    assert 'class="mark c2"' in (tmp_path / "demo" / "report.html").read_text()


def test_the_demo_replaces_nothing_that_is_not_a_demo(clew, tmp_path: Path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "mine.txt").write_text("precious")
    said = clew("demo")
    assert said.code == 2
    assert "choose another --directory" in said.err
    assert [file.name for file in (tmp_path / "demo").iterdir()] == ["mine.txt"]


def test_a_recorded_web_is_served_as_a_proxy_with_a_log_until_interrupted(tmp_path: Path):
    log = tmp_path / "requests.log"
    serve = [sys.executable, "-m", "clew.cli", "lab", "serve", "demo", "--port", "0", "--log", str(log)]
    with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as ran:
        assert ran.stderr is not None
        said = ran.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert found, said
        seed = ran.stderr.readline().split()[-1]
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": found[0]}))
        with opener.open(seed, timeout=60) as reply:
            assert b"<html" in reply.read()
        ran.send_signal(signal.SIGINT)
        _, rest = ran.communicate(timeout=300)
    assert ran.returncode == 0
    assert "1 requests answered" in rest
    assert seed in log.read_text()


def test_an_unknown_corpus_names_the_nearest(clew):
    said = clew("lab", "serve", "wikispedia")
    assert said.code == 2
    assert "'wikispeedia'" in said.err


def test_serving_a_crawl_directory_gives_its_pages_back(crawled: Path):
    from clew.lab.corpora import open_web

    web = open_web(str(crawled))
    assert web.seeds() is not None


@pytest.mark.slow
def test_an_interrupted_demo_compares_nothing(monkeypatch, tmp_path: Path, capsys):
    from clew.cli import demo
    from clew.cli.exits import INTERRUPTED
    from clew.cli.runner import perform
    from clew.run.session import Session

    class Brief(Session):
        """Stops as if by Ctrl-C once there is something to compare."""

        async def run(self):
            settled = self.store.save

            def save(effects):
                settled(effects)
                if self.crawl.tally.matches >= 3:
                    self.stop()

            self.store.save = save
            return await super().run()

    monkeypatch.setattr("clew.run.session.Session", Brief)
    assert perform is demo.perform
    assert demo.demo(directory=tmp_path / "demo", pages=200) == INTERRUPTED
    assert "times fewer" not in capsys.readouterr().out
