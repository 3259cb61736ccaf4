"""Knowledge at rest: plain JSON with a version and bounds, never a pickle.

A reader of another program can use it as it is; clew checks every number before it believes one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from clew.errors import StoreForeign
from clew.knowledge.counts import FORMER_TABLES, TABLES, Knowledge, LinkTypes
from clew.learn import codec
from clew.learn.counts import Frozen

FORMAT = "clew-knowledge"
VERSION = 1
#: Bounds on what is read; a file beyond them was not written by clew.
MAX_BYTES = 1 << 30


def dumps(knowledge: Knowledge) -> str:
    """Knowledge as JSON text: rows sorted, so equal knowledge gives equal text.

    >>> loads(dumps(Knowledge(pages=3, satisfied=1))) == Knowledge(pages=3, satisfied=1)
    True
    """
    return frozen(knowledge)()


def frozen(knowledge: Knowledge) -> Callable[[], str]:
    """What gives the text of knowledge as it is now, whenever it is called and in whatever thread.

    >>> knowledge = Knowledge(pages=3)
    >>> text = frozen(knowledge)
    >>> knowledge.pages = 4
    >>> loads(text()).pages
    3.0
    """
    links = knowledge.links
    plain = {
        "format": FORMAT,
        "version": VERSION,
        "pages": knowledge.pages,
        "satisfied": knowledge.satisfied,
        "links": [links.pp, links.pn, links.np, links.nn],
    }
    tables = {name: getattr(knowledge, name).frozen() for name in TABLES}
    return lambda: _text(plain, tables)


def loads(text: str, where: str = "the knowledge") -> Knowledge:
    """The opposite of `dumps`; anything else is refused, with the reason."""
    if len(text) > MAX_BYTES:
        raise StoreForeign(f"{where} is larger than {MAX_BYTES >> 20} MB: it was not written by clew")
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        raise StoreForeign(f"{where} is not JSON: it is damaged, or another program's file") from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise StoreForeign(
            f"{where} is not knowledge: give a crawl's directory, or a file of clew knowledge save"
        )
    version = plain.get("version")
    if not isinstance(version, int) or version < 1:
        raise StoreForeign(f"{where} has no version: it is damaged")
    if version > VERSION:
        raise StoreForeign(f"{where} was saved by a newer clew (format {version}): upgrade clew to read it")
    try:
        return _knowledge(plain)
    except (KeyError, TypeError, ValueError) as problem:
        raise StoreForeign(f"{where} is damaged: {problem}") from None


def _text(plain: dict[str, Any], tables: dict[str, Frozen]) -> str:
    """JSON, the tables last."""
    pieces = [codec.compact_json(plain)[:-1], ',"tables":{']
    for place, (name, table) in enumerate(tables.items()):
        pieces.append(f'{"," if place else ""}"{name}":[[')
        codec.written(table, pieces)
        pieces.append("]]")
    # Put together once: there are many megabytes of it.
    return "".join([*pieces, "}}"])


def _knowledge(plain: dict[str, Any]) -> Knowledge:
    pages, satisfied = codec.count(plain["pages"], "pages"), codec.count(plain["satisfied"], "satisfied")
    if satisfied > pages:
        raise ValueError("more pages satisfy than were crawled")
    links = [codec.count(n, "links") for n in plain["links"]]
    if len(links) != 4:
        raise ValueError("there are four kinds of links")
    tables = plain["tables"]
    if not isinstance(tables, dict):
        raise ValueError("the tables are missing")
    return Knowledge(
        pages,
        satisfied,
        LinkTypes(*links),
        *(codec.read(_columns_of(tables, name), name) for name in TABLES),
    )


def _columns_of(tables: dict[str, object], name: str) -> object:
    """A table as it was written, be it under a former name; an empty one where there is none."""
    written = next((known for known in (name, FORMER_TABLES.get(name)) if known in tables), None)
    return [[], [], []] if written is None else tables[written]
