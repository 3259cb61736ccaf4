"""The nouns that a fetch turns into: `Page`, `Link`, and `Links`, many links kept as columns.

A page with 300 links does not make 300 objects: `Links` holds one tuple per column and makes a
`Link` only when one is looked at. The words around links are not even cut out until then: `Excerpts` has
the text once, and where in it each link stands; and where links stand is itself found out `Later`, when
someone asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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


def window(flat: str, start: int, end: int, reach: int, label: str = "") -> str:
    """The text from `start` to `end` with up to `reach` characters on each side, cut between words.

    A `label` takes the place of the text between, for links that show a picture in place of words.

    >>> window("the old wind farm at sea", 8, 17, 5)
    'old wind farm at'
    >>> window("the old  at sea", 8, 8, 5, "turbine")
    'old turbine at'
    """
    left, right = start - reach, end + reach
    left = flat.find(" ", left, start) + 1 or start if left > 0 else 0
    if right < len(flat):
        right = flat.rfind(" ", end, right)
        if right < 0:
            right = end
    cut = f"{flat[left:start]} {label} {flat[end:right]}" if label else flat[left:right]
    return " ".join(cut.split()) if "  " in cut or cut[:1] == " " or cut[-1:] == " " else cut


class Excerpts(Sequence[str]):
    """The words around links, cut out of one text when they are asked for; equal to a tuple of them.

    Parameters: the text; where each link starts and ends in it (-1: nowhere, no words); how many characters
    to either side; words that take the place of a link's own, by the link's number.

    >>> around = Excerpts("the old wind farm at sea", (8, -1), (17, -1), 5)
    >>> around[0], around[1], around == ("old wind farm at", "")
    ('old wind farm at', '', True)
    """

    __slots__ = ("_ends", "_labels", "_reach", "_starts", "_text")

    def __init__(
        self,
        text: str,
        starts: Sequence[int],
        ends: Sequence[int],
        reach: int,
        labels: Mapping[int, str] | None = None,
    ) -> None:
        self._text = text
        self._starts = starts
        self._ends = ends
        self._reach = reach
        self._labels = labels or {}

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple([self[i] for i in range(*index.indices(len(self)))])
        i = range(len(self._starts))[index]
        start, end = self._starts[i], self._ends[i]
        label = self._labels.get(i, "")
        if not 0 <= start <= end:
            return label
        flat = self._text[max(0, start - self._reach - 1) : end + self._reach + 1].replace("\n", " ")
        shift = max(0, start - self._reach - 1)
        return window(flat, start - shift, end - shift, self._reach, label)

    def pick(self, rows: Sequence[int]) -> Excerpts:
        """Those of some links."""
        labels = {to: self._labels[row] for to, row in enumerate(rows) if row in self._labels}
        starts, ends = self._starts, self._ends
        return Excerpts(self._text, [starts[i] for i in rows], [ends[i] for i in rows], self._reach, labels)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Excerpts | Later | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Excerpts({len(self)})"


class Once:
    """Columns that are worked out when one is first looked at.

    >>> once = Once(lambda: (("wind", "farm"),))
    >>> once()[0] is once()[0]
    True
    """

    __slots__ = ("_columns", "_work")

    def __init__(self, work: Callable[[], tuple[Sequence[str], ...]]) -> None:
        self._work: Callable[[], tuple[Sequence[str], ...]] | None = work
        self._columns: tuple[Sequence[str], ...] = ()

    def __call__(self) -> tuple[Sequence[str], ...]:
        if self._work is not None:
            # What it was worked out from can go.
            self._columns, self._work = self._work(), None
        return self._columns

    def __repr__(self) -> str:
        return f"Once({'open' if self._work else len(self._columns)})"


class Later(Sequence[str]):
    """One of those columns, whole or some of its rows; equal to a tuple of the same texts.

    Parameters: the columns; which of them; how many rows; and, to have fewer, which rows.

    >>> later = Later(Once(lambda: (("wind", "farm"),)), 0, 2)
    >>> len(later), later[1], later.pick([1]) == ("farm",)
    (2, 'farm', True)
    """

    __slots__ = ("_columns", "_count", "_rows", "_which")

    def __init__(self, columns: Once, which: int, count: int, rows: Sequence[int] | None = None) -> None:
        self._columns = columns
        self._which = which
        self._count = count
        self._rows = rows

    def __len__(self) -> int:
        return self._count if self._rows is None else len(self._rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple([self[i] for i in range(*index.indices(len(self)))])
        row = range(len(self))[index]
        return self._columns()[self._which][row if self._rows is None else self._rows[row]]

    def __iter__(self) -> Iterator[str]:
        column = self._columns()[self._which]
        return iter(column) if self._rows is None else map(column.__getitem__, self._rows)

    def pick(self, rows: Sequence[int]) -> Later:
        """Some of the rows."""
        mine = rows if self._rows is None else [self._rows[i] for i in rows]
        return Later(self._columns, self._which, self._count, mine)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Later | Excerpts | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Later({len(self)})"


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
    contexts: Sequence[str] = ()
    paths: Sequence[str] = ()
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

    def pick(self, rows: Sequence[int]) -> Links:
        """Some of the links, by number."""
        return Links(
            self.source,
            tuple([self.targets[i] for i in rows]),
            tuple([self.anchors[i] for i in rows]),
            _some(self.contexts, rows),
            _some(self.paths, rows),
            tuple([self.rels[i] for i in rows]),
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


def _some(column: Sequence[str], rows: Sequence[int]) -> Sequence[str]:
    """Some rows of a column; one that is worked out later stays so."""
    if isinstance(column, Excerpts | Later):
        return column.pick(rows)
    return tuple([column[i] for i in rows])


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
    """The main text: `text` without navigation and boilerplate; all of it where none stands out."""
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
    """64-bit hash of `text`: equal for exact copies. 0 for an empty text."""
    sketch: bytes = b""
    """Similarity sketch of text, main text and title, by which near copies are told (`clew.parse.alike`).
    Empty when the text is too short to tell."""
    truncated: bool = False
    rendered: bool = False
    """Read from what a browser made of it, not from what the server sent."""

    def __repr__(self) -> str:
        size = f"{len(self.text)} chars, {len(self.links)} links"
        return f"Page({self.url!r}, {self.status}, {self.title!r}, {size})"
