"""Where the recorded webs and the public suites are, and what happens where they are not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

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
