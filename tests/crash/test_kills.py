"""SIGKILL at random moments and at chosen ones: nothing lost, nothing twice, every archive valid."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from crash_points import crawl, damage, strike

pytestmark = pytest.mark.slow


def test_kills_of_a_real_crawl_lose_nothing_and_repeat_no_more_than_was_in_flight(check):
    line = ("--pages", 150, "--kills", 4, "--learning", 0, "--concurrency", 8, "--latency", 0.1)
    (found,) = check("kills", *line)
    assert found["kills_while_running"] == 4
    assert found["exit_code"] == 0, found["errors"]
    assert (found["lost"], found["stored_twice"], found["archived_twice"]) == (0, 0, 0)
    assert found["archive_lacks"] == 0
    assert found["repeated_at_most"] <= 8
    assert found["orphans"] == 0
    assert found["integrity"] == "ok"
    assert found["warc"]["files"] >= 1
    assert found["warc"]["failed"] == 0


def test_kills_while_a_crawl_learns_again_lose_nothing(check):
    (found,) = check("kills", "--kills", 6, "--learning", 6, "--learning-pages", 120)
    assert found["kills_while_learning"] >= 1
    assert found["exit_code"] == 0, found["errors"]
    assert (found["lost"], found["stored_twice"], found["archived_twice"], found["archive_lacks"]) == (0,) * 4
    assert found["repeated_at_most"] <= 16


@pytest.mark.browser
def test_kills_of_a_crawl_with_a_browser_lose_nothing_and_leave_no_browser_behind(check):
    (found,) = check("browser_kills", "--pages", 10, "--kills", 2)
    assert found["kills_while_running"] == 2
    assert found["processes_at_most"] >= 3  # the crawl, what steers the browser, the browser
    assert found["orphans"] == 0
    assert found["exit_code"] == 0, found["errors"]
    assert (found["lost"], found["stored_twice"], found["archived_twice"], found["archive_lacks"]) == (0,) * 4


def test_crash_points_chosen_by_system_call(check):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed: checks/crash_points.py needs it to choose the moment")
    if subprocess.run(
        ["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False
    ).returncode:
        pytest.skip("strace may not trace here (no ptrace): run checks/crash_points.py where it may")
    found = check("crash_points", "--points", 10, "--pages", 12)
    assert found["killed"] == found["points"] == 10
    assert found["failures"] == []
    # as the database's mode is changed, when it is opened and when it is closed
    for group, number in (("rename,unlink,mkdir", 5), ("rename,unlink,mkdir", 8)):
        assert strike(group, number, 12)["wrong"] == []


CHILD = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import crash_points
from clew.store import schema

what, number = sys.argv[3], int(sys.argv[4])
left = [number]

def strike():
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def before(module, name):
    plain = getattr(module, name)
    def wrapped(*arguments):
        strike()
        return plain(*arguments)
    setattr(module, name, wrapped)

if what == "statement":
    connect = schema.connect_writer
    def watched(path):
        connection = connect(path)
        connection.set_trace_callback(lambda statement: strike())
        return connection
    schema.connect_writer = watched
else:
    before(os, what)
crash_points.crawl(Path(sys.argv[2]), 12)
"""


@pytest.mark.parametrize(
    ("what", "number"),
    [("write", 1), ("write", 4), ("fdatasync", 2), ("fsync", 3)] + [("statement", n) for n in (1, 9, 40, 90)],
)
def test_crash_points_chosen_within_the_process(tmp_path: Path, what: str, number: int):
    """The same where there is no strace: killed before a write, a sync, a statement of SQL."""
    directory = tmp_path / "crawl"
    place = Path(__file__).resolve().parents[2] / "checks"
    line = [sys.executable, "-c", CHILD, str(place), str(directory), what, str(number)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == -9, done.stderr
    crawl(directory, 12)
    assert damage(directory, 12) == []
