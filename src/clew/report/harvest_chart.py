"""The harvest curve as SVG, drawn by hand: numbers in, markup out, no text from outside but escaped names."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup, escape

from clew.policy.focus_ledger import FocusChange
from clew.policy.recall import RecallEstimate
from clew.report.crawl_fold import Curve, Mark
from clew.run.exploration import ExplorationCounts

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 16, 40


def curves(
    lines: Sequence[tuple[str, Curve]],
    changes: Sequence[Sequence[FocusChange]] = (),
    *,
    chance: Sequence[tuple[float, float]] = (),
    marks: Sequence[Mark] = (),
) -> Markup:
    """Find curves over the pages fetched, one line each, on common axes; `changes` of the focus of each are
    marks on its line, `marks` lines across the chart; `chance` is what choosing at random would have brought.

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
    parts += [_across(mark, most_pages) for mark in marks]
    if chance:
        shown = " ".join(
            f"{_x(x, most_pages):.1f},{_y(min(y, most_finds), most_finds):.1f}" for x, y in chance
        )
        parts.append(
            Markup('<polyline class="line c1 far" points="{}"><title>{}</title></polyline>').format(
                shown, f"by chance: {chance[-1][1]:.0f} finds in {chance[-1][0]:.0f} pages"
            )
        )
    for number, (name, line) in enumerate(lines):
        parts.append(_line(number % 6, name, line, most_pages, most_finds))
    for number, ((_, line), mine) in enumerate(zip(lines, changes, strict=False)):
        parts += [_mark(number % 6, change, line, most_pages, most_finds) for change in mine]
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def _mark(number: int, change: FocusChange, line: Curve, most_pages: int, most_finds: int) -> Markup:
    """A change of focus where it was made: a stroke through the line, which says from what to what."""
    finds = max((finds for pages, finds in line if pages <= change.pages), default=0)
    x, y = _x(change.pages, most_pages), _y(finds, most_finds)
    return Markup('<line class="mark c{}" x1="{}" x2="{}" y1="{}" y2="{}"><title>{}</title></line>').format(
        number,
        f"{x:.1f}",
        f"{x:.1f}",
        f"{y - 7:.1f}",
        f"{y + 7:.1f}",
        f"page {change.pages}: {change.before} became {change.after}",
    )


def _across(mark: Mark, most_pages: int) -> Markup:
    """A change of the crawl, at its place."""
    x = f"{_x(mark.page, most_pages):.1f}"
    return Markup('<line class="across" x1="{}" x2="{}" y1="{}" y2="{}"><title>{}</title></line>').format(
        x, x, TOP, HEIGHT - BOTTOM, f"page {mark.page}: {mark.text}"
    )


def _line(number: int, name: str, line: Curve, most_pages: int, most_finds: int) -> Markup:
    points = " ".join(f"{_x(pages, most_pages):.1f},{_y(finds, most_finds):.1f}" for pages, finds in line)
    last = line[-1] if line else (0, 0)
    return Markup('<polyline class="line c{}" points="{}"><title>{}</title></polyline>').format(
        number, points, f"{name}: {last[1]} finds in {last[0]} pages"
    )


def _axes(
    most_pages: int, most_finds: int, *, across: str = "pages fetched", up: str = "finds", step: float = 0.0
) -> Markup:
    parts: list[str] = []
    for value in [step * at for at in range(round(most_finds / step) + 1)] if step else _ticks(most_finds):
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
        f"{across}</text>"
        f'<text class="label" x="14" y="{(TOP + HEIGHT - BOTTOM) / 2:.0f}" text-anchor="middle" '
        f'transform="rotate(-90 14 {(TOP + HEIGHT - BOTTOM) / 2:.0f})">{up}</text>'
    )
    return Markup("".join(parts))  # numbers and our own words only


def recall_band(looks: Sequence[RecallEstimate], curve: Curve) -> Markup:
    """Recall as it was estimated along a crawl, a band from end to end of each interval, its middle a line;
    on the same pages as the curve above it. Nothing where nothing was estimated.

    >>> look = RecallEstimate(fetched=20, pages=20, finds=8, left=(0, 2, 8), unseen=0.5)
    >>> "<polygon" in recall_band([look], ((0, 0), (40, 9)))
    True
    """
    if not looks:
        return Markup("")
    most = _ceiling(max(curve[-1][0] if curve else 1, looks[-1].pages))
    top, bottom = 12, 112

    def points(shares: Sequence[float]) -> list[str]:
        pages = [look.pages for look in looks]
        heights = [bottom - (bottom - top) * share for share in shares]
        return [f"{_x(at, most):.1f},{y:.1f}" for at, y in zip(pages, heights, strict=True)]

    low = points([look.low for look in looks])
    high = points([look.high for look in looks])
    middle = points([look.middle for look in looks])
    last = looks[-1]
    said = f"recall {last.low:.2f} to {last.high:.2f} at page {last.pages}"
    ticks = [
        Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>'
            '<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>'
        ).format(LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, text)
        for y, text in ((top, "1"), ((top + bottom) / 2, "0.5"), (bottom, "0"))
    ]
    return Markup("").join(
        [
            Markup(
                '<svg class="chart" role="img" viewBox="0 0 {} {}" aria-label="recall over pages fetched">'
            ).format(WIDTH, bottom + 12),
            *ticks,
            Markup('<polygon class="band" points="{}"><title>{}</title></polygon>').format(
                " ".join([*high, *reversed(low)]), said
            ),
            Markup('<polyline class="line c1" points="{}"/>').format(" ".join(middle)),
            Markup("</svg>"),
        ]
    )


def exploration_bars(stretches: Sequence[ExplorationCounts]) -> Markup:
    """Explored requests, from above, against exploited ones, from below, as shares of each stretch of a
    crawl; the finds of each are dark. Nothing where there are no requests to tell apart.

    >>> "<rect" in exploration_bars([ExplorationCounts(explored=3, exploited=7, exploited_finds=2)])
    True
    """
    if not stretches:
        return Markup("")
    most = _ceiling(sum(counts.requests for counts in stretches))
    parts = [
        Markup(
            '<svg class="chart" role="img" viewBox="0 0 {} {}" '
            'aria-label="explored and exploited requests over all requests">'
        ).format(WIDTH, HEIGHT),
        _axes(most, 1, across="requests", up="share", step=0.25),
    ]
    end = 0
    for counts in stretches:
        first, end = end, end + counts.requests
        said = f"requests {first + 1:,} to {end:,}: {counts}"
        left, width = _x(first, most), _x(end, most) - _x(first, most)
        bars = [
            ("c0", counts.exploited_finds),
            ("c0 rest", counts.exploited - counts.exploited_finds),
            ("c1 rest", counts.explored - counts.explored_finds),
            ("c1", counts.explored_finds),
        ]
        parts.append(Markup("<g><title>{}</title>").format(said))
        below = 0
        for look, count in bars:
            top, bottom = (_y(height / counts.requests, 1) for height in (below + count, below))
            below += count
            if count:
                parts.append(
                    Markup('<rect class="share {}" x="{}" y="{}" width="{}" height="{}"/>').format(
                        look, f"{left:.1f}", f"{top:.1f}", f"{width:.1f}", f"{bottom - top:.1f}"
                    )
                )
        parts.append(Markup("</g>"))
    return Markup("").join([*parts, Markup("</svg>")])


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
