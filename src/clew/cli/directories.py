"""Crawl directories as the verbs see them: open one to read, open one to crawl into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from clew.cli.exits import complain

if TYPE_CHECKING:
    from clew.store.base import Reader

Directory = Annotated[Path, Parameter(metavar="DIR", help="The directory of a crawl.")]
Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print JSON.")]


#: Damaged rows that are named.
_NAMED = 5


@contextmanager
def reading(directory: Path) -> Iterator[Reader]:
    """A crawl opened for reading; a crawl under way may be read too."""
    from clew.store import open_reader

    reader = open_reader(directory)
    try:
        yield reader
        tell_unreadable(reader)
    finally:
        reader.close()


def tell_unreadable(reader: Reader) -> None:
    """Say which rows were left out because they could not be read."""
    if left_out := reader.unreadable:
        shown = ", ".join(left_out[:_NAMED]) + (", …" if len(left_out) > _NAMED else "")
        complain(f"{len(left_out)} damaged rows could not be read and were left out: {shown}")
