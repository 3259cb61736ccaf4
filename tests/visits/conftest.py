"""A secret, and logs taken in."""

from __future__ import annotations

from pathlib import Path

import pytest
from visit_lines import SECRET, Take

from clew.visits import ImportSettings, VisitsDatabase, import_log
from clew.visits.importing import Imported


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    return tmp_path / "data" / "visits.db"


@pytest.fixture
def take(tmp_path: Path, visits: Path) -> Take:
    """`take(lines or bytes, site=…)`: a log with these lines, imported."""
    visits.parent.mkdir(exist_ok=True)

    def take(content: bytes | Path, name: str = "some.log", **settings: object) -> Imported:
        log = content if isinstance(content, Path) else tmp_path / name
        if isinstance(content, bytes):
            log.write_bytes(content)
        with VisitsDatabase(visits, SECRET, create=True) as database:
            found = import_log(database, SECRET, log, ImportSettings(**settings))  # type: ignore[arg-type]
        assert found.counts.balanced, found
        return found

    return take
