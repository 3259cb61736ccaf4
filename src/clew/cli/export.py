"""`clew export`: the pages of a crawl, streamed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from clew.cli.console import say
from clew.cli.directories import Directory, reading
from clew.cli.exits import DONE, FAILURE
from clew.errors import UsageError

FORMATS = ("jsonl", "csv", "warc", "parquet")
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".warc": "warc", ".parquet": "parquet"}
_BINARY = frozenset({"warc", "parquet"})


def export(
    directory: Directory,
    /,
    *,
    format: Annotated[  # noqa: A002 - the option's name
        str | None,
        Parameter(
            name=("--format", "-f"),
            metavar="NAME",
            help="jsonl, csv, warc or parquet (what the file's name says, or jsonl).",
        ),
    ] = None,
    output: Annotated[
        Path | None, Parameter(name=("--output", "-o"), metavar="FILE", help="Where to write (stdout).")
    ] = None,
    matched: Annotated[bool, Parameter(negative=(), help="The finds alone.")] = False,
    interest: Annotated[
        str,
        Parameter(
            name="--for", metavar="NAME", help="The finds of one of the crawl's several interests alone."
        ),
    ] = "",
    raw: Annotated[
        bool,
        Parameter(negative=(), help="CSV cells as they are, though a spreadsheet may run them as formulas."),
    ] = False,
) -> int:
    """Write the pages of a crawl as jsonl, csv, warc or parquet."""
    from clew.run.checks import nearest
    from clew.store import export as write

    if format is not None and format not in FORMATS:
        raise UsageError(
            f"there is no format {format!r}: choose {', '.join(FORMATS)}{nearest(format, FORMATS)}"
        )
    named = _format_of(output)
    if format and named and format != named:
        raise UsageError(
            f"{output} is the name of a {named} file, and --format says {format}: leave one of them out"
        )
    format = format or named or "jsonl"  # noqa: A001 - the option's name
    if output is not None:
        with reading(directory) as reader:
            count = write(reader, output, format=format, matched=matched, interest=interest, raw=raw)
            whole = not reader.unreadable
        say(f"{count} pages in {output}")
        return DONE if whole else FAILURE
    if format in _BINARY and sys.stdout.isatty():
        raise UsageError(f"{format} is not for a terminal: give --output FILE, or redirect the output")
    sys.stdout.flush()
    with reading(directory) as reader:
        write(reader, sys.stdout.buffer, format=format, matched=matched, interest=interest, raw=raw)
        return FAILURE if reader.unreadable else DONE


def _format_of(output: Path | None) -> str | None:
    """The format that a file's name says it has; None if it says none."""
    suffixes = [] if output is None else [suffix.lower() for suffix in output.suffixes[-2:]]
    return next((name for suffix, name in _SUFFIXES.items() if suffix in suffixes), None)
