"""A verb loads what it needs and no more: help is there at once."""

import subprocess
import sys

import pytest

HEAVY = {"numpy", "pydantic", "lark", "aiohttp", "clew.engine", "clew.strategy", "clew.run.config"}
LOADED = "import sys; from clew.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"


@pytest.mark.parametrize("verb", [[], ["crawl"], ["status"], ["export"], ["lab"], ["knowledge"]])
def test_help_loads_neither_numbers_nor_settings_nor_the_engine(verb):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *verb, "--help"], capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(done.stderr.split())
    assert "Usage" in done.stdout
