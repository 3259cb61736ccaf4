"""Knowledge at rest: plain JSON with a version and bounds, never a pickle.

A reader of another program can use it as it is; clew checks every number before it believes one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from clew.errors import StoreForeign
from clew.knowledge.counts import FORMER_TABLES, TABLES, Knowledge, LinkTypes
from clew.knowledge.names import told
from clew.knowledge.table import PIECE, Frozen, Table

FORMAT = "clew-knowledge"
VERSION = 1
#: Bounds on what is read; a file beyond them was not written by clew.
MAX_BYTES = 1 << 30
MAX_ROWS = 5_000_000
MAX_WORD = 1000
MAX_COUNT = 1e12


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
        raise StoreForeign(f"{where} is not knowledge saved by clew")
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
    pieces = [_json(plain)[:-1], ',"tables":{']
    for place, (name, table) in enumerate(tables.items()):
        pieces.append(f'{"," if place else ""}"{name}":[[')
        _columns(table, pieces)
        pieces.append("]]")
    # Put together once: there are many megabytes of it.
    return "".join([*pieces, "}}"])


def _columns(table: Frozen, pieces: list[str]) -> None:
    """A table as three columns, rows in the order of the words."""
    order, counts = table.order(), _Written()
    # Not all at once: an encoder lets no other thread run until it is done.
    parts = [order[at : at + PIECE] for at in range(0, len(order), PIECE)]
    pieces += _joined(_json(told(table.names, part))[1:-1] for part in parts)
    for column in (table.seen, table.hits):
        pieces.append("],[")
        pieces += _joined(",".join(map(counts.__getitem__, column[part].tolist())) for part in parts)


def _joined(parts: Iterable[str]) -> Iterator[str]:
    """Commas between parts of a list."""
    for place, part in enumerate(parts):
        yield "," + part if place else part


class _Written(dict[float, str]):
    """Numbers as JSON has them; most counts of a table are among a few."""

    def __missing__(self, number: float) -> str:
        found = self[number] = repr(number)
        return found


def _json(plain: Any) -> str:
    # One letter beyond ASCII would make every other of a text of many megabytes two or four times as wide.
    return json.dumps(plain, separators=(",", ":"))


def _knowledge(plain: dict[str, Any]) -> Knowledge:
    pages, satisfied = _number(plain["pages"], "pages"), _number(plain["satisfied"], "satisfied")
    if satisfied > pages:
        raise ValueError("more pages satisfy than were crawled")
    links = [_number(n, "links") for n in plain["links"]]
    if len(links) != 4:
        raise ValueError("there are four kinds of links")
    tables = plain["tables"]
    if not isinstance(tables, dict):
        raise ValueError("the tables are missing")
    return Knowledge(
        pages,
        satisfied,
        LinkTypes(*links),
        *(_table(_columns_of(tables, name), name) for name in TABLES),
    )


def _columns_of(tables: dict[str, object], name: str) -> object:
    """A table as it was written, be it under a former name; an empty one where there is none."""
    written = next((known for known in (name, FORMER_TABLES.get(name)) if known in tables), None)
    return [[], [], []] if written is None else tables[written]


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_COUNT:
        raise ValueError(f"{what} is not a count from 0 to {MAX_COUNT:g}")
    return float(value)


def _table(columns: object, name: str) -> Table:
    if not isinstance(columns, list) or len(columns) != 3 or not all(isinstance(c, list) for c in columns):
        raise ValueError(f"the table {name} does not have three columns")
    words, seen, hits = columns
    if not len(words) == len(seen) == len(hits) <= MAX_ROWS:
        raise ValueError(f"the columns of the table {name} differ in length")
    if not all(isinstance(w, str) and len(w) <= MAX_WORD for w in words) or len(set(words)) != len(words):
        raise ValueError(f"the words of the table {name} are not distinct words")
    counts = np.array([_number(n, name) for n in seen]), np.array([_number(n, name) for n in hits])
    if (counts[1] > counts[0]).any():
        raise ValueError(f"the table {name} has more hits than pages")
    table = Table()
    table.add(words, *counts)
    return table
