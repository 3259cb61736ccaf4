"""The harvest curve as SVG, drawn by hand: numbers in, markup out, no text from outside but escaped names."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup, escape

from clew.report.crawl_summary import Curve

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 16, 40


def curves(lines: Sequence[tuple[str, Curve]]) -> Markup:
    """Find curves over the pages fetched, one line each, on common axes.

    >>> "<polyline" in curves([("best-first", ((0, 0), (10, 4)))])
    True
    """
    most_pages = _ceiling(max((line[-1][0] for _, line in lines if line), default=1))
    most_finds = _ceiling(max((line[-1][1] for _, line in lines if line), default=1))
    parts = [
        Markup(
            '<svg class="chart" role="img" viewBox="0 0 {} {}" aria-label="finds over pages fetched">'
        ).format(WIDTH, HEIGHT),
        _axes(most_pages, most_finds),
    ]
    for number, (name, line) in enumerate(lines):
        parts.append(_line(number % 6, name, line, most_pages, most_finds))
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def _line(number: int, name: str, line: Curve, most_pages: int, most_finds: int) -> Markup:
    points = " ".join(f"{_x(pages, most_pages):.1f},{_y(finds, most_finds):.1f}" for pages, finds in line)
    last = line[-1] if line else (0, 0)
    return Markup('<polyline class="line c{}" points="{}"><title>{}</title></polyline>').format(
        number, points, f"{name}: {last[1]} finds in {last[0]} pages"
    )


def _axes(most_pages: int, most_finds: int) -> Markup:
    parts: list[str] = []
    for value in _ticks(most_finds):
        y = _y(value, most_finds)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>')
    for value in _ticks(most_pages):
        x = _x(value, most_pages)
        parts.append(
            f'<text class="tick" x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{value:,}</text>'
        )
    parts.append(
        f'<text class="label" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 6}" text-anchor="middle">'
        "pages fetched</text>"
        f'<text class="label" x="14" y="{(TOP + HEIGHT - BOTTOM) / 2:.0f}" text-anchor="middle" '
        f'transform="rotate(-90 14 {(TOP + HEIGHT - BOTTOM) / 2:.0f})">finds</text>'
    )
    return Markup("".join(parts))  # numbers and our own words only


def legend(names: Sequence[str]) -> Markup:
    """Names of the lines with their colours."""
    items = (
        Markup('<span class="key"><i class="c{}"></i>{}</span>').format(number % 6, escape(name))
        for number, name in enumerate(names)
    )
    return Markup(" ").join(items)


def _x(pages: float, most: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * pages / most


def _y(finds: float, most: int) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * finds / most


def _ceiling(value: int) -> int:
    """The next round number: a multiple of a tick that is not below `value`."""
    step = _step(value)
    return max(step, math.ceil(value / step) * step)


def _ticks(most: int) -> range:
    return range(0, most + 1, _step(most))


def _step(most: int) -> int:
    """1, 2 or 5 times a power of ten, giving at most six ticks."""
    rough = max(1.0, most / 5)
    power = 10 ** math.floor(math.log10(rough))
    return int(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough))
