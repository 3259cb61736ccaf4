"""What may be imported from clew and its packages is what their `__all__` says."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

import clew

PACKAGES = ["clew"] + [m.name for m in pkgutil.walk_packages(clew.__path__, "clew.") if m.ispkg]


def test_the_front_door_has_these_names_and_no_others():
    """Whoever adds or takes away a public name changes this list, and CHANGELOG.md."""
    assert set(clew.__all__) == {
        "ClewError",
        "CrawlSettings",
        "Find",
        "Link",
        "Links",
        "Page",
        "Predicate",
        "Run",
        "Verdict",
        "__version__",
        "crawl",
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_imported(package):
    module = importlib.import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_says_what_moves_through_it(package):
    said = importlib.import_module(package).__doc__ or ""
    assert len(said.strip().splitlines()) >= 3


def test_importing_clew_loads_none_of_its_parts():
    code = "import sys, clew; sys.exit(any(name.startswith('clew.') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
