"""`CrawlOption`: what the command line must know of a setting to offer it as an option."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CrawlOption:
    """One option of `clew crawl`."""

    key: str
    """The setting it gives a value to."""
    names: tuple[str, ...]
    kind: str
    """`switch`, `one` value, or `many`: it can be repeated."""
    value: str
    """What stands for its value in a command line."""
    group: str
    """Title of the options it is shown with."""
    help: str
    shown: bool
    """False for a name of earlier versions."""
