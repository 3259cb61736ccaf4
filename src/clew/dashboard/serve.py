"""The dashboard as a server on this machine."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from clew.dashboard import require
from clew.errors import UsageError

PORT, _LAST_PORT = 8088, 65535


def serve(
    place: Path,
    *,
    port: int = PORT,
    address: str = "127.0.0.1",
    names: Sequence[str] = (),
    on_ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Show the crawls of a folder, or one of them, until interrupted.

    Parameters: the folder, or a crawl's directory; the port, 0 for a free one; the address to listen on;
    further names a browser may use for it; `on_ready`, told the address to open, with the token.
    """
    require()
    import uvicorn

    from clew.dashboard.app import Dashboard, make_app
    from clew.dashboard.folder import open_folder
    from clew.dashboard.gate import AccessRules

    folder, first = open_folder(place)
    admitted = AccessRules.make(address, port, names)
    listening = _listen(address, port)
    admitted = replace(admitted, port=listening.getsockname()[1])
    app = make_app(Dashboard(folder, admitted, first))
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, date_header=False, lifespan="off",
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    on_ready(admitted.url if first is None else admitted.url.replace("/?", f"/crawl/{first.key}?", 1))
    with listening:
        uvicorn.Server(settings).run(sockets=[listening])


def _listen(address: str, port: int) -> socket.socket:
    if not 0 <= port <= _LAST_PORT:
        raise UsageError(f"{port} is not a port: choose one from 1 to {_LAST_PORT}, or 0 for a free one")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        refused = error.errno in (errno.EADDRINUSE, errno.EACCES)
        hint = "choose another --port, or 0 for a free one" if refused else "choose another --host"
        raise UsageError(f"cannot listen on {address}:{port}: {error.strerror}; {hint}") from error
    return listening
