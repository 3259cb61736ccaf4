"""How a check ends: with what it found wrong, and one line that `checks/run.py` reads."""

from __future__ import annotations

from collections.abc import Sequence


def ended(name: str, tried: int, failures: Sequence[str]) -> int:
    """Print up to twenty failures and `name: N tried, M failed`; gives the exit code."""
    for failure in failures[:20]:
        print(f"  failed: {failure}")
    print(f"{name}: {tried} tried, {len(failures)} failed")
    return 1 if failures else 0
