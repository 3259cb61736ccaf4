"""`clew search`: full-text search over a crawl's pages."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from clew.cli.console import ProgressNotice, clean, put, put_json, say
from clew.cli.directories import Directory, Json, reading
from clew.cli.exits import DONE, NO_MATCH


def search(
    directory: Directory,
    query: Annotated[str, Parameter(metavar="QUERY", allow_leading_hyphen=True, help="Words to look for.")],
    /,
    *,
    limit: Annotated[int, Parameter(name=("--limit", "-n"), metavar="N", help="At most so many.")] = 10,
    matched: Annotated[bool, Parameter(negative=(), help="Among the finds alone.")] = False,
    json: Json = False,
) -> int:
    """Search the text of a crawl's pages, best first."""
    notice = ProgressNotice("indexing what was fetched")
    with reading(directory) as reader:
        found = reader.search(query, limit=limit, matched=matched, progress=notice.tell)
    for hit in found:
        if json:
            put_json(asdict(hit))
            continue
        names = f"  [{', '.join(map(clean, hit.interests))}]" if hit.interests else ""
        put(f"{clean(hit.url)}  {clean(hit.title, 80)}{names}")
        put(f"    {clean(hit.snippet, 200)}")
    if not found:
        say("nothing found: all words must occur on one page; turbin* finds every word that begins so")
    return DONE if found else NO_MATCH
