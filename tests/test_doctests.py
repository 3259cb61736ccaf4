"""Every example in a docstring gives what it says."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import clew

HOUSE = Path(clew.__file__).parent
MODULES = sorted(
    ".".join(("clew", *path.relative_to(HOUSE).with_suffix("").parts)).removesuffix(".__init__")
    for path in HOUSE.rglob("*.py")
    if "\n    >>> " in path.read_text("utf-8") or "\n>>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert result.attempted > 0
    assert result.failed == 0


def test_most_of_the_house_has_examples():
    """Guards the search above: a rule that found nothing would prove nothing."""
    assert len(MODULES) > 80
