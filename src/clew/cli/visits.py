"""`clew visits import|audit|forget`: people's logs, and what is kept of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from clew.cli.console import clean, put, put_json, put_pairs, put_table, say, stderr_console
from clew.cli.directories import Json
from clew.cli.exits import INTERRUPTED
from clew.errors import UsageError

if TYPE_CHECKING:
    from rich.progress import Progress

    from clew.visits.database import VisitsDatabase
    from clew.visits.importing import Imported
    from clew.visits.people import PersonLimits

Database = Annotated[Path, Parameter(metavar="VISITS", help="A database of visits.")]
Key = Annotated[
    Path | None,
    Parameter(metavar="FILE", help="The secret people are hashed with; else your configuration's."),
]
People = Annotated[
    int | None,
    Parameter(
        name="--k",
        metavar="N",
        help="Fewest people a page is spoken of for (3; 1 if the visits are your own browser's).",
    ),
]


def import_(
    *logs: Annotated[Path, Parameter(metavar="LOG", help="A log: plain, gzip or zstd.")],
    output: Annotated[
        Path,
        Parameter(name=("--output", "-o"), metavar="VISITS", help="The database, made if it is not there."),
    ],
    site: Annotated[
        str, Parameter(metavar="URL", help="Whose log it is, where its lines name no host.")
    ] = "",
    columns: Annotated[
        str, Parameter(metavar="FIELD=NAME,…", help="The columns of a table: person, time, url, and others.")
    ] = "",
    by_agent: Annotated[
        bool, Parameter(negative=(), help="Tell people behind one address apart by their browsers.")
    ] = False,
    person: Annotated[str, Parameter(metavar="NAME", help="Whose a browser's history is (me).")] = "me",
    key: Key = None,
    json: Json = False,
) -> int:
    """Take logs in: visits of people to pages, and a count for every line that is none.

    A log that cannot be read is told, and the others are read.
    """
    from clew.visits import ImportSettings, Secret, VisitsDatabase, import_log

    if not logs:
        raise UsageError("give the logs to import: clew visits import LOG… -o visits.db")
    settings = ImportSettings(site=site, columns=_columns(columns), by_agent=by_agent, person=person)
    secret = Secret.of_user(key, beside=output)
    failed = 0
    with VisitsDatabase(output, secret, create=True) as database, _bar() as bar:
        for log in logs:
            task = bar.add_task(clean(log.name, 40), total=None)
            try:
                imported = import_log(
                    database,
                    secret,
                    log,
                    settings,
                    tell=lambda done, total, task=task: bar.update(task, completed=done, total=total),  # type: ignore[misc]
                )
            except KeyboardInterrupt:
                say(f"clew: interrupted; what was read of {log} is kept: run the same command to go on")
                return INTERRUPTED
            except UsageError as error:
                if len(logs) == 1:
                    raise
                say(f"clew: {clean(str(error))}")
                failed += 1
            else:
                _put_imported(log, imported, json=json)
            bar.remove_task(task)
    if failed:
        raise UsageError(f"{failed} of {len(logs)} logs were not read to their end; the others were")
    return 0


def audit(
    database: Database,
    /,
    *,
    identity: Annotated[
        str, Parameter(metavar="TEXT", help="An address or user name: what is kept of that person.")
    ] = "",
    agent: Annotated[
        str, Parameter(metavar="TEXT", help="Their browser, where people were told apart by it (--by-agent).")
    ] = "",
    k: People = None,
    visits_a_day: Annotated[
        int, Parameter(metavar="N", help="Whoever has more visits on one day is a group (2000).")
    ] = 2000,
    visits_a_minute: Annotated[
        int, Parameter(metavar="N", help="Whoever has more visits in one minute is a group (100).")
    ] = 100,
    session_gap: Annotated[
        str, Parameter(metavar="DURATION", help="What separates two sessions of a person (30m).")
    ] = "30m",
    key: Key = None,
    json: Json = False,
) -> None:
    """Show what a database of visits keeps."""
    from clew.units import seconds
    from clew.visits import PersonLimits, Secret, VisitsDatabase

    if min(visits_a_day, visits_a_minute, 1 if k is None else k) < 1:
        raise UsageError("--k, --visits-a-day and --visits-a-minute take whole numbers from 1 on")
    if agent and not identity:
        raise UsageError("--agent tells people at one address apart: give that by --identity")
    try:
        gap = seconds(session_gap)
    except ValueError as error:
        raise UsageError(f"--session-gap: {error}") from None
    limits = PersonLimits(day=visits_a_day, minute=visits_a_minute, gap=gap)
    secret = Secret.kept(key) if identity else None
    with VisitsDatabase(database, secret) as opened:
        found = _kept(opened, k, limits)
        if secret is not None:
            who = f"{identity}\n{agent}" if agent else identity
            found["person"] = _kept_of(opened, secret.person(who.encode()))
    if json:
        put_json(found)
        return
    put(
        "kept of every visit: its time, a keyed hash of the person, a hash of the page; of every page its URL"
    )
    put("not kept: addresses, user names, agents, referrers, credentials, tokens, personal parameters")
    put()
    put_pairs({name: _plain(value) for name, value in found.items() if name not in ("logs", "person")})
    if found["logs"]:
        put()
        rows = [
            (row["format"], f"{row['lines']:,}", f"{row['visits']:,}", row["state"]) for row in found["logs"]
        ]
        put_table(("log", "lines", "visits", ""), rows, right=(1, 2))
    if "person" in found:
        put()
        put_pairs(found["person"])


def forget(
    database: Database,
    /,
    *,
    person: Annotated[
        str, Parameter(metavar="HASH", help="Whose visits: as clew visits audit --identity says.")
    ] = "",
    before: Annotated[
        str, Parameter(metavar="DATE", help="Which visits: those before a day or a time.")
    ] = "",
    json: Json = False,
) -> None:
    """Remove visits, and all that was derived of them; needs no secret."""
    from clew.visits import VisitsDatabase
    from clew.visits.formats import iso_clock

    if bool(person) == bool(before):
        raise UsageError("say what to forget: --person HASH or --before DATE")
    try:
        who = _hash(person) if person else None
        when = min(iso_clock(before.encode()), 1 << 62) if before else None
    except (ValueError, OverflowError):
        wanted = "a hash such as 0123456789abcdef" if person else "a date such as 2026-05-17"
        raise UsageError(f"{person or before!r} is not {wanted}") from None
    with VisitsDatabase(database, forgets=True) as opened:
        removed = opened.forget(person=who, before=when)
    if json:
        put_json({"forgotten": removed})
    else:
        put(f"{removed:,} visits forgotten")
    if removed:
        say(
            "crawls that were made with them keep what they found; resuming one says that the log has changed"
        )


def _hash(text: str) -> int:
    """The number of a person as `clew visits audit` writes it."""
    if len(text) != 16 or not set(text) <= set("0123456789abcdef") or text[0] > "7":
        raise ValueError
    return int(text, 16)


def _columns(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part]
    if bad := [name for name, mark, column in pairs if not mark or not column]:
        raise UsageError(f"--columns takes FIELD=NAME pairs with commas between them, not {bad[0]!r}")
    return {name.strip(): column.strip() for name, _, column in pairs}


@contextmanager
def _bar() -> Iterator[Progress]:
    """A progress bar on stderr, where that is a terminal."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    shown = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*shown, console=stderr_console(), transient=True, disable=not sys.stderr.isatty()) as bar:
        yield bar


