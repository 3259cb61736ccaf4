"""Checks in their short form, and crawls as separate processes that can be starved and killed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clew.cli import main

HOME = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HOME / "checks"))

from loopback import Site, serving  # noqa: E402 - it lies beside the checks


@pytest.fixture(scope="session")
def check() -> Callable[..., Any]:
    """`check("kills", "--pages", 150)`: a check, or the benchmark `soak`, run as a command; its figures."""

    def run(name: str, *arguments: object) -> Any:
        (script,) = HOME.glob(f"[bc]*/{name}.py")
        line = [sys.executable, str(script), "--json", *map(str, arguments)]
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=900)
        # Exit code 1 is a check that failed: the test says in what.
        assert done.returncode in (0, 1), done.stderr[-2000:]
        assert done.stdout, done.stderr[-2000:]
        return json.loads(done.stdout)

    return run


@dataclass(frozen=True)
class Ended:
    """How a crawl ended."""

    code: int
    said: str


@dataclass(frozen=True)
class Crawling:
    """A site on loopback and a directory to crawl it into."""

    site: Site
    directory: Path

    def command(self, *more: object, directory: Path | None = None) -> list[str]:
        line = [sys.executable, "-m", "clew.cli", "crawl", self.site.seed, "-m", "site*"]
        line += ["-d", str(directory or self.directory), "--pages", "none", "--delay", "0"]
        line += ["--own", "127.0.0.1", "--allow-private", "127.0.0.1", "--parse-workers", "0"]
        return [*line, *map(str, more)]

    def run(self, *more: object, before: Callable[[], None] | None = None, **where: Path) -> Ended:
        """Crawl in a process of its own; `before` runs in it first, to set its limits."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("CLEW_")}
        done = subprocess.run(
            self.command(*more, **where),
            preexec_fn=before,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env=environment,
        )
        return Ended(done.returncode, done.stdout + done.stderr)

    def here(self, directory: Path | None = None) -> Ended:
        """Crawl in this process."""
        said = io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patched,
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            for name in [name for name in os.environ if name.startswith("CLEW_")]:
                patched.delenv(name)
            code = main(self.command(directory=directory)[3:])
        return Ended(code, said.getvalue())

    def whole(self, directory: Path | None = None) -> None:
        """Every page is there, once, with its own text."""
        from clew.store import open_reader

        with open_reader(directory or self.directory) as reader:
            rows = list(reader.pages())
        assert sorted(int(row.url.rpartition("/")[2]) for row in rows) == list(range(self.site.pages))
        for row in rows:
            assert self.site.token(int(row.url.rpartition("/")[2])) in row.text


@pytest.fixture(scope="session")
def crawling_in() -> type[Crawling]:
    """For tests that make a crawl of their own: `conftest` is a name many folders have."""
    return Crawling


@pytest.fixture
def crawling(tmp_path: Path) -> Iterator[Crawling]:
    """A site of 60 pages, served, and an empty place for the crawl."""
    with serving(Site(60, words=400)) as site:
        yield Crawling(site, tmp_path / "crawl")
