"""Crawls as processes of their own, which go on when the dashboard ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from clew.errors import UsageError
from clew.store.directory import holder

#: Where a crawl that was started from the page says what went wrong, in its directory, and how much of it is
#: shown.
_SAID, _SHOWN = "clew.err", 2000


class Launcher:
    """Starts crawls, and remembers those it started."""

    def __init__(self) -> None:
        self._started: dict[Path, subprocess.Popen[bytes]] = {}

    def start(self, directory: Path) -> None:
        """Start the crawl of a directory, or go on with it: what `clew crawl -d .` does when typed there."""
        if holder(directory) is not None or self.is_starting(directory):
            raise UsageError("this crawl is running already")
        with (directory / _SAID).open("wb") as said:
            self._started[directory] = subprocess.Popen(
                [sys.executable, "-m", "clew.cli", "crawl", "-d", "."],
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
            )

    def is_starting(self, directory: Path) -> bool:
        """Whether a process that was started here is there."""
        process = self._started.get(directory)
        return process is not None and process.poll() is None

    def failure(self, directory: Path) -> str:
        """What a crawl that was started here said when it ended with a failure; empty for any other."""
        process = self._started.get(directory)
        if process is None or process.poll() in (None, 0, 3, 128 + signal.SIGINT, 128 + signal.SIGTERM):
            return ""
        try:
            said = (directory / _SAID).read_bytes()[-_SHOWN:].decode("utf-8", "replace")
        except OSError:
            said = ""
        lines = [line.removeprefix("clew: ") for line in said.splitlines() if line.strip()]
        return "\n".join(lines[-6:]) or f"the crawl ended with exit code {process.returncode}"

    def failures(self) -> list[tuple[Path, str]]:
        """What every crawl that was started here and failed said."""
        return [(path, why) for path in self._started if (why := self.failure(path))]

    def stop(self, directory: Path) -> None:
        """Ask the process that crawls there to stop at a checkpoint, as Ctrl-C does."""
        pid = holder(directory)
        if pid is None or pid == os.getpid():
            raise UsageError("this crawl is not running: there is nothing to stop")
        os.kill(pid, signal.SIGINT)
