"""`checks/run.py` finds the checks, counts what they tried, and lets no failure pass."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).parents[1] / "checks" / "run.py"
CHECK = "import sys\ndef main(argv=None):\n    {}\nif __name__ == '__main__':\n    sys.exit(main())\n"


def ran(folder: Path, *words: str) -> tuple[int, dict[str, dict[str, object]]]:
    line = [sys.executable, str(RUNNER), "--folder", str(folder), "--json", *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.returncode, {one["name"]: one for one in json.loads(done.stdout or "[]")}


def write(folder: Path, **checks: str) -> None:
    for name, body in checks.items():
        (folder / f"{name}.py").write_text(CHECK.format(body))


def test_a_folder_of_checks_that_pass_gives_0_and_their_counts(tmp_path):
    write(tmp_path, one="print('one: 3 tried, 0 failed'); return 0")
    (tmp_path / "helper.py").write_text("SHARED = 1\n")
    code, found = ran(tmp_path)
    assert code == 0
    assert {name: (one["tried"], one["failed"]) for name, one in found.items()} == {"one": (3, 0)}


def test_each_way_to_fail_is_a_failure(tmp_path):
    """A failure that is told, a crash, a check that says nothing, and one that tried nothing."""
    write(
        tmp_path,
        broken="print('broken: 3 tried, 1 failed'); return 1",
        counted="print('counted: 3 tried, 1 failed'); return 0",
        crashed="raise SystemExit('no strace here')",
        idle="print('idle: 0 tried, 0 failed'); return 0",
        silent="return 0",
        sound="print('sound: 1 tried, 0 failed'); return 0",
    )
    code, found = ran(tmp_path)
    assert code == 1
    assert [name for name, one in found.items() if one["passed"]] == ["sound"]
    assert all(ran(tmp_path, "--only", name)[0] == (name != "sound") for name in found)


def test_every_check_is_read_by_python():
    """A check runs once in a while: what it imports may have moved since."""
    code = (
        "import runpy, sys; sys.path.insert(0, sys.argv[1])\n"
        "for path in sys.argv[2:]: assert callable(runpy.run_path(path)['main']), path"
    )
    scripts = [str(path) for path in sorted(RUNNER.parent.glob("*.py")) if "def main(" in path.read_text()]
    assert len(scripts) > 10
    line = [sys.executable, "-W", "ignore", "-c", code, str(RUNNER.parent), *scripts]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_words_after_two_dashes_go_to_the_check(tmp_path):
    write(tmp_path, echo="print(f'echo: {len(sys.argv) - 1} tried, 0 failed'); return 0")
    assert ran(tmp_path, "--", "--pages", "90")[1]["echo"]["tried"] == 2


def test_a_name_that_is_no_check_is_refused_with_those_there_are(tmp_path):
    write(tmp_path, one="return 0")
    line = [sys.executable, str(RUNNER), "--folder", str(tmp_path), "--only", "two"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "choose from one" in done.stderr


def test_the_acceptance_checks_are_found():
    sys.path.insert(0, str(RUNNER.parent))
    try:
        from run import checks
    finally:
        sys.path.pop(0)
    attacks = {"bombs", "chaos", "crash_points", "hostile_xml", "kills", "politeness", "ssrf"}
    assert attacks <= set(checks())
    assert not {"loopback", "verdict", "run"} & set(checks())
