"""`clew lab run`, `show` and `report`: experiments."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.console import put, put_json, put_table, say
from clew.cli.directories import Json
from clew.cli.exits import INTERRUPTED
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.lab.results import Results
    from clew.lab.runner import ExperimentProgress
    from clew.lab.summary import ResultTable, Row

Output = Annotated[Path, Parameter(metavar="OUT", help="The directory of an experiment's results.")]
Against = Annotated[
    str, Parameter(metavar="STRATEGY", help="The strategy that others are tested against; else the file's.")
]


def run(
    experiment: Annotated[Path, Parameter(metavar="FILE", help="An experiment, as TOML.")],
    /,
    *,
    output: Annotated[
        Path | None,
        Parameter(name=("--output", "-o"), metavar="OUT", help="Where results go; else lab/ and the name."),
    ] = None,
    workers: Annotated[
        int | None, Parameter(metavar="N", help="Processes; by default one for each core.")
    ] = None,
    dice: Annotated[
        int | None, Parameter(metavar="N", help="Run every case so often, with other dice; else the file's.")
    ] = None,
    sets: Annotated[
        int | None, Parameter(metavar="N", help="Seed sets of each kind that is drawn; else the file's.")
    ] = None,
    part: Annotated[
        list[str] | None,
        Parameter(metavar="NAME", negative=(), help="Only this part of a suite; may be repeated."),
    ] = None,
    fresh: Annotated[bool, Parameter(negative=(), help="Forget finished runs and do them again.")] = False,
    json: Json = False,
) -> int:
    """Run an experiment, or go on with one that was interrupted, and show its tables."""
    # One thread a process: the processes are the parallelism, and sums stay in one order.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    from clew.lab.runner import run_experiment
    from clew.lab.suite import load_suite, note_look

    if (dice is not None and dice < 1) or (sets is not None and sets < 1):
        raise UsageError("--dice and --sets are at least 1")
    suite = load_suite(experiment).only(part or ()).repeated(dice=dice, sets=sets)
    place = output or Path("lab") / suite.name
    meter = Meter()
    # Asked to end, it ends as after Ctrl-C, and takes its processes with it.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    found: list[tuple[Results, tuple[ResultTable, ...]]] = []
    note_look(suite, "begun")
    try:
        for what in suite.parts:
            results = run_experiment(what, suite.place(place, what), workers=workers, fresh=fresh, tell=meter)
            meter.end()
            found.append((results, _finish(results, "")))
    except KeyboardInterrupt:
        meter.end()
        say(f"clew: interrupted; what is finished is in {place}: run the same command to go on")
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    meter.end()
    tables = tuple(table for _, some in found for table in some)
    note_look(suite, "finished", tables)
    for results, _ in found:
        say(f"report  {results.directory / 'report.html'}")
    if json:
        put_json(_suite_json(tables, suite.parts[0].baseline) if not suite.whole else _as_json(tables))
        return 0
    for results, some in found:
        _put(some, results, json=False)
    if not suite.whole:
        _put_overall(tables, suite.parts[0].baseline)
    return 0


def _as_json(tables: tuple[ResultTable, ...]) -> dict[str, Any]:
    from clew.lab.summary import as_json

    return as_json(tables)


def _suite_json(tables: tuple[ResultTable, ...], baseline: str) -> dict[str, Any]:
    from clew.lab.suite import overall

    return _as_json(tables) | {"overall": [asdict(row) for row in overall(tables, baseline)]}


def _put_overall(tables: tuple[ResultTable, ...], baseline: str) -> None:
    """All webs of a suite together."""
    from clew.lab.suite import overall

    headings = ("all webs", "starts", "topics", "nAUC", "95 %", "difference", "p")
    rows = [
        (
            row.strategy,
            row.starts,
            str(row.topics),
            f"{row.nauc:.3f}",
            f"{row.low:.3f}–{row.high:.3f}",
            "" if row.difference is None else f"{row.difference:+.3f}",
            "" if row.p is None else f"{row.p:.4f}",
        )
        for row in overall(tables, baseline)
    ]
    put_table(headings, rows, right=range(2, 7))


def show(output: Output, /, *, against: Against = "", json: Json = False) -> None:
    """Print the tables of an experiment, finished or not."""
    from clew.lab.results import Results

    results = Results(output)
    _put(_tables(results, against), results, json=json)


def report(output: Output, /, *, against: Against = "", json: Json = False) -> None:
    """Write an experiment's report.html anew."""
    from clew.lab.results import Results

    results = Results(output)
    _finish(results, against)
    place = output / "report.html"
    put_json({"report": str(place)}) if json else put(str(place))


