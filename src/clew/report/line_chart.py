"""Lines over any range of numbers as SVG: for shares and contributions, which may be negative."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 44
COLOURS = 6

Line = tuple[str, Sequence[tuple[float, float]]]
"""A name and its points, x ascending."""


def plot(lines: Sequence[Line], across: str, up: str) -> Markup:
    """Lines on common axes; 0 is always in sight.

    >>> "<polyline" in plot([("a", [(0, -1.0), (10, 2.5)])], "requests", "worth")
    True
    """
    xs = [x for _, points in lines for x, _ in points] or [0.0, 1.0]
    ys = [y for _, points in lines for _, y in points if math.isfinite(y)] or [0.0, 1.0]
    frame = _Frame(_ticks(0.0, max(xs)), _ticks(min(0.0, *ys), max(0.0, *ys)))
    parts = [
        Markup('<svg class="chart" role="img" viewBox="0 0 {} {}" aria-label="{} over {}">').format(
            WIDTH, HEIGHT, up, across
        ),
        frame.axes(across, up),
    ]
    for number, (name, points) in enumerate(lines):
        shown = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in points if math.isfinite(y))
        last = f"{name}: {points[-1][1]:.3f} at {points[-1][0]:.0f}" if points else name
        parts.append(
            Markup('<polyline class="line c{}{}" points="{}"><title>{}</title></polyline>').format(
                number % COLOURS, " far" if number >= COLOURS else "", shown, last
            )
        )
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def key(names: Sequence[str]) -> Markup:
    """Names of the lines with their colours; from the seventh on, the colours come again, dashed."""
    items = [
        Markup('<span class="key"><i class="c{}{}"></i>{}</span>').format(
            number % COLOURS, " far" if number >= COLOURS else "", name
        )
        for number, name in enumerate(names)
    ]
    return Markup(" ").join(items)


class _Frame:
    def __init__(self, across: list[float], up: list[float]) -> None:
        self.across = across
        self.up = up

    def x(self, value: float) -> float:
        low, high = self.across[0], self.across[-1]
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        low, high = self.up[0], self.up[-1]
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    def axes(self, across: str, up: str) -> Markup:
        parts = []
        for value in self.up:
            y = f"{self.y(value):.1f}"
            parts.append(
                Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
                    LEFT, WIDTH - RIGHT, y, y
                )
            )
            parts.append(_text(LEFT - 6, self.y(value) + 4, f"{value:g}", "end"))
        parts += [
            _text(self.x(value), HEIGHT - BOTTOM + 16, f"{value:,g}", "middle") for value in self.across
        ]
        parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across, "middle"))
        middle = (TOP + HEIGHT - BOTTOM) / 2
        turned = Markup(
            '<text class="label" x="14" y="{0}" text-anchor="middle" transform="rotate(-90 14 {0})">'
        )
        parts += [turned.format(f"{middle:.0f}"), Markup.escape(up), Markup("</text>")]
        return Markup("").join(parts)


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>').format(
        f"{x:.1f}", f"{y:.1f}", anchor, text
    )


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from below `low` to above `high`, six or so.

    >>> _ticks(-0.3, 1.0)
    [-0.5, 0.0, 0.5, 1.0]
    """
    rough = max(high - low, 1e-9) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * i, 10) for i in range(first, max(last, first + 1) + 1)]
