"""`clew lab reproduce`: the experiments of the papers, done again."""

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
ARIADNE = "ariadne"
"""All figures of the paper on Ariadne."""
STATEMENTS = "statements"
#: Papers whose reproduction is no matter of harvest curves.
STUDIES = ("confidence", "topic-driven")


def reproduce(
    figure: Annotated[
        str,
        Parameter(
            metavar="FIGURE",
            help="figure-3, …, collaborative, ariadne, confidence, topic-driven, or all; see the docs.",
        ),
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
    from clew.lab.reproduce import ariadne_figures, collaborative_figures, figures, perform
    from clew.report.reproduction import write_document, write_figure

    if quick and docs is not None:
        raise UsageError(
            "--quick is for trying out: its figures do not go into a document; leave out one of the two"
        )
    if figure in STUDIES:
        return _study(figure, output, quick=quick, docs=docs, json=json)
    # Other papers have pages of their own: they are no part of `all`, which is that of the first.
    ariadne = ariadne_figures(small=quick)
    other = ariadne | collaborative_figures(small=quick)
    every = other if figure in (ARIADNE, *other) else figures(small=quick)
    names = list(ariadne) if figure == ARIADNE else [figure] if figure in other else _chosen(figure, every)
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


def _study(figure: str, output: Path, *, quick: bool, docs: Path | None, json: bool) -> int:
    """What is no matter of harvest curves, each with a page of its own."""
    from clew.lab.reproduce.confidence import confidence_study
    from clew.lab.reproduce.topic_driven import topic_driven_study
    from clew.report.reproduction import place_study, study_json, write_study

    made = {"confidence": confidence_study, "topic-driven": topic_driven_study}[figure]
    study = made(small=quick, tell=lambda said: say(f"clew: done: {said}"))
    output.mkdir(parents=True, exist_ok=True)
    write_study(study, output)
    if docs is not None:
        place_study(study, docs)
    if json:
        put_json([study_json(study)])
    else:
        put(study.title)
        for sheet in study.sheets:
            put(f"  {sheet.title}")
            put_table(sheet.headings, sheet.rows, right=range(1, len(sheet.headings)))
            put()
    say(f"plots and tables in {output}")
    return 0


def _chosen(figure: str, every: dict[str, Figure]) -> list[str]:
    known = [*every, STATEMENTS]
    if figure == EVERYTHING:
        return known
    others = ("collaborative", ARIADNE, *STUDIES)
    if figure not in known:
        raise UsageError(
            f"there is no figure {figure!r}: choose {', '.join([*known, *others])} or {EVERYTHING}"
        )
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
