"""`clew steer`: changes to a crawl under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from clew.cli.console import ProgressNotice, clean, put, put_json
from clew.cli.directories import Directory, Json

if TYPE_CHECKING:
    from clew.run.steering import Preview


def steer(
    directory: Directory,
    /,
    *,
    match: Annotated[
        tuple[str, ...] | None,
        Parameter(
            name=("--match", "-m"),
            metavar="[NAME=]FORMULA",
            negative=(),
            allow_leading_hyphen=True,
            help="What is a find from now on; pages that were fetched are judged anew. Can be repeated, "
            "with names.",
        ),
    ] = None,
    strategy: Annotated[
        str | None, Parameter(metavar="NAME", help="Which strategy chooses; it is taught all that happened.")
    ] = None,
    weights: Annotated[
        str | None,
        Parameter(metavar="NAME=X,…", help="How the parts of a score weigh; none for those it began with."),
    ] = None,
    stop: Annotated[str | None, Parameter(metavar="RULE", help="The rule to stop by; none for none.")] = None,
    pages: Annotated[
        str | None, Parameter(metavar="N", help="Stop after so many pages; none lifts it.")
    ] = None,
    matches: Annotated[str | None, Parameter(metavar="N", help="Stop after so many finds.")] = None,
    time: Annotated[str | None, Parameter(metavar="DURATION", help="Stop after a time such as 2h.")] = None,
    bytes: Annotated[  # noqa: A002 - the option's name
        str | None, Parameter(metavar="SIZE", help="Stop after receiving so much.")
    ] = None,
    requests: Annotated[str | None, Parameter(metavar="N", help="Stop after so many requests.")] = None,
    interest: Annotated[
        str | None, Parameter(metavar="X", help="Stop when nothing promises X times what chance gives.")
    ] = None,
    ban_host: Annotated[
        tuple[str, ...],
        Parameter(metavar="HOST", negative=(), help="Fetch nothing more there; can be repeated."),
    ] = (),
    boost: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="PATTERN=X",
            negative=(),
            help="URLs of a pattern are worth X times as much; 1 takes it back; can be repeated.",
        ),
    ] = (),
    feedback: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="URL=yes|no",
            negative=(),
            help="Whether a fetched page is a find, whatever the formula says; can be repeated.",
        ),
    ] = (),
    pause: Annotated[bool, Parameter(negative=(), help="Ask for nothing more until --resume.")] = False,
    resume: Annotated[bool, Parameter(negative=(), help="Go on after --pause.")] = False,
    preview: Annotated[
        bool, Parameter(negative=(), help="Say what would rise and fall, and change nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Change a crawl while it runs, or before it goes on."""
    from clew.run.steering import Steer, send

    request = Steer.of(
        match=match,
        strategy=strategy,
        weights=weights,
        stop=stop,
        pages=pages,
        matches=matches,
        time=time,
        bytes=bytes,
        requests=requests,
        interest=interest,
        ban_host=ban_host or None,
        boost=boost or None,
        feedback=feedback or None,
        pause=pause or None,
        resume=resume or None,
    )
    notice = ProgressNotice("learning again from what was fetched")
    reply = send(directory, request, preview=preview, timeout=None, progress=notice.tell)
    if json:
        put_json(reply.as_dict())
        return
    if reply.preview is not None:
        _show(reply.preview)
    else:
        put(f"{reply.state}: {', '.join(reply.changes)}: {clean(reply.message)}")


def _show(found: Preview) -> None:
    put(f"{found.moved} of {found.waiting} that wait would be worth something else; nothing was changed")
    if found.finds is not None:
        put(f"finds: {found.finds[0]} now, {found.finds[1]} then")
    for title, rows in (("rise", found.rises), ("fall", found.falls)):
        if rows:
            put()
            put(title)
        for row in rows:
            put(
                f"  {row.place_before:>7} -> {row.place_after:<7} {row.before:9.4g} -> {row.after:<9.4g} "
                f"{clean(row.url)}"
            )
