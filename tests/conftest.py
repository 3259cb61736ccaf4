"""Where the recorded webs, the public suites and the browser are, and what happens where they are not."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import settings

from clew.errors import ConfigError
from clew.fetch.chromium import find_chromium

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
# `make test` looks at fewer examples of a law than `make test-all`: --hypothesis-profile=quick.
settings.register_profile("quick", deadline=None, max_examples=30)

HERE = Path(__file__).resolve().parent.parent


def _data(variable: str, default: str, name: str) -> Path:
    root = Path(os.environ.get(variable) or HERE.parent / "shared" / default)
    path = root / name
    if not path.exists():
        message = f"{path} is missing: set {variable} to the folder that has {name}"
        if os.environ.get("CLEW_REQUIRE_DATA"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def suite():
    """`suite("url/toascii.json")`: a file of the public suites, or the test is skipped with a message."""
    return lambda name: _data("CLEW_SUITES", "suites", name)


@pytest.fixture(scope="session")
def corpus():
    """`corpus("wikispeedia_pages.jsonl.zst")`: a recorded web, or the test is skipped with a message."""
    return lambda name: _data("CLEW_CORPORA", "corpora", name)


def _no_browser() -> str:
    """Why pages cannot be shown to a browser here; empty where they can."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed (pip install 'clew[browser]')"
    try:
        find_chromium()
    except ConfigError:
        return "Chromium is not installed (apt-get install chromium)"
    return ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser") and (missing := _no_browser()):
        if os.environ.get("CLEW_REQUIRE_BROWSER"):
            pytest.fail(missing)
        pytest.skip(missing)


def pytest_terminal_summary(terminalreporter, config) -> None:
    if config.args_source is config.ArgsSource.TESTPATHS and (missing := _no_browser()):
        terminalreporter.write_line(f"left out: the tests of --browser in a real browser: {missing}")
