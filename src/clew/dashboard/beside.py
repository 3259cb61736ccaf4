"""A dashboard beside a crawl: a process of its own, which ends when the crawl's does, however that ends.

The crawl never waits for it: it is started, says when it is there, and is told to end by the end of its
standard input, which the system closes for a process that was killed, too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from clew.dashboard import require
from clew.dashboard.serve import PORT, serve
from clew.errors import UsageError
from clew.store import is_crawl

#: Seconds between two looks whether the crawl is there, and that the process may take to end.
_POLL, _END = 0.1, 5.0


class DashboardBeside:
    """A dashboard of a crawl that is about to begin.

    Parameters: the crawl's directory; `on_ready`, told the address to open, from another thread.
    """

    def __init__(self, directory: Path, on_ready: Callable[[str], None]) -> None:
        require()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "clew.dashboard.beside", str(directory.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for the crawl.
            start_new_session=True,
            text=True,
        )
        self._on_ready = on_ready
        self.url = ""
        """What to open; empty until it is there."""
        threading.Thread(target=self._listen, daemon=True).start()

    def __repr__(self) -> str:
        return f"DashboardBeside({self.url!r})"

    def _listen(self) -> None:
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if self.url:
            self._on_ready(self.url)

    def wait(self) -> None:
        """Wait until it ends."""
        self._process.wait()

    def close(self) -> None:
        """Have it end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _end_with_input() -> None:
    """Interrupt this process when nobody holds the other end of its input any more."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGINT)


def main(directory: str) -> None:
    """Serve the crawl of a directory, once it is there, until the input ends."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    while not is_crawl(directory):
        time.sleep(_POLL)
    try:
        serve(Path(directory), port=PORT, on_ready=_tell)
    except UsageError:  # somebody else has the port
        serve(Path(directory), port=0, on_ready=_tell)


def _tell(url: str) -> None:
    print(url, flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        sys.exit(0)
