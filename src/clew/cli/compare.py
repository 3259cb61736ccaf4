"""`clew compare`: two crawls side by side, and how much of what there is they found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.console import clean, put, put_json, put_pairs, put_table
from clew.cli.directories import Json, reading
from clew.cli.exits import complain
from clew.units import duration_text, size_text

if TYPE_CHECKING:
    from clew.run.compare import ComparedSide, Comparison

_FEW_COMMON = 7
"""Finds in common below which the estimate is hardly one."""


def compare(
    first: Annotated[str, Parameter(metavar="A", help="The directory of a crawl.")],
    second: Annotated[str, Parameter(metavar="B", help="The directory of another.")],
    /,
    *,
    json: Json = False,
) -> None:
    """Put two crawls side by side; by what both found, say how much there is."""
    from clew.run.compare import compare as compared

    with reading(first) as mine, reading(second) as theirs:
        found = compared(mine, theirs)
    if not found.alike:
        complain(
            f"A looks for {clean(found.first.match, 80)!r}, B for {clean(found.second.match, 80)!r}: how "
            "much there is can be told of two crawls that look for the same"
        )
    if json:
        put_json(_as_json(found, (first, second)))
        return
    sides = [_figures(found.first), _figures(found.second)]
    put_table(["", "A", "B"], [[name, sides[0][name], sides[1][name]] for name in sides[0]])
    both = found.both
    put()
    pairs: dict[str, object] = {
        "found by both": both.common,
        "by A alone": both.first - both.common,
        "by B alone": both.second - both.common,
        "together": both.together,
    }
    if found.alike and both.common:
        low, high = both.interval
        pairs["there are about"] = f"{both.total:.0f} ({low:.0f} to {high:.0f}), by Chapman's estimate"
        for name, count in (("A", both.first), ("B", both.second), ("both together", both.together)):
            least, middle, most = both.recall(count)
            pairs[f"recall of {name}"] = f"{middle:.2f} ({least:.2f} to {most:.2f})"
    put_pairs(pairs)
    if found.alike and both.common < _FEW_COMMON:
        complain(f"only {both.common} finds in common: too few to say how many there are with any certainty")


def _figures(side: ComparedSide) -> dict[str, str]:
    counts, recall = side.counts, side.recall
    return {
        "match": clean(side.match, 40),
        "strategy": clean(side.strategy, 40),
        "finds": f"{counts.matched:,}",
        "pages": f"{counts.pages:,}",
        "harvest": f"{counts.matched / counts.pages:.3f}" if counts.pages else "–",
        "requests": f"{counts.requests:,}",
        "requests a find": f"{counts.requests / counts.matched:.1f}" if counts.matched else "–",
        "hosts": f"{counts.hosts:,}",
        "duplicates": f"{counts.duplicates:,}",
        "queued": f"{counts.queued:,}",
        "received": size_text(counts.wire),
        "time": duration_text(side.elapsed) if side.elapsed else "–",
        "its own estimate": f"{recall.low:.2f} to {recall.high:.2f}" if recall is not None else "–",
    }


def _as_json(found: Comparison, places: tuple[str, str]) -> dict[str, Any]:
    both = found.both
    told: dict[str, Any] = {
        name: {
            "directory": place,
            "match": side.match,
            "strategy": side.strategy,
            "finds": len(side.finds),
            "pages": side.counts.pages,
            "requests": side.counts.requests,
            "hosts": side.counts.hosts,
            "duplicates": side.counts.duplicates,
            "queued": side.counts.queued,
            "wire": side.counts.wire,
            "elapsed": side.elapsed,
            "recall": None if side.recall is None else side.recall.as_dict(),
        }
        for name, place, side in zip(("a", "b"), places, (found.first, found.second), strict=True)
    }
    told |= {"common": both.common, "together": both.together, "estimate": None}
    if found.alike and both.common:
        named = {"a": both.first, "b": both.second, "together": both.together}
        low, high = both.interval
        ends = ("low", "middle", "high")
        recall = {name: dict(zip(ends, both.recall(count), strict=True)) for name, count in named.items()}
        told["estimate"] = {"total": both.total, "low": low, "high": high, "recall": recall}
    return told
