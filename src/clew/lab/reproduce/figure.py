"""`Figure`: what is reproduced, as the paper had it and as it is done here; and the tables it becomes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clew.lab.reproduce.trial import Crawled, Trial

Outcomes = Mapping[Trial, Crawled]
#: Letters of the longest cell that may be a number.
_NUMBER = 16


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: the mean over some trials."""

    name: str
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot and the table under it."""

    name: str
    title: str
    lines: tuple[Line, ...]

    @property
    def pages(self) -> int:
        """How long its crawls are."""
        return max(trial.pages for line in self.lines for trial in line.trials)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, table or section of the paper."""

    name: str
    title: str
    paper: str
    """What the paper did and saw."""
    here: str
    """What is done here, and why."""
    panels: tuple[Panel, ...]
    kind: str = "curves"
    """How its tables are made: see `sheets`."""

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Every crawl it needs."""
        every = (trial for panel in self.panels for line in panel.lines for trial in line.trials)
        return tuple(dict.fromkeys(every))


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """As it stands in a document: columns of numbers to the right, of words to the left."""
        columns = list(zip(*self.rows, strict=True))[1:]
        rules = ("---", *("---" if max(map(len, cells)) > _NUMBER else "---:" for cells in columns))
        lines = [_row(self.headings), f"|{'|'.join(rules)}|", *map(_row, self.rows)]
        return f"**{self.title}**\n\n" + "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def percent(share: float) -> str:
    """A share as the paper gives it.

    >>> percent(0.423), percent(0.0042)
    ('42.3 %', '0.42 %')
    """
    return f"{share:.2%}".replace("%", " %") if share < 0.01 else f"{share:.1%}".replace("%", " %")


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def harvest(line: Line, outcomes: Outcomes, pages: int) -> float:
    """The mean harvest of a line's crawls after a number of pages."""
    return mean([outcomes[trial].harvest(pages) for trial in line.trials])


def points(line: Line, outcomes: Outcomes, pages: int, steps: int = 60) -> list[tuple[float, float]]:
    """A line's curve: pages crawled, harvest in per cent. It begins where a find more or less is no leap."""
    first = max(10, pages // 25)
    places = sorted({round(first + (pages - first) * i / steps) for i in range(steps + 1)})
    return [(place, 100 * harvest(line, outcomes, place)) for place in places]
