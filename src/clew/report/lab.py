"""An experiment's results as one HTML file: find curves, contributions along the run, tables and tests."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from clew.lab.results import Oracle, Results, RunResult
from clew.lab.summary import ResultTable, mean_curve
from clew.report.line_chart import Line, key, plot
from clew.report.write import write_page


@dataclass(frozen=True, slots=True)
class Section:
    """One table with its pictures."""

    table: ResultTable
    curves: Markup
    legend: Markup
    factors: tuple[tuple[str, Markup, Markup], ...]
    """By strategy: name, picture of its contributions, legend."""
    topics: tuple[str, ...]


def write_lab_report(results: Results, tables: Sequence[ResultTable], path: Path) -> None:
    """Write the report of an experiment, finished or not."""
    experiment = results.experiment()
    runs = list(results.runs().values())
    oracles = {oracle.case: oracle for oracle in results.oracles().values()}
    longest = experiment.longest
    sections = [_section(table, runs, oracles, pictures=table.budget == longest) for table in tables]
    write_page(
        path,
        "lab.html.j2",
        {
            "experiment": experiment,
            "sections": sections,
            "runs": len(runs),
            "settings": experiment.model_dump_json(indent=1, exclude_defaults=True),
            "command": f"clew lab run {experiment.name}.toml --output {shlex.quote(str(results.directory))}",
        },
    )


def _section(
    table: ResultTable, runs: Sequence[RunResult], oracles: dict[str, Oracle], *, pictures: bool
) -> Section:
    names = [row.strategy for row in table.rows]
    mine = {name: [r for r in runs if r.setting == table.setting and r.strategy == name] for name in names}
    topics = tuple(dict.fromkeys(topic for row in table.rows for topic in row.topics))
    if not pictures:
        return Section(table, Markup(""), Markup(""), (), topics)
    lines: list[Line] = [(name, mean_curve(mine[name], table.budget)) for name in names]
    lines.append(("oracle", _oracle_curve(mine[names[0]], oracles, table.budget)))
    factors = tuple(
        (name, plot(found, "requests", "contribution"), key([part for part, _ in found]))
        for name in names
        if (found := _contributions(mine[name], table.budget))
    )
    picture = plot(lines, "requests", "share of reachable targets found")
    return Section(table, picture, key([name for name, _ in lines]), factors, topics)


def _oracle_curve(
    runs: Sequence[RunResult], oracles: dict[str, Oracle], budget: int
) -> Sequence[tuple[float, float]]:
    known = [replace(run, finds=oracles[run.case].finds) for run in runs if run.case in oracles]
    return mean_curve(known, budget)


def _contributions(runs: Sequence[RunResult], budget: int) -> list[Line]:
    """The mean of each contribution along the run; strategies with a single one have nothing to compare."""
    names = list(dict.fromkeys(name for run in runs for name in run.parts))
    if len(names) < 2:
        return []
    lines: list[Line] = []
    for name in names:
        rows = [run.parts[name] for run in runs if run.parts.get(name)]
        width = max(map(len, rows), default=0)
        points = []
        for i in range(width):
            column = [row[i] for row in rows if i < len(row)]
            points.append((budget * (i + 0.5) / width, math.fsum(column) / len(column)))
        lines.append((name, points))
    return lines
