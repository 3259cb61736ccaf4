"""A crawl watched from outside: memory, descriptors and threads of a process and its children; stalls.

A stall is processor time that the crawl's first thread, the one that talks to the network, spends between two
requests. It is read from the kernel when a request arrives, so it says nothing of how busy the machine is.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sample:
    """The process and its children at one moment."""

    pages: int
    rss_mb: float
    main_mb: float
    """Of the process itself, without its parse workers."""
    files: int
    threads: int
    wal_mb: float
    log_mb: float


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def status(pid: int) -> dict[str, int]:
    """Memory in kilobytes, threads and open files of a process; zeros when it has gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        values = dict(line.split(":", 1) for line in lines)
        return {
            "rss": int(values.get("VmRSS", "0").split()[0]),
            "threads": int(values["Threads"]),
            "files": len(os.listdir(f"/proc/{pid}/fd")),
        }
    except (OSError, KeyError):
        return {"rss": 0, "threads": 0, "files": 0}


@dataclass(slots=True)
class Stalls:
    """The longest times, in processor seconds, between two requests of a process; call it at each request."""

    pid: int = 0
    longest: float = 0.0
    _last: float | None = field(default=None, repr=False)

    def __call__(self) -> None:
        try:
            used = int(Path(f"/proc/{self.pid}/task/{self.pid}/schedstat").read_text().split()[0]) / 1e9
        except (OSError, IndexError):
            return
        if self._last is not None:
            self.longest = max(self.longest, used - self._last)
        self._last = used


def look(pid: int, pages: int, directory: Path) -> Sample:
    """One sample."""
    found = {one: status(one) for one in family(pid)}

    def size(pattern: str) -> float:
        return sum(path.stat().st_size for path in directory.glob(pattern)) / 1e6

    return Sample(
        pages,
        sum(one["rss"] for one in found.values()) / 1024,
        found[pid]["rss"] / 1024,
        found[pid]["files"],
        found[pid]["threads"],
        size("clew.db-wal"),
        size("clew.log*"),
    )


def watched(
    line: list[str],
    directory: Path,
    pages: Callable[[], int],
    *,
    every: float = 0.5,
    begun: Callable[[int], None] = lambda pid: None,
) -> tuple[int, list[Sample]]:
    """Run a crawl to its end; gives its exit code and the samples.

    Parameters: the command; where it crawls into; how many pages were asked for; seconds between two looks;
    `begun`, told the process's number.
    """
    with directory.with_suffix(".out").open("wb") as out:
        process = subprocess.Popen(line, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    begun(process.pid)
    samples = []
    try:
        while process.poll() is None:
            samples.append(look(process.pid, pages(), directory))
            time.sleep(every)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    # a process that is ending is not what was asked about
    return process.returncode, [sample for sample in samples if sample.main_mb and sample.pages]
