"""`clew.log` in the crawl directory: what happened, one JSON object a line, rotated so it stays small."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from clew.errors import ClewError
from clew.messages import Effect, Record

if TYPE_CHECKING:
    from clew.run.observe import Progress

FILE = "clew.log"
MAX_BYTES = 10_000_000
BACKUPS = 4

#: Results of a decision that a person looking for trouble wants to see.
_TROUBLE = frozenset({"failed", "parked", "retry"})


class _Quiet(RotatingFileHandler):
    """A file that may fail: a line that cannot be written is lost, not shown to the user in its stead."""

    def _open(self) -> TextIOWrapper:
        # A link that came with somebody's directory is not followed.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        return open(os.open(self.baseFilename, flags, 0o644), "a", encoding=self.encoding)

    def handleError(self, record: logging.LogRecord) -> None:
        """What cannot be written for want of room, the store will say better."""


class CrawlLog:
    """An observer that writes the log; also takes what other libraries say through `logging`.

    Finds are written at level info, failures at warning, every other decision at debug. `level` is the
    least that is written.
    """

    def __init__(self, directory: Path, *, level: int = logging.INFO) -> None:
        self.path = directory / FILE
        self._handler = _Quiet(
            self.path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8", delay=True
        )
        self._handler.setFormatter(
            structlog.stdlib.ProcessorFormatter(
                foreign_pre_chain=_STAMPS,
                processors=[
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.format_exc_info,
                    structlog.processors.JSONRenderer(ensure_ascii=False),
                ],
            )
        )
        self._handler.setLevel(level)
        # not one of the process's named loggers: two crawls must not write into each other's log
        self._logger = logging.Logger("clew.crawl", level)
        self._logger.addHandler(self._handler)
        self._foreign = [logging.getLogger(name) for name in ("aiohttp", "asyncio")]
        for logger in self._foreign:
            logger.addHandler(self._handler)
        self._log = structlog.wrap_logger(
            self._logger,
            processors=[*_STAMPS, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
            wrapper_class=structlog.stdlib.BoundLogger,
        )

    def started(self, progress: Progress) -> None:
        self._log.info("started", pages=progress.pages, matches=progress.matches, queued=progress.queued)

    def settled(self, effects: Sequence[Effect], progress: Progress) -> None:
        for effect in effects:
            if not isinstance(effect, Record):
                continue
            decision = effect.decision
            level = logging.DEBUG
            if decision.result in _TROUBLE:
                level = logging.WARNING
            elif decision.result == "match":
                level = logging.INFO
            if self._logger.isEnabledFor(level):
                self._log.log(
                    level,
                    decision.result,
                    seq=decision.seq,
                    kind=decision.kind,
                    url=decision.url,
                    status=decision.status,
                    score=decision.score,
                    verdict=decision.verdict,
                    reasons=list(decision.reasons),
                    new=decision.new,
                )

    def finished(self, progress: Progress, reason: str) -> None:
        self._log.info(
            "finished",
            reason=reason,
            pages=progress.pages,
            matches=progress.matches,
            requests=progress.requests,
            failed=progress.failed,
        )

    def note(self, event: str, **facts: object) -> None:
        """Write one line of one's own."""
        self._log.info(event, **facts)

    def trouble(self, event: str, error: BaseException) -> None:
        """Write an exception with its traceback."""
        self._log.error(event, exc_info=error)

    def on_exit(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """For an exit stack: an error nobody expected leaves its traceback in the log."""
        if error is not None and not isinstance(error, ClewError):
            self.trouble("unexpected", error)

    def close(self) -> None:
        """Let go of the file."""
        for logger in (self._logger, *self._foreign):
            logger.removeHandler(self._handler)
        with suppress(OSError):
            self._handler.close()


_STAMPS: list[structlog.typing.Processor] = [
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
]
