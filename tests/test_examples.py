"""The examples run as their first lines say, offline: in replay or over loopback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clew.testing import DemoWeb, serving

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(*words: object, cwd: Path, **environ: str) -> str:
    """Run Python with these arguments as a user would; gives what it printed."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env={**mine, **environ},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The crawl that examples/clew.toml describes, its proxy moved to a free port."""
    directory = tmp_path_factory.mktemp("examples") / "farms"
    with serving(DemoWeb()) as proxy:
        run("-m", "clew.cli", "crawl", "-d", directory, cwd=EXAMPLES, CLEW_PROXY=proxy)
    return directory


def test_a_callable_predicate_finds_pages_and_explains_one(tmp_path):
    out = run(EXAMPLES / "library.py", cwd=tmp_path)
    assert "Finished(reason='pages', pages=300" in out
    assert "about_wind" in out.rpartition("verdict")[2]


def test_a_function_named_in_a_formula_judges_pages_fetched_over_http(tmp_path):
    out = run(EXAMPLES / "reading_time.py", cwd=tmp_path)
    assert "py:reading_time:unhurried" in out
    assert "Finished(reason='pages', pages=120" in out


def test_the_settings_file_crawls_the_demo_web_and_the_directory_can_be_read(crawled, tmp_path):
    out = run(EXAMPLES / "read_crawl.py", crawled, cwd=tmp_path)
    pages, finds = map(int, re.findall(r"(\d+) pages, (\d+) finds", out)[0])
    # what was under way when a budget was used up still counts
    assert 0 < finds < 60 + 16
    assert finds < pages <= 150
    assert re.search(r"finds in +\d+ pages of", out)


def test_the_reader_says_how_it_is_used_when_it_is_not_told_what_to_read(tmp_path):
    done = subprocess.run([sys.executable, EXAMPLES / "read_crawl.py"], capture_output=True, cwd=tmp_path)
    assert done.returncode == 1
    assert b"read_crawl.py DIR" in done.stderr


def test_every_example_is_run_here():
    tested = Path(__file__).read_text("utf-8")
    assert [path.name for path in EXAMPLES.iterdir() if path.is_file() and path.name not in tested] == []
