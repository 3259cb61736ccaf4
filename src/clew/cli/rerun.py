"""The command that does a crawl again: every setting that differs from its default, secrets left out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.run.config import CrawlConfig


def rerun_command(config: CrawlConfig, directory: Path | str) -> str:
    """A command line to type, whichever way the settings came.

    >>> from clew.run.config import CrawlConfig
    >>> config = CrawlConfig(seeds=("https://a.example/",), match='"wind farm"', pages=None, depth=3)
    >>> rerun_command(config, Path("farms"))
    'clew crawl https://a.example/ --match \\'"wind farm"\\' --pages none --depth 3 --directory farms'
    """
    from clew.predicate.interests import formulas

    # by way of `to_json`, so that a redacted secret stays redacted
    shown = type(config).from_json(config.to_json())
    words = ["clew", "crawl", *shown.seeds]
    for name, text in formulas(shown.match).items():
        words += ["--match", f"{name}={text}" if name else text]
    for name, field in type(config).model_fields.items():
        value = getattr(shown, name)
        if name in ("seeds", "match") or value == field.get_default():
            continue
        words += _option(name.replace("_", "-"), value)
    return shlex.join([*words, "--directory", str(directory)])


def _option(name: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    if isinstance(value, dict):
        return [f"--{name}", ",".join(f"{key}={number:g}" for key, number in value.items())]
    if name == "types" and isinstance(value, tuple):
        return ["--types", ",".join(value)]
    if isinstance(value, tuple):
        return [word for item in value for word in (f"--{name}", str(item))]
    return [
        f"--{name}",
        "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value),
    ]