def _put_imported(log: Path, imported: Imported, *, json: bool) -> None:
    counts = imported.counts
    if json:
        state = "known" if imported.known else "resumed" if imported.resumed else "new"
        shown = {why: clean(text, 100) for why, text in counts.examples.items()}
        put_json(
            {"log": str(log), "format": imported.format, "state": state, **counts.stored(), "examples": shown}
        )
        return
    put(f"{clean(str(log))}: {imported.format}, {counts.lines:,} lines, {counts.visits:,} visits")
    if imported.known:
        put("  was taken in before: nothing is counted twice")
        return
    if imported.resumed:
        put("  gone on with where it was left; the counts are of all of it")
    for why, count in counts.left_out.most_common():
        put(f"  {count:>10,}  left out: {why}")
    for why, count in counts.malformed.most_common():
        example = counts.examples.get(why, "")
        put(f"  {count:>10,}  malformed: {why}" + (f", such as {clean(example, 60)}" if example else ""))


def _kept(database: VisitsDatabase, k: int | None, limits: PersonLimits) -> dict[str, Any]:
    from clew.factor.visit_frequency import people
    from clew.visits.reading import read_visits

    first, last = next(database.rows("SELECT min(time), max(time) FROM visits"))
    read = read_visits(database.path, k, limits)
    logs = database.rows("SELECT format, finished, counts FROM logs ORDER BY number")
    return {
        "visits": database.one("SELECT count(*) FROM visits"),
        "pages": database.one("SELECT count(*) FROM pages"),
        f"pages of {people(read.log.k)}": len(read.log.urls),
        "from": _day(first),
        "to": _day(last),
        "secret": database.meta("key"),
        **{name.replace("_", " "): count for name, count in read.people.as_dict().items()},
        "logs": [_log_row(*row) for row in logs],
    }


def _log_row(name: str, finished: int, counts: str) -> dict[str, Any]:
    import json

    from clew.visits.importing import ImportCounts

    state = "finished" if finished else "interrupted"
    return {"format": name, "state": state, **ImportCounts.from_stored(json.loads(counts)).stored()}


def _kept_of(database: VisitsDatabase, person: int) -> dict[str, Any]:
    rows = "SELECT count(*), min(time), max(time) FROM visits WHERE person = ?"
    count, first, last = next(database.rows(rows, (person,)))
    return {"person": f"{person:016x}", "visits": count, "from": _day(first), "to": _day(last)}


def _day(time: int | None) -> str:
    from datetime import UTC, datetime, timedelta

    if time is None:
        return ""
    return str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)).date())


def _plain(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
