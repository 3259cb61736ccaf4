"""Crawls as the verbs see them: a place that is opened to read, and what could not be read there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from clew.cli.console import clean
from clew.cli.exits import complain

if TYPE_CHECKING:
    from clew.store.base import Reader

Directory = Annotated[str, Parameter(metavar="DIR", help="The directory of a crawl.")]
Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print JSON.")]


#: Damaged parts that are named.
_NAMED = 5


@contextmanager
def reading(place: Path | str) -> Iterator[Reader]:
    """A crawl opened for reading; a crawl under way may be read too."""
    from clew.store import open_reader

    with open_reader(place) as reader:
        yield reader
        tell_unreadable(reader, place)


def tell_unreadable(reader: Reader, place: Path | str) -> None:
    """Say what was left out because it could not be read."""
    if left_out := reader.unreadable:
        shown = ", ".join(clean(name, 200) for name in left_out[:_NAMED])
        more = ", …" if len(left_out) > _NAMED else ""
        complain(
            f"{len(left_out)} damaged parts could not be read and were left out: {shown}{more}; "
            f"clew doctor {clean(str(place))} says what is lost"
        )
