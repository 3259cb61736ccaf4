"""Crawls of every format ever written, kept as they were written.

Each command reads them, and resuming brings them up to date. When a format is left behind, its directory
comes here: four pages of a small web, two of them finds, written by the last code of that format.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew.cli.app import run
from clew.store import schema

SEED = "http://127.0.0.1:18765/"
KEPT = sorted((Path(__file__).parents[1] / "data").glob("crawl-format-*.tar.gz"))


@pytest.fixture(params=KEPT, ids=lambda path: path.name.partition(".")[0])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A crawl directory as an older clew left it."""
    shutil.unpack_archive(request.param, tmp_path)
    return tmp_path / "crawl"


def version(directory: Path) -> int:
    with closing(sqlite3.connect(directory / "clew.db")) as db:
        (found,) = db.execute("PRAGMA user_version").fetchone()
        return int(found)


def test_the_directories_are_of_formats_older_than_this_one() -> None:
    assert [path.name for path in KEPT] == [f"crawl-format-{n}.tar.gz" for n in (1, 2, 3)]
    assert len(schema.MIGRATIONS) > 3


@pytest.mark.parametrize(
    "line",
    [
        ["status", "DIR"],
        ["doctor", "DIR"],
        ["export", "DIR", "--matched"],
        ["explain", "DIR", SEED],
        ["trace", "DIR"],
        ["report", "DIR"],
        ["search", "DIR", "turbine"],
    ],
    ids=lambda line: line[0],
)
def test_every_command_reads_an_older_crawl_and_leaves_it_as_it_is(older, line, capsys):
    before = (older / "clew.db").read_bytes()
    code = run([str(older) if word == "DIR" else word for word in line])
    told = capsys.readouterr()
    assert code == 0, told.err
    if line[0] == "export":
        assert len([json.loads(row) for row in told.out.splitlines()]) == 2
    assert (older / "clew.db").read_bytes() == before


def test_an_older_crawl_is_resumed_and_brought_up_to_date(older, capsys):
    """Its web is gone, so that nothing new is found; what was found is kept."""
    code = run(["crawl", "-d", str(older), "--pages", "6", "--requests", "8", "--time", "1s"])
    assert code == 0, capsys.readouterr().err
    assert version(older) == len(schema.MIGRATIONS)
    assert run(["export", str(older), "--matched"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
