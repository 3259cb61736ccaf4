"""How a setting is declared, beside its type: `Setting` in the annotation of a field of `CrawlConfig`.

The text of a setting is the docstring of its field. Its first paragraph is all that `--help`, docs/cli.md and
`clew init` say; docs/configuration.md says the rest, too. Both are Markdown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import get_args, get_origin

from pydantic.fields import FieldInfo

from clew.units import duration_text, size_text

_LINK = re.compile(r"; see \[[^]]*\]\([^)]*\)|[`*]{2}|`")


@dataclass(frozen=True, slots=True)
class SettingGroup:
    """Settings that are shown together, under a title."""

    title: str


FIND = SettingGroup("What to find")
STOP = SettingGroup("When to stop")
LOOK = SettingGroup("Where to look")
ASK = SettingGroup("How to ask")
MACHINE = SettingGroup("This machine")
GROUPS = (FIND, STOP, LOOK, ASK, MACHINE)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a field of `CrawlConfig` is to its user, beyond its type.

    Parameters:
        group: where it is shown.
        value: what stands for its value in a command line, such as `N`; nothing for a switch.
        fixed: whether it makes a crawl what it is, so that another value needs another directory.
        example: what `clew init` shows where the default is nothing.
        shown: the default in words, where the value itself says too little.
        short: a short name of the option.
        former: the key it had in earlier versions, which is still taken but not shown.
        repeats: whether the option can be repeated though it is one value.
    """

    group: SettingGroup
    value: str = ""
    fixed: bool = False
    example: object = None
    shown: str | None = None
    short: str = ""
    former: str = ""
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """A field of `CrawlConfig`, read: what everything that shows or reads settings is made from."""

    key: str
    field: FieldInfo
    setting: Setting

    @property
    def dashed(self) -> str:
        """The key as it stands in `clew.toml` and, after `--`, on the command line."""
        return self.key.replace("_", "-")

    @property
    def is_list(self) -> bool:
        return get_origin(self.field.annotation) is tuple

    @property
    def is_switch(self) -> bool:
        return self.field.annotation is bool

    @property
    def is_path(self) -> bool:
        return Path in get_args(self.field.annotation)

    @property
    def has_unit(self) -> bool:
        """Whether people write its value with a unit."""
        return self.setting.value in ("DURATION", "SIZE")

    @property
    def help(self) -> str:
        """The first paragraph of its text, as Markdown, without a full stop."""
        return self._paragraphs[0]

    @property
    def plain_help(self) -> str:
        """`help` for a terminal, with the default."""
        default = f" ({self.default})" if self.default and not self.field.is_required() else ""
        return f"{_LINK.sub('', self.help)}{default}."

    @property
    def reference(self) -> str:
        """The whole text, as Markdown."""
        return " ".join(f"{paragraph.removesuffix('.')}." for paragraph in self._paragraphs)

    @property
    def default(self) -> str:
        """The default in words."""
        if self.setting.shown is not None:
            return self.setting.shown
        return "" if self.field.is_required() else self.text(self.field.get_default())

    def text(self, value: object) -> str:
        """A value as one writes it on the command line."""
        if value is None:
            return "none"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple | dict):
            return ",".join(value)
        if self.setting.value == "DURATION" and isinstance(value, float):
            return duration_text(value)
        if self.setting.value == "SIZE" and isinstance(value, int):
            return size_text(value).replace(".0", "").replace(" ", "")
        return str(value)

    @property
    def _paragraphs(self) -> list[str]:
        text = self.field.description or self.dashed
        return [" ".join(part.split()).removesuffix(".") for part in text.split("\n\n")]
