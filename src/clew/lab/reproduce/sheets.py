"""Tables from outcomes, one way for each kind of figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from clew.lab.metrics import found
from clew.lab.reproduce.figure import Figure, Line, Outcomes, Panel, Sheet, harvest, mean, percent
from clew.lab.reproduce.trial import FACTORS, ORACLE, Crawled
from clew.lab.reproduce.webs import STARTS

#: Shares of a crawl after which its harvest is shown.
_MARKS = (0.1, 0.25, 0.5, 1.0)
_EARLY = 0.2
#: Finds whose page number shows how fast a crawl learns.
TENTH = 10


def sheets(figure: Figure, outcomes: Outcomes) -> tuple[Sheet, ...]:
    """The tables of a figure."""
    return tuple(_KINDS[figure.kind](figure, outcomes))


def marks(pages: int) -> list[int]:
    """Numbers of pages after which a harvest is shown.

    >>> marks(500)
    [50, 125, 250, 500]
    """
    return [max(1, round(pages * share)) for share in _MARKS]


def spread(values: list[float]) -> float:
    """The coefficient of variation: standard deviation (of a sample) over mean.

    >>> round(spread([1.0, 2.0, 3.0]), 3)
    0.5
    """
    middle = mean(values)
    return float(np.std(values, ddof=1)) / middle if len(values) > 1 and middle else 0.0


def line_of(panel: Panel, name: str) -> Line | None:
    """The line of that name."""
    return next((line for line in panel.lines if line.name == name), None)


def facts(panel: Panel, outcomes: Outcomes) -> str:
    """How rare the pages are, and how they link to each other."""
    one: Crawled = outcomes[panel.lines[0].trials[0]]
    return (
        f"{one.targets:,} pages satisfy ({percent(one.rate)} of the web); of the links of such pages "
        f"{percent(one.locality)} lead to such pages, of all links {percent(one.drawn)}"
    )


def _title(panel: Panel, outcomes: Outcomes) -> str:
    return f"{panel.title}: {facts(panel, outcomes)}"


def _curves(figure: Figure, outcomes: Outcomes) -> Iterator[Sheet]:
    for panel in figure.panels:
        at = marks(panel.pages)
        best = line_of(panel, ORACLE)
        rows = []
        for line in panel.lines:
            values = [harvest(line, outcomes, n) for n in at]
            top = harvest(best, outcomes, at[-1]) if best else 0.0
            share = f"{values[-1] / top:.2f}" if top else "–"
            rows.append((line.name, *map(percent, values), share, _tenth(line, outcomes)))
        headings = ("harvest", *(f"{n} pages" for n in at), "of the oracle's", f"pages to {TENTH} finds")
        yield Sheet(_title(panel, outcomes), headings, tuple(rows))


def _with_starts(figure: Figure, outcomes: Outcomes) -> Iterator[Sheet]:
    """Curves, and at the end the least and the best of the starts: where the paper shows its best."""
    for panel, sheet in zip(figure.panels, _curves(figure, outcomes), strict=True):
        ends = [[outcomes[trial].harvest(panel.pages) for trial in line.trials] for line in panel.lines]
        rows = [
            (*row, percent(min(end)), percent(max(end))) for row, end in zip(sheet.rows, ends, strict=True)
        ]
        yield replace(sheet, headings=(*sheet.headings, "worst start", "best start"), rows=tuple(rows))


def _tenth(line: Line, outcomes: Outcomes) -> str:
    """The mean page number of the tenth find, if every crawl got there."""
    reached = [outcomes[trial].until(TENTH) for trial in line.trials]
    return f"{mean([n for n in reached if n]):.0f}" if all(reached) else "–"


def _spread(figure: Figure, outcomes: Outcomes) -> Iterator[Sheet]:
    for panel in figure.panels:
        at = marks(panel.pages)
        table = [[harvest(line, outcomes, n) for n in at] for line in panel.lines]
        rows = [(line.name, *map(percent, row)) for line, row in zip(panel.lines, table, strict=True)]
        columns = [list(column) for column in zip(*table, strict=True)]
        rows.append(("mean", *(percent(mean(column)) for column in columns)))
        rows.append(("spread", *(f"{spread(column):.2f}" for column in columns)))
        headings = ("harvest from", *(f"{n} pages" for n in at))
        yield Sheet(_title(panel, outcomes), headings, tuple(rows))


def _matrix(figure: Figure, outcomes: Outcomes) -> Iterator[Sheet]:
    for panel in figure.panels:
        starts = _starts(panel)
        rows = []
        for line in panel.lines:
            values = [outcomes[trial].harvest(panel.pages) for trial in line.trials]
            cells = (*map(percent, values), percent(mean(values)), f"{spread(values):.2f}")
            rows.append((line.name, *cells))
        headings = (f"harvest after {panel.pages} pages from", *starts, "mean", "spread")
        yield Sheet(_title(panel, outcomes), headings, tuple(rows))


def _starts(panel: Panel) -> list[str]:
    """What the seeds of a panel's trials are called."""
    names = {url: name for places in STARTS.values() for name, url in places.items()}
    return [names.get(trial.seeds[0], trial.seeds[0]) for trial in panel.lines[0].trials]


def _kinds(figure: Figure, outcomes: Outcomes) -> Iterator[Sheet]:
    rows = []
    for panel in figure.panels:
        found = {line.name: harvest(line, outcomes, panel.pages) for line in panel.lines}
        top = max(FACTORS, key=lambda name: found[name])
        one = outcomes[panel.lines[0].trials[0]]
        names = ("composite", "learned", "random", "breadth-first", ORACLE)
        shown = {name: percent(found[name]) for name in names}
        rows.append(
            (
                panel.title,
                str(panel.pages),
                percent(one.rate),
                shown["composite"],
                shown["learned"],
                f"{top} {percent(found[top])}",
                shown["random"],
                shown["breadth-first"],
                shown[ORACLE],
            )
        )
    headings = (
        "predicate and web",
        "pages",
        "satisfy",
        "composite",
        "learned",
        "best factor alone",
        "random",
        "breadth-first",
        "oracle",
    )
    yield Sheet("Harvest by kind of predicate", headings, tuple(rows))


