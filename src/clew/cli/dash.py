"""`clew dash`: the dashboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from clew.cli.console import put, say
from clew.dashboard.serve import PORT, serve


def dash(
    place: Annotated[
        Path, Parameter(metavar="DIR|FOLDER", help="A crawl's directory, or a folder with crawls in it.")
    ] = Path("."),
    /,
    *,
    port: Annotated[
        int, Parameter(metavar="PORT", help=f"Where to listen; 0 takes a free one ({PORT}).")
    ] = PORT,
    host: Annotated[
        str, Parameter(metavar="ADDRESS", help="The address to listen on (127.0.0.1).")
    ] = "127.0.0.1",
    name: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="NAME", negative=(), help="A further name the page may be asked by; can be repeated."
        ),
    ] = (),
    browser: Annotated[bool, Parameter(negative=(), help="Open it in the browser of this machine.")] = False,
) -> None:
    """Show crawls in a browser, start new ones and steer them."""
    serve(place, port=port, address=host, names=name, on_ready=lambda url: _ready(url, browser))


def _ready(url: str, browser: bool) -> None:
    put(url)
    say("open this address; stop with Ctrl-C, which ends no crawl")
    if browser:
        import webbrowser

        webbrowser.open(url)
