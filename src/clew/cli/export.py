"""`clew export`: the pages of a crawl, streamed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from clew.cli.console import say
from clew.cli.places import Directory
from clew.errors import UsageError

FORMATS = ("jsonl", "csv", "warc", "parquet")
_BINARY = frozenset({"warc", "parquet"})


def export(
    directory: Directory,
    /,
    *,
    format: Annotated[  # noqa: A002 - the option's name
        str, Parameter(name=("--format", "-f"), metavar="NAME", help="jsonl, csv, warc or parquet.")
    ] = "jsonl",
    output: Annotated[
        Path | None, Parameter(name=("--output", "-o"), metavar="FILE", help="Where to write (stdout).")
    ] = None,
    matched: Annotated[bool, Parameter(negative=(), help="The finds alone.")] = False,
) -> None:
    """Write the pages of a crawl as jsonl, csv, warc or parquet."""
    from clew.run.checks import nearest
    from clew.store import export as write

    if format not in FORMATS:
        raise UsageError(
            f"there is no format {format!r}: choose {', '.join(FORMATS)}{nearest(format, FORMATS)}"
        )
    if output is not None:
        count = write(directory, output, format=format, matched=matched)
        say(f"{count} pages in {output}")
        return
    if format in _BINARY and sys.stdout.isatty():
        raise UsageError(f"{format} is not for a terminal: give --output FILE, or redirect the output")
    sys.stdout.flush()
    write(directory, sys.stdout.buffer, format=format, matched=matched)
