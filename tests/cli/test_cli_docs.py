"""docs/cli.md and docs/configuration.md say what the code does, no more and no less."""

from __future__ import annotations

import inspect
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from clew.api import crawl
from clew.cli.app import build
from clew.run.config import SETTINGS
from clew.run.settings import load_config

DOCS = Path(__file__).parents[2] / "docs"
MADE = list(runpy.run_path(str(DOCS.parent / "tools" / "settings.py"))["files"](DOCS.parent))


def verbs(app: App, words: tuple[str, ...] = ("clew",)) -> Iterator[tuple[str, App]]:
    """Every verb there is, with its name as typed."""
    below = [name for name in app.resolved_commands() if not name.startswith("-")]
    for name in below:
        yield from verbs(app[name], (*words, name))
    if not below:
        yield " ".join(words), app


VERBS = dict(verbs(build()))


def options(app: App) -> set[str]:
    """The options a verb takes, but for former names."""
    shown = [argument for argument in app.assemble_argument_collection() if argument.show]
    names = {name for argument in shown for name in argument.names}
    return {name for name in names if name.startswith("-")}


def sections() -> dict[str, str]:
    """The parts of docs/cli.md, by verb."""
    text = (DOCS / "cli.md").read_text("utf-8")
    parts = re.split(r"^## `(clew [^`]+)`$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(section: str) -> set[str]:
    """The options in the first column of a section's table."""
    rows = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `-")]
    return {option for row in rows for option in re.findall(r"`(-[-a-z]+)`", row)}


def test_every_verb_is_documented_and_every_documented_one_exists():
    assert set(sections()) == set(VERBS)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_the_options_of_a_verb_are_those_of_its_section(verb):
    assert documented(sections()[verb]) == options(VERBS[verb])


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_option_and_argument_has_a_help_text(verb):
    for argument in VERBS[verb].assemble_argument_collection(parse_docstring=True):
        if argument.show:
            assert argument.parameter.help, argument.names


def test_reading_verbs_speak_json():
    for verb in (
        "status",
        "search",
        "explain",
        "check",
        "report",
        "trace",
        "doctor",
        "init",
        "demo",
        "crawl",
    ):
        assert "--json" in options(VERBS[f"clew {verb}"])


@pytest.mark.parametrize(("path", "wanted"), MADE, ids=[path.name for path, _ in MADE])
def test_what_is_made_from_the_declaration_of_the_settings_is_up_to_date(path: Path, wanted: str):
    assert path.read_text("utf-8") == wanted, "run: python tools/settings.py"


def test_every_setting_says_what_it_means_and_stands_in_both_references():
    shown = {name: (DOCS / name).read_text("utf-8") for name in ("cli.md", "configuration.md")}
    for item in SETTINGS.values():
        assert item.field.description, item.key
        assert f"| `{item.dashed}` |" in shown["configuration.md"]
        assert item.key == "seeds" or f"| `--{item.dashed}`" in shown["cli.md"]


@pytest.mark.slow
def test_editors_and_type_checkers_know_the_settings_of_the_library(tmp_path: Path):
    assert inspect.signature(crawl).parameters["settings"].annotation == "Unpack[CrawlSettings]"
    (tmp_path / "use.py").write_text(
        "from typing import Unpack\n"
        "from clew.crawl_settings import CrawlSettings\n"
        "def crawl(**settings: Unpack[CrawlSettings]) -> None: ...\n"
        "crawl(pages=5, time='2h', scope='host', own=['a.example'], cache=None)\n"
        "crawl(pagse=5)\n"
        "crawl(pages='many')\n"
        "crawl(scope='hosts')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path),
         "use.py"], cwd=tmp_path, env={**os.environ, "MYPYPATH": str(DOCS.parent / "src")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert [line.split(":")[1] for line in ran.stdout.splitlines() if ": error:" in line] == ["5", "6", "7"]


def test_the_example_file_loads(tmp_path: Path):
    text = (DOCS / "configuration.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    (tmp_path / "clew.toml").write_text(example)
    config = load_config({}, cwd=tmp_path, environ={}).config
    assert config.pages == 5000
    assert config.cache == tmp_path / "cache"
