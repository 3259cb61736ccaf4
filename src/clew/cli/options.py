"""The settings of a crawl as options of the command line.

Values stay text here: `clew.run.config` converts and checks them, whichever way they came. An option that is
None was not given.
"""

from __future__ import annotations

from dataclasses import fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from clew.cli.crawl_options import OPTIONS
from clew.cli.option_row import CrawlOption

#: The options that may be `none`.
_LIMITS = "When to stop"
_GROUPS = {
    title: Group(title, help="'none' lifts a limit." if title == _LIMITS else "", sort_key=place)
    for place, title in enumerate(dict.fromkeys([option.group for option in OPTIONS]), 1)
}
_KINDS: dict[str, Any] = {"switch": bool | None, "many": tuple[str, ...] | None, "one": str | None}


def _annotated(option: CrawlOption) -> Any:
    return Annotated[
        _KINDS[option.kind],
        Parameter(
            name=option.names,
            show=option.shown,
            metavar=option.value or None,
            group=_GROUPS[option.group],
            help=option.help,
            allow_leading_hyphen=option.key == "match",
            negative=None if option.kind == "switch" else (),
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
            [(option.key, _annotated(option), None) for option in OPTIONS],
            bases=(_Given,),
            namespace={"__module__": __name__},
            frozen=True,
        )
    )
