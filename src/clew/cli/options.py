"""The settings of a crawl as options of the command line, made from their declaration.

Values stay text here: `clew.run.config` converts and checks them, whichever way they came. An option that is
None was not given.
"""

from __future__ import annotations

from dataclasses import fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from clew.run.config import FORMER, SETTINGS
from clew.run.declare import GROUPS, STOP, Declared

_SHOWN = {
    group: Group(group.title, help="'none' lifts a limit." if group is STOP else "", sort_key=place)
    for place, group in enumerate(GROUPS, 1)
}


def _option(declared: Declared, *, former: bool = False) -> Any:
    setting = declared.setting
    # `--types a,b` is one word; every other list is given item by item
    many = declared.is_list and not setting.value.endswith(",…")
    kind = bool | None if declared.is_switch else tuple[str, ...] | None if many else str | None
    return Annotated[
        kind,
        Parameter(
            name=f"--{setting.former}"
            if former
            else (f"--{declared.dashed}", *filter(None, [setting.short])),
            show=not former,
            metavar=setting.value or None,
            group=_SHOWN[setting.group],
            help=declared.plain_help,
            allow_leading_hyphen=declared.key == "match",
            negative=None if declared.is_switch else (),
        ),
    ]


class _Given:
    """Every setting but the seeds, as given; one that was renamed may stand under its former name."""

    __slots__ = ()

    def given(self) -> dict[str, object]:
        """The settings that were given."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in values.items() if value is not None}


if TYPE_CHECKING:
    CrawlOptions = _Given
else:
    CrawlOptions = Parameter(name="*")(
        make_dataclass(
            "CrawlOptions",
            [(key, _option(item), None) for key, item in SETTINGS.items() if key != "seeds"]
            + [(name, _option(SETTINGS[key], former=True), None) for name, key in FORMER.items()],
            bases=(_Given,),
            namespace={"__module__": __name__},
            frozen=True,
        )
    )
