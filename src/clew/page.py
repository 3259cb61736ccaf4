"""The nouns that a fetch turns into: `Page`, `Link`, and `Links`, many links kept as columns.

A page with 300 links does not make 300 objects: `Links` holds one tuple per column and makes a
`Link` only when one is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload


@dataclass(frozen=True, slots=True)
class Link:
    """One link, as found on its source page.

    >>> Link("http://a.example/", "http://b.example/", "wind farms").anchor
    'wind farms'
    """

    source: str
    target: str
    anchor: str = ""
    context: str = ""
    """Text around the anchor, anchor included."""
    path: str = ""
    """Tag path from the root, e.g. `body/div/ul/li/a`."""
    rel: str = ""
    position: int = 0
    """0 for the first link of the page, 1 for the next, …"""


@dataclass(frozen=True, slots=True)
class Links(Sequence[Link]):
    """The links of one page, by column. Targets are canonical absolute http(s) URLs.

    >>> links = Links("http://a.example/", ("http://b.example/",), ("b",), ("see b now",), ("body/a",), ("",))
    >>> links[0].context, len(links)
    ('see b now', 1)
    """

    source: str = ""
    targets: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    rels: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, links: Sequence[Link]) -> Links:
        """Columns from rows."""
        return cls(
            source,
            tuple(x.target for x in links),
            tuple(x.anchor for x in links),
            tuple(x.context for x in links),
            tuple(x.path for x in links),
            tuple(x.rel for x in links),
        )

    def __len__(self) -> int:
        return len(self.targets)

    @overload
    def __getitem__(self, index: int) -> Link: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Link, ...]: ...
    def __getitem__(self, index: int | slice) -> Link | tuple[Link, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        i = range(len(self))[index]
        return Link(
            self.source, self.targets[i], self.anchors[i], self.contexts[i], self.paths[i], self.rels[i], i
        )

    def __iter__(self) -> Iterator[Link]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Links({self.source!r}, {len(self)} links)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a fetch gave, parsed. Frozen, made only of plain data.

    >>> Page(url="http://a.example/", title="A", text="wind farm").text
    'wind farm'
    """

    url: str
    """The canonical URL it was asked for under."""
    status: int = 200
    type: str = "text/html"
    """Media type without parameters, lower case."""
    title: str = ""
    description: str = ""
    text: str = ""
    """Visible text, white space folded, block boundaries as newlines."""
    main: str = ""
    """The main text: `text` without navigation and boilerplate."""
    language: str = ""
    """Two-letter code, or empty when unknown."""
    charset: str = ""
    links: Links = field(default_factory=Links)
    canonical: str = ""
    """Target of `<link rel=canonical>`, canonicalised; empty when absent."""
    refresh: str = ""
    """Target of a meta refresh, canonicalised; empty when absent."""
    robots: frozenset[str] = frozenset()
    """Directives of `meta robots` and `X-Robots-Tag`, lower case: noindex, nofollow, …"""
    depth: int = 0
    """Number of links from the nearest seed along the way clew came."""
    digest: int = 0
    """64-bit hash of the folded text: equal for exact duplicates. 0 for an empty text."""
    simhash: int = 0
    """64-bit similarity hash of the text: near-duplicates differ in few bits. 0 when too short to tell."""
    truncated: bool = False

    def __repr__(self) -> str:
        return f"Page({self.url!r}, {self.status}, {self.title!r}, {len(self.text)} chars, {len(self.links)} links)"
