"""`clew lab reproduce`: the experiments of the 2001 paper, and of the 2002 one, done again."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from clew.cli.console import put, put_json, put_table, say
from clew.cli.directories import Json
from clew.cli.exits import INTERRUPTED
from clew.cli.lab_run import Meter
from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.lab.reproduce import Figure
    from clew.report.reproduction import Written

EVERYTHING = "all"
STATEMENTS = "statements"


def reproduce(
    figure: Annotated[
        str,
        Parameter(metavar="FIGURE", help="figure-3, table-2, …, collaborative, or all; see the docs."),
    ],
    /,
    *,
    output: Annotated[
        Path, Parameter(name=("--output", "--out", "-o"), metavar="OUT", help="Where results go.")
    ] = Path("lab/reproduction"),
    quick: Annotated[
        bool, Parameter(negative=(), help="Small crawls of the demo web, which needs no corpora: a minute.")
    ] = False,
    docs: Annotated[
        Path | None, Parameter(metavar="FILE", help="A document with places for the figures, to be filled.")
    ] = None,
    workers: Annotated[
        int | None, Parameter(metavar="N", help="Processes; by default one for each core.")
    ] = None,
    fresh: Annotated[bool, Parameter(negative=(), help="Forget finished crawls and do them again.")] = False,
    json: Json = False,
) -> int:
    """Crawl what a figure of the paper shows, on recorded webs; write its plots and tables."""
    # One thread a process: the processes are the parallelism, and sums stay in one order.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    from clew.lab.reproduce import collaborative_figures, figures, perform
    from clew.report.reproduction import write_document, write_figure

    # The 2002 paper has its own page: it is no part of `all`, which is the 2001 paper's.
    other = collaborative_figures(small=quick)
    every = other if figure in other else figures(small=quick)
    names = [figure] if figure in other else _chosen(figure, every)
    if quick and docs is not None:
        raise UsageError(
            "--quick is for trying out: its figures do not go into a document; leave out one of the two"
        )
    needed = every if STATEMENTS in names else {name: every[name] for name in names}
    output.mkdir(parents=True, exist_ok=True)
    file = output / ("quick.jsonl" if quick else "crawls.jsonl")
    if fresh:
        file.unlink(missing_ok=True)
    meter = Meter()
    # Asked to end, it ends as after Ctrl-C, and takes its processes with it.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        trials = [trial for item in needed.values() for trial in item.trials]
        outcomes = perform(trials, file, workers=workers, tell=meter)
    except KeyboardInterrupt:
        meter.end()
        say(f"clew: interrupted; what is finished is in {file}: run the same command to go on")
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    meter.end()
    found = _written(names, every, outcomes)
    for item in found:
        write_figure(item, outcomes, output)
    if docs is not None:
        write_document(found, outcomes, docs)
    _put(found, json=json)
    say(f"plots and tables in {output}")
    return 0


def _chosen(figure: str, every: dict[str, Figure]) -> list[str]:
    known = [*every, STATEMENTS]
    if figure == EVERYTHING:
        return known
    if figure not in known:
        raise UsageError(f"there is no figure {figure!r}: choose {', '.join(known)} or {EVERYTHING}")
    return [figure]


def _written(names: Sequence[str], every: dict[str, Figure], outcomes: dict) -> list[Written]:  # type: ignore[type-arg]
    from clew.lab.reproduce import sheets, statements
    from clew.lab.reproduce.figure import Figure
    from clew.report.reproduction import Written

    found = [Written(every[name], sheets(every[name], outcomes)) for name in names if name != STATEMENTS]
    if STATEMENTS in names:
        about = "Every statement of section 5 that can be counted, over all cases of the figures above."
        found.append(
            Written(
                Figure(STATEMENTS, "The paper's statements", "", about, (), STATEMENTS),
                statements(every, outcomes),
            )
        )
    return found


def _put(found: Sequence[Written], *, json: bool) -> None:
    if json:
        put_json([item.as_json() for item in found])
        return
    for item in found:
        put(item.figure.title)
        for sheet in item.sheets:
            put(f"  {sheet.title}")
            put_table(sheet.headings, sheet.rows, right=range(1, len(sheet.headings)))
            put()
