"""`clew knowledge show|diff|merge|save`: what crawls learned."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.console import clean, put, put_json, put_table
from clew.cli.directories import Json

if TYPE_CHECKING:
    from clew.knowledge import Knowledge

Place = Annotated[str, Parameter(metavar="CRAWL|FILE", help="A crawl directory, or a knowledge file.")]
Output = Annotated[Path, Parameter(name=("--output", "-o"), metavar="FILE", help="Where to save it.")]
Force = Annotated[bool, Parameter(negative=(), help="Replace the file if it exists.")]
#: What the words of each table are.
_HEADS = {
    "words": "words of pages",
    "inlinks": "words of linking pages",
    "tokens": "words of URLs",
    "anchors": "words of links",
    "hub_features": "features of links that lead on",
    "places": "pages",
    "hubs": "pages that lead on",
}
Limit = Annotated[int, Parameter(metavar="N", help="How many rows of each table (20).")]


def show(place: Place, /, *, limit: Limit = 20, json: Json = False) -> None:
    """Show what a crawl learned."""
    from clew.run.knowledge_files import read_knowledge

    known = read_knowledge(place)
    tables = {name: _telling(known, name)[:limit] for name in _tables()}
    if json:
        put_json({**_figures(known), "tables": tables})
        return
    for line in _in_words(known):
        put(line)
    for name, rows in tables.items():
        if rows:
            put()
            shown = [
                (clean(r["word"]), f"{r['ratio']:.1f} times", f"{r['hits']:.0f} of {r['seen']:.0f}")
                for r in rows
            ]
            put_table((_HEADS[name], "as often as average", "finds"), shown, right=(1, 2))


def diff(one: Place, other: Place, /, *, limit: Limit = 20, json: Json = False) -> None:
    """Show where two crawls' knowledge differs most."""
    from clew.run.knowledge_files import read_knowledge

    first, second = read_knowledge(one), read_knowledge(other)
    tables = {name: _differences(first, second, name)[:limit] for name in _tables()}
    if json:
        put_json({"one": _figures(first), "other": _figures(second), "tables": tables})
        return
    for name, value in _figures(first).items():
        put(f"{name:10} {value}  |  {_figures(second)[name]}")
    for name, rows in tables.items():
        if rows:
            put()
            shown = [(clean(r["word"]), f"{r['one']:.2f}", f"{r['other']:.2f}") for r in rows]
            put_table((name, "one", "other"), shown, right=(1, 2))


def merge(*places: Place, output: Output, force: Force = False) -> None:
    """Put the knowledge of several crawls together."""
    from clew.errors import UsageError
    from clew.knowledge import Knowledge
    from clew.run.knowledge_files import read_knowledge, write_knowledge

    if len(places) < 2:
        raise UsageError("give at least two crawls or knowledge files to merge")
    known = functools.reduce(Knowledge.merge, [read_knowledge(place) for place in places])
    write_knowledge(known, output, force=force)
    put(str(output))


def save(place: Place, /, *, output: Output, force: Force = False) -> None:
    """Save a crawl's knowledge as a file of its own."""
    from clew.run.knowledge_files import read_knowledge, write_knowledge

    write_knowledge(read_knowledge(place), output, force=force)
    put(str(output))


def _tables() -> tuple[str, ...]:
    from clew.knowledge import TABLES

    return tuple(TABLES)


def _figures(known: Knowledge) -> dict[str, float]:
    links = known.links
    return {
        "pages": known.pages,
        "satisfied": known.satisfied,
        "rate": round(known.rate, 6),
        "links": links.total,
        "find-find": links.pp,
        "find-other": links.pn,
        "other-find": links.np,
        "other": links.nn,
    }


def _in_words(known: Knowledge) -> list[str]:
    """How many pages are finds, and where the links of finds and of other pages lead."""
    links = known.links
    out = [f"{known.satisfied:,.0f} of {known.pages:,.0f} pages are finds ({known.rate:.1%})"]
    for whose, hits, others in (("finds", links.pp, links.pn), ("other pages", links.np, links.nn)):
        if hits + others:
            share = hits / (hits + others)
            out.append(
                f"{hits:,.0f} of {hits + others:,.0f} links of {whose} lead to finds ({share:.1%}), "
                "of those that were followed"
            )
    return out


def _ratios(known: Knowledge, name: str) -> dict[str, tuple[float, float, float, float]]:
    """Word -> (ratio, seen, hits, significance)."""
    import numpy as np

    from clew.factor import log_ratio, significance

    rows = dict(getattr(known, name).rows())
    if not rows or not known.satisfied:
        return {}
    seen, hits = (np.array([r[i] for r in rows.values()]) for i in (0, 1))
    ratios = np.exp(log_ratio(seen, hits, known.rate, 1.0))
    strength = significance(seen, hits, known.rate, known.satisfied)
    found = zip(rows, ratios.tolist(), seen.tolist(), hits.tolist(), strength.tolist(), strict=True)
    return {word: (r, s, h, z) for word, r, s, h, z in found}


def _telling(known: Knowledge, name: str) -> list[dict[str, Any]]:
    """Significant rows, the largest ratio first."""
    rows = [(w, *r) for w, r in _ratios(known, name).items() if r[3] >= 2.0 and r[1] >= 2]
    rows.sort(key=lambda row: (-row[1] * min(1.0, row[2] / 5), row[0]))
    return [{"word": w, "ratio": r, "seen": s, "hits": h} for w, r, s, h, _ in rows]


def _differences(one: Knowledge, other: Knowledge, name: str) -> list[dict[str, Any]]:
    """Words whose ratio differs, the largest factor between them first."""
    a, b = _ratios(one, name), _ratios(other, name)
    rows = [(w, a[w][0], b[w][0]) for w in a.keys() & b.keys() if max(a[w][3], b[w][3]) >= 2.0]
    rows.sort(key=lambda r: (-max(r[1], r[2]) / max(1e-9, min(r[1], r[2])), r[0]))
    return [{"word": w, "one": x, "other": y} for w, x, y in rows if x != y]
