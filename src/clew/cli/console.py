"""Ways to speak: data on stdout, people on stderr, and neither ever gets a control character from a page."""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clew.cli.exits import tell

if TYPE_CHECKING:
    from rich.console import Console

#: Unicode categories that could move the cursor, change colours or reverse the line.
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

#: Seconds of silence that are too many.
_PATIENCE = 3.0


def clean(text: str, width: int = 0) -> str:
    """Text from the web made safe for a terminal: one line, no control characters, at most `width` long.

    >>> clean("a\\x1b[31mb\\n c"), clean("turbine", 4)
    ('a[31mb c', 'tur…')
    """
    plain = "".join(
        " " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in _HIDDEN
    )
    plain = " ".join(plain.split())
    return plain[: width - 1] + "…" if width and len(plain) > width else plain


def say(text: str = "") -> None:
    """A line to the person, on stderr."""
    tell(text)


def put(text: str = "") -> None:
    """A line of data, on stdout."""
    print(text)


def put_json(value: Any) -> None:
    """One JSON value on stdout, on one line, keys in the order given."""
    print(json.dumps(value, ensure_ascii=False, default=str))


def put_table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[int] = ()
) -> None:
    """Columns of text on stdout; the columns in `right` are numbers."""
    table = [list(headings), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(headings))]
    for row in table if any(headings) else table[1:]:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def put_pairs(pairs: Mapping[str, object]) -> None:
    """Names and values on stdout, values aligned."""
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        print(f"{name.ljust(width)}  {value}")


def stderr_console() -> Console:
    """A rich console on stderr; it honours NO_COLOR by itself."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


class ProgressNotice:
    """Tells on stderr how far something has come, when it takes long.

    Parameters: what it is that is being done; a clock of seconds.
    """

    def __init__(self, doing: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.doing = doing
        self._clock = clock
        self._next = clock() + _PATIENCE

    def tell(self, done: int, total: int) -> None:
        """So many pages of so many; said only when nothing was for seconds."""
        if self._clock() >= self._next:
            self._next = self._clock() + _PATIENCE
            say(f"{self.doing}: {done:,} of {total:,} pages")


def sparkline(values: Sequence[float]) -> str:
    """Values as a row of bars.

    >>> sparkline([0, 0.5, 1])
    '▁▄█'
    """
    bars = "▁▂▃▄▅▆▇█"
    top = max(values, default=0.0) or 1.0
    return "".join(bars[min(7, int(value / top * 7.999))] for value in values)