class Meter:
    """Progress on stderr: one line that changes on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()
        self.next = 0.0
        self.shown = False

    def __call__(self, progress: ExperimentProgress) -> None:
        now = time.monotonic()
        if now < self.next and progress.done < progress.total:
            return
        self.next = now + (0.2 if self.live else 10.0)
        text = f"{progress.done}/{progress.total}  {progress.last}"
        if self.live:
            print(f"\r\x1b[K{text[:100]}", end="", file=sys.stderr, flush=True)
            self.shown = True
        else:
            say(text)

    def end(self) -> None:
        """Leave the line."""
        if self.shown:
            say()
            self.shown = False


def _tables(results: Results, against: str) -> tuple[ResultTable, ...]:
    from clew.lab.summary import summarise

    what = results.experiment()
    return summarise(
        list(results.runs().values()), results.oracles().values(), what.budget, against or what.baseline
    )


def _finish(results: Results, against: str) -> tuple[ResultTable, ...]:
    import json

    from clew.lab.results import write_whole
    from clew.lab.summary import as_json
    from clew.report.lab import write_lab_report

    tables = _tables(results, against)
    write_whole(results.directory / "summary.json", json.dumps(as_json(tables), indent=1) + "\n")
    write_lab_report(results, tables, results.directory / "report.html")
    return tables


def _put(tables: tuple[ResultTable, ...], results: Results, *, json: bool) -> None:
    from clew.lab.summary import as_json

    if json:
        put_json(as_json(tables))
        return
    cpu = _cpu(results)
    for table in tables:
        put(f"{table.setting}, {table.budget} requests, {table.cases} cases (p against {table.baseline})")
        headings = ("strategy", "nAUC", "95 %", "recall", "to 50 %", "to 80 %", "to 90 %", "ms/page", "p")
        put_table(headings, [_cells(row, cpu) for row in table.rows], right=range(1, 9))
        put()
        put_table(_LUCK, [_luck_cells(row) for row in table.rows], right=range(1, 10))
        put()


def _cells(row: Row, cpu: dict[str, float]) -> tuple[str, ...]:
    between = "" if row.low is None else f"{row.low:.3f}–{row.high:.3f}"
    return (
        row.strategy,
        _number(row.nauc),
        between,
        _number(row.recall),
        _reached(row.to50, row.to50_share),
        _reached(row.to80, row.to80_share),
        _reached(row.to90, row.to90_share),
        f"{cpu[row.strategy]:.2f}" if row.strategy in cpu else "",
        "" if row.p is None else f"{row.p:.4f}",
    )


_LUCK = (
    *("luck", "worst", "÷ mean", "95 %", "sd dice", "starts", "topics"),
    *("none in 50", "with one near", "first find"),
)


def _luck_cells(row: Row) -> tuple[str, ...]:
    luck = row.luck
    between = "" if luck.worst_low is None else f"{luck.worst_low:.2f}–{luck.worst_high:.2f}"
    return (
        f"{row.strategy}, {luck.dice} dice" if luck.dice > 1 else row.strategy,
        _number(luck.worst),
        "–" if luck.worst_share is None else f"{luck.worst_share:.2f}",
        between,
        _number(luck.sd_dice),
        _number(luck.sd_starts),
        _number(luck.sd_topics),
        f"{luck.nothing:.0%}",
        "–" if luck.nothing_near is None else f"{luck.nothing_near:.0%}",
        f"{luck.first:.0f}",
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _reached(requests: float | None, share: float) -> str:
    """Mean requests, and the share of runs that got there when not all did."""
    return "–" if requests is None else f"{requests:.0f}" if share == 1 else f"{requests:.0f} ({share:.0%})"


def _cpu(results: Results) -> dict[str, float]:
    """Milliseconds of CPU per page, by strategy."""
    timings = results.timings()
    spent: dict[str, tuple[int, float]] = {}
    for run in results.runs().values():
        pages, seconds = timings.get(run.key, (0, 0.0))
        before = spent.get(run.strategy, (0, 0.0))
        spent[run.strategy] = (before[0] + pages, before[1] + seconds)
    return {name: 1000 * seconds / pages for name, (pages, seconds) in spent.items() if pages}
