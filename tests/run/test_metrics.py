"""Metrics: the figures of a crawl, over HTTP, on the loopback address only."""

from __future__ import annotations

import json
import socket
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from clew.errors import ConfigError
from clew.messages import Decision, Record
from clew.run.logs import CrawlLog
from clew.run.metrics import FIGURES, MetricsServer
from clew.run.observe import Progress


def scrape(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as reply:
        families = list(text_string_to_metric_families(reply.read().decode()))
    return {
        "/".join((sample.name, *sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def test_the_endpoint_gives_the_tally_as_it_is_now():
    progress = Progress(pages=10, matches=4, requests=13, wire=5000, queued=7, started=100.0, now=160.0)
    progress.dropped["robots"] = 3
    server = MetricsServer(0)
    try:
        server.started(progress)
        first = scrape(server.port)
        progress.pages = 11
        second = scrape(server.port)
    finally:
        server.close()
    assert (first["clew_pages_total"], second["clew_pages_total"]) == (10, 11)
    assert first["clew_matches_total"] == 4
    assert first["clew_harvest_ratio"] == 0.4
    assert first["clew_dropped_total/robots"] == 3
    assert first["clew_crawl_seconds_total"] == 60
    assert len(first) >= len(FIGURES)


def test_every_figure_is_an_attribute_of_progress():
    assert all(hasattr(Progress(), attribute) for _, attribute, _, _ in FIGURES)


def test_a_port_in_use_is_said_clearly():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError, match="choose another port"):
            MetricsServer(taken.getsockname()[1])


def test_the_port_is_free_again_after_close():
    server = MetricsServer(0)
    server.close()
    again = MetricsServer(server.port)
    again.close()


def decision(result: str, url: str = "http://a.example/") -> Record:
    return Record(
        Decision(
            seq=1, at=0.0, kind="page", url=url, candidate=0, attempt=0, score=0.5, terms=(0.5,), queue=0,
            status=200, result=result, verdict=0.9, reasons=("wind 0.9",), new=2, known=0, dropped=(),
        )
    )  # fmt: skip


def test_the_log_has_finds_and_failures_as_json_lines_and_no_chatter(tmp_path: Path):
    log = CrawlLog(tmp_path)
    progress = Progress(pages=1, matches=1)
    log.started(progress)
    log.settled([decision("match", 'http://a.example/?q="\n')], progress)
    log.settled([decision("miss"), decision("failed")], progress)
    log.finished(progress, "pages")
    log.close()
    lines = [json.loads(line) for line in (tmp_path / "clew.log").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["started", "match", "failed", "finished"]
    assert [line["level"] for line in lines] == ["info", "info", "warning", "info"]
    assert lines[1]["url"] == 'http://a.example/?q="\n'
    assert all("at" in line for line in lines)


def test_two_crawls_in_one_process_keep_their_logs_apart(tmp_path: Path):
    paths = [tmp_path / name for name in "ab"]
    logs = []
    for path in paths:
        path.mkdir()
        logs.append(CrawlLog(path))
    logs[0].note("one")
    logs[1].note("two")
    for log in logs:
        log.close()
    assert ["one" in (path / "clew.log").read_text() for path in paths] == [True, False]


def test_an_unexpected_error_leaves_its_traceback_in_the_log(tmp_path: Path):
    log = CrawlLog(tmp_path)
    try:
        raise RuntimeError("odd")
    except RuntimeError as error:
        log.on_exit(type(error), error, None)
    log.close()
    assert "RuntimeError: odd" in json.loads((tmp_path / "clew.log").read_text())["exception"]


def test_a_log_that_cannot_be_written_is_done_without(tmp_path: Path, capsys):
    (tmp_path / "clew.log").mkdir()
    log = CrawlLog(tmp_path)
    log.note("said")
    log.close()
    full = tmp_path / "full"
    full.mkdir()
    (full / "clew.log").symlink_to("/dev/full")
    log = CrawlLog(full)
    log.note("said")
    log.close()
    assert capsys.readouterr().err == ""