def reused(panel: Panel, outcomes: Outcomes, share: float) -> list[tuple[str, float, float]]:
    """(strategy, harvest without knowledge, with it) after that share of a panel's crawls."""
    pages = max(1, round(panel.pages * share))
    rows = []
    for without, using in list(pairwise(panel.lines))[::2]:
        rows.append((without.name, harvest(without, outcomes, pages), harvest(using, outcomes, pages)))
    return rows


def _reuse(figure: Figure, outcomes: Outcomes) -> Iterator[Sheet]:
    rows = []
    totals: dict[str, list[tuple[float, ...]]] = {}
    for panel in figure.panels:
        early, late = reused(panel, outcomes, _EARLY), reused(panel, outcomes, 1.0)
        for number, ((name, *first), (_, *second)) in enumerate(zip(early, late, strict=True)):
            known = _found_before(panel.lines[2 * number + 1], outcomes, round(panel.pages * _EARLY))
            pages = f"{round(panel.pages * _EARLY)} and {panel.pages}"
            rows.append((f"{panel.title}: {name}", pages, *_ratio(*first), known, *_ratio(*second)))
            totals.setdefault(name, []).append((*first, *second))
    for name, values in totals.items():
        a, b, c, d = (mean(list(column)) for column in zip(*values, strict=True))
        rows.append((f"mean: {name}", "", *_ratio(a, b), "", *_ratio(c, d)))
    yield Sheet("Harvest without and with knowledge of an earlier crawl", _REUSE, tuple(rows))


_REUSE = (
    "crawl",
    "pages",
    "early, without",
    "with",
    "ratio",
    "of these, found by the earlier crawl",
    "at the end, without",
    "with",
    "ratio",
)


def _found_before(line: Line, outcomes: Outcomes, pages: int) -> str:
    """Of a line's finds in the first pages, the share that the earlier crawl had found too."""
    finds = sum(at <= pages for trial in line.trials for at in outcomes[trial].finds)
    again = sum(at <= pages for trial in line.trials for at in outcomes[trial].again)
    return f"{again / finds:.0%}".replace("%", " %") if finds else "–"


def _ratio(without: float, using: float) -> tuple[str, str, str]:
    return percent(without), percent(using), f"{using / without:.2f}" if without else "–"


def _forms(figure: Figure, outcomes: Outcomes) -> Iterator[Sheet]:
    for panel in figure.panels:
        at = marks(panel.pages)
        base = harvest(panel.lines[0], outcomes, at[-1])
        rows = []
        for line in panel.lines:
            values = [harvest(line, outcomes, n) for n in at]
            change = f"{values[-1] / base:.2f}" if base else "–"
            rows.append((line.name, *map(percent, values), change))
        headings = ("harvest", *(f"{n} pages" for n in at), "of the composite's")
        yield Sheet(_title(panel, outcomes), headings, tuple(rows))


def _precision(figure: Figure, outcomes: Outcomes) -> Iterator[Sheet]:
    for panel in figure.panels:
        at = marks(panel.pages)
        rows = []
        for line in panel.lines:
            (one,) = (outcomes[trial] for trial in line.trials)
            finds = [found(one.finds, n) for n in at]
            shares = [f"{percent(one.harvest(n))} ({count})" for n, count in zip(at, finds, strict=True)]
            rows.append((line.name, *shares, str(len(one.foci))))
        headings = ("precision (finds)", *(f"{n} pages" for n in at), "changes of focus")
        threshold = outcomes[panel.lines[0].trials[0]].threshold
        yield Sheet(f"{_title(panel, outcomes)}; threshold {threshold:.3f}", headings, tuple(rows))
    for panel in figure.panels:
        changes = [
            (str(pages), text)
            for line in panel.lines
            for trial in line.trials
            for pages, text in outcomes[trial].foci
        ]
        if changes:
            yield Sheet(
                f"{panel.title}: the focus of tunnelling", ("pages", "sought from then on"), tuple(changes)
            )


#: A distance that many finds or more lie beyond is one row for all of them.
_FAR = 12


def histogram(values: Sequence[int]) -> list[int]:
    """How many there are of 0, 1, 2, ...; the last counts all from there on.

    >>> histogram([0, 2, 2, 40])
    [1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    """
    counts = [0] * (_FAR + 1)
    for value in values:
        counts[min(value, _FAR)] += 1
    return counts


def _distances(figure: Figure, outcomes: Outcomes) -> Iterator[Sheet]:
    headings = ("finds", *map(str, range(_FAR)), f"{_FAR} or more")
    for panel in figure.panels:
        for what, lists in (
            ("links from a start page", "distances"),
            ("pages that are no finds since the last find on the path", "behind"),
        ):
            rows = []
            for line in panel.lines:
                values = [value for trial in line.trials for value in getattr(outcomes[trial], lists)]
                if line.name != ORACLE:
                    rows.append((line.name, *(str(count or "") for count in histogram(values))))
            yield Sheet(f"{panel.title}: finds by {what}", headings, tuple(rows))


_KINDS: dict[str, Callable[[Figure, Outcomes], Iterator[Sheet]]] = {
    "curves": _curves,
    "starts": _with_starts,
    "spread": _spread,
    "matrix": _matrix,
    "kinds": _kinds,
    "reuse": _reuse,
    "forms": _forms,
    "precision": _precision,
    "distances": _distances,
}
