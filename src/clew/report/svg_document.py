"""Curves as one SVG file that needs nothing else: title, axes, lines and their names."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from clew.report.line_chart import COLOURS, HEIGHT, WIDTH, Line, plot

_HEAD, _ROW = 30, 18
#: Letters of a name for which a column of the legend is wide enough.
_SHORT = 15
_STYLE = """
text { font-family: system-ui, sans-serif; fill: #444; }
.title { font-size: 14px; font-weight: 600; } .name { font-size: 12px; } .tick, .label { font-size: 11px; }
.grid { stroke: #ddd; } .line { fill: none; stroke-width: 2; } .far { stroke-dasharray: 6 3; }
.c0 { stroke: #111; } .c1 { stroke: #2563eb; } .c2 { stroke: #d97706; }
.c3 { stroke: #059669; } .c4 { stroke: #dc2626; } .c5 { stroke: #7c3aed; }
"""


def svg_document(title: str, lines: Sequence[Line], across: str, up: str) -> str:
    """A standalone SVG document.

    >>> svg_document("a title", [("composite", [(0, 1.0), (10, 2.5)])], "pages", "harvest")[:10]
    '<svg xmlns'
    """
    columns = 5 if all(len(name) <= _SHORT for name, _ in lines) else 3
    rows = -(-len(lines) // columns)
    height = _HEAD + HEIGHT + rows * _ROW + 10
    inner = str(plot(lines, across, up)).replace(
        '<svg class="chart"', f'<svg y="{_HEAD}" width="{WIDTH}" height="{HEIGHT}"', 1
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        Markup("<title>{}</title>").format(title),
        f"<style>{_STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        Markup('<text class="title" x="16" y="20">{}</text>').format(title),
        inner,
        *(_name(number, name, columns) for number, (name, _) in enumerate(lines)),
        "</svg>",
    ]
    return "\n".join(map(str, parts)) + "\n"


def _name(number: int, name: str, columns: int) -> Markup:
    """A line of the legend: a stroke and what it is."""
    x = 64 + (number % columns) * 640 // columns
    y = _HEAD + HEIGHT + 12 + (number // columns) * _ROW
    look = f"line c{number % COLOURS}{' far' if number >= COLOURS else ''}"
    return Markup('<path class="{}" d="M{} {}h20"/><text class="name" x="{}" y="{}">{}</text>').format(
        look, x, y - 4, x + 26, y, name
    )
