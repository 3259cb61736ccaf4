"""Crawls as processes of their own, which go on when the dashboard ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from clew.dashboard.folder import SAID
from clew.errors import UsageError
from clew.store.directory import holder

#: How much is shown of what a crawl that was started from the page said.
_SHOWN = 2000


class Launcher:
    """Starts crawls, and remembers those it started."""

    def __init__(self) -> None:
        self._started: dict[Path, subprocess.Popen[bytes]] = {}

    def start(self, directory: Path) -> None:
        """Start the crawl of a directory, or go on with it: what `clew crawl -d .` does when typed there."""
        if holder(directory) is not None or self.is_starting(directory):
            raise UsageError("this crawl is running already")
        with (directory / SAID).open("wb") as said:
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
        if process.returncode < 0:
            # What it said last is no reason: it was not asked.
            why = f"signal {-process.returncode}"
            return f"the process that crawled was ended from outside ({why}): what was saved is safe, go on"
        try:
            said = (directory / SAID).read_bytes()[-_SHOWN:].decode("utf-8", "replace")
        except OSError:
            said = ""
        lines = [line for line in said.splitlines() if line.strip()]
        # How far it was stands before what went wrong.
        first = next((at for at, line in enumerate(lines) if line.startswith("clew: ")), 0)
        told = [line.removeprefix("clew: ") for line in lines[first:][-6:]]
        return "\n".join(told) or f"the crawl ended with exit code {process.returncode}"

    def failures(self) -> list[tuple[Path, str]]:
        """What every crawl that was started here and failed said."""
        return [(path, why) for path in self._started if (why := self.failure(path))]

    def stop(self, directory: Path) -> None:
        """Ask the process that crawls there to stop at a checkpoint, as Ctrl-C does."""
        pid = holder(directory)
        if pid is None or pid == os.getpid():
            raise UsageError("this crawl is not running: there is nothing to stop")
        os.kill(pid, signal.SIGINT)
