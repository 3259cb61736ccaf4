"""Files made from the declaration of the settings: tables of the documentation, the library's typed settings.

`python tools/settings.py` writes them; a test fails when they are out of date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from clew.cli.option_row import CrawlOption
from clew.run.config import FORMER, SETTINGS
from clew.run.declare import GROUPS, Declared
from clew.units import seconds, size

_PART = re.compile(r"(<!-- settings: (.*?) -->\n).*?(<!-- /settings -->)", re.S)
_TYPED = '''\
"""`CrawlSettings`: the settings that `clew.crawl` takes, for editors and type checkers.

Made from `clew.run.config` by `python tools/settings.py`: change them there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict


class CrawlSettings(TypedDict, total=False):
    """Settings of a crawl, by name; each may be left out. docs/configuration.md says what they mean."""

'''

_TABLE = '''\
"""The options of `clew crawl`, as plain data: showing them takes none of what a crawl is made of.

Made from `clew.run.config` by `python tools/settings.py`: change them there.
"""

# ruff: noqa: E501
# fmt: off
from __future__ import annotations

from clew.cli.option_row import CrawlOption

OPTIONS = (
'''


def files(root: Path) -> Iterator[tuple[Path, str]]:
    """Each file that has a part made from the declaration, with the text it should have."""
    yield root / "src/clew/crawl_settings.py", typed()
    yield root / "src/clew/cli/crawl_options.py", option_table()
    fixed = [f"`{item.dashed}`" for item in SETTINGS.values() if item.setting.fixed]
    parts = {"fixed": f"{', '.join(fixed[:-1])} and {fixed[-1]}", "options": _options()}
    parts |= {
        group.title: _keys(item for item in SETTINGS.values() if item.setting.group is group)
        for group in GROUPS
    }
    for name in ("cli.md", "configuration.md"):
        path = root / "docs" / name
        yield path, _PART.sub(lambda part: f"{part[1]}{parts[part[2]]}\n{part[3]}", path.read_text("utf-8"))


def option_table() -> str:
    """The module with the options of `clew crawl`."""
    rows = [_option_row(item) for item in SETTINGS.values() if item.key != "seeds"]
    rows += [
        replace(_option_row(SETTINGS[key]), key=name, names=(f"--{name}",), shown=False)
        for name, key in FORMER.items()
    ]
    return _TABLE + "".join([f"    {row!r},\n" for row in rows]) + ")\n"


def _option_row(item: Declared) -> CrawlOption:
    setting = item.setting
    # `--types a,b` is one word; every other list is given item by item
    many = setting.repeats or (item.is_list and not setting.value.endswith(",…"))
    return CrawlOption(
        item.key,
        tuple(filter(None, (f"--{item.dashed}", setting.short))),
        "switch" if item.is_switch else "many" if many else "one",
        setting.value,
        setting.group.title,
        item.plain_help,
        True,
    )


def _options() -> str:
    rows = ["| option | meaning | default |", "|---|---|---|"]
    for item in SETTINGS.values():
        names = [f"--{item.dashed}", item.setting.short, f"--no-{item.dashed}" if item.is_switch else ""]
        shown = ", ".join(f"`{name}`" for name in names if name)
        if item.key != "seeds":
            rows.append(_row(f"{shown} {item.setting.value}".strip(), _lower(item.help), item.default))
    return "\n".join(rows)


def _keys(items: Iterator[Declared]) -> str:
    rows = [_row(f"`{item.dashed}`", _lower(item.reference), item.default) for item in items]
    return "\n".join(["| key | meaning | default |", "|---|---|---|", *rows])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def typed() -> str:
    """The module with the library's typed settings."""
    lines = [
        f"    {item.key}: {_type(item.field.annotation, item.field.metadata)}"
        for item in SETTINGS.values()
        if item.key not in ("seeds", "match", "fetcher")
    ]
    return _TYPED + "\n".join(lines) + "\n"


def _type(annotation: Any, metadata: Any = ()) -> str:
    """What a caller may give: a duration may be text, a path too, a list any sequence."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _type(annotation.__origin__, annotation.__metadata__)
    if origin in (Union, UnionType):
        return " | ".join(_type(part) for part in get_args(annotation))
    if origin is Literal:
        return f"Literal[{', '.join(repr(word) for word in get_args(annotation))}]".replace("'", '"')
    if origin in (tuple, dict):
        return "Sequence[str]" if origin is tuple else "Mapping[str, float]"
    if any(getattr(item, "func", None) in (seconds, size) for item in metadata) or annotation is Path:
        return f"{annotation.__name__} | str"
    return "None" if annotation is type(None) else str(annotation.__name__)


if __name__ == "__main__":
    for place, wanted in files(Path(__file__).parents[1]):
        place.write_text(wanted, "utf-8")
        print(place)
