"""How much of a page is looked at, so that no page can cost more than it is worth."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one body may yield; what is beyond them is left out and the page is marked truncated.

    >>> Limits(links=10).links
    10
    """

    body: int = 8_000_000
    """Bytes read."""
    text: int = 1_000_000
    """Characters of text kept."""
    links: int = 5_000
    """Links kept, the first ones."""
    reach: int = 100
    """Characters of context on each side of a link."""
    anchor: int = 300
    """Characters of an anchor."""
    title: int = 500
    """Characters of a title."""
    description: int = 2_000
    pdf_pages: int = 200


DEFAULT = Limits()
