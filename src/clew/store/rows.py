"""Small conversions that both stores share, so that they answer alike to the last bit."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.messages import Decision, State

_WRAP = 1 << 64
_AGES = 1e12
"""Seconds that no session takes."""
#: Values in one question at most: SQLite takes a thousand in its oldest builds.
_AT_ONCE = 500
_ADDRESS = re.compile(r"https?://(\[[^]/]+\]|[^/\[\]]+)[^/]*/")

CLOSED = frozenset({State.FAILED, State.DROPPED, State.REDIRECTED})
"""States whose reasons are counted."""
REQUESTS = ("page", "robots", "sitemap")
"""Kinds of decision that stand for a lease."""


def typed(row: tuple[Any, ...], kinds: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row, once each value is seen to be of its kind: SQLite keeps any kind in any column.

    Raises `TypeError`. `float` takes whole numbers too, and nothing that is not finite.

    >>> typed(("wind", 1), (str, float))
    ('wind', 1)
    """
    for value, kind in zip(row, kinds, strict=True):
        if isinstance(value, kind) and (kind is not float or math.isfinite(value)):
            continue
        if kind is float and isinstance(value, int):
            continue
        raise TypeError(f"{str(value)[:40]!r} where {getattr(kind, '__name__', kind)} is kept")
    return row


def address(url: object) -> str:
    """A URL, once it is seen to have a host and a path, as every canonical one has; `ValueError` otherwise.

    >>> address("http://a.example/")
    'http://a.example/'
    """
    if not isinstance(url, str) or _ADDRESS.match(url) is None:
        raise ValueError(f"{str(url)[:40]!r} where a URL is kept")
    return url


def in_parts(values: Sequence[int] | Sequence[str]) -> Iterator[tuple[tuple[object, ...], str]]:
    """Values by as many as one question takes, each with the marks that stand for them there.

    >>> list(in_parts([4, 7]))
    [((4, 7), '?,?')]
    """
    for at in range(0, len(values), _AT_ONCE):
        part = tuple(values[at : at + _AT_ONCE])
        yield part, ",".join("?" * len(part))


def iso(timestamp: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC.

    >>> iso(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def signed(value: int) -> int:
    """An unsigned 64-bit number as SQLite keeps it.

    >>> unsigned(signed(2**64 - 1)) == 2**64 - 1
    True
    """
    return value - _WRAP if value >> 63 else value


def unsigned(value: int) -> int:
    """The opposite of `signed`."""
    return value + _WRAP if value < 0 else value


def stored(state: State) -> State:
    """A lease ends with the process that took it, so it is never stored."""
    return State.QUEUED if state is State.LEASED else state


def total(terms: NDArray[np.float64]) -> float:
    """A score is the sum of its contributions."""
    return float(terms.sum()) if len(terms) else 0.0


def pack(decision: Decision) -> bytes:
    """A decision's numbers, exactly: SQLite would turn -0.0 into 0.0 and NaN into NULL."""
    return struct.pack(f"<{2 + len(decision.terms)}d", decision.score, decision.verdict, *decision.terms)


def unpack(data: bytes) -> tuple[float, float, tuple[float, ...]]:
    """Score, verdict and terms from `pack`."""
    score, verdict, *terms = np.frombuffer(data, "<f8").tolist()
    return score, verdict, tuple(terms)


#: Made once: `json.dumps` makes one for each call that wants anything special.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dumps(value: object) -> str:
    """Compact JSON text."""
    return _encode(value)


def clean(text: str) -> str:
    """Text that can be encoded: lone surrogates, which hostile pages contain, are replaced.

    >>> clean("a\\ud800b")
    'a?b'
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def clean_all(texts: tuple[str, ...]) -> tuple[str, ...]:
    """`clean` for many, checked together because they almost never need it."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return tuple(map(clean, texts))
    return texts


def elapsed(spans: Iterable[tuple[float, float]]) -> float:
    """Seconds of crawling: from the first to the last decision of each session, summed.

    A time that is damaged counts for nothing.

    >>> elapsed([(1.0, 4.0), (-math.inf, 9.0), (10.0, 12.0)])
    5.0
    """
    return math.fsum(last - first for first, last in spans if 0 <= last - first < _AGES)
