"""How a check begins and ends: its arguments, its figures, its failures, and one line for `checks/run.py`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from typing import Any


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser of what every check is given; each adds its own."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="the figures as JSON, and nothing else")
    return parser


def ended(
    given: argparse.Namespace,
    name: str,
    tried: int,
    failures: Sequence[str],
    figures: Any = None,
    lines: Iterable[str] = (),
) -> int:
    """Print the figures, as JSON or in lines, up to twenty failures and `name: N tried, M failed`.

    Gives the exit code. Lines that were printed on the way are not given again.
    """
    if given.json:
        print(json.dumps({"tried": tried, "failed": len(failures)} if figures is None else figures))
        return 1 if failures else 0
    for line in lines:
        print(line)
    for failure in failures[:20]:
        print(f"  failed: {failure}")
    print(f"{name}: {tried} tried, {len(failures)} failed")
    return 1 if failures else 0
