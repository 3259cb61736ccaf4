"""The command line as a user has it: real verbs, a made-up web on the loopback address, real directories."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clew.cli import main


@dataclass(frozen=True)
class Said:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Clew = Callable[..., Said]


def call(*arguments: object) -> Said:
    """Run one command in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return Said(code, out.buffer.getvalue().decode(), err.getvalue())  # type: ignore[attr-defined]


@pytest.fixture
def clew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clew:
    """`clew("status", directory)`, in an empty working directory and without settings from outside."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("CLEW_") and name not in ("CLEW_CORPORA", "CLEW_SUITES", "CLEW_REQUIRE_DATA"):
            monkeypatch.delenv(name)
    return call


@dataclass(frozen=True)
class Site:
    """The made-up web, served."""

    proxy: str
    seeds: tuple[str, ...]
    formula: str

    def options(self, pages: int = 40, delay: float = 0) -> list[str]:
        """What a quick crawl of it needs besides seeds, formula and directory."""
        return [
            "--proxy",
            self.proxy,
            "--own",
            "*",
            "--delay",
            str(delay),
            "--pages",
            str(pages),
            "--parse-workers",
            "0",
        ]

    def crawl(self, directory: Path, pages: int = 40, delay: float = 0) -> list[str]:
        """Arguments that start a quick crawl of it."""
        return ["crawl", *self.seeds, "-m", self.formula, "-d", str(directory), *self.options(pages, delay)]


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    from clew.lab.demo import DemoWeb
    from clew.lab.serve import serving

    web = DemoWeb()
    with serving(web, stall=1.0) as proxy:
        yield Site(proxy, web.seeds(), web.formula())


@pytest.fixture(scope="session")
def crawled(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a finished crawl; for reading only."""
    directory = tmp_path_factory.mktemp("crawled") / "farms"
    said = call(*site.crawl(directory, 120), "--ordered")
    assert said.code == 0, said.err
    return directory


def command() -> list[str]:
    """The installed program."""
    return [str(Path(sys.executable).with_name("clew"))]
