"""`clew init`: a commented clew.toml."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from clew.cli.console import put, put_json
from clew.cli.directories import Json
from clew.errors import UsageError
from clew.run.config import SETTINGS
from clew.run.declare import GROUPS, Declared

_HEAD = """\
# Settings for clew, read by `clew crawl` in this directory and those below it.
# The command line and CLEW_* variables come first. Uncomment what you need; "none" lifts a limit.
"""


def template() -> str:
    """A `clew.toml` with every setting in it, commented out."""
    parts = [_HEAD]
    for group in GROUPS:
        parts.append(f"\n### {group.title}\n")
        parts += [_entry(item) for item in SETTINGS.values() if item.setting.group is group]
    return "\n".join(parts)


def _entry(item: Declared) -> str:
    example = item.setting.example
    default = None if item.field.is_required() else item.field.get_default()
    return f"# {item.plain_help}\n#{item.dashed} = {_toml(item, default if example is None else example)}\n"


def _toml(item: Declared, value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {number}" for name, number in value.items()) + " }"
    if isinstance(value, tuple | bool) or (isinstance(value, int | float) and not item.has_unit):
        return dumps(value)
    text = item.text(value)
    return f"'{text}'" if '"' in text else f'"{text}"'


def init(
    *,
    force: Annotated[bool, Parameter(negative=(), help="Replace a clew.toml that is there.")] = False,
    json: Json = False,
) -> None:
    """Write a commented clew.toml in this directory; prints where it is."""
    path = Path.cwd() / "clew.toml"
    if path.exists() and not force:
        raise UsageError(f"{path} is there already: edit it, or replace it with --force")
    path.write_text(template(), encoding="utf-8")
    if json:
        put_json({"file": str(path)})
    else:
        put(str(path))
