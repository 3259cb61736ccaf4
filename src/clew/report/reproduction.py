"""Figures of a reproduction as files: a picture for each plot, the tables as markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.lab.reproduce import Figure, Panel, Sheet, block, fill, points
from clew.lab.reproduce.figure import Outcomes
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
        write_whole(directory / file, _picture(panel, outcomes))
        made[panel.title] = file
    return made


#: Kinds of figures whose panels are plots; the others are tables only.
_DRAWN = ("curves", "spread", "reuse", "forms")


def _picture(panel: Panel, outcomes: Outcomes) -> str:
    # The oracle is in the tables; drawn, it would press all the others to the ground.
    shown = [line for line in panel.lines if line.name != ORACLE]
    lines = [(line.name, points(line, outcomes, panel.pages)) for line in shown]
    return svg_document(panel.title, lines, "pages crawled", "harvest, %")


def write_document(found: Sequence[Written], outcomes: Mapping[Any, Any], document: Path) -> None:
    """Put figures into their places in a document, pictures into the folder beside it that has its name."""
    beside = document.with_suffix("")
    blocks = {}
    for item in found:
        pictures = write_pictures(item.figure, outcomes, beside)
        placed = {title: f"{beside.name}/{file}" for title, file in pictures.items()}
        blocks[item.figure.name] = block(item.figure, item.sheets, placed)
    write_whole(document, fill(document.read_text("utf-8"), blocks))
