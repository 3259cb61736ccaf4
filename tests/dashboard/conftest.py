"""One folder with short crawls, and a dashboard of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.importorskip(
    "starlette", reason="the dashboard's packages are not installed (pip install 'clew[dash]')"
)

from served import SEVERAL, Served, crawl_demo, serving


@pytest.fixture(scope="session")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two crawls of the demo web for one thing, and one for three."""
    folder = tmp_path_factory.mktemp("crawls")
    crawl_demo(folder / "wind", 120)
    crawl_demo(folder / "wide", 120, strategy="breadth-first")
    crawl_demo(folder / "several", 100, match=SEVERAL)
    return folder


@pytest.fixture
def dashboard(crawls: Path) -> Iterator[Served]:
    with serving(crawls) as served:
        yield served
