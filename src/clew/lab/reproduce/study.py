"""`Study`: what is reproduced of a paper otherwise than by harvest curves: its plots and tables, made."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clew.lab.reproduce.figure import Sheet

Tell = Callable[[str], None]
"""Told what is done."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines of points."""

    name: str
    title: str
    lines: tuple[tuple[str, list[tuple[float, float]]], ...]
    across: str
    up: str


@dataclass(frozen=True, slots=True)
class Study:
    """What a paper shows, as it had it and as it comes out here."""

    name: str
    title: str
    paper: str
    here: str
    plots: tuple[Plot, ...]
    sheets: tuple[Sheet, ...]


def stamp() -> str:
    """The day, and the commit that is checked out where this code lies."""
    try:
        line = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=10", "HEAD"]
        commit = subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    return f"{time.strftime('%Y-%m-%d', time.gmtime())}, commit {commit}"
