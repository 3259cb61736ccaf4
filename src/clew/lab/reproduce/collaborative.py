"""The figures of the 2002 paper (collaborative crawling), as trials on the recorded webs."""

from __future__ import annotations

from dataclasses import replace

from clew.lab.reproduce.figure import Figure, Line, Panel
from clew.lab.reproduce.trial import ORACLE, Trial
from clew.lab.reproduce.webs import HARD, STARTS, quick, topic

_PAGES = 200
_CASES = (("sports", "subject.Everyday_life"), ("arts", "subject.Art"))
_NAMES = ("breadth-first", "composite", "learned", "collaborative", "collaborative + linkage", ORACLE)


def collaborative_figures(*, small: bool = False) -> dict[str, Figure]:
    """Figures 2 and 3 of the 2002 paper; `small` on the demo web, to try it out."""
    panels = [
        Panel(name, f"{topic(label).name}, Wikispeedia without index pages", tuple(_lines(label)))
        for name, label in _CASES
    ]
    if small:
        panels = [
            replace(
                panel,
                title="the demo web",
                lines=tuple(
                    Line(line.name, tuple(dict.fromkeys(map(quick, line.trials)))) for line in panel.lines
                ),
            )
            for panel in panels
        ]
    figure = Figure(
        "collaborative",
        "Figures 2 and 3: following people",
        "Harvest along crawls for SPORTS and for ARTS. The collaborative crawler, from traces of a public "
        "proxy, begins at random and soon does better than the best of five starts of the intelligent one.",
        "The two categories nearest to these, blind, from five pages (mean, and at the end the worst and the "
        "best of the five). The log is made: some hundreds "
        "of people browse the recorded web, every other one with one of its categories in mind. "
        "`composite` is the intelligent crawler of the 2001 paper, `learned` clew's default, and "
        "`collaborative + linkage` clew's default with the log (section 3.1).",
        tuple(panels),
        kind="starts",
    )
    return {figure.name: figure}


def _lines(label: str) -> list[Line]:
    starts = list(STARTS[HARD].values())
    return [
        Line(name, tuple(Trial(HARD, topic(label), (start,), name, _PAGES) for start in starts))
        for name in _NAMES
    ]
