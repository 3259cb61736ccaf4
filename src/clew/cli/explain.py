"""`clew explain`: why a URL was fetched, is waiting, or was left out."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from clew.cli.console import clean, put, put_json
from clew.cli.directories import Directory, Json, reading


def explain(
    directory: Directory,
    url: Annotated[str, Parameter(metavar="URL", help="A URL, as seen on a page or typed.")],
    /,
    *,
    full: Annotated[bool, Parameter(negative=(), help="Every reason, with figures.")] = False,
    json: Json = False,
) -> None:
    """Say why a URL was fetched, is waiting, or was left out."""
    from clew.run.explain import explain as explained

    with reading(directory) as reader:
        explanation = explained(reader, url)
    if json:
        put_json(explanation.as_dict())
        return
    for line in explanation.lines(full=full):
        indent = line[: len(line) - len(line.lstrip())]
        put(indent + clean(line))
    if explanation.factors is not None and not full:
        put("  --full gives every reason, with figures")
