"""`clew report`: write a crawl's report anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from clew.cli.console import put, put_json
from clew.cli.directories import Directory, Json, reading
from clew.cli.rerun import rerun_command
from clew.errors import UsageError

Output = Annotated[
    Path | None, Parameter(name=("--output", "-o"), metavar="FILE", help="Where to write (DIR/report.html).")
]


def report(directory: Directory, /, *, output: Output = None, json: Json = False) -> None:
    """Write a crawl's report.html: one file with curve, finds, hosts and settings, that needs no network."""
    from clew.report import write_report
    from clew.run.settings import stored_config
    from clew.store import folder_of

    path = output
    if path is None:
        if (folder := folder_of(directory)) is None:
            raise UsageError(f"{directory} has no folder to write to: give --output FILE")
        path = folder / "report.html"
    with reading(directory) as reader:
        write_report(reader, path, command=rerun_command(stored_config(reader.meta()), directory))
    if json:
        put_json({"report": str(path)})
    else:
        put(str(path))
