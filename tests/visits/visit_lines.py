"""A secret, lines of logs, and what a database of visits holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from clew.visits import Secret, VisitsDatabase
from clew.visits.importing import Imported

SECRET = Secret(b"s" * 32)
Take = Callable[..., Imported]


def rows(visits: Path) -> list[tuple[int, int, str]]:
    """Visits as (time, person, URL)."""
    with VisitsDatabase(visits) as database:
        return list(
            database.rows("SELECT time, person, url FROM visits JOIN pages USING (page) ORDER BY time, url")
        )


def squid(
    at: float, client: str, url: str, *, status: int = 200, method: str = "GET", kind: str = "text/html"
) -> bytes:
    """One line of Squid's own format."""
    line = f"{at:.3f}    12 {client} TCP_MISS/{status} 512 {method} {url} - HIER_DIRECT/192.0.2.1 {kind}\n"
    return line.encode()
