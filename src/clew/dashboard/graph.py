"""The link graph around the finds: the ways that led to them, drawn from left to right by distance from a
seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clew import url as urls
from clew.messages import State
from clew.report.crawl_fold import FoundPage
from clew.store.follow import FollowedCrawl, FoundLink

#: Finds whose ways are drawn, and nodes and links at most.
FINDS, NODES, EDGES = 60, 240, 600


def graph_of(reader: FollowedCrawl, finds: Sequence[FoundPage]) -> dict[str, Any]:
    """Nodes with their places in a unit square, and links between them, by the place of their nodes in the
    list."""
    found = {find.candidate: find for find in finds}
    links = _with_ways(reader, [find.candidate for find in finds[-FINDS:]])
    order = _placed(links)
    place = {number: at for at, (number, _, _) in enumerate(order)}
    edges = _edges(reader, links, place)
    return {
        "nodes": [
            {
                "url": links[number].url,
                "host": urls.host(links[number].url),
                "x": x,
                "y": y,
                "find": number in found,
                "degree": found[number].degree if number in found else None,
                "id": number,
                "seed": links[number].source < 0,
                "depth": links[number].depth,
            }
            for number, x, y in order
        ],
        "edges": edges,
        "finds": len(finds),
        "drawn": sum(number in found for number in links),
    }


def _with_ways(reader: FollowedCrawl, numbers: list[int]) -> dict[int, FoundLink]:
    """Candidates, and those that led to them, up to the seeds; as many as are drawn."""
    links: dict[int, FoundLink] = {}
    wanted = numbers
    while wanted and len(links) < NODES:
        for number, link in reader.links_numbered(wanted).items():
            if len(links) < NODES:
                links[number] = link
        wanted = sorted({link.source for link in links.values() if link.source >= 0} - links.keys())
    return links


def _placed(links: Mapping[int, FoundLink]) -> list[tuple[int, float, float]]:
    """A place for each: a column for each distance from a seed, in a column near what led there."""
    columns: dict[int, list[int]] = {}
    for number, link in links.items():
        columns.setdefault(link.depth, []).append(number)
    height: dict[int, float] = {}
    placed: list[tuple[int, float, float]] = []
    for at, depth in enumerate(sorted(columns)):
        column = sorted(columns[depth], key=lambda n: (height.get(links[n].source, 0.5), links[n].source, n))
        for row, number in enumerate(column):
            y = (row + 0.5) / len(column)
            height[number] = y
            placed.append((number, at / max(1, len(columns) - 1), round(y, 4)))
    return placed


def _edges(
    reader: FollowedCrawl, links: Mapping[int, FoundLink], place: Mapping[int, int]
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
