"""How much of a page is looked at, so that no page can cost more than it is worth."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one body may yield; what is beyond them is left out and the page is marked truncated.

    >>> Limits(links=10).links
    10
    """

    body: int = 2_000_000
    """Bytes read: a parser needs twenty to forty times as many of memory."""
    tags: int = 100_000
    """Tags read; each costs a parser as much memory as a paragraph."""
    text: int = 1_000_000
    """Characters of text kept."""
    links: int = 5_000
    """Links kept, the first ones."""
    script: int = 500_000
    """Characters of scripts and data looked at for addresses, with `--links more`."""
    reach: int = 100
    """Characters of context on each side of a link."""
    anchor: int = 300
    """Characters of an anchor."""
    title: int = 500
    """Characters of a title."""
    description: int = 2_000
    pdf_pages: int = 200


DEFAULT = Limits()


def within(markup: str, limits: Limits) -> tuple[str, bool]:
    r"""Markup that a parser can hold in memory, and whether something was cut off.

    NULs, which count for nothing in HTML but cost a parser an error each, are taken out.

    >>> within("<p>wind\0<p>farm<p>", Limits(tags=2))
    ('<p>wind<p>farm', True)
    """
    if "\0" in markup:
        markup = markup.replace("\0", "")
    if len(markup) <= limits.tags or markup.count("<") <= limits.tags:
        return markup, False
    low, high = 0, len(markup)
    while high - low > 1:
        middle = (low + high) // 2
        if markup.count("<", 0, middle) <= limits.tags:
            low = middle
        else:
            high = middle
    return markup[:low], True
