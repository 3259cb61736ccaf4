"""Figures of a reproduction as files: a picture for each plot, the tables as markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.lab.reproduce import Figure, Panel, Sheet, Study, block, fill, points
from clew.lab.reproduce.figure import Outcomes
from clew.lab.reproduce.sheets import histogram
from clew.lab.reproduce.study import stamp
from clew.lab.reproduce.trial import ORACLE
from clew.lab.results import write_whole
from clew.report.svg_document import svg_document


@dataclass(frozen=True, slots=True)
class Written:
    """A figure and its tables, ready to be written."""

    figure: Figure
    sheets: tuple[Sheet, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        tables = [
            {
                "title": sheet.title,
                "headings": list(sheet.headings),
                "rows": [list(row) for row in sheet.rows],
            }
            for sheet in self.sheets
        ]
        return {"name": self.figure.name, "title": self.figure.title, "tables": tables}


def write_study(study: Study, directory: Path) -> None:
    """Write `NAME.md`, `NAME.json` and `NAME-PLOT.svg` into a directory."""
    pictures = _study_pictures(study, directory)
    write_whole(directory / f"{study.name}.md", f"# {study.title}\n\n{_study_block(study, pictures)}")
    write_whole(
        directory / f"{study.name}.json", json.dumps(study_json(study), indent=1, ensure_ascii=False) + "\n"
    )


def study_json(study: Study) -> dict[str, Any]:
    """Plain data."""
    figure = Figure(study.name, study.title, study.paper, study.here, ())
    return Written(figure, study.sheets).as_json()


def place_study(study: Study, document: Path) -> None:
    """Put a study into its place in a document, pictures into the folder beside it that has its name."""
    beside = document.with_suffix("")
    pictures = _study_pictures(study, beside)
    placed = {title: f"{beside.name}/{file}" for title, file in pictures.items()}
    text = _study_block(study, placed)
    write_whole(document, fill(document.read_text("utf-8"), {study.name: text}))


def _study_block(study: Study, pictures: Mapping[str, str]) -> str:
    figure = Figure(study.name, study.title, study.paper, study.here, ())
    return block(figure, study.sheets, pictures).rstrip() + f" ({stamp()})\n"


def _study_pictures(study: Study, directory: Path) -> dict[str, str]:
    directory.mkdir(parents=True, exist_ok=True)
    made = {}
    for plot in study.plots:
        file = f"{study.name}-{plot.name}.svg"
        write_whole(directory / file, svg_document(plot.title, plot.lines, plot.across, plot.up))
        made[plot.title] = file
    return made


def write_figure(found: Written, outcomes: Outcomes, directory: Path) -> None:
    """Write `NAME.md`, `NAME.json` and `NAME-PANEL.svg` into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    name = found.figure.name
    pictures = write_pictures(found.figure, outcomes, directory)
    write_whole(
        directory / f"{name}.md", f"# {found.figure.title}\n\n{block(found.figure, found.sheets, pictures)}"
    )
    write_whole(directory / f"{name}.json", json.dumps(found.as_json(), indent=1, ensure_ascii=False) + "\n")


def write_pictures(figure: Figure, outcomes: Outcomes, directory: Path) -> dict[str, str]:
    """Write a figure's plots; gives title and file name of each."""
    made: dict[str, str] = {}
    if figure.kind not in _DRAWN:
        return made
    directory.mkdir(parents=True, exist_ok=True)
    for panel in figure.panels:
        file = f"{figure.name}-{panel.name}.svg"
        draw = _histograms if figure.kind == "distances" else _picture
        write_whole(directory / file, draw(panel, outcomes))
        made[panel.title] = file
    return made


#: Kinds of figures whose panels are plots; the others are tables only.
_DRAWN = ("curves", "spread", "reuse", "forms", "precision", "distances")


def _picture(panel: Panel, outcomes: Outcomes) -> str:
    # The oracle is in the tables; drawn, it would press all the others to the ground.
    shown = [line for line in panel.lines if line.name != ORACLE]
    lines = [(line.name, points(line, outcomes, panel.pages)) for line in shown]
    return svg_document(panel.title, lines, "pages crawled", "harvest, %")


def _histograms(panel: Panel, outcomes: Outcomes) -> str:
    """Finds by the links from a start page, a bar for each distance."""
    shown = [line for line in panel.lines if line.name != ORACLE]
    lines = []
    for line in shown:
        counts = histogram([far for trial in line.trials for far in outcomes[trial].distances])
        lines.append(
            (line.name, [(at + side, float(n)) for at, n in enumerate(counts) for side in (0.0, 1.0)])
        )
    return svg_document(panel.title, lines, "links from a start page", "finds")


def write_document(found: Sequence[Written], outcomes: Mapping[Any, Any], document: Path) -> None:
    """Put figures into their places in a document, pictures into the folder beside it that has its name."""
    beside = document.with_suffix("")
    blocks = {}
    for item in found:
        pictures = write_pictures(item.figure, outcomes, beside)
        placed = {title: f"{beside.name}/{file}" for title, file in pictures.items()}
        blocks[item.figure.name] = block(item.figure, item.sheets, placed)
    write_whole(document, fill(document.read_text("utf-8"), blocks))
