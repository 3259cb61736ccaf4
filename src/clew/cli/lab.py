"""`clew lab`: recorded webs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from clew.cli.console import say


def serve(
    corpus: Annotated[
        str, Parameter(metavar="CORPUS", help="A recorded web by name, a crawl directory or a WARC file.")
    ],
    /,
    *,
    port: Annotated[int, Parameter(metavar="PORT", help="Where to listen; 0 takes a free one.")] = 8089,
    log: Annotated[
        Path | None, Parameter(metavar="FILE", help="A line for each request; - for stdout.")
    ] = None,
) -> None:
    """Serve a recorded web as an HTTP forward proxy, for any crawler."""
    from clew.lab.corpora import open_web
    from clew.lab.serve import serve_forever
    from clew.lab.webs import HttpOnlyWeb

    web = open_web(corpus)
    if any(seed.startswith("https:") for seed in web.seeds()):
        # The proxy answers for every host, and has no certificate of any.
        say("note: its pages were recorded by https; they are served by http, with their links made http")
        web = HttpOnlyWeb(web)
    requests = serve_forever(web, port=port, log_path=log, on_ready=lambda url: _ready(url, web.seeds()))
    say(f"{requests} requests answered")


def _ready(url: str, seeds: tuple[str, ...]) -> None:
    say(f"serving on {url}; stop with Ctrl-C")
    for seed in seeds:
        say(f"  seed  {seed}")
    say(f"  with  clew crawl SEED -m FORMULA -d DIR --proxy {url} --own '*' --delay 0")
