"""What somebody who tries the dashboard for the first time may do wrong: a sentence says what to do."""

from __future__ import annotations

import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from served import WEB, key_of, serving

from clew.cli import main
from clew.dashboard import form
from clew.dashboard.folder import CrawlFolder
from clew.dashboard.launch import Launcher
from clew.errors import UsageError


@pytest.mark.parametrize("port", ["99999", "-5"])
def test_a_port_that_is_none_is_refused_with_what_is_one(tmp_path: Path, port: str, capsys):
    assert main(["dash", str(tmp_path), "--port", port]) == 2
    assert "from 1 to 65535, or 0 for a free one" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(tmp_path: Path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["dash", str(tmp_path), "--port", str(taken.getsockname()[1])]) == 2
    assert "choose another --port, or 0 for a free one" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["", "0", "0.0.0.0"])
def test_every_address_needs_a_name_however_it_is_written(tmp_path: Path, address: str, capsys):
    assert main(["dash", str(tmp_path), "--port", "0", f"--host={address}"]) == 2
    assert "--name NAME" in capsys.readouterr().err


def test_a_folder_that_is_none_is_told(tmp_path: Path, capsys):
    assert main(["dash", str(tmp_path / "nothing")]) == 2
    assert "give a crawl's directory, or a folder with crawls in it" in capsys.readouterr().err


def test_a_missing_package_is_told_with_what_to_type(tmp_path: Path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sse_starlette", None)
    assert main(["dash", str(tmp_path)]) == 2
    assert "sse_starlette: install it with `pip install 'clew[dash]'`" in capsys.readouterr().err


def test_an_empty_folder_offers_to_start_a_crawl_and_an_address_of_none_leads_back(tmp_path: Path):
    with serving(tmp_path) as served:
        assert b"There is no crawl here yet" in served.ask("/").body
        reply = served.ask("/crawl/gone", Accept="text/html")
        assert reply.status == 404
        assert b"there is no such crawl in the folder" in reply.body
        assert b'href="/"' in reply.body
        assert served.ask("/nothing", Accept="text/html").status == 404
        assert served.ask("/crawl/gone").json() == {"error": "there is no such crawl in the folder"}


def test_a_crawl_that_cannot_be_read_does_not_keep_others_from_being_compared(tmp_path: Path, crawls: Path):
    shutil.copytree(crawls / "wind", tmp_path / "wind")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "clew.db").write_bytes(b"no database")
    with serving(tmp_path) as served:
        rows = served.ask(f"/api/compare?c={key_of('broken')}&c={key_of('wind')}").json()
    assert "not an SQLite database" in rows[0]["status"]
    assert (rows[0]["pages"], rows[1]["pages"]) == (0, 120)


def test_a_crawl_whose_settings_cannot_be_read_is_shown_with_the_reason(tmp_path: Path, crawls: Path):
    shutil.copytree(crawls / "wind", tmp_path / "wind")
    with sqlite3.connect(tmp_path / "wind" / "clew.db") as database:
        database.execute("UPDATE meta SET value = '{\"match\": 5}' WHERE key = 'config'")
    with serving(tmp_path) as served:
        told = served.events(key_of("wind"), {"trouble", "state"})
    assert "settings in the crawl directory cannot be read" in told["trouble"]["text"]
    assert told["state"]["finds"] > 0


GIVEN = {"seeds": list(WEB.seeds()), "match": "wind", "pages": "5"}


def test_a_crawl_that_could_not_be_started_can_be_started_again_under_its_name(tmp_path: Path):
    folder = CrawlFolder(tmp_path)
    place = form.write(GIVEN, folder, "wind")
    (place / "clew.err").write_text("clew: no connection\n")
    assert form.write({**GIVEN, "match": "turbine"}, folder, "wind") == place
    assert 'match = "turbine"' in (place / "clew.toml").read_text("utf-8")


@pytest.mark.parametrize("other", ["clew.db", "notes.txt", "clew.toml"])
def test_whatever_else_lies_there_is_left_alone(tmp_path: Path, other: str):
    folder = CrawlFolder(tmp_path)
    place = form.write(GIVEN, folder, "wind")
    (place / other).write_text("mine")
    with pytest.raises(UsageError, match="choose another name"):
        form.write(GIVEN, folder, "wind")
    assert (place / other).read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be written"):
        form.write(GIVEN, CrawlFolder(tmp_path / "gone"), "wind")


def ended(launcher: Launcher, place: Path, code: str) -> str:
    """What is told of a crawl whose process was this code."""
    with (place / "clew.err").open("wb") as said:
        process = subprocess.Popen([sys.executable, "-c", code], stderr=said)
    launcher._started[place] = process
    process.wait()
    return launcher.failure(place)


def test_what_a_crawl_said_when_it_failed_is_told_and_not_how_far_it_was(tmp_path: Path):
    said = "import sys; sys.stderr.write('from 0 of 5 pages\\nclew: no room left\\n  at all\\n'); sys.exit(1)"
    assert ended(Launcher(), tmp_path, said) == "no room left\n  at all"
    assert "exit code 7" in ended(Launcher(), tmp_path, "raise SystemExit(7)")


def test_a_crawl_that_was_killed_is_told_to_have_been(tmp_path: Path):
    said = (
        f"import os, sys; sys.stderr.write('10s 200 pages\\n'); os.kill(os.getpid(), {int(signal.SIGKILL)})"
    )
    told = ended(Launcher(), tmp_path, said)
    assert "ended from outside (signal 9)" in told
    assert "200 pages" not in told
