"""What a user installs and a newcomer types: dependencies, the version, the Makefile's rules."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import time
from functools import cache
from importlib.metadata import packages_distributions, requires, version
from pathlib import Path

import pytest

import clew

HOME = Path(__file__).parents[1]
HOUSE = Path(clew.__file__).parent
#: Only stubs import it, which nobody runs.
STUBS = {"typing_extensions"}


def plain(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required(extras: bool) -> list[str]:
    return [one for one in requires("clew") or () if extras or "extra ==" not in one]


@cache
def imported() -> set[str]:
    """Top-level names of what is imported anywhere in clew, the standard library's and its own left out."""
    found = set()
    for path in HOUSE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"clew"} - STUBS


def test_every_package_that_is_imported_is_asked_for():
    declared = {plain(re.match(r"[\w.-]+", one)[0]) for one in required(extras=True)}
    homes = packages_distributions()
    undeclared = {
        name for name in imported() if not {plain(home) for home in homes.get(name, [name])} & declared
    }
    assert undeclared == set()


def test_the_search_for_imports_finds_some():
    """Guards the test above."""
    assert {"numpy", "yarl", "Stemmer", "markupsafe"} <= imported()


def test_a_library_pins_nothing():
    assert [one for one in required(extras=False) if re.search(r"={2,3}", one.partition(";")[0])] == []


def test_the_version_is_written_once_and_told_alike():
    """pyproject.toml reads it from the package; what cannot read it is held to it here."""
    assert version("clew") == clew.__version__
    assert f"\nversion: {clew.__version__}\n" in (HOME / "CITATION.cff").read_text("utf-8")
    assert f"\n## {clew.__version__}\n" in (HOME / "CHANGELOG.md").read_text("utf-8")
    assert not re.search(r'^version *= *"', (HOME / "pyproject.toml").read_text("utf-8"), re.M)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The Makefile beside files and environments that look as if all was made a moment ago."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    shutil.copy(HOME / "Makefile", tmp_path)
    sources = ["src/clew/a.py", "src/clew/native/one.c", "src/clew/native/two.c", "src/clew/native/shared.h"]
    for name in ["pyproject.toml", "setup.py", "constraints.txt", "README.md", "LICENSE", *sources]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - 100,) * 2)
    for env, stamps in (
        (".venv", (".run", ".ready")),
        (".venv-test", (".tools", ".sources", ".wheel", ".ready")),
    ):
        (tmp_path / env / "bin").mkdir(parents=True)
        (tmp_path / env / "bin" / "python").symlink_to(sys.executable)
        (tmp_path / env / "pyvenv.cfg").touch()
        for age, stamp in enumerate(stamps):
            (tmp_path / env / stamp).touch()
            os.utime(tmp_path / env / stamp, (time.time() - 50 + age,) * 2)
    listed = sorted(sources)
    (tmp_path / ".venv-test" / ".sources").write_text("".join(f"{name}\n" for name in listed))
    os.utime(tmp_path / ".venv-test" / ".sources", (time.time() - 49,) * 2)
    return tmp_path


def would(checkout: Path, *words: str) -> str:
    """What make would run; nothing is run. (A list that is asked for each time is brought up to date.)"""
    line = ["make", "-n", "--no-print-directory", "CHROMIUM=", *words]
    mine = {
        name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "PYTHON"
    }
    done = subprocess.run(line, cwd=checkout, env=mine, capture_output=True, text=True, check=True)
    return done.stdout


def test_what_is_up_to_date_is_left_alone(checkout):
    assert "pip" not in would(checkout, "venv")
    assert "pip" not in would(checkout, "demo")


@pytest.mark.parametrize("name", ["one.c", "two.c", "shared.h"])
def test_a_change_of_any_c_source_is_built(checkout, name):
    (checkout / "src" / "clew" / "native" / name).touch()
    assert "pip install" in would(checkout, "venv")
    assert "pip install" in would(checkout, "demo")
    assert "pip wheel" in would(checkout, "wheel")


def test_another_python_makes_the_environment_anew(checkout):
    """The one there stays where it is the one asked for, or where none is."""
    assert "venv --clear" not in would(checkout, "venv", f"PYTHON={sys.executable}")
    other = checkout / "other-python"
    other.write_text("#!/bin/sh\necho 'cpython-399|3.99.0|/elsewhere'\n")
    other.chmod(0o755)
    again = would(checkout, "venv", f"PYTHON={other}")
    assert f"{other} -m venv --clear .venv" in again
    assert "pip install" in again
    assert f"{other} -m venv --clear .venv-test" in would(checkout, "wheel", f"PYTHON={other}")
    assert "venv --clear" not in would(checkout, "venv")


def test_playwright_is_installed_where_there_is_a_browser_and_once(checkout):
    """A browser that comes later brings it; the word on the command line stands in for the system's."""
    assert "[dev,browser]" in would(checkout, "venv", "CHROMIUM=/usr/bin/chromium")
    assert "[test,browser]" in would(checkout, "test", "CHROMIUM=/usr/bin/chromium")
    (checkout / ".venv" / ".browser").touch()
    assert "pip" not in would(checkout, "venv", "CHROMIUM=/usr/bin/chromium")


def test_running_asks_for_no_tools(checkout):
    (checkout / "pyproject.toml").touch()
    assert "[dev]" not in would(checkout, "demo")
    assert "[dev]" in would(checkout, "venv")
    assert "[test]" in would(checkout, "test")
