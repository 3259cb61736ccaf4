"""What was learned, as plain data: arrays as text, counts as columns of JSON. Never a pickle.

A reader of another program can use it as it is; every number is checked before it is believed.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.learn.counts import PIECE, Frozen, Table
from clew.learn.vocabulary import told

#: Bounds on what is read; a table beyond them was not written by clew.
MAX_ROWS = 5_000_000
MAX_WORD = 1000
MAX_COUNT = 1e12


def pack(numbers: NDArray[Any]) -> str:
    """An array as text: little-endian bytes, compressed, base64.

    >>> unpack(pack(np.array([1, 2, 3])), np.int64).tolist()
    [1, 2, 3]
    """
    plain = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False)
    return base64.b64encode(zlib.compress(plain.tobytes(), 1)).decode("ascii")


def unpack(text: str, dtype: type[np.generic]) -> NDArray[Any]:
    """The opposite of `pack`."""
    raw = zlib.decompress(base64.b64decode(text))
    return np.frombuffer(raw, np.dtype(dtype).newbyteorder("<")).astype(dtype)


def written(table: Frozen, pieces: list[str]) -> None:
    """Add a table to the pieces of a JSON text: three columns without their outer brackets, rows in the
    order of the words."""
    order, counts = table.order(), _Written()
    # Not all at once: an encoder lets no other thread run until it is done.
    parts = [order[at : at + PIECE] for at in range(0, len(order), PIECE)]
    pieces += _with_commas(compact_json(told(table.names, part))[1:-1] for part in parts)
    for column in (table.seen, table.hits):
        pieces.append("],[")
        pieces += _with_commas(",".join(map(counts.__getitem__, column[part].tolist())) for part in parts)


def _with_commas(parts: Iterable[str]) -> Iterator[str]:
    """Commas between parts of a list."""
    for place, part in enumerate(parts):
        yield "," + part if place else part


class _Written(dict[float, str]):
    """Numbers as JSON has them; most counts of a table are among a few."""

    def __missing__(self, number: float) -> str:
        found = self[number] = repr(number)
        return found


def compact_json(plain: Any) -> str:
    """JSON without blanks, in ASCII."""
    # One letter beyond ASCII would make every other of a text of many megabytes two or four times as wide.
    return json.dumps(plain, separators=(",", ":"))


def count(value: object, what: str) -> float:
    """A number of things, or a ValueError that says what is not one.

    >>> count(3, "pages")
    3.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_COUNT:
        raise ValueError(f"{what} is not a count from 0 to {MAX_COUNT:g}")
    return float(value)


def read(columns: object, name: str) -> Table:
    """The table of three columns of words, seen and hits; a ValueError for anything else.

    >>> read([["farm"], [2], [1]], "words").row("farm")
    (2.0, 1.0)
    """
    if not isinstance(columns, list) or len(columns) != 3 or not all(isinstance(c, list) for c in columns):
        raise ValueError(f"the table {name} does not have three columns")
    words, seen, hits = columns
    if not len(words) == len(seen) == len(hits) <= MAX_ROWS:
        raise ValueError(f"the columns of the table {name} differ in length")
    if not all(isinstance(w, str) and len(w) <= MAX_WORD for w in words) or len(set(words)) != len(words):
        raise ValueError(f"the words of the table {name} are not distinct words")
    counts = np.array([count(n, name) for n in seen]), np.array([count(n, name) for n in hits])
    if (counts[1] > counts[0]).any():
        raise ValueError(f"the table {name} has more hits than pages")
    table = Table()
    table.add(words, *counts)
    return table
