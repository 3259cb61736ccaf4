"""`FindGraph`: the link graph around the finds, laid out once for the dashboard and for `report.html`.

The ways that led to the last finds are drawn from left to right, a column for each distance from a seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from clew import url as urls
from clew.messages import State
from clew.report.crawl_fold import FoundPage
from clew.store.base import FoundLink, Reader

#: Finds whose ways are drawn, and nodes and links at most.
FINDS, NODES, EDGES = 60, 240, 600
#: The picture: its width, the room at its sides, for names there, and for a node in a column.
WIDTH, _SIDE, _NAMES, _ROW = 1100, 30, 200, 16
_LOWEST, _HIGHEST = 120, 760
#: Nodes and columns up to which each node has its host beside it; letters of a host and of an address.
_FEW, _COLUMNS, _HOST, _ADDRESS = 40, 4, 26, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A page of the graph, and its place in the picture."""

    id: int
    url: str
    x: float
    y: float
    seed: bool
    find: bool
    degree: float | None
    """Of a find."""
    depth: int
    label: str
    """What stands beside it, before a seed and behind others; empty for most where there are many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindGraph:
    """Some finds, and the ways to them."""

    width: int
    height: int
    nodes: list[GraphNode]
    edges: list[tuple[int, int, bool]]
    """Links between nodes, by their place in the list, and whether each was followed."""
    finds: int
    """How many there are in all."""

    @property
    def drawn(self) -> int:
        """How many of the finds are in it."""
        return sum(node.find for node in self.nodes)

    def svg(self) -> Markup:
        """The picture, for a page that has the styles."""
        parts = [
            Markup(
                '<svg class="graph" role="img" viewBox="0 0 {} {}" aria-label="the ways to {} of {} finds">'
            ).format(self.width, self.height, self.drawn, self.finds)
        ]
        line = Markup('<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>')
        for start, end, followed in self.edges:
            a, b = self.nodes[start], self.nodes[end]
            parts.append(line.format(a.x, a.y, b.x, b.y, "way" if followed else "other"))
        name = Markup('<text x="{}" y="{}" class="{}">{}</text>')
        parts += [
            name.format(node.x + (-10 if node.seed else 10), node.y + 4, "before" * node.seed, node.label)
            for node in self.nodes
            if node.label
        ]
        dot = Markup('<circle cx="{}" cy="{}" r="{}" class="{}"><title>{}</title></circle>')
        for node in self.nodes:
            kind = "find" if node.find else "seed" if node.seed else "page"
            parts.append(dot.format(node.x, node.y, 6 if node.find else 4, kind, shown(node.url)))
        return Markup("").join([*parts, Markup("</svg>")])


def shown(url: str) -> str:
    """An address, cut where it is too long to be read.

    >>> len(shown("http://a.example/" + "long/" * 100))
    300
    """
    return url if len(url) <= _ADDRESS else f"{url[: _ADDRESS - 1]}…"


def graph_of(reader: Reader, finds: Sequence[FoundPage]) -> FindGraph:
    """The graph of a crawl that found these."""
    found = {find.candidate: find for find in finds}
    links = _with_ways(reader, [find.candidate for find in finds[-FINDS:]])
    order = _placed(links)
    rows = Counter(x for _, x, _ in order)
    height = min(_HIGHEST, max(_LOWEST, _ROW * max(rows.values(), default=0)))
    named = len(order) <= _FEW and len(rows) <= _COLUMNS
    across = WIDTH - 2 * _SIDE - _NAMES * (1 + named)
    nodes = [
        GraphNode(
            id=number,
            url=links[number].url,
            x=round(_SIDE + _NAMES + x * across, 1),
            y=round(20 + y * (height - 40), 1),
            seed=_is_seed(links[number]),
            find=number in found,
            degree=found[number].degree if number in found else None,
            depth=links[number].depth,
            label=_host(links[number].url) if named or _is_seed(links[number]) else "",
        )
        for number, x, y in order
    ]
    edges = _edges(reader, links, {node.id: at for at, node in enumerate(nodes)})
    return FindGraph(width=WIDTH, height=height, nodes=nodes, edges=edges, finds=len(finds))


def _is_seed(link: FoundLink) -> bool:
    """Whether a crawl began there; what a sitemap named has no link to it either, but is one step on."""
    return link.source < 0 and link.depth == 0


def _host(url: str) -> str:
    try:
        host = urls.host(url)
    except ValueError:  # no address, in the crawl of a stranger
        return ""
    return host if len(host) <= _HOST else f"{host[: _HOST - 1].rstrip('.')}…"


def _with_ways(reader: Reader, numbers: list[int]) -> dict[int, FoundLink]:
    """Candidates, and those that led to them, up to the seeds; as many as are drawn."""
    links: dict[int, FoundLink] = {}
    wanted = numbers
    while wanted and len(links) < NODES:
        found = reader.links_numbered(wanted)
        links.update(list(found.items())[: NODES - len(links)])
        wanted = sorted({link.source for link in found.values() if link.source >= 0} - links.keys())
    return links


def _placed(links: Mapping[int, FoundLink]) -> list[tuple[int, float, float]]:
    """A place in a unit square for each: a column for each distance from a seed, in a column near what led
    there."""
    columns: dict[int, list[int]] = {}
    for number, link in links.items():
        columns.setdefault(link.depth, []).append(number)
    height: dict[int, float] = {}
    placed: list[tuple[int, float, float]] = []
    for at, depth in enumerate(sorted(columns)):
        column = sorted(columns[depth], key=lambda n: (height.get(links[n].source, 0.5), links[n].source, n))
        for row, number in enumerate(column):
            height[number] = (row + 0.5) / len(column)
            placed.append((number, at / max(1, len(columns) - 1), height[number]))
    return placed


def _edges(
    reader: Reader, links: Mapping[int, FoundLink], place: Mapping[int, int]
) -> list[tuple[int, int, bool]]:
    """Links between what is drawn: those that were followed, then others between them."""
    followed = [(place[link.source], place[n], True) for n, link in links.items() if link.source in place]
    ways = {(source, target) for source, target, _ in followed}
    others = []
    for number, link in links.items():
        if link.state != State.FETCHED:
            continue
        for target in dict.fromkeys(reader.outlinks(number).tolist()):
            pair = (place[number], place.get(target, -1))
            if target in place and pair not in ways and target != number:
                others.append((*pair, False))
        if len(followed) + len(others) > EDGES:
            break
    return (followed + others)[:EDGES]
