"""A database of visits to the pages of a web."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clew.visits import ImportSettings, Secret, VisitsDatabase, import_log

SECRET = Secret(b"s" * 32)


def visited(folder: Path, urls: Iterable[str], *, people: int = 6, extra: Iterable[str] = ()) -> Path:
    """A database of visits: each of a few people walks over some of the pages."""
    lines = [
        f"{1_700_000_000 + 60 * i + 7 * person}.000 1 192.0.2.{person} HIT/200 1 GET {url} - NONE/- text/html"
        for person in range(people)
        for i, url in enumerate(urls)
        if (i * 7 + person * 3) % 5 < 3
    ]
    (folder / "some.log").write_text("\n".join([*sorted(lines), *extra]) + "\n")
    place = folder / "visits.db"
    with VisitsDatabase(place, SECRET, create=True) as database:
        import_log(database, SECRET, folder / "some.log", ImportSettings())
    return place
