"""`SteerDesk`: what the page wants changed in a crawl, or previewed, and how far that is.

A request is a `clew.run.steering.Steer` and goes the way of `clew steer`: left in the crawl's inbox, taken
in by the crawl between two pages, kept in its journal. To work out what would move, or to have a long crawl
judge its pages anew, takes a while: each is done in a thread of its own, and the page asks how far it is.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.errors import ClewError, UsageError
from clew.run.steering import Steer, SteerReply, send

#: Requests of one crawl that may be under way, and that are remembered.
_AT_ONCE, _KEPT = 3, 20


@dataclass(slots=True)
class SteerJob:
    """One request, as far as it is."""

    name: str
    path: Path
    request: Steer
    preview: bool
    done: int = 0
    total: int = 0
    reply: SteerReply | None = None
    error: str = ""
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to come."""
        return self.reply is not None or bool(self.error)

    def told(self) -> dict[str, Any]:
        """The job as plain data."""
        found: dict[str, Any] = {
            "job": self.name,
            "over": self.is_over,
            "done": self.done,
            "total": self.total,
        }
        if self.error:
            found["error"] = self.error
        if self.reply is not None:
            found |= self.reply.as_dict()
        return found

    def run(self) -> None:
        """Do it; whatever goes wrong is what is told."""
        try:
            self.reply = send(
                self.path, self.request, preview=self.preview, timeout=None, progress=self._progress
            )
        except ClewError as error:
            self.error = str(error)
        except Exception as error:
            self.error = f"something unexpected happened: {type(error).__name__}"
            raise

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self.cancelled.is_set() and self.preview:
            raise UsageError("nobody waits for it any more")


class SteerDesk:
    """The requests made from pages, by name."""

    def __init__(self) -> None:
        self._jobs: dict[str, SteerJob] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"SteerDesk({len(self._jobs)} requests)"

    def begin(self, path: Path, wanted: Mapping[str, Any], *, preview: bool) -> SteerJob:
        """Check a request, and begin with it. `ClewError` for one that cannot be."""
        job = SteerJob(secrets.token_hex(8), path, Steer.of(**wanted), preview)
        with self._lock:
            mine = [known for known in self._jobs.values() if known.path == path]
            if sum(not known.is_over for known in mine) >= _AT_ONCE:
                raise UsageError("the crawl is busy with what was asked of it before: try again in a moment")
            over = [known for known in mine if known.is_over]
            for old in over[: max(0, len(over) - _KEPT)]:
                del self._jobs[old.name]
            self._jobs[job.name] = job
        threading.Thread(target=job.run, name=f"steer {path.name}", daemon=True).start()
        return job

    def jobs(self, path: Path) -> list[dict[str, Any]]:
        """The requests of one crawl, oldest first."""
        with self._lock:
            return [job.told() for job in self._jobs.values() if job.path == path]

    def cancel(self, path: Path, name: str) -> None:
        """Nobody waits for a preview any more; what was commanded stays commanded."""
        with self._lock:
            job = self._jobs.get(name)
        if job is not None and job.path == path:
            job.cancelled.set()
