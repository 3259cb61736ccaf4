"""`clew trace`: the decisions of a crawl."""

from __future__ import annotations

from dataclasses import asdict

from clew.cli.console import put, put_json
from clew.cli.directories import Directory, Json, reading


def trace(directory: Directory, /, *, json: Json = False) -> None:
    """Print every decision of a crawl, one a line, in order."""
    with reading(directory) as reader:
        for decision in reader.decisions():
            if json:
                put_json(asdict(decision))
            else:
                put(decision.line())
