"""`clew crawl --dash`: a dashboard that is there while the crawl is, and no longer."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from served import PATIENCE, WEB

from clew.cli import main
from clew.lab.serve import serving as served_web


def crawl(place: Path, proxy: str, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "clew.cli", "crawl", *WEB.seeds(), "-m", WEB.formula(), "-d", str(place)]
    return subprocess.Popen(
        [*command, "--proxy", proxy, "--own", "*", "--dash", *more],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def address(process: subprocess.Popen[str]) -> tuple[str, int]:
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"dashboard: (http://127\.0\.0\.1:(\d+)/\S+)", line):
            return found[1], int(found[2])
    raise AssertionError("no dashboard was told of")


def wait_until_nobody_listens(port: int) -> None:
    for _ in range(1200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.05)
    raise AssertionError("the dashboard is still there")


@pytest.mark.slow
def test_the_dashboard_is_there_while_the_crawl_runs_and_ends_with_it(tmp_path: Path):
    with served_web(WEB, stall=1.0) as proxy:
        process = crawl(tmp_path / "wind", proxy, "--pages", "100000", "--delay", "3")
        try:
            url, port = address(process)
            with urllib.request.urlopen(url, timeout=PATIENCE) as reply:
                assert b"wind" in reply.read()
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 128 + signal.SIGINT
            wait_until_nobody_listens(port)
        finally:
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()


@pytest.mark.slow
def test_a_crawl_that_is_killed_takes_its_dashboard_with_it(tmp_path: Path):
    with served_web(WEB, stall=1.0) as proxy:
        process = crawl(tmp_path / "wind", proxy, "--pages", "100000", "--delay", "3")
        try:
            _, port = address(process)
            os.kill(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)
            wait_until_nobody_listens(port)
        finally:
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()


def test_a_crawl_without_a_directory_has_no_dashboard(capsys: pytest.CaptureFixture[str]):
    code = main(["crawl", *WEB.seeds(), "-m", "wind", "-d", "memory:", "--dash"])
    assert code == 2
    assert "--dash" in capsys.readouterr().err
