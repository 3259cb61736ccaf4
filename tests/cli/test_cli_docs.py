"""docs/cli.md and docs/configuration.md say what the code does, no more and no less."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

from clew.cli.app import build
from clew.cli.options import CrawlOptions
from clew.run.config import CrawlConfig
from clew.run.settings import FIXED, load_config

DOCS = Path(__file__).parents[2] / "docs"


def verbs(app: App, words: tuple[str, ...] = ("clew",)) -> Iterator[tuple[str, App]]:
    """Every verb there is, with its name as typed."""
    below = [name for name in app.resolved_commands() if not name.startswith("-")]
    for name in below:
        yield from verbs(app[name], (*words, name))
    if not below:
        yield " ".join(words), app


VERBS = dict(verbs(build()))


def options(app: App) -> set[str]:
    """The options a verb takes."""
    names = {name for argument in app.assemble_argument_collection() for name in argument.names}
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


def test_the_options_of_crawl_are_the_settings():
    names = {field.name for field in dataclasses.fields(CrawlOptions)}
    assert names | {"seeds"} == set(CrawlConfig.model_fields)


def test_every_setting_is_in_the_configuration_reference():
    text = (DOCS / "configuration.md").read_text("utf-8")
    keys = set(re.findall(r"^\| `([a-z-]+)` \|", text, re.M))
    assert keys == {name.replace("_", "-") for name in CrawlConfig.model_fields}


def test_the_reference_lists_what_cannot_change_on_resume():
    text = (DOCS / "configuration.md").read_text("utf-8")
    paragraph = text.partition("makes the crawl what it is, that is")[2].partition("is an error")[0]
    assert set(re.findall(r"`([a-z]+)`", paragraph)) == set(FIXED)


def test_the_example_file_loads(tmp_path: Path):
    text = (DOCS / "configuration.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    (tmp_path / "clew.toml").write_text(example)
    config = load_config({}, cwd=tmp_path, environ={}).config
    assert config.pages == 5000
    assert config.cache == tmp_path / "cache"


def test_defaults_in_the_reference_are_the_defaults():
    text = (DOCS / "configuration.md").read_text("utf-8")
    said = dict(re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \|", text, re.M))
    for key in ("threshold", "pages", "concurrency", "seed", "strategy", "scope", "semantics"):
        assert said[key].strip() == str(CrawlConfig.model_fields[key].get_default())
